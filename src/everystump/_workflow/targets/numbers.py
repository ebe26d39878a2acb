"""Targets that are numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.model_selection import KFold

from everystump._evaluation import (
    PredictionInterval,
    constant_baseline,
    evaluate_numbers,
    evaluate_regressor,
)
from everystump._evaluation.regression import MEDIAN
from everystump._selection.folds import Fold, split_numbers
from everystump._tables.weighted_rows import fit_weighted
from everystump._text import InvalidInputError, format_percents, format_quantities, pluralize
from everystump._workflow.errors import input_errors
from everystump._workflow.evaluation import interval_bound, interval_of, why_no_interval
from everystump._workflow.options import REGRESSION
from everystump._workflow.targets.target import Target, too_few_rows


class NumberPredictions(NamedTuple):
    """Actual and predicted numbers of rows, and their weights; None if all are 1."""

    actual: np.ndarray
    predicted: np.ndarray
    weight: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class NumberTarget(Target):
    """The numbers to predict of some rows.

    Attributes
    ----------
    numbers : ndarray of shape (n_rows,)
        Finite numbers.
    unit : str
        Currency or percent sign of the numbers, if the file has it.
    """

    numbers: np.ndarray
    unit: str = ""
    task: ClassVar[str] = REGRESSION

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.numbers)

    @property
    def y(self) -> np.ndarray:
        """The numbers of the rows."""
        return self.numbers

    @property
    def chunk_values(self) -> np.ndarray:
        """The numbers of the rows."""
        return self.numbers

    def fit_chunks(self, model: Any, chunks: Iterable) -> Any:
        """Fit a regressor to chunks."""
        return model.fit_chunks(chunks)

    def _taken(self, rows: np.ndarray) -> dict[str, Any]:
        return {"numbers": self.numbers[rows]}

    def split(self, fraction: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the indices of training rows and of held-out rows, drawn at random."""
        self._check_rows()
        if len(self) < 2:
            raise too_few_rows(ValueError("1 row is too few to hold out a row"))
        fold = split_numbers(len(self), fraction, seed)
        return fold.train, fold.test

    def folds(self, n_folds: int, seed: int) -> list[Fold]:
        """Return shuffled folds, at most as many as there are rows."""
        self._check_rows()
        if len(self) < 2:
            raise InvalidInputError("--cv needs two or more rows; pass more rows.")
        splitter = KFold(min(n_folds, len(self)), shuffle=True, random_state=seed)
        return [Fold(*parts) for parts in splitter.split(self.numbers)]

    def _check_rows(self) -> None:
        if len(self) and np.all(self.numbers == self.numbers[0]):
            raise InvalidInputError(
                f"{self.name!r} is {self.numbers[0]:g} in every row; name a --target that varies."
            )

    def notes(self, cv: int | None, *, selects: bool) -> list[str]:
        """Return a note if there are fewer rows than folds."""
        if cv is None or cv <= len(self):
            return []
        return [f"Evaluated by {len(self)} folds instead of {cv}: one per row."]

    def check_selection(self, option: str) -> None:
        """Raise if there are fewer than two rows."""
        if len(self) < 2:
            raise InvalidInputError(
                f"A single training row is too few to choose {option.replace('-', ' ')} by "
                f"cross-validation; pass --{option}, or more rows."
            )

    def check_subsamples(self, subsample: float, preset: str, cv: int | None) -> None:
        """Do nothing: every subsample has numbers."""

    def fit(self, model: Any, X: Any) -> Any:
        """Fit a regressor."""
        return fit_weighted(model, X, self.numbers, self.weight)

    def describe_training(self, model: Any) -> dict[str, Any]:
        """Return the unit, and the baseline: the mean, or a quantile for a model of it."""
        unit = {"unit": self.unit} if self.unit else {}
        return {"baseline": self._baseline(model)} | unit

    def _baseline(self, model: Any) -> float:
        """Return the constant that a model of these targets is compared with."""
        return constant_baseline(self.numbers, predicted_quantile(model), self.weight)

    def predictions(self, model: Any, X: Any) -> NumberPredictions:
        """Return the predictions of a regressor."""
        predicted = np.asarray(model.predict(X), dtype=np.float64)
        return NumberPredictions(self.numbers, predicted, self.weight)

    def held_out_results(self, model: Any, X: Any, training: Self) -> dict[str, Any]:
        """Return metrics, intervals and their bound, for rows that were held out."""
        rows = self.predictions(model, X)
        interval = None
        if predicted_quantile(model) in (None, MEDIAN):
            interval = PredictionInterval.from_residuals(rows.actual - rows.predicted)
        found: dict[str, Any] = {"bounds": [], "interval": None}
        if interval is not None:
            bounds = self._interval_bounds(model, interval, X, calibrated=True)
            found = {"bounds": bounds, "interval": interval.as_dict()}
        how = f"{self.describe_weighted(pluralize(len(self), 'held-out row'))}, 95% interval"
        return found | self._metrics(model, [rows], training, how)

    def fold_results(self, model: Any, parts: Sequence[Any], training: Self) -> dict[str, Any]:
        """Return metrics of the predictions of each fold."""
        how = f"{self.describe_weighted(f'{len(parts)} folds')}, approximate 95% interval"
        return self._metrics(model, parts, training, how)

    def _metrics(
        self, model: Any, parts: Sequence[NumberPredictions], training: Self, how: str
    ) -> dict[str, Any]:
        weights = [part.weight for part in parts if part.weight is not None]
        figures = evaluate_numbers(
            np.concatenate([part.actual for part in parts]),
            np.concatenate([part.predicted for part in parts]),
            training._baseline(model),
            n_folds=len(parts),
            quantile=predicted_quantile(model),
            weight=np.concatenate(weights) if weights else None,
        )
        return {"evaluated": how, "figures": figures}

    def metrics(self, model: Any, X: Any, *, unseen: bool) -> dict[str, Any]:
        """Return metrics of a stored model; see `everystump._evaluation.evaluate_numbers`."""
        with input_errors():
            return evaluate_regressor(
                model,
                X,
                self.numbers,
                baseline=getattr(model, "about_", {}).get("baseline"),
                quantile=predicted_quantile(model),
                unseen=unseen,
            )

    def summary(
        self, model: Any, X: Any, metrics: Mapping[str, Any], rows: str
    ) -> tuple[dict[str, Any], str]:
        """Return the fraction of rows outside their prediction interval."""
        interval = interval_of(model)
        if interval is None:
            return {"outside": None}, (
                f"No bound: the model has no prediction intervals ({why_no_interval(model)}), and "
                f"the other bounds are for classifiers."
            )
        is_outside = interval.is_outside(self.numbers, self.predictions(model, X).predicted)
        outside, width = float(is_outside.mean()), format_quantities(interval.half_width)[0]
        return {"outside": outside}, (
            f"Of {rows}, {format_percents(outside)[0]} are outside their "
            f"{interval.level:.0%} prediction interval, the prediction ± {width}."
        )

    def bounds(self, model: Any, X: Any, *, unseen: bool, held_out: bool) -> list[dict[str, Any]]:
        """Return a bound on the fraction of new rows outside the model's prediction intervals."""
        interval = interval_of(model)
        if interval is None or not unseen:
            return []
        return self._interval_bounds(model, interval, X, calibrated=held_out)

    def _interval_bounds(
        self, model: Any, interval: PredictionInterval, X: Any, *, calibrated: bool
    ) -> list[dict[str, Any]]:
        bound = interval_bound(model, interval, X, self.numbers, calibrated=calibrated)
        return self.unweighted([bound])


def predicted_quantile(model: Any) -> float | None:
    """Return the quantile that a regressor predicts, None if it is the mean."""
    return getattr(model, "_predicted_quantile", None)
