"""The fits of one fold along a path of a parameter, and the results of all folds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import rankdata

from everystump._core.design import Design
from everystump._core.solvers.problem import Solution
from everystump._selection.folds import Fold
from everystump._selection.scorers import Score


@dataclass
class FoldPath:
    """One fold, its scorer, its design, and the results of each value of the parameter."""

    fold: Fold
    score: Score
    design: Design
    first_start: tuple[Design, list[Solution]] | None = None  # from which the path begins
    # The designs and solutions at both ends of the path, from which it continues.
    ends: dict[float, tuple[Design, list[Solution]]] = field(default_factory=dict)
    gaps: dict[float, float] = field(default_factory=dict)
    scores: dict[float, float] = field(default_factory=dict)
    fit_times: dict[float, float] = field(default_factory=dict)
    score_times: dict[float, float] = field(default_factory=dict)

    def starts(self, value: float, design: Design) -> list[Solution] | None:
        """Return the solutions of the nearest value as starts for another one."""
        start = self.first_start
        if self.ends:
            start = self.ends[min(self.ends, key=lambda end: abs(np.log(end / value)))]
        if start is None:
            return None
        source, solutions = start
        return [design.warm_start(solution, source) for solution in solutions]

    def add_end(self, value: float, design: Design, solutions: list[Solution]) -> None:
        """Store the solutions of a value if it is an end of the path."""
        self.ends[value] = design, solutions
        self.ends = {end: self.ends[end] for end in (min(self.ends), max(self.ends))}

    def continued(self, value: float, renamed: float) -> FoldPath:
        """Return the path of another parameter that begins with the results of a value.

        There the value is called ``renamed``.
        """
        path = FoldPath(self.fold, self.score, self.design)
        path.first_start = self.ends[min(self.ends, key=lambda end: abs(np.log(end / value)))]
        for name in ("gaps", "scores", "fit_times", "score_times"):
            setattr(path, name, {renamed: getattr(self, name)[value]})
        return path


def path_scores(values: list[float], paths: list[FoldPath]) -> np.ndarray:
    """Return the scores, of shape (n_folds, n_values)."""
    scores = np.array([[path.scores[value] for value in values] for path in paths])
    if not np.all(np.isfinite(scores)):
        k = int(np.flatnonzero(~np.isfinite(scores).all(axis=1))[0])
        raise ValueError(
            f"scoring returned {scores[k][~np.isfinite(scores[k])][0]} on fold {k}; use another "
            f"scorer, or larger folds if it is undefined for so few samples."
        )
    return scores


def cv_results(name: str, values: list[float], paths: list[FoldPath]) -> dict[str, Any]:
    """Return the results of all fits along the path of a parameter, as GridSearchCV does."""
    scores = path_scores(values, paths)
    fit_times = np.array([[path.fit_times[value] for value in values] for path in paths])
    score_times = np.array([[path.score_times[value] for value in values] for path in paths])
    gaps = [[path.gaps[value] for value in values] for path in paths]
    return {
        f"param_{name}": np.array(values),
        "params": [{name: value} for value in values],
        **{f"split{k}_test_score": row for k, row in enumerate(scores)},
        "mean_test_score": scores.mean(axis=0),
        "std_test_score": scores.std(axis=0),
        "rank_test_score": rankdata(-scores.mean(axis=0), method="min").astype(int),
        "mean_fit_time": fit_times.mean(axis=0),
        "std_fit_time": fit_times.std(axis=0),
        "mean_score_time": score_times.mean(axis=0),
        "std_score_time": score_times.std(axis=0),
        "max_gap": np.max(gaps, axis=0),
        "n_splits": len(paths),
    }
