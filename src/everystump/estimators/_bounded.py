"""Estimators as the theorems of `everystump.bounds` see them: machines of stumps, and votes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from everystump._core.columns import RowDensity
from everystump._core.losses import Hinge, Loss, SquaredHinge
from everystump._core.measures import as_measure
from everystump._core.solvers import Certificate
from everystump._tables import Feature
from everystump._tables.overlap import TrainingRecord
from everystump._tables.validation import check_rows
from everystump._text import truncate_list
from everystump.bounds._kernel_ensemble import KernelEnsemble, KernelMachine
from everystump.bounds._protocol import EnsembleMember
from everystump.estimators._classes import as_class_list
from everystump.estimators._editing import EditedModelError, EditingMixin
from everystump.estimators._training import (
    BALANCED,
    BIASED,
    KernelEnsemblesMixin,
    absolute_gap,
    as_kernel_machines,
    check_training_table,
    one_by_one,
    training_signs,
    violations_of,
)

_SCALED = 'gamma="scale": the kernel follows the training rows'


class StumpBoundsMixin(KernelEnsemblesMixin):
    """The methods of an infinite ensemble of stumps that bounds ask for."""

    # Whether C was known before the rows were.
    _C_is_fixed: ClassVar[bool] = True
    measure: Any
    feature_range: Any
    monotonic_cst: Any
    fit_intercept: bool
    class_weight: Any
    tol: float
    feature_info_: tuple[Feature, ...]
    density_: tuple[RowDensity, ...]
    certificate_: Certificate | list[Certificate]
    dual_coef_: np.ndarray
    half_mass_: float
    exact_: bool
    _kept: np.ndarray
    _largest_cost: float

    def _loss_class(self) -> type[Loss]:
        raise NotImplementedError

    def _decision_function(self, X: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def _monotonic_signs(self) -> np.ndarray | None:
        raise NotImplementedError

    def _kernel_ensembles(self, X: Any, y: Any) -> list[KernelEnsemble]:
        check_is_fitted(self, "shapes_")
        n_input_rows = np.atleast_2d(self.dual_coef_).shape[1]
        caveats = check_training_table(self, X, y, n_input_rows)
        rows = check_rows(self, X)[self._kept]
        signs = training_signs(self, y, n_input_rows)[:, self._kept]
        return one_by_one(self.kernel_machines(lambda: rows, signs), caveats)

    def _check_unconstrained(self) -> None:
        """Raise if the machine is more than a sum of kernels, which is all that bounds know."""
        if self._monotonic_signs() is not None:
            raise ValueError(
                f"monotonic_cst={self.monotonic_cst!r}: the bounds are for kernel machines, which "
                f"this one is not with constraints on its curves; use monotonic_cst=None or "
                f"cross-validation."
            )

    def _data_dependence(self) -> tuple[str, ...]:
        """Return why the kernel or the costs were not known before the training rows were."""
        measure, found = as_measure(self.measure), []
        if self.feature_range is None:
            found.append("feature_range=None: the ranges are those of the training rows")
        if not self.exact_:
            found.append("max_bins: some features were cut into bins of the training rows")
        if measure.uses_counts:
            found.append(f"measure={self.measure!r}: the masses of stumps may follow the rows")
        elif not measure.is_piecewise_linear:
            found.append(f"measure={self.measure!r}: between training rows scores are approximate")
        found += self._data_dependent_features()
        if not self._C_is_fixed:
            found.append("C was chosen on the training rows")
        return (*found, BALANCED) if self.class_weight == "balanced" else tuple(found)

    def _data_dependent_features(self) -> list[str]:
        """Return why the stumps of some features were not known before, a sentence per reason."""
        by_reason: dict[str, list[str]] = {}
        for d, (feature, density) in enumerate(zip(self.feature_info_, self.density_, strict=True)):
            if feature.levels is not None:
                why = "a category's levels are those of the rows"
            elif density.missing > 0:
                why = "a missing value counts as the rows' median"
            else:
                continue
            by_reason.setdefault(why, []).append(feature.shown(d))
        return [
            f"feature{'s' if len(names) > 1 else ''} {truncate_list(names)}: {why}"
            for why, names in by_reason.items()
        ]

    def kernel_machines(
        self, rows: Callable[[], np.ndarray], signs: np.ndarray
    ) -> list[KernelMachine]:
        """Return the fitted machine as theorems see it, for votes of which it is a part.

        Parameters
        ----------
        rows : callable
            Gives the training rows of positive weight as numbers.
        signs : ndarray of shape (n_problems, n_rows)
            Their labels as 1 and -1: one problem for two classes, else one per class.

        Returns
        -------
        list of KernelMachine
            One for each problem.
        """
        self._check_unconstrained()
        margins = signs * np.atleast_2d(self._decision_function(rows()).T)
        duals = signs * np.atleast_2d(self.dual_coef_)[:, self._kept]
        lacks = ((BIASED,) if self.fit_intercept else ()) + self._data_dependence()
        return [
            KernelMachine(
                rows=np.arange(len(a)),
                a=a,
                margin=margin,
                diagonal=np.full(len(a), self.half_mass_),  # no stump between a row and itself
                kappa=self.half_mass_,
                kappa_is_proven=True,
                C=self._largest_cost,
                has_hinge_loss=self._loss_class() is Hinge,
                has_bounded_duals=self._loss_class() is not SquaredHinge,
                gap=absolute_gap(proof),
                # No more than the tolerance, and the objective without a row is no larger.
                refit_gap=self.tol * proof.primal / max(1.0 - self.tol, 1e-3),
                violations=lacks + violations_of(sign, proof),
            )
            for sign, a, margin, proof in zip(
                signs, duals, margins, as_class_list(self.certificate_), strict=True
            )
        ]


class VoteBoundsMixin(KernelEnsemblesMixin, EditingMixin):
    """The methods of a vote over subsamples that bounds ask for."""

    classes_: np.ndarray
    combine: str
    outputs: str
    n_rows_: int
    estimators_: list
    estimators_samples_: list[np.ndarray]
    estimators_features_: list[np.ndarray | None]
    weights_: np.ndarray
    _adaptive: bool
    _training_record: TrainingRecord | None
    _problems: list[KernelEnsemble] | None

    def _decision_function(self, X: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    @property
    def has_fixed_weights(self) -> bool:
        """Whether the weights were not learned from the rows."""
        return self.combine == "mean"

    @property
    def combines_signs(self) -> bool:
        """Whether the machines' signs are combined instead of their scores."""
        return self.outputs == "votes"

    def clone_for_leave_one_out(self) -> Self:
        """Return an unfitted copy that draws as many rows for a machine, at most all but one.

        Returns
        -------
        SubsampleVotingClassifier
            The copy.
        """
        r = len(self.estimators_samples_[0])
        return clone(self).set_params(subsample=min(r, self.n_rows_ - 1))

    def ensemble_members(self, X: Any, y: Any) -> list[EnsembleMember]:
        """Return the machines with their weights and their own rows, for `everystump.bounds`.

        Parameters
        ----------
        X, y : array-like
            The very table of the training.

        Returns
        -------
        list of EnsembleMember
            One for each machine.
        """
        self._check_bound_applies(X, y)
        rows, labels = check_rows(self, X), np.asarray(y)
        parts = zip(
            self.estimators_,
            self.weights_,
            self.estimators_samples_,
            self.estimators_features_,
            strict=True,
        )
        return [
            EnsembleMember(machine, weight, own, _own(rows, own, features), labels[own])
            for machine, weight, own, features in parts
        ]

    def _check_bound_applies(self, X: Any, y: Any) -> tuple[str, ...]:
        """Raise unless bounds apply to the vote and the table; return why the latter may not."""
        check_is_fitted(self, "weights_")
        if not self.has_fixed_weights:
            raise ValueError(
                'combine="svm" learns the weights of the vote from the rows, and the bounds are '
                'for fixed ones; use combine="mean", or validation_bound on held-out rows.'
            )
        if self.edits_:
            raise EditedModelError(
                f"{type(self).__name__} was edited ({self.edits_[-1]}), and the bounds are for the "
                f"machines as they were trained; ask the model before its edits."
            )
        record = self._training_record
        if record is not None and record.weights_checksum:
            raise ValueError(
                "sample_weight: the bounds are for votes whose machines draw rows that count "
                "alike; fit without weights, or use validation_bound on held-out rows."
            )
        return check_training_table(self, X, y, self.n_rows_)

    def _kernel_ensembles(self, X: Any, y: Any) -> list[KernelEnsemble]:
        caveats = self._check_bound_applies(X, y)
        if self._problems is None:
            self._problems = self._read(check_rows(self, X), training_signs(self, y, self.n_rows_))
        return [replace(problem, caveats=caveats) for problem in self._problems]

    def _read(self, X: np.ndarray, signs: np.ndarray) -> list[KernelEnsemble]:
        by_problem: list[list[KernelMachine]] = [[] for _ in signs]
        adaptive = (_SCALED,) if self._adaptive else ()
        for machine, rows, features in zip(
            self.estimators_, self.estimators_samples_, self.estimators_features_, strict=True
        ):
            read = as_kernel_machines(machine, partial(_own, X, rows, features), signs[:, rows])
            for problem, one in zip(by_problem, read, strict=True):
                problem.append(replace(one, rows=rows, violations=one.violations + adaptive))
        r = len(self.estimators_samples_[0])
        return [
            KernelEnsemble(
                tuple(machines),
                self.weights_,
                margin,
                combines_signs=self.combines_signs,
                subsample=r,
            )
            for machines, margin in zip(
                by_problem, signs * self._decision_function(X).T, strict=True
            )
        ]


def _own(X: np.ndarray, rows: np.ndarray, features: np.ndarray | None) -> np.ndarray:
    """Return the table of one machine."""
    return X[rows] if features is None else X[rows][:, features]
