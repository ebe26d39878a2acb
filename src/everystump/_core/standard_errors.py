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
MIN_SAMPLES, _MAX_SAMPLES = 4, 200
# The number of samples if nothing is known without them.
N_SAMPLES = 100
# Features are coupled without samples if this takes less than so many seconds.
_QUICK = 0.1
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
    if is_simulated(design, design.terms.chains.longest):
        simulation = _Simulation(design, posterior, model, rng)
        simulation.draw(n_samples or N_SAMPLES)
        variances, n_parameters = simulation.squares, simulation.n_parameters
    else:
        variances, n_parameters = _curve_variances(design, posterior, model, n_samples, rng)
    return errors_as_model(model, variances, factor**2 * rows.C * rows.dispersion(n_parameters))


def is_simulated(design: Design, n_solutions: int) -> bool:
    """Whether all variances are simulated: with interactions, no intercept, or long chains.

    Exact conditional variances would take ``n_solutions`` solutions with all chains.
    """
    chains = design.terms.chains
    is_long = n_solutions * len(chains.jumps) > _MAX_CHAIN_WORK
    return chains.centered or is_long or bool(design.terms.interactions.terms)


def _curve_variances(
    design: Design,
    posterior: Posterior,
    model: ShapeModel,
    n_samples: int | None,
    rng: np.random.Generator,
) -> tuple[list[np.ndarray], float]:
    """Return the variances of curves and intercept, and the effective number of parameters.

    Features are coupled at once if that is quick, else if it saves more samples than it costs.
    """
    shares = bin_shares(design)
    conditional = posterior.conditional_variances(shares)
    simulation = _Simulation(design, posterior, model, rng, shares)

    def known() -> list[np.ndarray]:
        variances = posterior.known_variances(shares, conditional)
        return variances_at_knots(design, variances, posterior.intercept_variance(shares), model)

    def n_missing() -> int:
        return (n_samples or needed_samples(simulation.squares, known())) - simulation.n_samples

    if posterior.coupling_cost <= _QUICK:
        posterior.couple()
    for n in (1, MIN_SAMPLES):  # the first sample shows the cost of samples, some more their use
        if not posterior.is_exact:
            simulation.draw(n - simulation.n_samples)
            missing = MIN_SAMPLES - n or n_missing()
            if missing * simulation.cost > posterior.coupling_cost:
                posterior.couple()
                simulation = _Simulation(design, posterior, model, rng, shares)
    if posterior.is_exact:
        return known(), posterior.n_parameters
    simulation.draw(MIN_SAMPLES - simulation.n_samples)
    simulation.draw(n_missing())
    least = variances_at_knots(design, conditional, 0.0, model)
    return [
        np.maximum(a + b, c) for a, b, c in zip(known(), simulation.squares, least, strict=True)
    ], simulation.n_parameters


def variances_at_knots(
    design: Design, variances: np.ndarray, intercept: float, model: ShapeModel
) -> list[np.ndarray]:
    """Return variances by bin at the knots of the curves of a model, and that of the intercept."""
    errors = np.sign(variances) * np.sqrt(np.abs(variances))  # corrections may be negative
    curves = [design.curve(d, own) for d, own in enumerate(design.split_by_feature(errors))]
    values = _values(ShapeModel(tuple(curves), 0.0), model)
    return [*(part * np.abs(part) for part in values[:-1]), np.array([intercept])]


def bin_shares(design: Design) -> np.ndarray:
    """Return the share of each bin in the weight of the rows."""
    return np.concatenate([c.weights / c.weights.sum() for c in design.columns.columns])


class _Simulation:
    """Samples of the posterior: of whole models or, with ``shares``, of what is not known."""

    def __init__(
        self,
        design: Design,
        posterior: Posterior,
        model: ShapeModel,
        rng: np.random.Generator,
        shares: np.ndarray | None = None,
    ) -> None:
        self._design, self._posterior, self._rng, self._shares = design, posterior, rng, shares
        self._moments = Moments(model)
        self._n_parameters: list[float] = []
        self._first_products = posterior.products

    def draw(self, n: int) -> None:
        """Draw samples."""
        for _ in range(n):
            sample = self._posterior.sample(self._rng)
            self._n_parameters.append(sample.explained)
            self._moments.add(sampled_model(self._design, sample, self._shares))

    @property
    def n_samples(self) -> int:
        """The number of samples."""
        return len(self._n_parameters)

    @property
    def squares(self) -> list[np.ndarray]:
        """The means of the squares, by term."""
        return self._moments.squares

    @property
    def n_parameters(self) -> float:
        """The mean effective number of parameters."""
        return float(np.mean(self._n_parameters))

    @property
    def cost(self) -> float:
        """The estimated seconds of a sample."""
        products = self._posterior.products - self._first_products
        return self._posterior.product_cost * products / self.n_samples


def sampled_model(design: Design, sample: Sample, shares: np.ndarray | None) -> ShapeModel:
    """Return the model of a sample; with the shares of the bins only of what is not known of it."""
    if shares is None:
        return design.shape_model(sample)
    curves = design.shape_model(sample._replace(weights=sample.remainder))
    means = float(shares @ design.terms.matvec(sample.weights))
    return replace(curves, intercept=sample.intercept - sample.free_intercept + means)


def needed_samples(simulated: list[np.ndarray], known: list[np.ndarray]) -> int:
    """Return the number of samples for the default accuracy, given the parts of the variances.

    If the fraction r of a variance is simulated, its root has a relative error of r / sqrt(2 n).
    """
    parts = [
        (a.sum(), (a + b).sum()) for a, b in zip(simulated[:-1], known[:-1], strict=True) if b.any()
    ]
    # What is known may be negative.
    fraction = max((part / max(total, 0.1 * part) for part, total in parts if part), default=0.0)
    n = np.ceil((fraction / _ACCURACY) ** 2 / 2)
    return int(np.clip(n, MIN_SAMPLES, _MAX_SAMPLES))


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
        return errors_as_model(self._model, variances, factor**2)


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


def errors_as_model(
    model: ShapeModel, variances: Sequence[np.ndarray], factor: float
) -> ShapeModel:
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
