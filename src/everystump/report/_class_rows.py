"""The rows of a page: confusion matrix, margins, uncertain rows, errors, what-if rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from everystump._core.shapes import ShapeModel
from everystump._tables.frames import is_frame
from everystump._tables.labels import class_indices
from everystump.explain.margins import class_margins
from everystump.report._encoding import to_plain

_MAX_EXPLAINED, _MAX_WHAT_IF, _N_BINS = 10, 200, 40
_MAX_CELLS = 20_000  # of all rows of the what-if panel


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """Rows with their scores."""

    table: Any  # the rows as the caller passed them
    columns: list  # the names of the table's columns, in the order of the features
    X: np.ndarray  # the same as numbers, with indices of levels
    scores: np.ndarray  # (n_rows, n_classes); with two classes, minus the score and the score
    actual: np.ndarray | None  # the index of each row's class

    @classmethod
    def from_model(cls, model: Any, table: Any, X: np.ndarray, y: Any) -> ScoredRows:
        """Score rows with a model."""
        score = np.asarray(model.decision_function(table), dtype=np.float64)
        actual = None if y is None else class_indices(y, model.classes_, len(X))
        scores = np.column_stack([-score, score]) if score.ndim == 1 else score
        columns = [feature.name for feature in model.feature_info_]
        return cls(table, columns, X, scores, actual)

    @cached_property
    def predicted(self) -> np.ndarray:
        """The index of each row's predicted class, the first one in a tie."""
        return self.scores.argmax(axis=1)

    def name(self, i: int) -> Any:
        """Return the index label of a row in a pandas frame, else its number."""
        return to_plain(self.table.index[i]) if hasattr(self.table, "iloc") else i

    def margins(self, label: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the margin of one class per row over the best other class, and that class."""
        margin, best_other = class_margins(self.scores, label)
        return (margin / 2 if self.scores.shape[1] == 2 else margin), best_other


def summarize_quality(rows: ScoredRows, actual: np.ndarray) -> dict[str, Any]:
    """Return the confusion matrix and the margins of labeled rows."""
    n_classes = rows.scores.shape[1]
    confusion = np.zeros((n_classes, n_classes), dtype=int)
    np.add.at(confusion, (actual, rows.predicted), 1)
    totals = confusion.sum(axis=1, keepdims=True)
    rates = np.divide(confusion, totals, out=np.zeros(confusion.shape), where=totals > 0)
    margins, _ = rows.margins(actual)
    return {
        "n": len(actual),
        "n_wrong": int(np.count_nonzero(rows.predicted != actual)),
        "confusion": confusion.tolist(),
        "rates": rates.tolist(),
        "margins": _histogram(margins),
    }


def _histogram(margins: np.ndarray) -> dict[str, Any]:
    """Return a histogram of margins with bins of equal width and an edge at 0."""
    low, high = min(0.0, float(margins.min())), max(0.0, float(margins.max()))
    width = (high - low) / (_N_BINS - 1) or 1.0
    first = int(np.floor(low / width))
    last = max(int(np.floor(high / width)), first)
    bins = np.clip(np.floor(margins / width).astype(int), first, last) - first
    counts = np.bincount(bins, minlength=last - first + 1)
    edges = [k * width for k in range(first, last + 2)]
    return {
        "edges": edges,
        "counts": counts.tolist(),
        "mean": float(margins.mean()),
        "lowest": float(margins.min()),
        "highest": float(margins.max()),
    }


def least_certain(rows: ScoredRows) -> np.ndarray:
    """Return the rows with the smallest margins of the predicted class, smallest first."""
    return np.argsort(rows.margins(rows.predicted)[0], kind="stable")[:_MAX_EXPLAINED]


def largest_errors(rows: ScoredRows, actual: np.ndarray) -> np.ndarray:
    """Return the misclassified rows with the smallest margins of the actual class."""
    wrong = np.flatnonzero(rows.predicted != actual)
    margins = rows.margins(actual)[0][wrong]
    return wrong[np.argsort(margins, kind="stable")][:_MAX_EXPLAINED]


def explain_rows(
    rows: ScoredRows,
    chosen: np.ndarray,
    models: Sequence[ShapeModel],
    terms: Sequence[tuple[int, ...]],
    *,
    against_actual: bool,
) -> list[dict[str, Any]]:
    """Return some rows with the contributions of some terms.

    With two classes these are contributions to the score; with several, to the difference between
    the scores of the predicted class and of another one: the actual one, or the best other.
    """
    part = replace(rows, X=rows.X[chosen], scores=rows.scores[chosen], actual=None)
    _, others = part.margins(part.predicted)
    if against_actual and rows.actual is not None:
        others = rows.actual[chosen]
    is_binary = len(models) == 1
    columns = [models[0].terms.index(term) for term in terms]
    parts = [model.contributions(part.X)[:, columns] for model in models]
    explained = []
    for k, i in enumerate(chosen.tolist()):
        predicted, other = int(part.predicted[k]), int(others[k])
        scores, difference = part.scores[k], part.scores[k, predicted] - part.scores[k, other]
        explained.append(
            {
                **_row(rows, i),
                "other": other,
                "score": float(scores[1] if is_binary else scores[predicted]),
                "lead": float(scores[predicted] if is_binary else difference),
                "contributions": (
                    parts[0][k] if is_binary else parts[predicted][k] - parts[other][k]
                ).tolist(),
            }
        )
    return explained


def _row(rows: ScoredRows, i: int) -> dict[str, Any]:
    """Return the number, name and classes of a row."""
    return {
        "row": i,
        "name": rows.name(i),
        "predicted": int(rows.predicted[i]),
        "actual": None if rows.actual is None else int(rows.actual[i]),
    }


def what_if_rows(
    rows: ScoredRows, features: Sequence[Mapping[str, Any]], first: Sequence[int]
) -> list[dict[str, Any]]:
    """Return rows for the what-if panel: those of ``first``, and others evenly spaced."""
    n_max = min(_MAX_WHAT_IF, max(2 * _MAX_EXPLAINED, _MAX_CELLS // len(features)))
    spaced = np.linspace(0, len(rows.X) - 1, min(n_max, len(rows.X))).round().astype(int)
    indices = list(dict.fromkeys([*first, *spaced.tolist()]))[:n_max]
    return [
        {
            **_row(rows, i),
            "values": [_value(rows, i, d, feature) for d, feature in enumerate(features)],
        }
        for i in sorted(indices)
    ]


def _value(rows: ScoredRows, i: int, d: int, feature: Mapping[str, Any]) -> Any:
    """Return a cell for the scorer of the page: None if missing; an unknown level is unchanged."""
    x = rows.X[i, d]
    if np.isnan(x):
        return None
    if feature["kind"] == "number":
        return float(x)
    if x >= 0:
        return feature["levels"][int(x)]
    level = to_plain(_cell(rows, i, d))
    return int(level) if isinstance(level, bool) else level


def _cell(rows: ScoredRows, i: int, d: int) -> Any:
    """Return a cell of the original table."""
    if not is_frame(rows.table):
        return np.asarray(rows.table, dtype=object)[i, d]
    column = rows.table[rows.columns[d]]
    return column.iloc[i] if hasattr(column, "iloc") else column[i]
