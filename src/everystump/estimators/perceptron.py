"""Support vector classifier over all perceptrons."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from everystump._core.kernel_machines.registry import mean_abs_cosine
from everystump._core.shapes import Shape, ShapeModel
from everystump._sklearn_compat import Interval, one_of
from everystump._tables.validation import check_rows
from everystump.estimators._base import ScoreClassifier, as_class_list, unwrap_binary
from everystump.estimators.kernel_svc import KernelSVC
from everystump.estimators.svc import StumpSVC

_MAX_EXACT_SAMPLES = 2000
_BLOCK_ENTRIES = 4_000_000


@dataclass(eq=False, repr=False)
class PerceptronSVC(ScoreClassifier):
    """Support vector classifier over all perceptrons: an infinite ensemble of perceptrons.

    The perceptron kernel ``-|x - y|_2`` is the average of the stump kernels over all directions
    (Lin & Li, 2005).  It is approximated by all stumps on random directions, at a cost linear in
    the number of samples.  A perceptron adds up all features, so they are scaled to unit variance
    first.

    Parameters
    ----------
    C : float, default=1.0
        Inverse regularization strength, as in `KernelSVC` with ``kernel="perceptron"``.
    n_directions : int, default=500
        Number of directions.
    scale : bool, default=True
        Whether to divide each feature by its weighted standard deviation over the training samples.
        The kernel then depends on the training samples, and theorems about fixed kernels do not
        apply.
    include_axes : bool, default=False
        Whether the directions include the axes, so that the features have curves.
    exact : bool or "auto", default="auto"
        Whether to use the perceptron kernel itself; "auto" does so for up to 2,000 samples, unless
        `include_axes`.
    max_bins : int, default=256
        Maximum number of bins per direction.
    random_state : int, RandomState instance or None, default=None
        Controls the random directions.
    class_weight, tol, max_iter, n_jobs, verbose
        As in `StumpSVC`.

    Attributes
    ----------
    exact_ : bool
        Whether the perceptron kernel itself was used.
    scale_ : ndarray of shape (n_features,) or None
        Scaling factor of each feature; None if not `scale`.
    directions_ : ndarray of shape (n_directions, n_features) or None
        Unit vectors in the space of scaled features, the axes first; None if exact.
    centre_ : ndarray of shape (n_features,)
        Vector subtracted from samples before scaling and projection.
    machine_ : StumpSVC or KernelSVC
        The classifier on the projections, or with the perceptron kernel.
    axis_shapes_ : ShapeModel or list of ShapeModel
        The part of the score along the axes as shape functions, if `include_axes`.
    certificate_ : Certificate or list of Certificate
        As in `StumpSVC`, for the training projections in single precision.  Scores are computed in
        double precision; for large C (1e4 and more) their loss may differ from the certified one by
        more than the gap.
    dual_coef_, intercept_, classes_, n_iter_, n_features_in_, feature_names_in_
        As in `StumpSVC`.

    Examples
    --------
    >>> from everystump import PerceptronSVC
    >>> from everystump.datasets import make_threenorm
    >>> X, y = make_threenorm(300, random_state=0)
    >>> model = PerceptronSVC(random_state=0).fit(X, y)
    >>> model.exact_, model.certificate_.converged
    (True, True)
    """

    _fitted_attribute: ClassVar[str] = "machine_"

    _parameter_constraints: ClassVar[dict] = {
        "C": [Interval(Real, 0, None, closed="neither")],
        "n_directions": [Interval(Integral, 1, None, closed="left")],
        "scale": ["boolean"],
        "include_axes": ["boolean"],
        "exact": ["boolean", one_of("auto")],
        "max_bins": [Interval(Integral, 2, None, closed="left")],
        "class_weight": [dict, str, None],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    C: float = 1.0
    _: KW_ONLY
    n_directions: int = 500
    scale: bool = True
    include_axes: bool = False
    exact: bool | str = "auto"
    max_bins: int = 256
    class_weight: Any = None
    tol: float = 1e-3
    max_iter: int = 1000
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        table = self._check_training_data(X, y, sample_weight, self.class_weight)
        self.exact_ = self._is_exact(len(table.X))
        self.centre_ = (table.X.min(axis=0) / 2 + table.X.max(axis=0) / 2).astype(np.float64)
        self.scale_ = _scale_factors(table.X, table.sample_weight) if self.scale else None
        self.directions_ = None if self.exact_ else self._draw_directions(table.X.shape[1])
        projected = self._project(np.asarray(check_rows(self, X)), np.float32)
        self.machine_ = self._machine().fit(projected, y, sample_weight)
        for name in ("certificate_", "classes_", "dual_coef_", "intercept_", "n_iter_"):
            setattr(self, name, getattr(self.machine_, name))
        if self.include_axes:
            models = as_class_list(self.machine_.shapes_)
            self.axis_shapes_ = unwrap_binary([self._axis_shapes(model) for model in models])

    def _sub_estimators(self) -> list:
        return [self.machine_]

    def _is_exact(self, n_samples: int) -> bool:
        if self.include_axes and self.exact is True:
            raise ValueError(
                "exact=True uses no directions, and include_axes=True requires them; set one of "
                "them to False."
            )
        is_small = n_samples <= _MAX_EXACT_SAMPLES and not self.include_axes
        return is_small if self.exact == "auto" else bool(self.exact)

    def _draw_directions(self, n_features: int) -> np.ndarray:
        axes = np.eye(n_features) if self.include_axes else np.empty((0, n_features))
        if len(axes) >= self.n_directions:
            raise ValueError(
                f"n_directions={self.n_directions} must be larger than the {n_features} axes of "
                f"include_axes=True; raise it, or use StumpSVC, whose directions are the axes."
            )
        rng = check_random_state(self.random_state)
        others = rng.normal(size=(self.n_directions - len(axes), n_features))
        others /= np.linalg.norm(others, axis=1, keepdims=True)
        return np.concatenate([axes, others])

    def _machine(self) -> StumpSVC | KernelSVC:
        common = {
            "C": self.C,
            "class_weight": self.class_weight,
            "tol": self.tol,
            "max_iter": self.max_iter,
            "verbose": self.verbose,
        }
        if self.exact_:
            return KernelSVC("perceptron", **common)
        return StumpSVC(measure="lebesgue", max_bins=self.max_bins, n_jobs=self.n_jobs, **common)

    def projections(self) -> np.ndarray:
        """Return the matrix that projects samples, after ``centre_`` is subtracted.

        It is the directions times the scale of the features, normalized so that the sum of the
        stump kernels approximates the perceptron kernel.

        Returns
        -------
        ndarray of shape (n_directions, n_features)
            One row per direction.
        """
        check_is_fitted(self, "directions_")
        if self.directions_ is None:
            raise ValueError(
                "this PerceptronSVC uses the exact kernel and has no projections; fit it with "
                "exact=False."
            )
        unit = 1.0 / (self.n_directions * mean_abs_cosine(self.n_features_in_))
        return self.directions_ * (unit if self.scale_ is None else unit * self.scale_)

    def _project(self, X: np.ndarray, dtype: type) -> np.ndarray:
        """Return the inputs of ``machine_``, computed in blocks of samples."""
        if self.directions_ is None:
            return X if self.scale_ is None else X * self.scale_
        scaled = self.projections().T
        out: np.ndarray = np.empty((len(X), self.n_directions), dtype=dtype)
        for block in self._blocks(len(X)):
            out[block] = (X[block] - self.centre_) @ scaled
        return out

    def _blocks(self, n_samples: int) -> list[slice]:
        step = max(1, _BLOCK_ENTRIES // self.n_directions)
        return [slice(first, first + step) for first in range(0, n_samples, step)]

    def _axis_shapes(self, model: ShapeModel) -> ShapeModel:
        """Return the shape functions of the axes in the units of the features."""
        units = 1.0 / np.diagonal(self.projections())
        axes = zip(model.shapes, units, self.centre_, strict=False)
        return ShapeModel(
            tuple(Shape(shape.knots * unit + center, shape.values) for shape, unit, center in axes),
            0.0,
        )

    def _decision_function(self, X: np.ndarray) -> np.ndarray:
        score = self.machine_.decision_function
        blocks = self._blocks(len(X))
        return np.concatenate([score(self._project(X[block], np.float64)) for block in blocks])


def _scale_factors(X: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
    """Return one over the standard deviation of each feature, 1 for constant features."""
    factors = np.ones(X.shape[1])
    for d, column in enumerate(X.T):
        x = column.astype(np.float64)
        low, high = x.min() / 2, x.max() / 2
        half_range = high - low  # in this unit, squares neither overflow nor underflow
        if half_range > 0.0:
            x = (x / 2 - (low / 2 + high / 2)) / half_range
            mean = np.average(x, weights=weight)
            variance = np.average((x - mean) ** 2, weights=weight)
            factors[d] = 0.5 / (np.sqrt(variance) * half_range)
    return np.where(np.isfinite(factors), factors, 1.0)
