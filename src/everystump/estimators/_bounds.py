"""Converts fitted estimators to the kernel machines that `everystump.bounds` is about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from everystump._core.losses import Hinge, Loss, SquaredHinge
from everystump._core.measures import as_measure
from everystump._core.solvers.certificate import Certificate
from everystump._sklearn_compat import num_samples
from everystump._tables.labels import class_indices, one_vs_rest
from everystump._tables.validation import check_rows
from everystump._text import truncate_list
from everystump.bounds._protocol import (
    KernelEnsemble,
    KernelMachine,
    NotTrainingDataError,
    SupportsKernelMachines,
)
from everystump.estimators._base import TabularClassifier, as_class_list

INTERCEPT = "fit_intercept=True: with an intercept outside the kernel the bound is not proven"
BALANCED = 'class_weight="balanced": the class weights depend on the training samples'


class KernelEnsemblesMixin:
    """An estimator that is a kernel machine, or a vote of kernel machines."""

    def kernel_ensembles(self, X: Any, y: Any) -> list[KernelEnsemble]:
        """Return the fitted kernel machine, or vote of kernel machines, for `everystump.bounds`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The training data.
        y : array-like of shape (n_samples,)
            The training labels.

        Returns
        -------
        list of KernelEnsemble
            One for two classes, else one per class against the rest.
        """
        return self._kernel_ensembles(X, y)

    def _kernel_ensembles(self, X: Any, y: Any) -> list[KernelEnsemble]:
        raise NotImplementedError


class StumpKernelClassifier(TabularClassifier, KernelEnsemblesMixin):
    """An infinite ensemble of stumps as a kernel machine."""

    # Whether C was fixed before the training samples were seen.
    _C_is_fixed: ClassVar[bool] = True
    measure: Any
    feature_range: Any
    monotonic_cst: Any
    fit_intercept: bool
    class_weight: Any
    tol: float
    certificate_: Certificate | list[Certificate]
    dual_coef_: np.ndarray
    half_mass_: float
    exact_: bool
    _kept: np.ndarray
    _largest_cost: float

    def _loss_class(self) -> type[Loss]:
        raise NotImplementedError

    def _monotonic_signs(self) -> np.ndarray | None:
        raise NotImplementedError

    def _kernel_ensembles(self, X: Any, y: Any) -> list[KernelEnsemble]:
        check_is_fitted(self, "shapes_")
        n_samples = np.atleast_2d(self.dual_coef_).shape[1]
        caveats = check_is_training_data(self, X, y, n_samples)
        rows = check_rows(self, X)[self._kept]
        signs = training_signs(self, y, n_samples)[:, self._kept]
        return single_machine_ensembles(self.kernel_machines(lambda: rows, signs), caveats)

    def kernel_machines(
        self, rows: Callable[[], np.ndarray], signs: np.ndarray
    ) -> list[KernelMachine]:
        """Return the fitted kernel machines, one per problem, for `everystump.bounds`.

        Parameters
        ----------
        rows : callable
            Returns the training samples of positive weight as numbers.
        signs : ndarray of shape (n_problems, n_samples)
            Their labels as 1 and -1: one problem for two classes, else one per class.

        Returns
        -------
        list of KernelMachine
            One per problem.
        """
        self._check_unconstrained()
        margins = signs * np.atleast_2d(self._decision_function(rows()).T)
        duals = signs * np.atleast_2d(self.dual_coef_)[:, self._kept]
        violations = ((INTERCEPT,) if self.fit_intercept else ()) + self._data_dependence()
        return [
            KernelMachine(
                rows=np.arange(len(a)),
                a=a,
                margin=margin,
                diagonal=np.full(len(a), self.half_mass_),  # no stump separates x from itself
                kappa=self.half_mass_,
                kappa_is_proven=True,
                C=self._largest_cost,
                has_hinge_loss=self._loss_class() is Hinge,
                has_bounded_duals=self._loss_class() is not SquaredHinge,
                gap=absolute_gap(certificate),
                # At most the tolerance: without a sample, the objective is not larger.
                refit_gap=self.tol * certificate.primal / max(1.0 - self.tol, 1e-3),
                violations=violations + find_violations(sign, certificate),
            )
            for sign, a, margin, certificate in zip(
                signs, duals, margins, as_class_list(self.certificate_), strict=True
            )
        ]

    def _check_unconstrained(self) -> None:
        """Check that curves have no monotonic constraints, which no kernel machine has."""
        if self._monotonic_signs() is not None:
            raise ValueError(
                f"monotonic_cst={self.monotonic_cst!r}: the bounds are for kernel machines, and a "
                f"model with monotonic constraints is not one; use monotonic_cst=None or "
                f"cross-validation."
            )

    def _data_dependence(self) -> tuple[str, ...]:
        """Return why the kernel or the costs depend on the training samples."""
        measure, reasons = as_measure(self.measure), []
        if self.feature_range is None:
            reasons.append("feature_range=None: the ranges are those of the training samples")
        if not self.exact_:
            reasons.append("max_bins: the bins of some features depend on the training samples")
        if measure.uses_counts:
            reasons.append(f"measure={self.measure!r}: the measure depends on the training samples")
        elif not measure.is_piecewise_linear:
            reasons.append(
                f"measure={self.measure!r}: scores between training samples are approximate"
            )
        reasons += self._data_dependent_features()
        if not self._C_is_fixed:
            reasons.append("C was chosen on the training samples")
        return (*reasons, BALANCED) if self.class_weight == "balanced" else tuple(reasons)

    def _data_dependent_features(self) -> list[str]:
        """Return why the stumps of some features depend on the training samples."""
        by_reason: dict[str, list[str]] = {}
        for d, (feature, density) in enumerate(zip(self.feature_info_, self.density_, strict=True)):
            if feature.levels is not None:
                reason = "the levels of a category are those of the training samples"
            elif density.missing > 0:
                reason = "a missing value counts as the median of the training samples"
            else:
                continue
            by_reason.setdefault(reason, []).append(feature.display_name(d))
        return [
            f"feature{'s' if len(names) > 1 else ''} {truncate_list(names)}: {reason}"
            for reason, names in by_reason.items()
        ]


def check_is_training_data(fitted: Any, X: Any, y: Any, n_samples: int) -> tuple[str, ...]:
    """Check that X and y are the training data; return a caveat if the model has no record of it.

    ``n_samples`` is the number of training samples.
    """
    overlap = fitted.training_overlap(X, y)
    if overlap.same_table:
        return ()
    if overlap.recorded or num_samples(X) != n_samples:
        raise NotTrainingDataError(
            f"X and y must be the data that {type(fitted).__name__} was fitted to, with all "
            f"samples in the same order."
        )
    return (overlap.leakage,)


def training_signs(fitted: Any, y: Any, n_samples: int) -> np.ndarray:
    """Return training labels as 1 and -1, of shape (n_problems, n_samples).

    Two classes are one problem; with more classes, there is one problem per class.
    """
    label = class_indices(y, fitted.classes_, n_samples)
    return np.where(one_vs_rest(label, len(fitted.classes_)), 1.0, -1.0)


def find_violations(sign: np.ndarray, certificate: Certificate) -> tuple[str, ...]:
    """Return the assumptions of the theorems that the fit of a kernel machine violates."""
    violations = []
    if not certificate.converged:
        violations.append("the fit stopped above its tolerance; raise max_iter or tol")
    if min(np.sum(sign > 0), np.sum(sign < 0)) < 2:
        violations.append("a class has a single sample, and without it only one class is left")
    return tuple(violations)


def absolute_gap(certificate: Certificate) -> float:
    """Return an upper bound on the distance of an objective to its optimum."""
    return max(0.0, certificate.primal - certificate.dual)


def single_machine_ensembles(
    machines: list[KernelMachine], caveats: tuple[str, ...] = ()
) -> list[KernelEnsemble]:
    """Return each kernel machine as a vote of one."""
    return [
        KernelEnsemble((machine,), np.ones(1), machine.margin, caveats=caveats)
        for machine in machines
    ]


def as_kernel_machines(machine: Any, rows: Any, signs: np.ndarray) -> list[KernelMachine]:
    """Return a member of a vote as kernel machines, one per problem."""
    if not isinstance(machine, SupportsKernelMachines):
        raise ValueError(
            f"estimator={machine!r} is not a kernel machine, and the bounds are for votes of "
            f"KernelSVC or StumpSVC; use validation_bound, which is for any classifier."
        )
    return machine.kernel_machines(rows, signs)
