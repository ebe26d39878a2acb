"""The fits of one fold along a path of a parameter, and the results of all folds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import rankdata

from everystump._core.design import Design
from everystump._core.solvers.problem import Solution
from everystump._selection.folds import Fold
from everystump._selection.scorers import Score


class Fit(NamedTuple):
    """The results of a fit on one fold."""

    score: float
    gap: float
    fit_time: float
    score_time: float


class FoldDesign(NamedTuple):
    """A fold and the design of its fits, whose weights may be its own."""

    fold: Fold
    design: Design


# A design and its solutions, one per class.
Start = tuple[Design, list[Solution]]


@dataclass
class FoldPath:
    """One fold, its scorer, its design, and the results of each value of the parameter."""

    fold: Fold
    score: Score
    design: Design
    first_start: Start | None = None  # from which the path begins
    fits: dict[float, Fit] = field(default_factory=dict)
    # The solutions of the smallest, the largest and the best value, from which others start.
    _starts: dict[float, Start] = field(default_factory=dict)

    def starts(self, value: float, design: Design) -> list[Solution] | None:
        """Return the solutions of the nearest value as starts for another one."""
        start = self._nearest(value)
        if start is None:
            return None
        source, solutions = start
        return [design.warm_start(solution, source) for solution in solutions]

    def _nearest(self, value: float) -> Start | None:
        if not self._starts:
            return self.first_start
        return self._starts[min(self._starts, key=lambda known: abs(np.log(known / value)))]

    def start_at(self, value: float) -> Start | None:
        """Return the design and the solutions of a value; None if they were not kept."""
        return self._starts.get(value)

    def add(self, value: float, fit: Fit, start: Start) -> None:
        """Add the results of a value, and its solutions."""
        self.fits[value] = fit
        self._starts[value] = start
        best = max(self._starts, key=lambda known: self.fits[known].score)
        useful = {min(self._starts), max(self._starts), best}
        self._starts = {known: self._starts[known] for known in useful}

    def restart(self, value: float, new_value: float) -> FoldPath:
        """Return the path of another parameter, where ``new_value`` has the results of a value."""
        start = self._nearest(value)
        return FoldPath(self.fold, self.score, self.design, start, {new_value: self.fits[value]})


def path_fits(values: Sequence[float], paths: Sequence[FoldPath]) -> list[list[Fit]]:
    """Return the results of each value, for each fold."""
    return [[path.fits[value] for value in values] for path in paths]


def path_scores(values: Sequence[float], paths: Sequence[FoldPath]) -> np.ndarray:
    """Return the scores, of shape (n_folds, n_values)."""
    return fit_scores(path_fits(values, paths))


def fit_scores(fits: Sequence[Sequence[Fit]]) -> np.ndarray:
    """Return the scores of fits, of shape (n_folds, n_values); raise if one is not finite."""
    scores = np.array([[fit.score for fit in row] for row in fits])
    if not np.all(np.isfinite(scores)):
        k = int(np.flatnonzero(~np.isfinite(scores).all(axis=1))[0])
        raise ValueError(
            f"scoring returned {scores[k][~np.isfinite(scores[k])][0]} on fold {k}; use another "
            f"scorer, or larger folds if it is undefined for so few samples."
        )
    return scores


def cv_results(name: str, values: Sequence[Any], fits: Sequence[Sequence[Fit]]) -> dict[str, Any]:
    """Return the results of the values of a parameter, for each fold, as GridSearchCV does."""
    scores = fit_scores(fits)
    fit_times, score_times, gaps = (
        np.array([[getattr(fit, part) for fit in row] for row in fits])
        for part in ("fit_time", "score_time", "gap")
    )
    return {
        f"param_{name}": np.array(values),
        "params": [{name: value} for value in values],
        **{f"split{k}_test_score": row for k, row in enumerate(scores)},
        "mean_test_score": scores.mean(axis=0),
        "std_test_score": _deviations(scores),
        "rank_test_score": rankdata(-scores.mean(axis=0), method="min").astype(int),
        "mean_fit_time": fit_times.mean(axis=0),
        "std_fit_time": fit_times.std(axis=0),
        "mean_score_time": score_times.mean(axis=0),
        "std_score_time": score_times.std(axis=0),
        "max_gap": gaps.max(axis=0),
        "n_splits": len(fits),
    }


def add_strengths(results: dict[str, Any], strengths: np.ndarray) -> None:
    """Add the strength of interactions to the results of a path of another parameter."""
    results["param_interaction_strength"] = strengths
    for params, strength in zip(results["params"], strengths.tolist(), strict=True):
        params["interaction_strength"] = strength


def _deviations(scores: np.ndarray) -> np.ndarray:
    """Return the standard deviations over folds; squares of tiny and huge scores stay in range."""
    _, exponent = np.frexp(np.abs(scores).max())
    return np.ldexp(np.ldexp(scores, -exponent).std(axis=0), exponent)
