"""Boosted decision stumps for regression: L2 boosting, and the absolute error."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from everystump._core.boosting.regression import (
    RESIDUAL_LOSSES,
    ResidualBoosting,
    ResidualRows,
    boost_residuals,
)
from everystump._core.boosting.search import Stump
from everystump._core.progress import EnsembleProgress
from everystump._core.targets import TargetScale, mean_scale, quantile_scale
from everystump._core.threads import count_threads
from everystump._selection.folds import split_numbers
from everystump._sklearn_compat import Interval, one_of
from everystump._tables.training_table import NumberTable
from everystump._tables.validation import check_rows
from everystump.estimators._finite import BinnedEnsemble, BinnedTable
from everystump.estimators._finite_regression import FiniteRegressor

# The scale of the targets of each loss, and the power of it in the loss.
_SCALES = {
    "squared": (partial(mean_scale, center=True), 2),
    "absolute": (partial(quantile_scale, quantile=0.5, center=True), 1),
}


@dataclass(eq=False, repr=False)
class StumpBoostingRegressor(FiniteRegressor, BinnedEnsemble):
    """Boosted decision stumps for regression.

    Starts with the mean or the median of the targets.  Each round fits a stump to the residuals, or
    to their signs, by least squares, and adds the mean or the median residual of each of its sides,
    times the learning rate.  With the squared loss this is L2 boosting, the same as
    `sklearn.ensemble.GradientBoostingRegressor` with ``max_depth=1``.

    Parameters
    ----------
    loss : {"squared", "absolute"}, default="squared"
        Loss function: the squared error, to predict the mean, or the absolute error, to predict
        the median.
    n_estimators : int, default=100
        Maximum number of rounds.
    learning_rate : float, default=0.1
        Factor that multiplies the values of each stump.
    features : {"best", "random"}, default="best"
        Whether each round considers all features or a random one.
    min_weight_fraction_leaf : float, default=0.0
        Minimum fraction of the total weight on each side of a stump.
    validation_fraction : float, default=None
        Fraction of the training samples to hold out for early stopping: boosting stops when the
        loss on them has not decreased for `n_iter_no_change` rounds, and keeps the stumps up to the
        best round.  None disables early stopping.
    n_iter_no_change : int, default=10
        Number of rounds without improvement before early stopping.
    max_bins, random_state, categorical_features, n_jobs, verbose
        As in `StumpBoostingClassifier`.

    Attributes
    ----------
    stumps_ : Stumps
        The stumps in the order of the rounds, as arrays ``feature``, ``threshold``, ``level``,
        ``direction`` (always 1), ``missing``, ``weight`` (half the difference of the values of both
        sides), ``error`` (the mean training loss after the round).
    round_intercepts_ : ndarray of shape (n_stumps + 1,)
        The first prediction, and what each round adds to the intercept: the mean of the values of
        both sides of its stump.
    estimator_weights_, estimator_errors_ : ndarray of shape (n_stumps,)
        Weight of each stump, and the mean training loss after its round.
    validation_losses_ : ndarray of shape (n_rounds,)
        Mean loss on the held-out samples after each round; empty without `validation_fraction`.
    shapes_ : ShapeModel
        The sum of the stumps as shape functions.
    link_, intercept_
        As in `StumpRegressor`.
    exact_ : bool
        True if no feature was binned.
    feature_importances_, feature_info_, density_, n_features_in_, feature_names_in_
        As in `StumpSVC`.

    Examples
    --------
    >>> import numpy as np
    >>> from everystump import StumpBoostingRegressor
    >>> X = np.linspace(0, 6, 200)[:, None]
    >>> model = StumpBoostingRegressor(n_estimators=200).fit(X, np.sin(X[:, 0]))
    >>> model.score(X, np.sin(X[:, 0])) > 0.99, model.estimator_weights_.shape
    (True, (200,))
    """

    _parameter_constraints: ClassVar[dict] = {
        **BinnedEnsemble._parameter_constraints,
        "loss": [one_of(*RESIDUAL_LOSSES)],
        "learning_rate": [Interval(Real, 0, 2, closed="neither")],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither"), None],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
    }

    loss: str = "squared"
    _: KW_ONLY
    learning_rate: float = 0.1
    validation_fraction: float | None = None
    n_iter_no_change: int = 10

    def _target_scale(self, y: np.ndarray, weight: np.ndarray | None) -> TargetScale:
        return _SCALES[self.loss][0](y, weight)

    def _in_units(self, losses: np.ndarray, scale: TargetScale) -> np.ndarray:
        with np.errstate(over="ignore"):
            return losses * np.float64(scale.factor) ** _SCALES[self.loss][1]

    def _fit_table(self, table: NumberTable) -> None:
        seed = self._seed()
        train, held_out = self._split(table, seed)
        binned = self._bin(train)
        boosted, losses = self._boost(train, held_out, binned, np.random.default_rng(seed))
        self._store(train, boosted, binned.columns)
        self.validation_losses_ = self._in_units(losses, table.scale)
        self.round_intercepts_ = table.scale.factor * boosted.constants
        self.round_intercepts_[0] += table.scale.center

    def _split(self, table: NumberTable, seed: int) -> tuple[NumberTable, NumberTable | None]:
        """Return the samples to train on and those held out for early stopping."""
        if self.validation_fraction is None:
            return table, None
        if table.n_rows < 2:
            raise ValueError(
                f"validation_fraction={self.validation_fraction}: there is only 1 sample of "
                f"positive weight; use more samples or validation_fraction=None."
            )
        fold = split_numbers(table.n_rows, self.validation_fraction, seed)
        return table.take(fold.train), table.take(fold.test)

    def _boost(
        self,
        train: NumberTable,
        held_out: NumberTable | None,
        binned: BinnedTable,
        rng: np.random.Generator,
    ) -> tuple[ResidualBoosting, np.ndarray]:
        """Return the boosted stumps, and the losses on held-out samples after each round."""
        loss = RESIDUAL_LOSSES[self.loss]
        rows = ResidualRows(
            binned.packing, train.target, train.weight, loss, count_threads(self.n_jobs)
        )
        scores = None if held_out is None else np.full(held_out.n_rows, rows.constant)
        losses: list[float] = []
        with EnsembleProgress(self.verbose, type(self).__name__, self.n_estimators) as progress:

            def monitor(stump: Stump, weight: float, constant: float, error: float) -> bool:
                progress(error)
                if held_out is None or scores is None:
                    return False
                np.add(scores, constant + weight * stump.vote(held_out.X), out=scores)
                values = loss.value(held_out.target - scores)
                losses.append(float(np.average(values, weights=held_out.weight)))
                return len(losses) - int(np.argmin(losses)) > self.n_iter_no_change

            boosted = boost_residuals(
                rows,
                binned.search,
                self._choice(rng),
                n_estimators=self.n_estimators,
                learning_rate=self.learning_rate,
                monitor=monitor,
            )
        if losses:
            boosted = boosted.first(int(np.argmin(losses)) + 1)
        return boosted, np.array(losses)

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Yield the predictions for samples after each round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Yields
        ------
        ndarray of shape (n_samples,)
            Predictions, in the units of the training targets.
        """
        check_is_fitted(self, "shapes_")
        intercepts = np.cumsum(self.round_intercepts_)
        stages = self.stumps_.staged_scores(check_rows(self, X))
        for intercept, scores in zip(intercepts[1:], stages, strict=True):
            yield intercept + scores
