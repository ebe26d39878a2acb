"""What a fitted model says about rows: classes and scores, or numbers and their intervals."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from everystump._sklearn_compat import is_regressor
from everystump._text import format_percent, format_quantities
from everystump._workflow.errors import input_errors
from everystump._workflow.evaluation import interval_of

INTERCEPT, SCORE = "(intercept)", "(score)"


def outputs_of(model: Any) -> Outputs:
    """Return the outputs of a fitted model."""
    return NumberOutputs(model) if is_regressor(model) else ClassOutputs(model)


@dataclass(frozen=True, eq=False)
class Outputs(ABC):
    """The outputs of a fitted model."""

    model: Any

    @abstractmethod
    def columns(self, X: Any) -> dict[str, np.ndarray]:
        """Return the columns of a table of predictions."""

    @abstractmethod
    def row(self, sample: Any) -> dict[str, Any]:
        """Return the prediction for a single row as plain data."""

    @abstractmethod
    def row_sentences(self, record: dict[str, Any]) -> list[str]:
        """Return sentences about the result of `row`, and about the signs of contributions."""

    @property
    def titles(self) -> list[str]:
        """The titles of the columns of contributions, one per score."""
        return ["contribution"]

    @property
    def total(self) -> str:
        """The name of the sum of all contributions."""
        return SCORE

    @property
    def summed(self) -> str:
        """What contributions add up to, in words."""
        return "the score"


class ClassOutputs(Outputs):
    """Classes, scores and, if available, probabilities."""

    @property
    def _classes(self) -> list[Any]:
        return self.model.classes_.tolist()

    def columns(self, X: Any) -> dict[str, np.ndarray]:
        """Return classes, scores and, if available, probabilities.

        For two classes, the probability is that of the positive one.
        """
        model = self.model
        with input_errors():
            columns = {"prediction": model.predict(X)}
            columns |= self._by_class("score", model.decision_function(X))
            if hasattr(model, "predict_proba"):
                probabilities = self._by_class("probability", model.predict_proba(X))
                multiclass = len(model.classes_) > 2
                columns |= probabilities if multiclass else self._positive_only(probabilities)
        return columns

    def _by_class(self, what: str, values: np.ndarray) -> dict[str, np.ndarray]:
        """Return one column, or one per class."""
        if values.ndim == 1:
            return {what: values}
        return {f"{what} {label}": values[:, k] for k, label in enumerate(self._classes)}

    def _positive_only(self, probabilities: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Return the probabilities of the positive class."""
        expected = f"probability {getattr(self.model, 'about_', {}).get('positive')}"
        name = expected if expected in probabilities else list(probabilities)[1]
        return {name: probabilities[name]}

    def row(self, sample: Any) -> dict[str, Any]:
        """Return the predicted class of a row, its scores, and its probabilities by class.

        For two classes there is one score, that of the second.
        """
        model, classes = self.model, self._classes
        with input_errors():
            scores = np.ravel(model.decision_function(sample)).tolist()
            record = {"prediction": model.predict(sample).tolist()[0]}
            record["score"] = (
                scores[0] if len(classes) == 2 else dict(zip(classes, scores, strict=True))
            )
            if hasattr(model, "predict_proba"):
                probabilities = model.predict_proba(sample)[0].tolist()
                record["probability"] = dict(zip(classes, probabilities, strict=True))
        return record

    def row_sentences(self, record: dict[str, Any]) -> list[str]:
        """Return the predicted class of a row, its probability, and what the signs mean."""
        label, classes, probabilities = (
            record["prediction"],
            self._classes,
            record.get("probability"),
        )
        text = f"Predicted class: “{label}”"
        text += f", probability {format_percent(probabilities[label])}" if probabilities else ""
        if len(classes) > 2:
            return [f"{text}. The class with the largest score is predicted."]
        signs = f"Positive contributions (blue) favor “{classes[1]}”; negative ones (orange) favor "
        return [f"{text}, score {record['score']:+.3f}.", f"{signs}“{classes[0]}”."]

    @property
    def titles(self) -> list[str]:
        """The classes, if there are more than two."""
        return [str(label) for label in self._classes] if len(self._classes) > 2 else super().titles


class NumberOutputs(Outputs):
    """Predicted numbers and, if available, their prediction intervals."""

    @property
    def _has_log_link(self) -> bool:
        return getattr(self.model, "link_", "identity") == "log"

    def columns(self, X: Any) -> dict[str, np.ndarray]:
        """Return predictions and the limits of their intervals.

        With a log link predictions and targets are not negative, nor are the limits.
        """
        with input_errors():
            predicted = np.asarray(self.model.predict(X), dtype=np.float64)
        interval = interval_of(self.model)
        if interval is None:
            return {"prediction": predicted}
        low, high = interval.limits(predicted, positive=self._has_log_link)
        return {"prediction": predicted, "low": low, "high": high}

    def row(self, sample: Any) -> dict[str, Any]:
        """Return the prediction for a row, and the limits and level of its interval."""
        record = {name: float(values[0]) for name, values in self.columns(sample).items()}
        interval = interval_of(self.model)
        return record if interval is None else record | {"level": interval.level}

    def row_sentences(self, record: dict[str, Any]) -> list[str]:
        """Return the prediction for a row, its interval, and what the signs mean."""
        names = [name for name in ("prediction", "low", "high") if name in record]
        value, *limits = format_quantities(*(record[name] for name in names))
        target = getattr(self.model, "about_", {}).get("target")
        text = f"Predicted value{'' if target is None else f' of {target}'}: {value}"
        if limits:
            text += f" ({record['level']:.0%} interval {limits[0]} to {limits[1]})"
        signs = "Positive contributions (blue) raise the prediction; negative ones (orange) lower"
        rule = f" The contributions add up to {self.summed}." if self._has_log_link else ""
        return [f"{text}.", f"{signs} it.{rule}"]

    @property
    def total(self) -> str:
        """The prediction, or its logarithm."""
        return "(log prediction)" if self._has_log_link else "(prediction)"

    @property
    def summed(self) -> str:
        """The prediction, or its logarithm."""
        return "the logarithm of the prediction" if self._has_log_link else "the prediction"
