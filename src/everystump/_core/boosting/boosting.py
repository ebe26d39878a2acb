"""Boosting: stumps are fitted one after another, each to weights set by the previous ones.

    f <- 0;  repeat:  weights  w_i = -loss'(y_i f(x_i))
                      stump    phi = argmin R(phi),  R the weighted error
                      step     t = argmin over t of  sum of loss(y_i (f(x_i) + t phi(x_i)))
                      f <- f + learning_rate t phi

With the exponential loss this is AdaBoost, ``t = log((1 - R) / R) / 2`` (Sugiyama, Fig. 30.8;
Wang et al., Algorithm 1).  MadaBoost and LogitBoost differ in the loss only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from typing import NamedTuple, Protocol

import numpy as np

from everystump._core.boosting.losses import BoostingLoss
from everystump._core.boosting.rows import BoostedRows
from everystump._core.boosting.search import Stump, StumpSearch
from everystump._core.boosting.stumps import Stumps


class StopReason(Enum):
    """Why boosting stopped."""

    ROUNDS = "all rounds done"
    PERFECT = "a stump without errors"
    CHANCE = "no stump better than chance"
    MONITOR = "no improvement on held-out rows"


class BoostingResult(NamedTuple):
    """The stumps of a boosting run, and why it stopped."""

    stumps: Stumps
    stop_reason: StopReason


# Called with each stump and its weight; True stops boosting.
Monitor = Callable[[Stump, float], bool]


class HistogramSource(Protocol):
    """Weighted rows that the search for a stump reads."""

    def histograms(self) -> np.ndarray:
        """Return the class-weight histograms of all features."""

    def feature_histogram(self, feature: int) -> np.ndarray:
        """Return the class-weight histogram of a feature."""


# Finds the next stump; None if none is better than chance.
StumpChoice = Callable[[StumpSearch, HistogramSource], Stump | None]


def best_of_all(search: StumpSearch, rows: HistogramSource) -> Stump | None:
    """Return the best stump of all features."""
    stump = search.best(rows.histograms())
    return None if stump.is_chance else stump


def best_of_random(rng: np.random.Generator, n_features: int) -> StumpChoice:
    """Return a function that finds the best stump of a random feature.

    If that feature has none better than chance, another one is drawn.
    """

    def choose(search: StumpSearch, rows: HistogramSource) -> Stump | None:
        features = rng.permutation(n_features)
        stumps = (search.best_of_feature(d, rows.feature_histogram(d)) for d in features)
        return next((stump for stump in stumps if not stump.is_chance), None)

    return choose


def boost(
    rows: BoostedRows,
    search: StumpSearch,
    choose: StumpChoice,
    loss: BoostingLoss,
    *,
    n_estimators: int,
    learning_rate: float = 1.0,
    start: Stumps | None = None,
    monitor: Monitor = lambda stump, weight: False,
) -> BoostingResult:
    """Boost until there are ``n_estimators`` stumps or no further gain.

    A stump without errors would get an infinite weight, so it is returned on its own.  If no stump
    is better than chance, the loss is at its minimum over all ensembles of these stumps.
    """
    stumps: list[Stump] = []
    weights: list[float] = []

    def is_perfect(stump: Stump) -> bool:
        # Under the initial weights: later ones may underflow.
        return search.reweighted(stump, rows.initial_histograms).incorrect == 0.0

    def add(stump: Stump, weight: float | None = None) -> None:
        rows.apply_votes(stump, search)
        if weight is None:
            weight = learning_rate * loss.step(stump, rows.derivatives)
        stumps.append(stump)
        weights.append(weight)
        rows.advance(weight, stump.correct + stump.incorrect)

    for stump, weight in _previous_stumps(search, start):
        if is_perfect(stump):
            return BoostingResult(Stumps.from_stumps([stump], [1.0]), StopReason.PERFECT)
        add(stump, weight)
    if stumps:
        rows.reset_weights()
    stop_reason = StopReason.ROUNDS
    while len(stumps) < n_estimators:
        chosen = choose(search, rows)
        if chosen is None:
            stop_reason = StopReason.CHANCE
            break
        if is_perfect(chosen):
            return BoostingResult(Stumps.from_stumps([chosen], [1.0]), StopReason.PERFECT)
        add(chosen)
        if monitor(chosen, weights[-1]):
            stop_reason = StopReason.MONITOR
            break
    return BoostingResult(Stumps.from_stumps(stumps, weights), stop_reason)


def _previous_stumps(search: StumpSearch, start: Stumps | None) -> Iterator[tuple[Stump, float]]:
    """Yield the stumps of an earlier run and their weights."""
    if start is not None:
        for feature, threshold, level, direction, missing, weight, error in zip(
            *start, strict=True
        ):
            edge = search.columns[feature].bin_of(threshold, level)
            yield (
                Stump(feature, edge, threshold, level, direction, missing, 1 - error, error),
                weight,
            )
