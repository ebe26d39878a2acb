"""What the page tells of rows: margins, confusion, hard ones, and those to start a what-if from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from everystump._core.shapes import ShapeModel
from everystump._tables import Feature, is_frame
from everystump._tables.labels import class_indices
from everystump.report.plain import as_plain

_MOST_HARD, _MOST_STARTS, _BINS = 10, 200, 40
_MOST_CELLS = 20_000  # of all rows to start from


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """Rows that the model is shown on, with what it says of them.

    Attributes
    ----------
    table : frame or array
        The rows as the user has them.
    X : ndarray of shape (n_rows, n_features)
        The same as numbers, those of levels among them.
    scores : ndarray of shape (n_rows, n_classes)
        For two classes the score and its opposite are those of the second and the first.
    truth : ndarray of int, shape (n_rows,), or None
        The number of each row's class.
    """

    table: Any
    X: np.ndarray
    scores: np.ndarray
    truth: np.ndarray | None

    @classmethod
    def of(cls, model: Any, table: Any, X: np.ndarray, y: Any) -> ScoredRows:
        """Ask a model for the scores of rows."""
        score = np.asarray(model.decision_function(table), dtype=np.float64)
        truth = None if y is None else class_indices(y, model.classes_, len(X))
        both = np.column_stack([-score, score]) if score.ndim == 1 else score
        return cls(table, X, both, truth)

    @property
    def predicted(self) -> np.ndarray:
        """The number of the class that each row is predicted to be: the first of equals."""
        return self.scores.argmax(axis=1)

    def label(self, i: int) -> Any:
        """Return what the user knows a row by: its label in a pandas frame, else its number."""
        return as_plain(self.table.index[i]) if hasattr(self.table, "iloc") else i

    def ahead(self, own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return by how much a class of each row is above the best other, and which that is."""
        each = np.arange(len(own))
        others = self.scores.copy()
        others[each, own] = -np.inf
        rival = others.argmax(axis=1)
        lead = self.scores[each, own] - self.scores[each, rival]
        return (lead / 2 if self.scores.shape[1] == 2 else lead), rival


def summarize_quality(rows: ScoredRows, truth: np.ndarray) -> dict[str, Any]:
    """Return which rows are predicted right, and how safely."""
    n_classes = rows.scores.shape[1]
    confusion = np.zeros((n_classes, n_classes), dtype=int)
    np.add.at(confusion, (truth, rows.predicted), 1)
    totals = confusion.sum(axis=1, keepdims=True)
    rates = np.divide(confusion, totals, out=np.zeros(confusion.shape), where=totals > 0)
    margins, _ = rows.ahead(truth)
    return {
        "n": len(truth),
        "n_wrong": int(np.count_nonzero(rows.predicted != truth)),
        "confusion": confusion.tolist(),
        "rates": rates.tolist(),
        "margins": _histogram(margins),
    }


def _histogram(margins: np.ndarray) -> dict[str, Any]:
    """Return how many margins lie in each of some even bins, one of whose edges is 0."""
    low, high = min(0.0, float(margins.min())), max(0.0, float(margins.max()))
    width = (high - low) / (_BINS - 1) or 1.0
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
    """Return the rows whose class is least ahead of the next one, least first."""
    return np.argsort(rows.ahead(rows.predicted)[0], kind="stable")[:_MOST_HARD]


def largest_errors(rows: ScoredRows, truth: np.ndarray) -> np.ndarray:
    """Return the rows that are predicted wrongly, worst first."""
    wrong = np.flatnonzero(rows.predicted != truth)
    margins = rows.ahead(truth)[0][wrong]
    return wrong[np.argsort(margins, kind="stable")][:_MOST_HARD]


def explain_rows(
    rows: ScoredRows, chosen: np.ndarray, models: Sequence[ShapeModel], *, against_truth: bool
) -> list[dict[str, Any]]:
    """Return hard rows with what each feature adds.

    Of two classes that is what it adds to the score, so that numbers above zero favor the second;
    of several, what it adds for the predicted class over the one that this beats.
    """
    part = ScoredRows(None, rows.X[chosen], rows.scores[chosen], None)
    _, rival = part.ahead(part.predicted)
    two = len(models) == 1
    if against_truth and rows.truth is not None:
        rival = rows.truth[chosen]
    parts = [model.contributions(part.X) for model in models]
    found = []
    for k, i in enumerate(chosen.tolist()):
        predicted, other = int(part.predicted[k]), int(rival[k])
        adds = parts[0][k] if two else parts[predicted][k] - parts[other][k]
        found.append(
            {
                "row": i,
                "label": rows.label(i),
                "predicted": predicted,
                "over": other,
                "truth": None if rows.truth is None else int(rows.truth[i]),
                "score": float(part.scores[k, 1] if two else part.scores[k, predicted]),
                "lead": float(part.scores[k, predicted] - (0.0 if two else part.scores[k, other])),
                "contributions": adds.tolist(),
            }
        )
    return found


def what_if_rows(
    rows: ScoredRows, features: Sequence[Feature], first: Sequence[int]
) -> list[dict[str, Any]]:
    """Return rows to start a what-if from: the hard ones, and others evenly over the table."""
    most = min(_MOST_STARTS, max(2 * _MOST_HARD, _MOST_CELLS // len(features)))
    evenly = np.linspace(0, len(rows.X) - 1, min(most, len(rows.X))).round().astype(int)
    kept = list(dict.fromkeys([*first, *evenly.tolist()]))[:most]
    return [
        {
            "row": i,
            "label": rows.label(i),
            "truth": None if rows.truth is None else int(rows.truth[i]),
            "predicted": int(rows.predicted[i]),
            "values": [_value(rows, i, d, feature) for d, feature in enumerate(features)],
        }
        for i in sorted(kept)
    ]


def _value(rows: ScoredRows, i: int, d: int, feature: Feature) -> Any:
    """Return a cell as the page's scorer takes it: None if missing, unknown levels as they are."""
    x = rows.X[i, d]
    if np.isnan(x):
        return None
    if feature.levels is None:
        return float(x)
    level = feature.levels[int(x)] if x >= 0 else _cell(rows.table, i, d, feature.name)
    plain = as_plain(level)
    return int(plain) if isinstance(plain, bool) else plain


def _cell(table: Any, i: int, d: int, name: Any) -> Any:
    """Return a cell of a user's table."""
    if not is_frame(table):
        return np.asarray(table, dtype=object)[i, d]
    column = table[name]
    return column.iloc[i] if hasattr(column, "iloc") else column[i]
