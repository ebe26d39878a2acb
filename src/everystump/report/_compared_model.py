"""One of two models that are compared: its predictions, and what each term contributes to rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import is_regressor

from everystump._evaluation import LabeledPredictions
from everystump._explanations.access import feature_names
from everystump._pipelines.folding import fold_pipeline
from everystump._tables.validation import check_rows
from everystump.estimators._base import as_class_list
from everystump.export.document import to_document

_MAX_ROWS = 5000  # on which importances are measured


def own_columns(fitted: Any, X: Any) -> Any:
    """Return the columns of a frame that a model was fitted to; other tables are unchanged."""
    names = getattr(fitted, "feature_names_in_", None)
    columns = getattr(X, "columns", None)
    if names is None or columns is None or not hasattr(X, "dtypes"):
        return X
    wanted = list(names)
    return X[wanted] if len(columns) > len(wanted) and set(wanted) <= set(columns) else X


@dataclass(frozen=True, eq=False)
class ComparedModel:
    """A fitted model and the rows on which it is compared.

    Attributes
    ----------
    name : str
        What it is called on the page.
    fitted : estimator or Pipeline
        As the caller passed it.
    table : frame or array
        The rows, with the columns of this model.
    """

    name: str
    fitted: Any
    table: Any

    @cached_property
    def model(self) -> Any:
        """The estimator; a pipeline is folded into a model of its input columns if possible."""
        try:
            return fold_pipeline(self.fitted)
        except (TypeError, ValueError):
            return self.fitted

    @property
    def is_regressor(self) -> bool:
        """Whether it predicts numbers."""
        return is_regressor(self.model)

    @property
    def about(self) -> Mapping[str, Any]:
        """What is stored with the model."""
        return getattr(self.model, "about_", None) or {}

    @property
    def has_curves(self) -> bool:
        """Whether it is a sum of curves and surfaces."""
        return getattr(self.model, "shapes_", None) is not None

    @cached_property
    def document(self) -> dict[str, Any]:
        """The document of `everystump.export.to_json`."""
        return to_document(self.model)

    @cached_property
    def shapes(self) -> list[Any]:
        """The curves and surfaces of each score."""
        return as_class_list(self.model.shapes_)

    @cached_property
    def numbers(self) -> Any:
        """The rows as numbers, with indices of levels."""
        return check_rows(self.model, self.table)

    @cached_property
    def feature_names(self) -> list[str]:
        """The names of the features as text; x0, x1 and so on for features without a name."""
        if hasattr(self.model, "feature_info_"):
            return [str(name) for name in feature_names(self.model.feature_info_)]
        n_features = getattr(self.model, "n_features_in_", 0)
        unnamed = [f"x{d}" for d in range(n_features)]
        return [str(name) for name in getattr(self.model, "feature_names_in_", unnamed)]

    @cached_property
    def term_names(self) -> dict[frozenset[str], tuple[str, ...]]:
        """The names of the features of each term, by the set of them."""
        names = self.feature_names
        terms = [tuple(names[d] for d in term) for term in self.shapes[0].terms]
        return {frozenset(term): term for term in terms}

    @cached_property
    def terms(self) -> dict[frozenset[str], int]:
        """The position of each term by the names of its features."""
        return {key: t for t, key in enumerate(self.term_names)}

    def labeled(self, y: Any) -> LabeledPredictions:
        """Return the predictions of a classifier with the actual classes."""
        return LabeledPredictions.from_model(self.fitted, self.table, y)

    @cached_property
    def predicted(self) -> np.ndarray:
        """The predictions of a regressor."""
        return np.asarray(self.fitted.predict(self.table), dtype=np.float64)

    @cached_property
    def measured_rows(self) -> np.ndarray:
        """Evenly spaced rows, not more than needed to measure importances."""
        n = len(self.numbers)
        return np.linspace(0, n - 1, min(n, _MAX_ROWS)).round().astype(int)

    def contributions(self, rows: np.ndarray) -> list[np.ndarray]:
        """Return the contributions of all terms to each score of some rows."""
        return [shapes.contributions(self.numbers[rows]) for shapes in self.shapes]

    @property
    def intercepts(self) -> list[float]:
        """The intercept of each score."""
        return [float(shapes.intercept) for shapes in self.shapes]

    @cached_property
    def score_deviation(self) -> float:
        """The standard deviation of the scores over the rows, 1 if they are constant."""
        parts = self.contributions(self.measured_rows)
        scores = np.column_stack([part.sum(axis=1) for part in parts])
        return float(scores.std(axis=0).mean()) or 1.0

    @property
    def score_kind(self) -> tuple[Any, Any]:
        """What scores mean: those of models with the same kind have the same scale."""
        return self.document.get("link"), self.document["log_odds"]
