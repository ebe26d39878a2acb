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
from everystump.estimators._base import LogOddsClassifier
from everystump.explain.margins import class_margins
from everystump.report._compact import encode_indices
from everystump.report._encoding import encode_numbers, to_plain
from everystump.report._rows import TableRows

_N_BINS = 40
_MAX_MATRIX = 40  # classes of a confusion matrix
_MAX_PAIRS = 100


@dataclass(frozen=True, eq=False)
class ClassRows(TableRows):
    """Rows with their scores."""

    scores: np.ndarray  # (n_rows, n_classes); with two classes, minus the score and the score
    actual: np.ndarray | None  # the index of each row's class
    probabilities: np.ndarray | None  # of all classes, or of the second of two
    has_log_odds: bool  # whether the scores are log-odds, up to a factor

    @classmethod
    def from_model(cls, model: Any, table: Any, X: np.ndarray, y: Any) -> ClassRows:
        """Score rows with a classifier."""
        score = np.asarray(model.decision_function(table), dtype=np.float64)
        actual = None if y is None else class_indices(y, model.classes_, len(X))
        scores = np.column_stack([-score, score]) if score.ndim == 1 else score
        columns = [feature.name for feature in model.feature_info_]
        probabilities = None
        if hasattr(model, "predict_proba"):
            probabilities = np.asarray(model.predict_proba(table), dtype=np.float64)
            probabilities = probabilities[:, 1:] if score.ndim == 1 else probabilities
        has_log_odds = isinstance(model, LogOddsClassifier)
        return cls(table, columns, X, scores, actual, probabilities, has_log_odds)

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

    @property
    def n_outcomes(self) -> int:
        """How many numbers `outcomes` has per row."""
        return sum(part.shape[1] for part in self._stored() if part is not None)

    def outcomes(self, chosen: np.ndarray) -> dict[str, Any]:
        """Return the classes of some rows, and their scores, probabilities or both.

        With two classes these are the scores of the second one, and its probabilities unless the
        scores are log-odds, from which the page computes them; with several, the probabilities of
        each class or, if there are none, the scores.
        """
        if self.actual is None:
            return {}
        n_classes = self.scores.shape[1]
        scores, probabilities = (
            None if part is None else [encode_numbers(column) for column in part[chosen].T]
            for part in self._stored()
        )
        return {
            "actual": encode_indices(self.actual[chosen], n_classes),
            "predicted": encode_indices(self.predicted[chosen], n_classes),
            "scores": scores,
            "probabilities": probabilities,
        }

    def _stored(self) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Return the scores and the probabilities that the page needs."""
        if self.scores.shape[1] == 2:
            return self.scores[:, 1:], None if self.has_log_odds else self.probabilities
        return self.scores if self.probabilities is None else None, self.probabilities

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
        margins, _ = self.margins(self.actual)
        return {
            "n": len(self.actual),
            "n_wrong": int(np.count_nonzero(self.predicted != self.actual)),
            **_matrix_or_pairs(confusion),
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
        _, others = self.margins(self.predicted)
        uncertain = self.distinct(self._least_certain(), self.actual)
        explained = {
            "least_certain": self._explain(uncertain, others, models, terms),
            "largest_errors": [],
        }
        if self.actual is not None:
            errors = self.distinct(self._largest_errors(self.actual), self.actual)
            explained["largest_errors"] = self._explain(errors, self.actual, models, terms)
        return explained

    def _least_certain(self) -> np.ndarray:
        """Return the rows by the margin of the predicted class, smallest first."""
        return np.argsort(self.margins(self.predicted)[0], kind="stable")

    def _largest_errors(self, actual: np.ndarray) -> np.ndarray:
        """Return the misclassified rows by the margin of the actual class, smallest first."""
        wrong = np.flatnonzero(self.predicted != actual)
        return wrong[np.argsort(self.margins(actual)[0][wrong], kind="stable")]

    def _explain(
        self,
        chosen: list[np.ndarray],
        others: np.ndarray,
        models: Sequence[ShapeModel],
        terms: Sequence[Term],
    ) -> list[dict[str, Any]]:
        """Return some rows, and those identical to them, with the contributions of some terms.

        With two classes these are contributions to the score; with several, to the difference
        between the scores of the predicted class and of another one.
        """
        is_binary = len(models) == 1
        first = np.array([identical[0] for identical in chosen], dtype=int)
        parts = self.contributions(first, models, terms)
        explained = []
        for k, i in enumerate(first.tolist()):
            predicted, other, scores = int(self.predicted[i]), int(others[i]), self.scores[i]
            difference = scores[predicted] - scores[other]
            explained.append(
                {
                    **self.describe_first(chosen[k]),
                    "other": other,
                    "score": float(scores[1] if is_binary else scores[predicted]),
                    "lead": float(scores[predicted] if is_binary else difference),
                    "contributions": (
                        parts[0][k] if is_binary else parts[predicted][k] - parts[other][k]
                    ).tolist(),
                }
            )
        return explained


def _matrix_or_pairs(confusion: np.ndarray) -> dict[str, Any]:
    """Return a confusion matrix, or of many classes the pairs that are confused most often.

    Examples
    --------
    >>> _matrix_or_pairs(np.array([[3, 1], [0, 2]]))
    {'confusion': [[3, 1], [0, 2]]}
    """
    if len(confusion) <= _MAX_MATRIX:
        return {"confusion": confusion.tolist()}
    wrong = confusion - np.diag(np.diag(confusion))
    largest = np.argsort(-wrong, axis=None, kind="stable")[:_MAX_PAIRS]
    pairs = np.column_stack(np.unravel_index(largest[wrong.flat[largest] > 0], wrong.shape))
    totals = confusion.sum(axis=1)
    return {
        "confused": [[int(a), int(b), int(wrong[a, b]), int(totals[a])] for a, b in pairs],
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
