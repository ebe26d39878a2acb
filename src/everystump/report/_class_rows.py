"""The labeled rows of a classifier: confusion matrix, margins, uncertain rows, errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from everystump._core.shapes import ShapeModel
from everystump._evaluation import evaluate_model
from everystump._tables.labels import class_indices
from everystump._terms import Term
from everystump.explain.margins import class_margins
from everystump.report._encoding import to_plain
from everystump.report._rows import MAX_EXPLAINED, TableRows

_N_BINS = 40


@dataclass(frozen=True, eq=False)
class ClassRows(TableRows):
    """Rows with their scores."""

    scores: np.ndarray  # (n_rows, n_classes); with two classes, minus the score and the score
    actual: np.ndarray | None  # the index of each row's class

    @classmethod
    def from_model(cls, model: Any, table: Any, X: np.ndarray, y: Any) -> ClassRows:
        """Score rows with a classifier."""
        score = np.asarray(model.decision_function(table), dtype=np.float64)
        actual = None if y is None else class_indices(y, model.classes_, len(X))
        scores = np.column_stack([-score, score]) if score.ndim == 1 else score
        columns = [feature.name for feature in model.feature_info_]
        return cls(table, columns, X, scores, actual)

    @cached_property
    def predicted(self) -> np.ndarray:
        """The index of each row's predicted class, the first one in a tie."""
        return self.scores.argmax(axis=1)

    def outcome(self, i: int) -> dict[str, Any]:
        """Return the predicted and the actual class of a row."""
        return {
            "predicted": int(self.predicted[i]),
            "actual": None if self.actual is None else int(self.actual[i]),
        }

    def margins(self, label: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the margin of one class per row over the best other class, and that class."""
        margin, best_other = class_margins(self.scores, label)
        return (margin / 2 if self.scores.shape[1] == 2 else margin), best_other

    def quality(self) -> dict[str, Any] | None:
        """Return the confusion matrix and the margins, None without labels."""
        if self.actual is None:
            return None
        n_classes = self.scores.shape[1]
        confusion = np.zeros((n_classes, n_classes), dtype=int)
        np.add.at(confusion, (self.actual, self.predicted), 1)
        totals = confusion.sum(axis=1, keepdims=True)
        rates = np.divide(confusion, totals, out=np.zeros(confusion.shape), where=totals > 0)
        margins, _ = self.margins(self.actual)
        return {
            "n": len(self.actual),
            "n_wrong": int(np.count_nonzero(self.predicted != self.actual)),
            "confusion": confusion.tolist(),
            "rates": rates.tolist(),
            "margins": _histogram(margins),
        }

    def metrics(
        self, model: Any, y: Any, about: Mapping[str, Any], *, unseen: bool
    ) -> dict[str, Any]:
        """Return the metrics, without intervals if rows may be training rows."""
        labels, plain = model.classes_.tolist(), about.get("positive")
        positive = next((label for label in labels if to_plain(label) == plain), None)
        counts = about.get("class_counts") or None
        return evaluate_model(model, self.table, y, positive=positive, counts=counts, unseen=unseen)

    def explained(
        self, models: Sequence[ShapeModel], terms: Sequence[Term]
    ) -> dict[str, list[dict[str, Any]]]:
        """Return the least certain rows, and the largest errors, with their contributions."""
        uncertain = self._least_certain()
        _, others = self.margins(self.predicted)
        explained = {
            "least_certain": self._explain(uncertain, others, models, terms),
            "largest_errors": [],
        }
        if self.actual is not None:
            errors = self._largest_errors(self.actual)
            explained["largest_errors"] = self._explain(errors, self.actual, models, terms)
        return explained

    def _least_certain(self) -> np.ndarray:
        """Return the rows with the smallest margins of the predicted class, smallest first."""
        return np.argsort(self.margins(self.predicted)[0], kind="stable")[:MAX_EXPLAINED]

    def _largest_errors(self, actual: np.ndarray) -> np.ndarray:
        """Return the misclassified rows with the smallest margins of the actual class."""
        wrong = np.flatnonzero(self.predicted != actual)
        margins = self.margins(actual)[0][wrong]
        return wrong[np.argsort(margins, kind="stable")][:MAX_EXPLAINED]

    def _explain(
        self,
        chosen: np.ndarray,
        others: np.ndarray,
        models: Sequence[ShapeModel],
        terms: Sequence[Term],
    ) -> list[dict[str, Any]]:
        """Return some rows with the contributions of some terms.

        With two classes these are contributions to the score; with several, to the difference
        between the scores of the predicted class and of another one.
        """
        is_binary = len(models) == 1
        parts = self.contributions(chosen, models, terms)
        explained = []
        for k, i in enumerate(chosen.tolist()):
            predicted, other, scores = int(self.predicted[i]), int(others[i]), self.scores[i]
            difference = scores[predicted] - scores[other]
            explained.append(
                {
                    **self.describe(i),
                    "other": other,
                    "score": float(scores[1] if is_binary else scores[predicted]),
                    "lead": float(scores[predicted] if is_binary else difference),
                    "contributions": (
                        parts[0][k] if is_binary else parts[predicted][k] - parts[other][k]
                    ).tolist(),
                }
            )
        return explained


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
