"""Support vector machine over all perceptrons."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from everystump._core.kernel_machines import mean_abs_cosine
from everystump._core.shapes import Shape, ShapeModel
from everystump._sklearn_compat import Interval, one_of
from everystump._tables.validation import check_rows, check_table
from everystump.estimators._base import ScoreClassifier, as_class_list, per_class
from everystump.estimators.kernel_svc import KernelSVC
from everystump.estimators.svc import StumpSVC

_MOST_EXACT_ROWS = 2000
_BLOCK_ENTRIES = 4_000_000


class PerceptronSVC(ScoreClassifier):
    """Infinite ensemble of perceptrons, by all stumps on many random directions.

    The kernel of all perceptrons, ``-|x - y|_2``, is the mean of the stump kernels of all
    directions (Lin & Li); some hundred directions come near to it, and cost grows with the rows
    instead of with their square.  Perceptrons add features up, so these are scaled alike first.

    Parameters
    ----------
    C : float, default=1.0
        What a unit of loss costs, as for `KernelSVC` with the kernel "perceptron".
    n_directions : int, default=500
        How many directions.
    scale : bool, default=True
        Whether each feature is divided by its standard deviation over the training rows and their
        sample weights.  The kernel then follows the rows, so that theory which fixes it beforehand
        does not hold; False leaves features in their own units.
    include_axes : bool, default=False
        Whether the features themselves are among the directions, so that their curves can be read.
    exact : bool or "auto", default="auto"
        Whether to use the kernel itself; "auto" does so up to 2,000 rows, unless the axes are asked
        for.
    max_bins : int, default=256
        Projections with more distinct values are cut into this many bins.
    class_weight : dict, "balanced" or None, default=None
        Factors of C for each class.
    tol : float, default=1e-3
        The relative duality gap to reach.
    max_iter : int, default=1000
        Newton steps at most.
    random_state : int, RandomState instance or None, default=None
        Draws the directions.
    n_jobs : int, optional
        Threads over the rows.  None is all cores, unlike in most of scikit-learn, or what
        ``joblib.parallel_config`` says.
    verbose : int, default=0
        1 shows live progress.

    Attributes
    ----------
    exact_ : bool
        Whether the kernel itself was used.
    scale_ : ndarray of shape (n_features,), or None
        What each feature is multiplied with; None if not `scale`.
    directions_ : ndarray of shape (n_directions, n_features), or None
        Unit vectors over the scaled features, the axes first; None if exact.
    centre_ : ndarray of shape (n_features,)
        What is subtracted from rows before they are scaled and projected.
    machine_ : StumpSVC or KernelSVC
        The machine on the projections, or on the kernel.
    axis_shapes_ : ShapeModel, or a list of them for several classes
        The features' own part of the score, if `include_axes`: the rest is that of other
        directions.
    certificate_ : Certificate, or a list of them for several classes
        As in `StumpSVC`, for the projections that were trained on, which are stored in single
        precision; scores are computed in double precision, and with a very large C (1e4 and more)
        their loss may differ from the certified one by more than the gap.
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

    def __init__(
        self,
        C: float = 1.0,
        *,
        n_directions: int = 500,
        scale: bool = True,
        include_axes: bool = False,
        exact: bool | str = "auto",
        max_bins: int = 256,
        class_weight: Any = None,
        tol: float = 1e-3,
        max_iter: int = 1000,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.n_directions = n_directions
        self.scale = scale
        self.include_axes = include_axes
        self.exact = exact
        self.max_bins = max_bins
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the vote of every perceptron.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Numbers; a pandas or polars frame keeps its column names.
        y : array-like of shape (n_rows,)
            Labels of two or more classes; more than two are set one against the rest.
        sample_weight : array-like of shape (n_rows,), optional
            A weight of 2 counts as the row twice, a weight of 0 as its absence.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._validate_params()
        table = check_table(self, X, y, sample_weight, self.class_weight)
        self.exact_ = self._is_exact(len(table.X))
        self.centre_ = (table.X.min(axis=0) / 2 + table.X.max(axis=0) / 2).astype(np.float64)
        self.scale_ = _factors(table.X, table.sample_weight) if self.scale else None
        self.directions_ = None if self.exact_ else self._draw(table.X.shape[1])
        rows = self._project(np.asarray(check_rows(self, X)), np.float32)
        self.machine_ = self._machine().fit(rows, y, sample_weight)
        for name in ("certificate_", "classes_", "dual_coef_", "intercept_", "n_iter_"):
            setattr(self, name, getattr(self.machine_, name))
        self.__dict__.pop("axis_shapes_", None)
        if self.include_axes:
            models = as_class_list(self.machine_.shapes_)
            self.axis_shapes_ = per_class([self._axis_shapes(model) for model in models])
        return self

    def _sub_estimators(self) -> list:
        return [self.machine_]

    def _is_exact(self, n_rows: int) -> bool:
        if self.include_axes and self.exact is True:
            raise ValueError(
                "exact=True has no directions for include_axes=True to be among; set one of them "
                "to False."
            )
        small = n_rows <= _MOST_EXACT_ROWS and not self.include_axes
        return small if self.exact == "auto" else bool(self.exact)

    def _draw(self, n_features: int) -> np.ndarray:
        axes = np.eye(n_features) if self.include_axes else np.empty((0, n_features))
        if len(axes) >= self.n_directions:
            raise ValueError(
                f"n_directions={self.n_directions} leaves no other direction beside the "
                f"{n_features} axes; raise it, or use StumpSVC, whose directions are the axes."
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
        """Return what rows less ``centre_`` are multiplied with.

        The directions times what makes the mean of their kernels that of all perceptrons, and times
        the scale of the features.

        Returns
        -------
        ndarray of shape (n_directions, n_features)
            One row per direction.
        """
        check_is_fitted(self, "directions_")
        if self.directions_ is None:
            raise ValueError(
                "this PerceptronSVC uses the kernel itself and has no projections; fit it with "
                "exact=False."
            )
        unit = 1.0 / (self.n_directions * mean_abs_cosine(self.n_features_in_))
        return self.directions_ * (unit if self.scale_ is None else unit * self.scale_)

    def _project(self, X: np.ndarray, kind: type) -> np.ndarray:
        """Return the rows as the machine wants them, some at a time."""
        if self.directions_ is None:
            return X if self.scale_ is None else X * self.scale_
        scaled = self.projections().T
        out: np.ndarray = np.empty((len(X), self.n_directions), dtype=kind)
        step = max(1, _BLOCK_ENTRIES // self.n_directions)
        for first in range(0, len(X), step):
            block = slice(first, first + step)
            out[block] = (X[block] - self.centre_) @ scaled
        return out

    def _axis_shapes(self, model: ShapeModel) -> ShapeModel:
        """Return the curves of the axes in the features' own units."""
        units = 1.0 / np.diagonal(self.projections())
        curves = zip(model.shapes, units, self.centre_, strict=False)
        return ShapeModel(
            tuple(Shape(shape.knots * u + centre, shape.values) for shape, u, centre in curves), 0.0
        )

    def _decision_function(self, X: np.ndarray) -> np.ndarray:
        step = max(1, _BLOCK_ENTRIES // self.n_directions)
        parts = [X[first : first + step] for first in range(0, len(X), step)]
        score = self.machine_.decision_function
        return np.concatenate([score(self._project(part, np.float64)) for part in parts])


def _factors(X: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
    """Return one over the standard deviation of each feature, 1 where it does not vary."""
    factors = np.ones(X.shape[1])
    for d, column in enumerate(X.T):
        x = column.astype(np.float64)
        low, high = x.min() / 2, x.max() / 2
        half = high - low  # measured in it, no square is too large or too small
        if half > 0.0:
            x = (x / 2 - (low / 2 + high / 2)) / half
            mean = np.average(x, weights=weight)
            variance = np.average((x - mean) ** 2, weights=weight)
            factors[d] = 0.5 / (np.sqrt(variance) * half)
    return np.where(np.isfinite(factors), factors, 1.0)
