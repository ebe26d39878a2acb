"""Boosting: stumps found one after another, each against the weights that the others left.

    f <- 0;  repeat:  weights  w_i = -loss'(y_i f(x_i))
                      stump    phi = argmin R(phi),  R the weighted error
                      step     t = argmin over t of  sum of loss(y_i (f(x_i) + t phi(x_i)))
                      f <- f + learning_rate t phi

With the exponential loss this is AdaBoost, ``t = log((1 - R) / R) / 2`` (Sugiyama, Fig. 30.8;
Wang et al., Algorithm 1); the loss is all that MadaBoost and LogitBoost change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from typing import NamedTuple, Protocol

import numpy as np

from everystump._core.boosting.losses import BoostingLoss
from everystump._core.boosting.rows import BoostedRows
from everystump._core.boosting.search import Search, Stump
from everystump._core.boosting.vote import Stumps


class StopReason(Enum):
    """Why boosting came to its end."""

    ROUNDS = "all rounds done"
    PERFECT = "a stump without an error"
    CHANCE = "no stump better than a coin"
    WATCHED = "no progress on held-out rows"


class Boosted(NamedTuple):
    """What boosting found."""

    stumps: Stumps
    ending: StopReason


# Called with each stump and its weight; True ends boosting.
Watch = Callable[[Stump, float], bool]


class WeightedHistograms(Protocol):
    """Rows that a stump can be sought for."""

    def tables(self) -> np.ndarray:
        """Return the weights of both sides at each place of each feature."""

    def histogram_of(self, feature: int) -> np.ndarray:
        """Return the weights of both sides at each place of a feature."""


# How the next stump is chosen; None if there is none better than a coin.
Choice = Callable[[Search, WeightedHistograms], Stump | None]


def best_of_all(search: Search, rows: WeightedHistograms) -> Stump | None:
    """Return the best stump of all features."""
    stump = search.best(rows.tables())
    return None if stump.is_chance else stump


def best_of_random(rng: np.random.Generator, n_features: int) -> Choice:
    """Return the choice of the best stump of one feature drawn at random.

    Where that feature has none better than a coin, another one is drawn.
    """

    def choose(search: Search, rows: WeightedHistograms) -> Stump | None:
        stumps = (
            search.best_of_feature(d, rows.histogram_of(d)) for d in rng.permutation(n_features)
        )
        return next((stump for stump in stumps if not stump.is_chance), None)

    return choose


def boost(
    rows: BoostedRows,
    search: Search,
    choose: Choice,
    loss: BoostingLoss,
    *,
    n_estimators: int,
    learning_rate: float = 1.0,
    start: Stumps | None = None,
    watch: Watch = lambda stump, weight: False,
) -> Boosted:
    """Boost until there are ``n_estimators`` stumps, or nothing is left to gain.

    A stump without an error would get an infinite weight, so it alone is kept.  If no stump is
    better than a coin, the loss is at its minimum over all ensembles of these stumps.
    """
    found: list[Stump] = []
    weights: list[float] = []

    def is_perfect(stump: Stump) -> bool:
        # Under the first weights: the later ones of a wrong row may be too small to be seen.
        return search.judge(stump, rows.initial_histograms).wrong == 0.0

    def add(stump: Stump, weight: float) -> None:
        found.append(stump)
        weights.append(weight)
        rows.move(weight, stump.right + stump.wrong)

    for stump, weight in _known(search, start):
        if is_perfect(stump):
            return Boosted(Stumps.of([stump], [1.0]), StopReason.PERFECT)
        rows.apply_votes(stump, search)
        add(stump, weight)
    if found:
        rows.resume()
    ending = StopReason.ROUNDS
    while len(found) < n_estimators:
        chosen = choose(search, rows)
        if chosen is None:
            ending = StopReason.CHANCE
            break
        if is_perfect(chosen):
            return Boosted(Stumps.of([chosen], [1.0]), StopReason.PERFECT)
        rows.apply_votes(chosen, search)
        add(chosen, learning_rate * loss.step(chosen, rows.along))
        if watch(chosen, weights[-1]):
            ending = StopReason.WATCHED
            break
    return Boosted(Stumps.of(found, weights), ending)


def _known(search: Search, start: Stumps | None) -> Iterator[tuple[Stump, float]]:
    """Yield the stumps of an earlier run, and their weights."""
    if start is not None:
        for feature, threshold, level, direction, missing, weight, error in zip(
            *start, strict=True
        ):
            place = search.columns[feature].bin_of(threshold, level)
            known = Stump(feature, place, threshold, level, direction, missing, 1 - error, error)
            yield known, weight
