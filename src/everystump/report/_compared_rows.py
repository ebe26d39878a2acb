"""The rows on which two models differ most, and the terms by which they do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from everystump._evaluation import (
    LabeledPredictions,
    compare_classifiers,
    compare_regressors,
    positive_index,
)
from everystump._evaluation.regression import MEDIAN, baseline_name
from everystump._tables.labels import check_numbers
from everystump.report._compared_model import ComparedModel
from everystump.report._compared_terms import column_values
from everystump.report._encoding import to_plain
from everystump.report._rows import row_name

MAX_ROWS = 20
_MAX_POINTS = 1500
_MAX_REASONS = 3


@dataclass(frozen=True, eq=False)
class ComparedRows(ABC):
    """Rows with the predictions of two models."""

    models: Sequence[ComparedModel]

    @property
    @abstractmethod
    def distances(self) -> np.ndarray:
        """How much the predictions for each row differ."""

    @property
    @abstractmethod
    def points(self) -> list[np.ndarray]:
        """What each model predicts for each row, as a number."""

    @property
    @abstractmethod
    def point_name(self) -> str:
        """What these numbers are."""

    @abstractmethod
    def compare(self, *, unseen: bool) -> dict[str, Any]:
        """Return metrics, differences and tests."""

    @abstractmethod
    def outcome(self, i: int) -> dict[str, Any]:
        """Return the actual target of a row, and the predictions of both models."""

    @abstractmethod
    def contrast(self, parts: Sequence[np.ndarray], i: int) -> np.ndarray:
        """Return the contributions of the terms of one model to what is compared for row ``i``."""

    def shown(self) -> np.ndarray:
        """Return the rows with the largest differences, the largest first."""
        order = np.argsort(-self.distances, kind="stable")[:MAX_ROWS]
        return order[self.distances[order] > 0.0]

    def scatter(self) -> dict[str, Any]:
        """Return the predictions of both models for evenly spaced rows."""
        n = len(self.distances)
        rows = np.unique(np.linspace(0, n - 1, min(n, _MAX_POINTS)).round().astype(int))
        values = [own[rows].tolist() for own in self.points]
        return {"name": self.point_name, "rows": len(rows), "values": values} | self.marks(rows)

    def marks(self, rows: np.ndarray) -> dict[str, Any]:
        """Return how points are marked."""
        return {}

    def describe(self, scales: Sequence[float] | None) -> list[dict[str, Any]]:
        """Return the rows that differ most; with scales of the scores, also the reasons."""
        rows = self.shown()
        parts = None
        if scales is not None:
            pairs = list(zip(self.models, scales, strict=True))
            parts = [[s * part for part in model.contributions(rows)] for model, s in pairs]
            intercepts = [[np.array([s * b]) for b in model.intercepts] for model, s in pairs]
        described = []
        for j, i in enumerate(rows.tolist()):
            record = {"name": row_name(self.models[0].table, i), **self.outcome(i)}
            if parts is not None:
                own = [self.contrast([part[j] for part in of_model], i) for of_model in parts]
                shared = [float(self.contrast(of_model, i)[0]) for of_model in intercepts]
                record["reasons"] = self._reasons(i, own, shared)
            described.append(to_plain(record))
        return described

    def _reasons(
        self, i: int, parts: Sequence[np.ndarray], intercepts: list[float]
    ) -> list[dict[str, Any]]:
        """Return the terms whose contributions differ, the largest differences first.

        The intercept is one of the terms.
        """
        terms = [model.terms for model in self.models]
        values = column_values(self.models[1], i) | column_values(self.models[0], i)
        found: list[dict[str, Any]] = [
            {"names": ["intercept"], "values": [], "contributions": intercepts}
        ]
        for key in dict.fromkeys([*terms[0], *terms[1]]):
            own = [
                0.0 if key not in positions else float(part[positions[key]])
                for positions, part in zip(terms, parts, strict=True)
            ]
            names = self.models[0].term_names.get(key) or self.models[1].term_names[key]
            reason = {"names": list(names), "values": [values[name] for name in names]}
            found.append(reason | {"contributions": own})
        found = [reason for reason in found if len(set(reason["contributions"])) > 1]
        found.sort(key=lambda reason: -abs(reason["contributions"][1] - reason["contributions"][0]))
        return found[:_MAX_REASONS]


@dataclass(frozen=True, eq=False)
class ComparedClasses(ComparedRows):
    """Rows with the classes that two models predict."""

    y: Any

    @cached_property
    def labeled(self) -> list[LabeledPredictions]:
        """The predictions of both models."""
        return [model.labeled(self.y) for model in self.models]

    @property
    def _classes(self) -> list[Any]:
        return self.models[0].model.classes_.tolist()

    @cached_property
    def _probabilities(self) -> list[np.ndarray] | None:
        found = [rows.probabilities for rows in self.labeled]
        return None if any(p is None for p in found) else [np.asarray(p) for p in found]

    @cached_property
    def _standardized_scores(self) -> list[np.ndarray]:
        return [rows.scores / (rows.scores.std() or 1.0) for rows in self.labeled]

    @cached_property
    def distances(self) -> np.ndarray:
        """The total variation of probabilities, or the difference of standardized scores.

        Rows with different predictions come first.
        """
        if self._probabilities is not None:
            size = np.abs(self._probabilities[1] - self._probabilities[0]).sum(axis=1) / 2
        else:
            size = np.abs(self._standardized_scores[1] - self._standardized_scores[0])
            size = size if size.ndim == 1 else size.sum(axis=1)
        largest = float(size.max(initial=0.0))
        return size + (self.labeled[0].predicted != self.labeled[1].predicted) * (1.0 + largest)

    @property
    def points(self) -> list[np.ndarray]:
        """The probability of the second of two classes, or else of the actual class.

        Without probabilities, scores are divided by their standard deviation.
        """
        actual = self.labeled[0].actual
        column = np.ones_like(actual) if len(self._classes) == 2 else actual
        index = np.arange(len(actual)), column
        if self._probabilities is not None:
            return [p[index] for p in self._probabilities]
        return [own if own.ndim == 1 else own[index] for own in self._standardized_scores]

    @property
    def point_name(self) -> str:
        """Probability or score, and of which class."""
        what = "standardized score" if self._probabilities is None else "probability"
        classes = self._classes
        return f"{what} of “{classes[1]}”" if len(classes) == 2 else f"{what} of the actual class"

    def marks(self, rows: np.ndarray) -> dict[str, Any]:
        """Return the actual classes of rows, and which are predicted differently."""
        first, second = self.labeled
        differs = first.predicted[rows] != second.predicted[rows]
        return {"actual": first.actual[rows].tolist(), "differs": differs.tolist()}

    def compare(self, *, unseen: bool) -> dict[str, Any]:
        """Return metrics, differences and tests."""
        positive = positive_index(self._classes, self.models[0].about.get("positive"))
        first, second = self.labeled
        return compare_classifiers(first, second, self._classes, positive, unseen=unseen)

    def outcome(self, i: int) -> dict[str, Any]:
        """Return the index of the actual class of a row, and of the predicted ones."""
        predicted = [int(rows.predicted[i]) for rows in self.labeled]
        record = {"actual": int(self.labeled[0].actual[i]), "predicted": predicted}
        if self._probabilities is not None:
            pairs = zip(self._probabilities, predicted, strict=True)
            record["probability"] = [float(p[i, k]) for p, k in pairs]
        return record

    def contrast(self, parts: Sequence[np.ndarray], i: int) -> np.ndarray:
        """Return the contributions to the score; of several classes, to a difference.

        It is the difference between the scores of the classes that the second and the first model
        predict; if they predict the same one, it is the score of that class.
        """
        if len(parts) == 1:
            return parts[0]
        first, second = (int(rows.predicted[i]) for rows in self.labeled)
        return parts[second] - parts[first] if first != second else parts[second]


@dataclass(frozen=True, eq=False)
class ComparedNumbers(ComparedRows):
    """Rows with the numbers that two models predict."""

    y: Any
    point_name = "prediction"

    @cached_property
    def actual(self) -> np.ndarray:
        """The targets."""
        return check_numbers(self.y, len(self.models[0].predicted))

    @property
    def points(self) -> list[np.ndarray]:
        """The predictions."""
        return [model.predicted for model in self.models]

    @cached_property
    def distances(self) -> np.ndarray:
        """The absolute differences of predictions."""
        return np.abs(self.points[1] - self.points[0])

    def compare(self, *, unseen: bool) -> dict[str, Any]:
        """Return metrics, differences and tests."""
        quantiles = [getattr(own.model, "_predicted_quantile", None) for own in self.models]
        is_same = quantiles[0] == quantiles[1]
        first, second = self.points
        found = compare_regressors(
            self.actual, first, second, quantile=quantiles[0] if is_same else None, unseen=unseen
        )
        if is_same or set(quantiles) <= {None, MEDIAN}:
            return found
        for figure in found["figures"].values():
            figure["better"] = None
        what = [baseline_name(q) for q in quantiles]
        names = [own.name for own in self.models]
        found["caveat"] = (
            f"{names[0]} predicts {what[0]} and {names[1]} {what[1]}, so these metrics do not tell "
            f"which of them is better."
        )
        return found

    def outcome(self, i: int) -> dict[str, Any]:
        """Return the target of a row, and both predictions."""
        return {
            "actual": float(self.actual[i]),
            "predicted": [float(own[i]) for own in self.points],
        }

    def contrast(self, parts: Sequence[np.ndarray], i: int) -> np.ndarray:
        """Return the contributions to the prediction, or to its logarithm."""
        return parts[0]
