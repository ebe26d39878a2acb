"""Logistic regression over all decision stumps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from everystump._core.design import Design
from everystump._core.losses import Logistic, LossFamily
from everystump._core.multiclass import solve_classes
from everystump._core.progress import FitProgress
from everystump._core.shapes import ShapeModel
from everystump._core.solvers.problem import Solution
from everystump._sklearn_compat import Interval, one_of
from everystump._tables.training_table import ClassTable
from everystump.bounds._bound import UnsupportedModelError
from everystump.bounds._protocol import KernelMachine
from everystump.estimators._base import LogOddsClassifier
from everystump.estimators._stump_classifier import (
    CPathClassifier,
    FixedCClassifier,
    StumpClassifier,
)

_CONSTRAINTS: dict[str, Any] = {"multi_class": [one_of("multinomial", "ovr")]}


@dataclass(eq=False, repr=False, kw_only=True)
class _LogisticEnsemble(LogOddsClassifier, StumpClassifier):
    """What the logistic regressions over all stumps have in common."""

    _output_attributes: ClassVar[tuple[str, ...]] = ("classes_", "multi_class_")

    multi_class: str = "ovr"

    def _loss_family(self) -> LossFamily:
        return Logistic

    @property
    def _has_softmax(self) -> bool:
        # Before a fit, as in cross-validation, the parameter decides.
        return getattr(self, "multi_class_", self.multi_class) == "multinomial"

    def _solve_problems(
        self,
        table: ClassTable,
        design: Design,
        starts: Sequence[Solution] | None,
        verbose: int,
        **options: Any,
    ) -> list[Solution]:
        """Solve the problem of all classes, or one per class; two classes are one problem."""
        if self.multi_class == "ovr" or len(table.classes) == 2:
            return super()._solve_problems(table, design, starts, verbose, **options)
        if design.signs is not None:
            raise ValueError(
                f"monotonic_cst={self.monotonic_cst!r} cannot be combined with "
                f'multi_class="multinomial" for {len(table.classes)} classes, where only '
                f'differences of curves matter; use multi_class="ovr" or monotonic_cst=None.'
            )
        title = f"{type(self).__name__}, C={options['C']:g}, {len(table.classes)} classes"
        with FitProgress(verbose, title) as progress:
            return solve_classes(
                design,
                table.label,
                len(table.classes),
                table.weight,
                progress=progress,
                starts=starts,
                **options,
            )

    def _store_models(
        self, design: Design, solutions: list[Solution], models: list[ShapeModel]
    ) -> None:
        super()._store_models(design, solutions, models)
        self.multi_class_ = self.multi_class if len(models) > 1 else "ovr"
        if self.multi_class_ == "multinomial":
            self.certificate_ = solutions[0].certificate

    def kernel_machines(
        self, rows: Callable[[], np.ndarray], signs: np.ndarray
    ) -> list[KernelMachine]:
        """Return the fitted kernel machine of each problem; see `SupportsKernelMachines`."""
        if self._has_softmax and len(signs) > 1:
            raise UnsupportedModelError(
                f'multi_class="multinomial" fits one problem to all {len(signs)} classes, and the '
                f'bounds are for one kernel machine per class; use multi_class="ovr", or '
                f"validation_bound on held-out samples."
            )
        return super().kernel_machines(rows, signs)


@dataclass(eq=False, repr=False)
class StumpLogisticRegression(FixedCClassifier, _LogisticEnsemble):
    """Logistic regression over all decision stumps: an infinite ensemble of stumps.

    The same ensemble as `StumpSVC` with the logistic loss, the limit of LogitBoost with stumps.
    Scores are log-odds.  It predicts probabilities, and ranks samples better than `StumpSVC`.

    Parameters
    ----------
    C : float, default=1.0
        Inverse regularization strength, as in `sklearn.linear_model.LogisticRegression`.
    measure, max_bins, categorical_features, fit_intercept, feature_range, monotonic_cst
        As in `StumpSVC`.
    interactions, interaction_strength, interaction_bins, max_interaction_order
        As in `StumpSVC`.
    multi_class : {"ovr", "multinomial"}, default="ovr"
        How more than two classes are fitted: as one problem per class against the rest, whose
        probabilities are normalized, or as one multinomial problem, whose probabilities are the
        softmax of the scores and which does not support monotonic constraints.
    class_weight, tol, max_iter, n_jobs, verbose
        As in `StumpSVC`.

    Attributes
    ----------
    certificate_ : Certificate or list of Certificate
        As in `StumpSVC`; a single one for a multinomial model.
    multi_class_ : str
        "multinomial" if more than two classes were fitted as one problem, else "ovr".
    shapes_, intercept_, dual_coef_, classes_, n_iter_, exact_
        As in `StumpSVC`.  The scores of the classes of a multinomial model sum to 0.
    interactions_, interaction_strength_, surface_density_
        As in `StumpSVC`.

    Examples
    --------
    >>> from everystump import StumpLogisticRegression
    >>> from everystump.datasets import make_twonorm
    >>> X, y = make_twonorm(300, random_state=0)
    >>> model = StumpLogisticRegression().fit(X, y)
    >>> model.predict_proba(X).shape
    (300, 2)
    """

    _parameter_constraints: ClassVar[dict] = {
        **FixedCClassifier._parameter_constraints,
        **_CONSTRAINTS,
        "C": [Interval(Real, 0, None, closed="neither")],
    }


@dataclass(eq=False, repr=False)
class StumpLogisticRegressionCV(CPathClassifier, _LogisticEnsemble):
    """`StumpLogisticRegression` with C chosen by cross-validation along a path.

    Parameters
    ----------
    Cs, cv, selection, random_state, interactions, interaction_strength
        As in `StumpSVCCV`.
    scoring : str or callable, default=None
        A scikit-learn scorer; "neg_log_loss" by default.
    measure, max_bins, categorical_features, fit_intercept, feature_range, monotonic_cst
        As in `StumpSVC`.
    interaction_bins, max_interaction_order
        As in `StumpSVC`.
    multi_class : {"ovr", "multinomial"}, default="ovr"
        As in `StumpLogisticRegression`.
    class_weight, tol, max_iter, n_jobs, verbose
        As in `StumpSVC`.

    Attributes
    ----------
    C_, best_score_, scoring_, cv_results_, interaction_cv_results_, refined_cv_results_
        As in `StumpSVCCV`.
    interactions_, interaction_strength_, surface_density_
        As in `StumpSVC`.
    shapes_, intercept_, certificate_, dual_coef_, classes_, n_iter_, exact_, multi_class_
        Results of the fit on all samples with ``C_``, as in `StumpLogisticRegression`.

    Examples
    --------
    >>> from everystump import StumpLogisticRegressionCV
    >>> from everystump.datasets import make_twonorm
    >>> X, y = make_twonorm(200, random_state=0)
    >>> model = StumpLogisticRegressionCV().fit(X, y)
    >>> model.scoring_, model.predict_proba(X).shape
    ('neg_log_loss', (200, 2))
    """

    _fixed_C_class: ClassVar[type] = StumpLogisticRegression
    _default_scoring: ClassVar[str] = "neg_log_loss"

    _parameter_constraints: ClassVar[dict] = {
        **CPathClassifier._parameter_constraints,
        **_CONSTRAINTS,
    }
