"""Boosted stumps: AdaBoost, MadaBoost, LogitBoost."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.utils.validation import check_is_fitted

from everystump._core.boosting import (
    BOOSTING_LOSSES,
    BoostingLoss,
    BoostingResult,
    StopReason,
    Stump,
    Stumps,
)
from everystump._sklearn_compat import Interval, one_of
from everystump._tables.labels import class_indices
from everystump._tables.validation import TrainingTable, check_rows
from everystump.estimators._base import per_class
from everystump.estimators._finite import BoostedEnsemble
from everystump.estimators.logistic import ProbabilityMixin


class StumpBoostingClassifier(ProbabilityMixin, BoostedEnsemble):
    """Boosted decision stumps.

    One stump after another is found against the weights that the others left, and gets the weight
    that lowers the summed loss most.  The loss makes the method: AdaBoost, MadaBoost, or
    LogitBoost (Sugiyama, section 30.3).  Scores estimate half the log-odds under all three.

    Parameters
    ----------
    loss : {"exponential", "mada", "logistic"}, default="exponential"
        AdaBoost's ``exp(-m)``; MadaBoost's, which grows only linearly with a wrong margin;
        LogitBoost's ``log(1 + exp(-2m))``, the likelihood of its probabilities.
    n_estimators : int, default=100
        Rounds at most.
    features : {"best", "random"}, default="best"
        Look at all features in each round, or at one that is drawn at random.
    criterion : {"error", "gini"}, default="error"
        What makes a stump good; "gini" finds the stumps of scikit-learn's trees of depth one.
    min_weight_fraction_leaf : float, default=0.0
        Each side of a stump must hold this share of all weight at least.
    categorical_features : "from_dtype", list, mask or None, default="from_dtype"
        As in `StumpSVC`.
    learning_rate : float, default=1.0
        Factor of each stump's weight, below 2: at 2 the exponential loss no longer falls.
    validation_fraction : float, optional
        Share of the rows to hold out.  Boosting then ends when the loss on them has not fallen for
        `n_iter_no_change` rounds, and keeps the stumps up to the best round.
    n_iter_no_change : int, default=10
        Rounds to wait for; of no effect without `validation_fraction`.
    max_bins : int or "auto", default="auto"
        Features with more distinct values are cut into this many bins; see ``exact_``.  "auto"
        keeps every value of tables of up to 10,000 rows and cuts larger ones into 256 bins.
    class_weight : dict, "balanced" or None, default=None
        Factors of the weights of each class.
    warm_start : bool, default=False
        Let ``fit`` go on from the stumps there are, if `n_estimators` has grown.
    random_state : int, RandomState instance or None, default=None
        Draws features and held-out rows.
    n_jobs : int, optional
        Threads over the rows.  None is all cores, unlike in most of scikit-learn, or what
        ``joblib.parallel_config`` says.
    verbose : int, default=0
        1 shows live progress.

    Attributes
    ----------
    stumps_ : Stumps, or a list of them for several classes
        The stumps in their order: arrays ``feature``, ``threshold``, ``level``, ``direction``,
        ``missing``, ``weight``, ``error``.
    estimator_weights_ : ndarray of shape (n_stumps,), or a list of them
        Their weights.
    estimator_errors_ : ndarray of shape (n_stumps,), or a list of them
        Their weighted errors.
    validation_losses_ : ndarray of shape (n_rounds,), or a list of them
        Mean loss on the held-out rows after each round; empty without `validation_fraction`.
    shapes_ : ShapeModel, or a list of them for several classes
        The weighted vote as one curve a feature.
    feature_importances_ : ndarray of shape (n_features,)
        How much each feature moves the score, in shares that sum to 1; see `explain_global`.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    exact_ : bool
        Whether no feature was binned.
    feature_info_ : tuple of Feature
        What each feature is: its name, and for a category its levels.
    density_ : tuple of RowDensity
        Where the training rows lie in each feature.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if the table had any.

    Examples
    --------
    >>> from everystump import StumpBoostingClassifier
    >>> from everystump.datasets import make_twonorm
    >>> X, y = make_twonorm(300, random_state=0)
    >>> model = StumpBoostingClassifier(n_estimators=50).fit(X, y)
    >>> model.score(X, y) > 0.95, model.estimator_weights_.shape
    (True, (50,))
    """

    _parameter_constraints: ClassVar[dict] = {
        **BoostedEnsemble._parameter_constraints,
        "loss": [one_of(*BOOSTING_LOSSES)],
        "learning_rate": [Interval(Real, 0, 2, closed="neither")],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither"), None],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
        "warm_start": ["boolean"],
    }

    def __init__(
        self,
        loss: str = "exponential",
        *,
        n_estimators: int = 100,
        features: str = "best",
        criterion: str = "error",
        min_weight_fraction_leaf: float = 0.0,
        categorical_features: Any = "from_dtype",
        learning_rate: float = 1.0,
        validation_fraction: float | None = None,
        n_iter_no_change: int = 10,
        max_bins: int | str = "auto",
        class_weight: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.n_estimators = n_estimators
        self.features = features
        self.criterion = criterion
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.categorical_features = categorical_features
        self.learning_rate = learning_rate
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.max_bins = max_bins
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fit_table(self, table: TrainingTable) -> None:
        known = self._known(table)
        if known is None:
            self._fit_seed = self._seed()
        train, held_out = self._hold_out(table)
        coded = self._code(train)
        monitors, runs = [], []
        for k, positive in enumerate(train.problems()):
            start = None if known is None else known[k]
            monitor = _EarlyStopping(
                held_out, k, BOOSTING_LOSSES[self.loss], self.n_iter_no_change, start
            )
            runs.append(self._boost(coded, train, k, positive, start=start, monitor=monitor))
            monitors.append(monitor)
        found = [monitor.cut(run) for monitor, run in zip(monitors, runs, strict=True)]
        _set_perfect_stump_weights(found, runs)
        self._store(table, found, self._vote(found), coded.columns)
        self.validation_losses_ = per_class([np.array(monitor.losses) for monitor in monitors])
        self._warn_if_stopped(runs)

    @property
    def fitted_on_single_table(self) -> bool:
        """Whether all fits that it goes on from were to one table with the same weights."""
        record = self._training_record
        return record is None or record.table_checksum is not None

    def _continues_fit(self) -> bool:
        return self.warm_start and hasattr(self, "stumps_")

    def _known(self, table: TrainingTable) -> list[Stumps] | None:
        """Return the stumps to go on from, if any."""
        if not self._continues_fit():
            return None
        if not np.array_equal(table.classes, self.classes_):
            raise ValueError(
                f"y has the classes {table.classes.tolist()}, but warm_start=True goes on from a "
                f"model of {self.classes_.tolist()}; use warm_start=False."
            )
        known = [self.stumps_] if isinstance(self.stumps_, Stumps) else self.stumps_
        most = max(len(stumps.weight) for stumps in known)
        if most > self.n_estimators:
            raise ValueError(
                f"n_estimators={self.n_estimators} is less than the {most} stumps that "
                f"warm_start=True would go on from; raise it or use warm_start=False."
            )
        return known

    def _hold_out(self, table: TrainingTable) -> tuple[TrainingTable, TrainingTable | None]:
        """Return the training rows and the held-out rows."""
        if self.validation_fraction is None:
            return table, None
        try:
            train, held_out = train_test_split(
                np.arange(len(table.X)),
                test_size=self.validation_fraction,
                stratify=table.label,
                random_state=self._fit_seed,
            )
        except ValueError as error:
            raise ValueError(
                f"validation_fraction={self.validation_fraction} of {len(table.X)} rows cannot be "
                f"held out, each class keeping its share ({error}); give more rows or use "
                f"validation_fraction=None."
            ) from None
        return table.take(train), table.take(held_out)

    def _log_odds(self, X: Any) -> np.ndarray:
        return 2 * self.decision_function(X)

    def staged_decision_function(self, X: Any) -> Iterator[np.ndarray]:
        """Yield the scores of the rows after each round.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows.

        Yields
        ------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
            As `decision_function`; a class whose boosting ended early keeps its last scores.
        """
        check_is_fitted(self, "shapes_")
        X = check_rows(self, X)
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
        """Return the margin of each row: by how much the vote is for its class, from -1 to 1.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows.
        y : array-like of shape (n_rows,)
            Their labels.

        Returns
        -------
        ndarray of shape (n_rows,)
            ``y f(x)`` over the sum of all weights; for several classes that of the row's own class
            against the rest.
        """
        score = self.decision_function(X)
        label = class_indices(y, self.classes_, len(score))
        weights = self.estimator_weights_
        if score.ndim == 1:
            return np.where(label == 1, score, -score) / (np.sum(weights) or 1.0)
        total = np.array([np.sum(w) or 1.0 for w in weights])
        return score[np.arange(len(label)), label] / total[label]


def _set_perfect_stump_weights(found: list[Stumps], runs: list[BoostingResult]) -> None:
    """Give perfect stumps the weight that makes scores of several classes comparable.

    A stump without an error stands for an infinite weight: it gets more than any other class has.
    """
    most = 1.0 + max(float(stumps.weight.sum()) for stumps in found)
    for k, run in enumerate(runs):
        if len(runs) > 1 and run.stop_reason is StopReason.PERFECT:
            found[k] = found[k]._replace(weight=np.array([most]))


class _EarlyStopping:
    """Watches the loss on held-out rows, of the known stumps as of the new ones."""

    def __init__(
        self,
        table: TrainingTable | None,
        problem: int,
        loss: BoostingLoss,
        patience: int,
        start: Stumps | None,
    ) -> None:
        self._table, self._loss, self._patience = table, loss, patience
        self.losses: list[float] = []
        if table is not None:
            self._side = np.where(table.problems()[problem], 1.0, -1.0)
            self._margin = np.zeros(len(table.X))
            for score in () if start is None else start.staged_scores(table.X):
                self._margin = self._side * score
                self._take_loss(table)

    def __call__(self, stump: Stump, weight: float) -> bool:
        """Add a stump; return whether the last rounds brought nothing."""
        if self._table is None:
            return False
        self._margin += weight * self._side * stump.vote(self._table.X)
        self._take_loss(self._table)
        return len(self.losses) - int(np.argmin(self.losses)) > self._patience

    def _take_loss(self, table: TrainingTable) -> None:
        losses = self._loss.value(self._margin)
        self.losses.append(float(np.average(losses, weights=table.weight)))

    def cut(self, run: BoostingResult) -> Stumps:
        """Return the stumps up to the best round."""
        if not self.losses or run.stop_reason is StopReason.PERFECT:
            return run.stumps
        return run.stumps.first(int(np.argmin(self.losses)) + 1)
