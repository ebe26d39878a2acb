"""Standard errors of the curves and surfaces of multinomial models.

They are those of `everystump._core.standard_errors`, for the joint posterior of all classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from everystump._core.design import Design
from everystump._core.losses import Logistic
from everystump._core.shapes import ShapeModel
from everystump._core.solvers.multinomial_blocks import MultinomialBlocks
from everystump._core.solvers.multinomial_posterior import MultinomialPosterior
from everystump._core.solvers.multinomial_rows import MultinomialRows
from everystump._core.solvers.problem import Problem
from everystump._core.standard_errors import (
    MIN_SAMPLES,
    N_SAMPLES,
    Moments,
    bin_shares,
    errors_as_model,
    is_simulated,
    needed_samples,
    sampled_model,
    variances_at_knots,
)

# The curvature between pairs of classes takes memory, which counts like so many solutions.
_MIN_SOLUTIONS = 64


class FittedClasses(NamedTuple):
    """The rows of a multinomial problem, with the scores of its solution."""

    label: np.ndarray
    weight: np.ndarray  # in the objective
    repeats: np.ndarray | None  # the sample weights; None if all are 1
    scores: np.ndarray  # (n_classes, n_rows)
    C: float

    def dispersion(self) -> float:
        """Return the dispersion: 1, but class weights are not repetitions."""
        if self.repeats is None:
            factor = np.asarray(self.weight, dtype=np.float64)
        else:
            factor = self.weight / self.repeats
        p = softmax(self.scores, axis=0)
        curvature = self.weight * np.sum(p * (1 - p), axis=0)
        total = float(curvature.sum())
        return float(factor @ curvature) / total if total > 0.0 else 0.0


def multinomial_errors(
    design: Design,
    rows: FittedClasses,
    models: Sequence[ShapeModel],
    *,
    n_samples: int | None,
    rng: np.random.Generator,
    n_threads: int,
) -> list[ShapeModel]:
    """Return the posterior standard deviation of each curve, surface and intercept, by class."""
    fit_intercept = not design.terms.chains.centered
    problem = Problem(design.terms, design.packing, Logistic, fit_intercept)
    blocks = MultinomialBlocks(
        design.packing, None, rows.label, rows.C * rows.weight, len(models), n_threads
    )
    solver_rows = MultinomialRows(blocks)
    solver_rows.set_row_scores(rows.scores)
    posterior = MultinomialPosterior(problem, solver_rows)
    variances = _variances(design, posterior, models, n_samples, rng)
    factor = rows.C * rows.dispersion()
    return [
        errors_as_model(model, own, factor) for model, own in zip(models, variances, strict=True)
    ]


def _variances(
    design: Design,
    posterior: MultinomialPosterior,
    models: Sequence[ShapeModel],
    n_samples: int | None,
    rng: np.random.Generator,
) -> list[list[np.ndarray]]:
    """Return the variances of all terms of each class."""
    moments = [Moments(model) for model in models]

    def draw(n: int, shares: np.ndarray | None) -> list[list[np.ndarray]]:
        for _ in range(n):
            for own, sample in zip(moments, posterior.sample(rng), strict=True):
                own.add(sampled_model(design, sample, shares))
        return [own.squares for own in moments]

    n_pairs = max(len(models) - 1, 1) ** 2
    if is_simulated(design, n_pairs * max(design.terms.chains.longest, _MIN_SOLUTIONS)):
        return draw(n_samples or N_SAMPLES, None)
    shares = bin_shares(design)
    known = [
        variances_at_knots(design, variances, 0.0, model)
        for variances, model in zip(posterior.chain_variances(shares), models, strict=True)
    ]
    n_drawn = n_samples or MIN_SAMPLES
    simulated = draw(n_drawn, shares)
    if n_samples is None:
        simulated = draw(max(map(needed_samples, simulated, known)) - n_drawn, shares)
    return [
        [np.maximum(a + b, 0.0) for a, b in zip(own, exact, strict=True)]
        for own, exact in zip(simulated, known, strict=True)
    ]
