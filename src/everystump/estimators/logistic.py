"""Logistic regression over all decision stumps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from everystump._core.design import Design
from everystump._core.losses import Logistic, LossFamily
from everystump._core.multiclass import solve_classes
from everystump._core.multinomial_errors import FittedClasses, multinomial_errors
from everystump._core.progress import FitProgress
from everystump._core.shapes import ShapeModel
from everystump._core.solvers.problem import Solution
from everystump._core.threads import count_threads
from everystump._explanations.access import shape_models
from everystump._sklearn_compat import Interval, one_of
from everystump._tables.monotonic import has_constraints
from everystump._tables.training_table import ClassTable
from everystump.bounds._protocol import KernelMachine
from everystump.estimators._base import LogOddsClassifier
from everystump.estimators._bounds import class_margins
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

    multi_class: str = "multinomial"

    def _loss_family(self) -> LossFamily:
        return Logistic

    @property
    def _has_softmax(self) -> bool:
        # Before a fit, as in cross-validation, the parameters decide.
        return getattr(self, "multi_class_", self._effective_multi_class()) == "multinomial"

    def _effective_multi_class(self) -> str:
        """Return ``multi_class`` as it applies to more than two classes: "ovr" with constraints.

        Only differences of the scores of a multinomial model matter, and adding an increasing
        function to all of them makes them monotonic without any effect: constraints on the curves
        of a class would not constrain its probabilities.
        """
        return "ovr" if has_constraints(self.monotonic_cst) else self.multi_class

    def _is_multinomial(self, n_classes: int) -> bool:
        """Whether the classes are to be fitted as one multinomial problem."""
        return n_classes > 2 and self._effective_multi_class() == "multinomial"

    def _solve_problems(
        self,
        table: ClassTable,
        design: Design,
        starts: Sequence[Solution] | None,
        verbose: int,
        **options: Any,
    ) -> list[Solution]:
        """Solve the problem of all classes, or one per class; two classes are one problem."""
        n_classes = len(table.classes)
        if not self._is_multinomial(n_classes):
            return super()._solve_problems(table, design, starts, verbose, **options)
        with FitProgress(verbose, self._multinomial_title(n_classes, options["C"])) as progress:
            return solve_classes(
                design,
                table.label,
                n_classes,
                table.weight,
                progress=progress,
                starts=starts,
                **options,
            )

    def _multinomial_title(self, n_classes: int, C: float) -> str:
        return f"{type(self).__name__}, C={C:g}, {n_classes} classes"

    def _store_models(
        self, design: Design, solutions: list[Solution], models: list[ShapeModel]
    ) -> None:
        super()._store_models(design, solutions, models)
        self.multi_class_ = "ovr"
        if self._is_multinomial(len(models)):
            self.multi_class_, self.certificate_ = "multinomial", solutions[0].certificate

    def _laplace_bands(
        self, table: Any, design: Design, n_samples: int | None, rng: np.random.Generator
    ) -> list[ShapeModel]:
        if self.multi_class_ == "ovr":
            return super()._laplace_bands(table, design, n_samples, rng)
        scores, C = np.array(self._problem_scores(table)), self._fitted_cost()
        return multinomial_errors(
            design,
            FittedClasses(table.label, table.weight, table.sample_weight, scores, C),
            shape_models(self),
            n_samples=n_samples,
            rng=rng,
            n_threads=count_threads(self.n_jobs),
        )

    def kernel_machines(
        self, rows: Callable[[], np.ndarray], signs: np.ndarray
    ) -> list[KernelMachine]:
        """Return the fitted kernel machine of each problem; see `SupportsKernelMachines`."""
        if not self._has_softmax or len(signs) == 1:
            return super().kernel_machines(rows, signs)
        margin = class_margins(self._decision_function(rows()).T, signs)
        a = np.sqrt(2.0) * np.linalg.norm(self.dual_coef_[:, self._kept], axis=0)
        # A margin is a difference of two scores, hence the factors: 2 for squared distances.
        machine = self._machine(a, margin, self.certificate_, signs)
        gap, refit_gap = 2 * machine.gap, 2 * machine.refit_gap
        return [replace(machine, gap=gap, refit_gap=refit_gap, n_classes=len(signs))]


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
    multi_class : {"multinomial", "ovr"}, default="multinomial"
        How more than two classes are fitted: as one multinomial problem, whose probabilities are
        the softmax of the scores, or as one problem per class against the rest, whose probabilities
        are normalized.  With ``monotonic_cst``, always the latter: monotonic scores of a
        multinomial model would not constrain its probabilities.
    class_weight, tol, max_iter, n_jobs, verbose
        As in `StumpSVC`.

    Attributes
    ----------
    certificate_ : Certificate or list of Certificate
        As in `StumpSVC`; a single one for a multinomial model.
    multi_class_ : str
        "multinomial" if more than two classes were fitted as one problem, else "ovr": for two
        classes, with ``multi_class="ovr"``, and with monotonic constraints.
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
    """`StumpLogisticRegression` with C, measure, weights and interactions chosen along paths.

    Parameters
    ----------
    Cs, cv, selection, random_state, feature_weights, interactions, interaction_strength
        As in `StumpSVCCV`.
    scoring : str or callable, default=None
        A scikit-learn scorer; "neg_log_loss" by default.
    measure : str, callable or Measure, default="auto"
        As in `StumpSVCCV`.
    max_bins, categorical_features, fit_intercept, feature_range, monotonic_cst
        As in `StumpSVC`.
    interaction_bins, max_interaction_order
        As in `StumpSVC`.
    multi_class : {"multinomial", "ovr"}, default="multinomial"
        As in `StumpLogisticRegression`.
    class_weight, tol, max_iter, n_jobs, verbose
        As in `StumpSVC`.

    Attributes
    ----------
    C_, best_score_, scoring_, feature_weights_, cv_results_, interaction_cv_results_
        As in `StumpSVCCV`.
    measure_, measure_cv_results_, interaction_measure_cv_results_, weights_cv_results_
        As in `StumpSVCCV`.
    number_cv_results_, refined_cv_results_
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
