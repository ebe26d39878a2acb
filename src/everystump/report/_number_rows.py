"""The rows of a regressor with their targets: residuals and the largest errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from everystump._core.shapes import ShapeModel
from everystump._evaluation import evaluate_regressor
from everystump._tables.labels import check_numbers
from everystump._terms import Term
from everystump.report._encoding import encode_numbers, to_plain
from everystump.report._rows import MAX_EXPLAINED, TableRows

_MAX_POINTS = 1000  # of the plots of predictions and residuals


@dataclass(frozen=True, eq=False)
class NumberRows(TableRows):
    """Rows with their predictions."""

    predicted: np.ndarray
    actual: np.ndarray | None

    @classmethod
    def from_model(cls, model: Any, table: Any, X: np.ndarray, y: Any) -> NumberRows:
        """Predict rows with a regressor."""
        predicted = np.asarray(model.predict(table), dtype=np.float64)
        actual = None if y is None else check_numbers(y, len(X))
        columns = [feature.name for feature in model.feature_info_]
        return cls(table, columns, X, predicted, actual)

    def outcome(self, i: int) -> dict[str, Any]:
        """Return the predicted and the actual value of a row."""
        return {
            "predicted": to_plain(self.predicted[i]),
            "actual": None if self.actual is None else to_plain(self.actual[i]),
        }

    @property
    def n_outcomes(self) -> int:
        """How many numbers `outcomes` has per row."""
        return 2

    def outcomes(self, chosen: np.ndarray) -> dict[str, Any]:
        """Return the predicted and the actual values of some rows."""
        if self.actual is None:
            return {}
        return {
            "predicted": encode_numbers(self.predicted[chosen]),
            "actual": encode_numbers(self.actual[chosen]),
        }

    def quality(self) -> dict[str, Any] | None:
        """Return predicted and actual values to plot; of many, the largest errors and some others.

        ``mean`` is the mean residual, and ``median`` the median of the absolute residuals.
        """
        if self.actual is None:
            return None
        residuals, n = self.actual - self.predicted, len(self.actual)
        spaced = np.linspace(0, n - 1, min(n, _MAX_POINTS)).round().astype(int)
        drawn = np.unique(np.append(spaced, self._largest_errors(residuals)[:MAX_EXPLAINED]))
        return {
            "n": n,
            "mean": float(residuals.mean()),
            "median": float(np.median(np.abs(residuals))),
            "predicted": encode_numbers(self.predicted[drawn]),
            "actual": encode_numbers(self.actual[drawn]),
        }

    def metrics(
        self, model: Any, y: Any, about: Mapping[str, Any], *, unseen: bool
    ) -> dict[str, Any]:
        """Return the metrics, without intervals if rows may be training rows."""
        return evaluate_regressor(
            model,
            self.table,
            y,
            baseline=about.get("baseline"),
            quantile=getattr(model, "_predicted_quantile", None),
            unseen=unseen,
        )

    def explained(
        self, models: Sequence[ShapeModel], terms: Sequence[Term]
    ) -> dict[str, list[dict[str, Any]]]:
        """Return the rows with the largest residuals, with their contributions."""
        if self.actual is None:
            return {}
        chosen = self.distinct(self._largest_errors(self.actual - self.predicted), self.actual)
        first = np.array([identical[0] for identical in chosen], dtype=int)
        (parts,) = self.contributions(first, models, terms)
        return {
            "largest_errors": [
                {**self.describe_first(identical), "contributions": part.tolist()}
                for identical, part in zip(chosen, parts, strict=True)
            ]
        }

    def _largest_errors(self, residuals: np.ndarray) -> np.ndarray:
        """Return the rows by their absolute residuals, largest first, none of them 0."""
        order = np.argsort(-np.abs(residuals), kind="stable")
        return order[residuals[order] != 0.0]
