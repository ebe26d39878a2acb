"""Boosted decision stumps: AdaBoost, MadaBoost, LogitBoost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from itertools import zip_longest
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from everystump._core.boosting.boosting import BoostingResult, StopReason
from everystump._core.boosting.losses import BOOSTING_LOSSES, BoostingLoss
from everystump._core.boosting.search import Stump
from everystump._core.boosting.stumps import Stumps
from everystump._core.columns import Columns
from everystump._selection.folds import split_holdout
from everystump._sklearn_compat import Interval, one_of
from everystump._tables.labels import class_indices
from everystump._tables.training_table import ClassTable
from everystump.estimators._base import LogOddsClassifier, as_class_list, unwrap_binary
from everystump.estimators._finite import BoostedEnsemble


@dataclass(eq=False, repr=False)
class StumpBoostingClassifier(LogOddsClassifier, BoostedEnsemble):
    """Boosted decision stumps (Sugiyama, section 30.3).

    Each round finds the best stump for the current sample weights, and gives it the weight that
    minimizes the total loss.  The loss determines the algorithm: AdaBoost, MadaBoost or LogitBoost.
    With all three, scores estimate half the log-odds.

    Parameters
    ----------
    loss : {"exponential", "mada", "logistic"}, default="exponential"
        Loss function of the margin ``m``: AdaBoost's ``exp(-m)``; MadaBoost's, which is linear for
        negative margins; LogitBoost's ``log(1 + exp(-2m))``, the log-likelihood.
    n_estimators : int, default=100
        Maximum number of rounds.
    features : {"best", "random"}, default="best"
        Whether each round considers all features or a random one.
    criterion : {"error", "gini"}, default="error"
        Quality of a stump; "gini" finds the same stumps as scikit-learn's trees of depth one.
    min_weight_fraction_leaf : float, default=0.0
        Minimum fraction of the total weight on each side of a stump.
    learning_rate : float, default=1.0
        Factor that multiplies the weight of each stump; below 2, where the exponential loss would
        no longer decrease.
    validation_fraction : float, default=None
        Fraction of the training samples to hold out for early stopping: boosting stops when the
        loss on them has not decreased for `n_iter_no_change` rounds, and keeps the stumps up to the
        best round.  None disables early stopping.
    n_iter_no_change : int, default=10
        Number of rounds without improvement before early stopping.
    max_bins : int or "auto", default="auto"
        Maximum number of bins.  Features with more distinct values are binned; see ``exact_``.
        "auto" uses all values for up to 10,000 training samples, else 256 bins.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes.
    warm_start : bool, default=False
        Whether ``fit`` continues the earlier fit if `n_estimators` has increased.
    random_state : int, RandomState instance or None, default=None
        Controls the random features and the held-out samples.
    categorical_features, n_jobs, verbose
        As in `StumpSVC`.

    Attributes
    ----------
    stumps_ : Stumps or list of Stumps
        The stumps in the order of the rounds, as arrays ``feature``, ``threshold``, ``level``,
        ``direction``, ``missing``, ``weight``, ``error``; a list with one entry per class for more
        than two classes.
    estimator_weights_ : ndarray of shape (n_stumps,), or list of ndarray
        Weight of each stump.
    estimator_errors_ : ndarray of shape (n_stumps,), or list of ndarray
        Weighted training error of each stump.
    validation_losses_ : ndarray of shape (n_rounds,), or list of ndarray
        Mean loss on the held-out samples after each round; empty without `validation_fraction`.
    shapes_ : ShapeModel or list of ShapeModel
        The weighted vote as shape functions.
    feature_importances_ : ndarray of shape (n_features,)
        Relative importance of each feature; see `explain_global`.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    exact_ : bool
        True if no feature was binned.
    feature_info_, density_, n_features_in_, feature_names_in_
        As in `StumpSVC`.

    Examples
    --------
    >>> from everystump import StumpBoostingClassifier
    >>> from everystump.datasets import make_twonorm
    >>> X, y = make_twonorm(300, random_state=0)
    >>> model = StumpBoostingClassifier(n_estimators=50).fit(X, y)
    >>> model.score(X, y) > 0.95, model.estimator_weights_.shape
    (True, (50,))
    """

    _log_odds_factor = 2.0

    _parameter_constraints: ClassVar[dict] = {
        **BoostedEnsemble._parameter_constraints,
        "loss": [one_of(*BOOSTING_LOSSES)],
        "learning_rate": [Interval(Real, 0, 2, closed="neither")],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither"), None],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
        "warm_start": ["boolean"],
    }

    loss: str = "exponential"
    _: KW_ONLY
    learning_rate: float = 1.0
    validation_fraction: float | None = None
    n_iter_no_change: int = 10
    warm_start: bool = False

    def _fit_table(self, table: ClassTable) -> None:
        starts = self._starts(table)
        if starts is None:
            self._fit_seed = self._seed()
        train, held_out = self._hold_out(table)
        binned, loss = self._bin(train), BOOSTING_LOSSES[self.loss]
        monitors, results = [], []
        for k, positive in enumerate(train.problems()):
            start = None if starts is None else starts[k]
            monitor = _EarlyStopping(held_out, k, loss, self.n_iter_no_change, start)
            rows, title = self._boosted_rows(binned, train, positive), train.title(k)
            results.append(self._boost(rows, binned.search, k, title, start=start, monitor=monitor))
            monitors.append(monitor)
        stumps = [monitor.cut(result) for monitor, result in zip(monitors, results, strict=True)]
        losses = [np.array(monitor.losses) for monitor in monitors]
        self._store_boosted(table.classes, stumps, results, losses, binned.columns)

    def _store_boosted(
        self,
        classes: np.ndarray,
        stumps: list[Stumps],
        results: list[BoostingResult],
        losses: list[np.ndarray],
        columns: Columns,
    ) -> None:
        """Store the stumps of each class, and the losses on held-out samples."""
        _set_perfect_stump_weights(stumps, results)
        self._store(classes, stumps, columns)
        self.validation_losses_ = unwrap_binary(losses)
        self._warn_if_stopped(results)

    @property
    def fitted_on_single_table(self) -> bool:
        """Whether all fits of a warm start used the same data and weights."""
        record = self._training_record
        return record is None or record.table_checksum is not None

    def _continues_fit(self) -> bool:
        return self.warm_start and hasattr(self, "stumps_")

    def _starts(self, table: ClassTable) -> list[Stumps] | None:
        """Return the stumps that a warm start continues from, if any."""
        if not self._continues_fit():
            return None
        if not np.array_equal(table.classes, self.classes_):
            raise ValueError(
                f"y has the classes {table.classes.tolist()}, but warm_start=True continues a fit "
                f"with the classes {self.classes_.tolist()}; use warm_start=False."
            )
        starts = as_class_list(self.stumps_)
        n_stumps = max(len(stumps.weight) for stumps in starts)
        if n_stumps > self.n_estimators:
            raise ValueError(
                f"n_estimators={self.n_estimators} is less than the {n_stumps} stumps that "
                f"warm_start=True continues from; raise it or use warm_start=False."
            )
        return starts

    def _hold_out(self, table: ClassTable) -> tuple[ClassTable, ClassTable | None]:
        """Return the samples to train on and those held out for early stopping."""
        if self.validation_fraction is None:
            return table, None
        fraction = self.validation_fraction
        try:
            train, held_out = split_holdout(table.label, fraction, self._fit_seed)
        except ValueError as error:
            raise ValueError(
                f"validation_fraction={fraction}: {error}; use more samples or "
                f"validation_fraction=None."
            ) from None
        return table.take(train), table.take(held_out)

    def _staged_scores(self, X: np.ndarray) -> Iterator[np.ndarray]:
        if isinstance(self.stumps_, Stumps):
            yield from self.stumps_.staged_scores(X)
            return
        scores = np.zeros((len(X), len(self.classes_)))
        for stage in zip_longest(*(stumps.staged_scores(X) for stumps in self.stumps_)):
            for k, column in enumerate(stage):
                if column is not None:
                    scores[:, k] = column
            yield scores.copy()

    def margins(self, X: Any, y: Any) -> np.ndarray:
        """Return the normalized margin of each sample, between -1 and 1.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Their labels.

        Returns
        -------
        ndarray of shape (n_samples,)
            ``y f(x)`` divided by the sum of the stump weights; with more than two classes, the
            margin of the sample's class against the rest.
        """
        score = self.decision_function(X)
        label = class_indices(y, self.classes_, len(score))
        weights = self.estimator_weights_
        if score.ndim == 1:
            return np.where(label == 1, score, -score) / (np.sum(weights) or 1.0)
        total = np.array([np.sum(w) or 1.0 for w in weights])
        return score[np.arange(len(label)), label] / total[label]


def _set_perfect_stump_weights(stumps: list[Stumps], results: list[BoostingResult]) -> None:
    """Give each stump without errors more weight than the stumps of any other class.

    Its optimal weight is infinite; a finite one keeps the scores of several classes comparable.
    """
    largest = 1.0 + max(float(ensemble.weight.sum()) for ensemble in stumps)
    for k, result in enumerate(results):
        if len(results) > 1 and result.stop_reason is StopReason.PERFECT:
            stumps[k] = stumps[k]._replace(weight=np.array([largest]))


class _EarlyStopping:
    """Tracks the loss on held-out samples, including that of the stumps of a warm start."""

    def __init__(
        self,
        table: ClassTable | None,
        problem: int,
        loss: BoostingLoss,
        patience: int,
        start: Stumps | None,
    ) -> None:
        self._table, self._loss, self._patience = table, loss, patience
        self.losses: list[float] = []
        if table is not None:
            self._sign = np.where(table.problems()[problem], 1.0, -1.0)
            self._margin = np.zeros(len(table.X))
            for score in () if start is None else start.staged_scores(table.X):
                self._margin = self._sign * score
                self._append_loss(table)

    def __call__(self, stump: Stump, weight: float) -> bool:
        """Add a stump; return whether to stop."""
        if self._table is None:
            return False
        self._margin += weight * self._sign * stump.vote(self._table.X)
        self._append_loss(self._table)
        return len(self.losses) - int(np.argmin(self.losses)) > self._patience

    def _append_loss(self, table: ClassTable) -> None:
        losses = self._loss.value(self._margin)
        self.losses.append(float(np.average(losses, weights=table.weight)))

    def cut(self, result: BoostingResult) -> Stumps:
        """Return the stumps up to the best round."""
        if not self.losses or result.stop_reason is StopReason.PERFECT:
            return result.stumps
        return result.stumps.first(int(np.argmin(self.losses)) + 1)
