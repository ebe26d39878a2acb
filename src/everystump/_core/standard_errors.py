"""Standard errors of curves and surfaces, as a model over the same knots and grids.

Two estimates are available: from the Laplace approximation of the posterior
(`everystump._core.solvers.posterior`), and from refits to randomly weighted rows.

The objective, divided by ``C`` times the dispersion ``phi``, is minus the logarithm of a posterior
density whose prior has covariance ``C phi I``; so the covariance of the weights is ``C phi H^-1``
with Newton's matrix ``H``.  The dispersion is the variance of a row's slope divided by its mean
curvature: 1 for the logistic loss, twice the residual variance for the squared loss.  Sample
weights count as repetitions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from everystump._core.design import Design
from everystump._core.losses import LossFamily
from everystump._core.shapes import Shape, ShapeModel
from everystump._core.solvers.posterior import Posterior, Sample
from everystump._core.solvers.problem import Problem
from everystump._core.solvers.row_blocks import SolverBlocks
from everystump._core.solvers.rows import Rows

# By default, samples are drawn until standard errors have about this relative error.
_ACCURACY = 0.03
_MIN_SAMPLES, _MAX_SAMPLES = 8, 200
# With more work than this, exact conditional variances take longer than more samples.
_MAX_CHAIN_WORK = 1e9
# The residual degrees of freedom are at least this fraction of the rows.
_MIN_RESIDUAL_FRACTION = 0.05


class FittedRows(NamedTuple):
    """The rows of one problem, with the scores of its solution."""

    loss: LossFamily
    target: np.ndarray
    weight: np.ndarray  # in the objective
    repeats: np.ndarray | None  # the sample weights; None if all are 1
    scores: np.ndarray
    C: float

    def dispersion(self, n_parameters: float) -> float:
        """Return the dispersion, given the effective number of parameters."""
        loss = self.loss.for_rows(np.array(self.weight), self.target)
        margin = self.loss.signs(self.target) * self.scores
        repeats = np.ones(len(margin)) if self.repeats is None else self.repeats
        curvature = loss.curvature(margin)
        total = float(curvature.sum())
        if total == 0.0:
            return 0.0
        if self.loss.dispersion is not None:  # class weights are not repetitions
            share = float(self.weight / repeats @ curvature) / total
            return self.loss.dispersion * share
        n = float(repeats.sum())
        residual_n = max(n - n_parameters, _MIN_RESIDUAL_FRACTION * n)
        return n / residual_n * float((loss.slope(margin) ** 2 / repeats).sum()) / total


def laplace_errors(
    design: Design,
    rows: FittedRows,
    model: ShapeModel,
    *,
    n_samples: int | None,
    rng: np.random.Generator,
    n_threads: int,
    factor: float = 1.0,
) -> ShapeModel:
    """Return the posterior standard deviation of each curve, surface and of the intercept.

    ``model`` defines the knots, and ``factor`` is that of the solver's scores in the model's.
    """
    fit_intercept = not design.terms.chains.centered
    problem = Problem(design.terms, design.packing, rows.loss, fit_intercept)
    parts = SolverBlocks(
        design.packing, None, rows.target, rows.loss, rows.weight, rows.C, n_threads
    )
    solver_rows = Rows(parts, rows.C)
    solver_rows.set_scores(rows.scores)
    posterior = Posterior(problem, solver_rows)
    known = _known_variances(design, posterior, model)
    moments = Moments(model)
    n_parameters: list[float] = []
    n_drawn = n_samples or _MIN_SAMPLES
    while len(n_parameters) < n_drawn:
        sample = posterior.sample(rng)
        n_parameters.append(sample.explained)
        moments.add(design.shape_model(sample) if known is None else _remainder(design, sample))
        if n_samples is None and len(n_parameters) == _MIN_SAMPLES:
            n_drawn = _needed_samples(moments.squares, known)
    variances = moments.squares
    if known is not None:
        variances = [a + b for a, b in zip(variances, known, strict=True)]
    dispersion = rows.dispersion(float(np.mean(n_parameters)))
    return _as_model(model, variances, factor**2 * rows.C * dispersion)


def _known_variances(
    design: Design, posterior: Posterior, model: ShapeModel
) -> list[np.ndarray] | None:
    """Return the variances of curves given the other features; None if only samples are used."""
    chains = design.terms.chains
    work = chains.longest * len(chains.jumps)
    if chains.centered or design.terms.interactions.terms or work > _MAX_CHAIN_WORK:
        return None
    errors = np.sqrt(posterior.chain_variances(_shares(design)))
    curves = map(design.curve, range(chains.n_features), design.split_by_feature(errors))
    return [part**2 for part in _values(ShapeModel(tuple(curves), 0.0), model)]


def _needed_samples(simulated: list[np.ndarray], known: list[np.ndarray] | None) -> int:
    """Return the number of samples for the default accuracy.

    If the fraction r of a variance is simulated, its root has a relative error of r / sqrt(2 n).
    """
    if known is None:
        return _MAX_SAMPLES
    parts = [
        (a.sum(), (a + b).sum()) for a, b in zip(simulated[:-1], known[:-1], strict=True) if b.any()
    ]
    fraction = max((part / total for part, total in parts), default=0.0)
    n = np.ceil((fraction / _ACCURACY) ** 2 / 2)
    return int(np.clip(n, _MIN_SAMPLES, _MAX_SAMPLES))


def _shares(design: Design) -> np.ndarray:
    """Return the share of each bin in the weight of the rows."""
    return np.concatenate([c.weights / c.weights.sum() for c in design.columns.columns])


def _remainder(design: Design, sample: Sample) -> ShapeModel:
    """Return the curves of a sample without what is independent of the other features."""
    curves = design.shape_model(sample._replace(weights=sample.chain_means))
    means = float(_shares(design) @ design.terms.matvec(sample.weights))
    return replace(curves, intercept=sample.intercept + means)


class Moments:
    """Means of deviations from a model, and of their squares, at its knots and grid points."""

    def __init__(self, model: ShapeModel) -> None:
        self._model, self._n = model, 0
        self._sums = [np.zeros_like(part) for part in _values(model, model)]
        self._square_sums = [np.zeros_like(part) for part in self._sums]

    def add(self, deviation: ShapeModel) -> None:
        """Add a deviation."""
        self._n += 1
        for total, square, own in zip(
            self._sums, self._square_sums, _values(deviation, self._model), strict=True
        ):
            total += own
            square += own**2

    @property
    def squares(self) -> list[np.ndarray]:
        """The means of the squares, by term."""
        return [square / self._n for square in self._square_sums]

    def standard_deviations(self, factor: float = 1.0) -> ShapeModel:
        """Return the sample standard deviations times a factor."""
        variances = [
            np.maximum(square - total**2 / self._n, 0.0) / (self._n - 1)
            for total, square in zip(self._sums, self._square_sums, strict=True)
        ]
        return _as_model(self._model, variances, factor**2)


def _values(model: ShapeModel, grid: ShapeModel) -> list[np.ndarray]:
    """Return the values of each term at the knots of the same term of ``grid``, and the intercept.

    The last value of a curve is that of missing values.
    """
    curves = [_curve_values(own, other) for own, other in zip(model, grid, strict=True)]
    surfaces = []
    for own, other in zip(model.surfaces, grid.surfaces, strict=True):
        if not all(a.same_as(b) for a, b in zip(own.axes, other.axes, strict=True)):
            raise ValueError(
                "X: its bins differ from those of the model, as after fit_chunks; fit the model "
                "with fit for bands of its interactions."
            )
        surfaces.append(own.values)
    return [*curves, *surfaces, np.array([model.intercept])]


def _curve_values(shape: Shape, other: Shape) -> np.ndarray:
    """Return the values of a curve at the knots of another one, and at missing values."""
    knots = other.knots
    if np.array_equal(shape.knots, knots):
        return np.append(shape.values, shape.at_missing())
    jumps_after = np.append(knots[1:] == knots[:-1], False)
    values = np.where(jumps_after, shape.left_limit(knots), shape(knots))
    return np.append(values, shape.at_missing())


def _as_model(model: ShapeModel, variances: Sequence[np.ndarray], factor: float) -> ShapeModel:
    """Return the roots of ``factor`` times the variances of all terms as a model."""
    errors = [np.sqrt(factor * part) for part in variances]
    shapes = tuple(
        replace(shape, values=own[:-1], missing=None if shape.missing is None else float(own[-1]))
        for shape, own in zip(model, errors, strict=False)
    )
    surfaces = tuple(
        replace(surface, values=own)
        for surface, own in zip(model.surfaces, errors[len(model) :], strict=False)
    )
    return ShapeModel(shapes, float(errors[-1][0]), surfaces)
