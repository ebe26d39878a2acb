"""Bagged stumps."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from everystump._core.boosting import BaggingResult, bag_stumps
from everystump._core.progress import EnsembleProgress
from everystump._core.threads import count_threads
from everystump._tables.labels import labels_from_scores, vote_shares
from everystump._tables.validation import TrainingTable
from everystump.estimators._finite import BinnedEnsemble


class StumpBaggingClassifier(BinnedEnsemble):
    """Mean vote of decision stumps, each the best on a bootstrap sample of the rows.

    A bootstrap sample is a weight for each row, so no row is copied (Sugiyama, section 30.2).
    Sample weights say how often a row is drawn: whole weights count rows, and a sample has as many
    draws as they add up to; with other weights it has one draw a row.

    Parameters
    ----------
    n_estimators : int, default=1000
        How many stumps.
    features : {"best", "random"}, default="best"
        Let each stump look at all features, or at one that is drawn at random.
    criterion : {"error", "gini"}, default="error"
        What makes a stump good, as in `DecisionStumpClassifier`.
    min_weight_fraction_leaf : float, default=0.0
        As in `StumpBoostingClassifier`.
    categorical_features : "from_dtype", list, mask or None, default="from_dtype"
        As in `StumpSVC`.
    max_bins : int or "auto", default="auto"
        As in `StumpBoostingClassifier`.
    class_weight : dict, "balanced" or None, default=None
        Factors of the weights of each class, once rows are drawn.
    random_state : int, RandomState instance or None, default=None
        Draws samples and features.  The same rows give the same samples in whatever order they
        come.
    n_jobs : int, optional
        Threads, each with its own samples.  None is all cores, unlike in most of scikit-learn, or
        what ``joblib.parallel_config`` says.
    verbose : int, default=0
        1 shows live progress.

    Attributes
    ----------
    stumps_, estimator_weights_, estimator_errors_
        As in `StumpBoostingClassifier`; all weights are ``1 / n_estimators``, or 0 for a sample
        without a stump better than a coin.
    oob_decision_function_ : ndarray of shape (n_rows,) or (n_rows, n_classes)
        The mean vote on each row of the stumps whose samples did not hold it; NaN where there are
        none.
    oob_score_, oob_error_ : float
        Weighted accuracy of these votes, over the rows that have some, and what it lacks to 1.
    shapes_, classes_, exact_, feature_info_, density_, n_features_in_, feature_names_in_
        As in `StumpBoostingClassifier`.

    Examples
    --------
    >>> from everystump import StumpBaggingClassifier
    >>> from everystump.datasets import make_twonorm
    >>> X, y = make_twonorm(300, random_state=0)
    >>> model = StumpBaggingClassifier(200, features="random", random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.9, model.oob_score_ > 0.9
    (True, True)
    """

    def __init__(
        self,
        n_estimators: int = 1000,
        *,
        features: str = "best",
        criterion: str = "error",
        min_weight_fraction_leaf: float = 0.0,
        categorical_features: Any = "from_dtype",
        max_bins: int | str = "auto",
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.features = features
        self.criterion = criterion
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.categorical_features = categorical_features
        self.max_bins = max_bins
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fit_table(self, table: TrainingTable) -> None:
        coded = self._code(table)
        problems = table.problems()
        seed = self._seed()
        total = self.n_estimators * len(problems)
        with EnsembleProgress(self.verbose, type(self).__name__, total) as report:
            bags = [
                bag_stumps(
                    coded.packing,
                    positive,
                    coded.search,
                    self._choice,
                    sample_weight=table.sample_weight,
                    cost=table.class_factor,
                    n_estimators=self.n_estimators,
                    seed=seed,
                    n_threads=count_threads(self.n_jobs),
                    report=report,
                )
                for positive in problems
            ]
        found = [bag.stumps for bag in bags]
        self._store(table, found, self._vote(found), coded.columns)
        self._store_out_of_bag(table, bags)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the share of the stumps that vote for each class, for each row.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Rows sum to 1: stumps without a vote count half for each of two classes, and of several
            classes the shares of each against the rest are scaled to do so.
        """
        score = self.decision_function(X)
        return vote_shares(score, (1.0 + score) / 2)

    def _store_out_of_bag(self, table: TrainingTable, bags: list[BaggingResult]) -> None:
        votes = np.full((table.n_input_rows, len(bags)), np.nan)
        votes[table.kept] = np.column_stack([bag.out_of_bag for bag in bags])
        self.oob_decision_function_ = votes[:, 0] if len(bags) == 1 else votes
        heard = self.oob_decision_function_[table.kept]
        if np.all(np.isnan(heard)):
            warnings.warn(
                f"{type(self).__name__}: no row was left out of any sample, so there is no "
                f"out-of-bag score; whole numbers in sample_weight count rows: divide them by "
                f"their mean if they are not meant to, or raise n_estimators={self.n_estimators}.",
                stacklevel=4,
            )
        some = ~np.isnan(votes[table.kept]).any(axis=1)
        right = labels_from_scores(heard[some], self.classes_) == self.classes_[table.label[some]]
        weight = None if table.sample_weight is None else table.sample_weight[some]
        self.oob_score_ = float(np.average(right, weights=weight)) if some.any() else np.nan
        self.oob_error_ = 1.0 - self.oob_score_
