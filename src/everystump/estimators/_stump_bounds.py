"""What bounds ask of an infinite ensemble of stumps."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from everystump._core.columns import RowDensity
from everystump._core.losses import Hinge, LossFamily, SquaredHinge
from everystump._core.measures import Measure
from everystump._core.solvers.certificate import Certificate
from everystump._tables.frames import Feature
from everystump._tables.validation import check_rows
from everystump._terms import Term
from everystump._text import truncate_list
from everystump.bounds._bound import UnsupportedModelError
from everystump.bounds._protocol import KernelEnsemble, KernelMachine
from everystump.estimators._base import as_class_list
from everystump.estimators._bounds import (
    BALANCED,
    INTERCEPT,
    check_is_training_data,
    find_violations,
    single_machine_ensembles,
    training_signs,
)


class StumpBounds:
    """The kernel machines of a fitted ensemble, and why its kernel depends on the samples."""

    # Whether C was fixed before the training samples were seen.
    _C_is_fixed: ClassVar[bool] = True

    _chosen_measure: Any
    interactions: Any
    feature_range: Any
    class_weight: Any
    monotonic_cst: Any
    fit_intercept: bool
    tol: float
    feature_info_: tuple[Feature, ...]
    density_: tuple[RowDensity, ...]
    interactions_: list[Term]
    exact_: bool
    certificate_: Any
    dual_coef_: np.ndarray
    _kept: np.ndarray
    _kernel_diagonal: np.ndarray
    _max_kernel: float
    _largest_cost: float
    _fitted_measure: Callable[[], Measure]
    _loss_family: Callable[[], LossFamily]
    _monotonic_signs: Callable[[], np.ndarray | None]
    _decision_function: Callable[[np.ndarray], np.ndarray]

    def kernel_ensembles(self, X: Any, y: Any) -> list[KernelEnsemble]:
        """Return the fitted kernel machines as ensembles; see `SupportsKernelEnsembles`."""
        check_is_fitted(self, "shapes_")
        # Without those of an edited model, reading them raises an error of its own.
        if not hasattr(self, "dual_coef_") and not getattr(self, "edits_", None):
            raise ValueError(
                f"{type(self).__name__} was fitted on a cluster, where its dual variables, which "
                f"this bound needs, were not kept; use validation_bound, or fit locally."
            )
        n_samples = np.atleast_2d(self.dual_coef_).shape[1]
        caveats = check_is_training_data(self, X, y, n_samples)
        rows = check_rows(self, X)[self._kept]
        signs = training_signs(self, y, n_samples)[:, self._kept]
        return single_machine_ensembles(self.kernel_machines(lambda: rows, signs), caveats)

    def kernel_machines(
        self, rows: Callable[[], np.ndarray], signs: np.ndarray
    ) -> list[KernelMachine]:
        """Return the fitted kernel machine of each problem; see `SupportsKernelMachines`."""
        self._check_unconstrained()
        scores = np.atleast_2d(self._decision_function(rows()).T)
        duals = np.atleast_2d(self.dual_coef_)[:, self._kept]
        certificates = as_class_list(self.certificate_)
        return [
            self._machine(sign * a, sign * score, certificate, sign)
            for sign, a, score, certificate in zip(signs, duals, scores, certificates, strict=True)
        ]

    def _machine(
        self, a: np.ndarray, margin: np.ndarray, certificate: Certificate, signs: np.ndarray
    ) -> KernelMachine:
        """Return a machine, given its dual variables, its margins and the labels as signs."""
        violations = ((INTERCEPT,) if self.fit_intercept else ()) + self._data_dependence()
        return KernelMachine(
            rows=np.arange(len(a)),
            a=a,
            margin=margin,
            diagonal=np.broadcast_to(self._kernel_diagonal, a.shape),
            kappa=self._max_kernel,
            kappa_is_proven=True,
            C=self._largest_cost,
            has_hinge_loss=self._loss_family() is Hinge,
            has_bounded_duals=self._loss_family() is not SquaredHinge,
            gap=max(0.0, certificate.primal - certificate.dual),
            # At most the tolerance: without a sample, the objective is not larger.
            refit_gap=self.tol * certificate.primal / max(1.0 - self.tol, 1e-3),
            violations=violations + find_violations(signs, certificate),
        )

    def _check_unconstrained(self) -> None:
        """Check that there are no monotonic constraints, which kernel machines do not have."""
        if self._monotonic_signs() is not None:
            raise UnsupportedModelError(
                f"monotonic_cst={self.monotonic_cst!r}: the bounds are for kernel machines, and a "
                f"model with monotonic constraints is not one; use monotonic_cst=None or "
                f"cross-validation."
            )

    def _data_dependence(self) -> tuple[str, ...]:
        """Return why the kernel or the costs depend on the training samples."""
        measure, name, reasons = self._fitted_measure(), self._chosen_measure, []
        if self.feature_range is None:
            reasons.append("feature_range=None: the ranges are those of the training samples")
        if not self.exact_:
            source = "max_bins or interaction_bins" if self.interactions_ else "max_bins"
            reasons.append(f"{source}: the bins of some features depend on the training samples")
        if measure.uses_counts:
            reasons.append(f"measure={name!r}: the measure depends on the training samples")
        elif not measure.is_piecewise_linear:
            reasons.append(f"measure={name!r}: scores between training samples are approximate")
        reasons += self._data_dependent_features()
        if self.interactions_:
            reasons.append(
                "interactions: their bins and their centers depend on the training samples"
            )
        if isinstance(self.interactions, str | Integral) and self.interactions:
            reasons.append("interactions: the pairs were chosen on the training samples")
        if hasattr(self, "interaction_cv_results_"):
            reasons.append("interaction_strength: it was chosen on the training samples")
        if hasattr(self, "measure_cv_results_"):
            reasons.append("measure: it was chosen on the training samples")
        if hasattr(self, "weights_cv_results_"):
            reasons.append("feature_weights: the weights were chosen on the training samples")
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
