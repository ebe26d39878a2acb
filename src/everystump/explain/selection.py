"""Model selection: scores along a path, and leave-one-out bounds of a search."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from everystump.explain._display import (
    DASHED,
    LINE_COLORS,
    NEUTRAL,
    TEXT,
    AxesDisplay,
    escape,
    training_attribute,
)

_FOLD = "#b9c7d9"


class _Path(NamedTuple):
    """The attributes of an estimator that hold a path and its chosen value."""

    results: str
    chosen: str
    label: str
    problem: str


_PATHS = {
    "C": _Path(
        "cv_results_",
        "C_",
        "C",
        "has no path; pass a fitted StumpSVCCV, StumpLogisticRegressionCV or StumpRegressorCV",
    ),
    "interaction_strength": _Path(
        "interaction_cv_results_",
        "interaction_strength_",
        "interaction strength",
        "has no path of interaction_strength; pass a StumpSVCCV or another CV estimator "
        "fitted with interactions and interaction_strength=None",
    ),
    "n_interactions": _Path(
        "number_cv_results_",
        "interactions_",
        "number of interactions",
        "has no path of n_interactions; pass a StumpSVCCV or another CV estimator that has chosen "
        'the number with interactions="auto", an integer Cs, interaction_strength=None and '
        'selection="cv" on several folds',
    ),
}


@dataclass
class PathDisplay(AxesDisplay):
    """The mean score along a path, with the scores of the folds, standard errors and the choice.

    The path is that of C, of the strength of interactions, where the model without interactions is
    the first point, or of the number of interactions.  If the name of the score starts with
    ``neg_``, the loss itself is drawn.

    Attributes
    ----------
    results : dict
        ``cv_results_``, ``interaction_cv_results_`` or ``number_cv_results_`` of the estimator.
    chosen : float
        The chosen value.
    scorer : str
        The name of the score.
    param : {"C", "interaction_strength", "n_interactions"}
        The parameter that varies along the path.
    refined : float or None
        The final value, if it is that of a later choice: C is chosen once more with interactions,
        and their strength changes with it and if fewer of them are kept; of their number,
        negligible ones are dropped.
    figure_, ax_ : matplotlib Figure and Axes
        The plot, set by `plot`.
    """

    results: dict[str, Any]
    chosen: float
    scorer: str = "score"
    param: str = "C"
    refined: float | None = None

    @classmethod
    def from_estimator(cls, estimator: Any, *, param: str = "C", ax: Any = None) -> Self:
        """Draw a path of a fitted `StumpSVCCV`, `StumpLogisticRegressionCV` or `StumpRegressorCV`.

        Parameters
        ----------
        estimator : estimator
            Fitted, with ``cv_results_`` and ``C_``; for the strength of interactions, with
            ``interaction_cv_results_``, and for their number, with ``number_cv_results_``.
        param : {"C", "interaction_strength", "n_interactions"}, default="C"
            The parameter whose path is drawn.
        ax : matplotlib Axes, optional
            The axes to draw on; a new figure by default.

        Returns
        -------
        PathDisplay
            With ``figure_`` and ``ax_``.
        """
        if param not in _PATHS:
            raise ValueError(f"param={param!r} has no path; use one of {sorted(_PATHS)}.")
        path = _PATHS[param]
        results = training_attribute(estimator, path.results, path.problem)
        scorer = getattr(estimator, "scoring_", "accuracy")  # absent in earlier model files
        if estimator.selection != "loo-bound":
            where = "on held-out folds" if results["n_splits"] > 1 else "on a held-out split"
            scorer = f"{scorer} {where}"
        # Absent in earlier model files, where the last choice was the only one.
        final = getattr(estimator, path.chosen)
        final = float(len(final) if param == "n_interactions" else final)
        chosen = results.get("chosen", final)
        refined = final if hasattr(estimator, "refined_cv_results_") else None
        return cls(results, float(chosen), scorer, param, refined).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        values, mean = self.results[f"param_{self.param}"], self.results["mean_test_score"]
        positions, n_splits = _log_positions(values), self.results["n_splits"]
        is_negated = self.scorer.startswith("neg_")  # scikit-learn's scores of losses
        sign = -1.0 if is_negated else 1.0
        error = self.results["std_test_score"] / np.sqrt(max(n_splits - 1, 1))
        for k in range(n_splits):
            scores = sign * self.results[f"split{k}_test_score"]
            ax.plot(positions, scores, color=_FOLD, linewidth=0.8)
        ax.errorbar(
            positions,
            sign * mean,
            yerr=error,
            color=NEUTRAL,
            linewidth=1.8,
            capsize=2.5,
            marker="o",
            markersize=4,
            label="mean over folds ± standard error" if n_splits > 1 else None,
        )
        label = _PATHS[self.param].label
        choice = f"chosen {label} = {self.chosen:.3g}" if self.chosen else "chosen: no interactions"
        if self.refined is not None and self.refined != self.chosen:
            choice += f"\n({self.refined:.3g} in the final model)"
        _mark_chosen(ax, positions[np.argmin(np.abs(values - self.chosen))], choice)
        ax.set_xscale("log", base=2)
        if values[0] == 0:
            _label_ticks(ax, positions, "none")
        elif self.param == "n_interactions":
            _label_ticks(ax, positions, f"{values[0]:g}")
        ax.set_xlabel(label)
        name = self.scorer.removeprefix("neg_").replace("_", " ") if is_negated else self.scorer
        name = re.sub(r"\br2\b", "R²", name)
        ax.set_ylabel(escape(f"{name} (lower is better)" if is_negated else name))
        ax.legend(frameon=False, fontsize=9)


@dataclass
class BoundSearchDisplay(AxesDisplay):
    """The bound and the test error of each candidate of a `LooBoundSearch`.

    Attributes
    ----------
    values : ndarray
        The values of the parameter, ascending, or the ranks of the candidates by bound.
    bounds, errors : ndarray
        The leave-one-out bound and the test error of each candidate.
    chosen : float
        The value of the chosen candidate.
    label : str
        The name of the values.
    figure_, ax_ : matplotlib Figure and Axes
        The plot, set by `plot`.
    """

    values: np.ndarray
    bounds: np.ndarray
    errors: np.ndarray
    chosen: float
    label: str

    @classmethod
    def from_search(
        cls, search: Any, X: Any, y: Any, *, param: str | None = None, ax: Any = None
    ) -> Self:
        """Draw the candidates of a fitted search.

        Parameters
        ----------
        search : LooBoundSearch
            Fitted.
        X, y : array-like
            Test data that was not used in training.
        param : str, optional
            The numeric parameter on the x-axis, with the best candidate for each of its values.
            By default the only parameter; if there are several, all candidates by rank.
        ax : matplotlib Axes, optional
            The axes to draw on; a new figure by default.

        Returns
        -------
        BoundSearchDisplay
            With ``figure_`` and ``ax_``.
        """
        if not hasattr(search, "candidates_"):
            raise ValueError(f"search={search!r} has no bounds; pass a fitted LooBoundSearch.")
        results = search.cv_results_
        names = [name for name in results if name.startswith("param_")]
        if param is None and len(names) == 1:
            param = names[0].removeprefix("param_")
        if param is None:
            values, label = np.argsort(np.argsort(results["bound"])) + 1.0, "rank by bound"
        else:
            values, label = _parameter_values(results, param), param
        best = _best_of_each(values, results["bound"])
        errors = [1.0 - search.candidates_[k].score(X, y) for k in best]
        chosen = float(values[search.best_index_])
        bounds = results["bound"][best]
        return cls(values[best], bounds, np.array(errors), chosen, label).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        bound, error = LINE_COLORS[:2]
        ax.plot(
            self.values, self.bounds, "o--", color=bound, markersize=4, label="leave-one-out bound"
        )
        ax.plot(self.values, self.errors, "o-", color=error, markersize=4, label="test error")
        _mark_chosen(ax, self.chosen, f"chosen: {self.chosen:.3g}")
        if self.values[0] > 0 and self.values[-1] > 20 * self.values[0]:
            ax.set_xscale("log")
        ax.set_ylim(bottom=0.0)
        ax.set_xlabel(escape(self.label))
        ax.set_ylabel("error")
        ax.legend(frameon=False, fontsize=9)


def _mark_chosen(ax: Any, value: float, label: str) -> None:
    ax.axvline(value, color=TEXT, linestyle=DASHED, linewidth=1.0, label=label)


def _log_positions(values: np.ndarray) -> np.ndarray:
    """Return positions on a logarithmic axis; a first value of 0 is one step left of the others."""
    if values[0] > 0:
        return values
    step = values[2] / values[1] if len(values) > 2 else 2.0
    return np.append(values[1] / step, values[1:])


def _label_ticks(ax: Any, positions: np.ndarray, first: str) -> None:
    """Label the first position with a text, and some of the others with their values."""
    least = (positions[-1] / positions[0]) ** 0.2  # between labels, which must not overlap
    shown: list[float] = []
    for position in positions[:0:-1]:
        if position >= least * positions[0] and (not shown or position <= shown[-1] / least):
            shown.append(position)
    labels = [f"{value:.0f}" if 10 <= value < 1e5 else f"{value:.2g}" for value in shown]
    ax.set_xticks([positions[0], *shown], [first, *labels])
    ax.minorticks_off()


def _best_of_each(values: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """Return the candidate with the smallest bound for each value, by ascending value."""
    order = np.lexsort((bounds, values))
    order = order[np.isfinite(values[order])]
    first = np.append(True, np.diff(values[order]) > 0)
    return order[first]


def _parameter_values(results: dict[str, Any], param: str) -> np.ndarray:
    """Return the values of a numeric parameter, NaN for candidates without it."""
    column = results.get(f"param_{param}", [None])
    mask = np.ma.getmaskarray(np.ma.asarray(column))
    try:
        return np.array([np.nan if m else float(v) for v, m in zip(column, mask, strict=True)])
    except (TypeError, ValueError):
        raise ValueError(
            f"param={param!r} is not a numeric parameter of the search; pass the name of a numeric "
            f"parameter."
        ) from None
