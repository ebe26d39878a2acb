"""Bagged decision stumps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from everystump._core.boosting.bagging import BaggingResult, bag_stumps
from everystump._core.progress import EnsembleProgress
from everystump._core.threads import count_threads
from everystump._tables.labels import labels_from_scores, vote_fractions
from everystump._tables.training_table import ClassTable
from everystump._warnings import warn_user
from everystump.estimators._base import ProbabilityClassifier
from everystump.estimators._finite import BinnedClassifier


@dataclass(eq=False, repr=False)
class StumpBaggingClassifier(ProbabilityClassifier, BinnedClassifier):
    """Mean vote of decision stumps, each fitted to a bootstrap sample (Sugiyama, section 30.2).

    Bootstrap samples are represented by weights, so no data are copied.  Sample weights are
    frequencies: integer weights count copies of a sample, and a bootstrap sample has as many draws
    as there are copies; otherwise it has ``n_samples`` draws.  Probabilities are the fractions of
    stumps that vote for each class.

    Parameters
    ----------
    n_estimators : int, default=1000
        Number of stumps.
    features : {"best", "random"}, default="best"
        Whether each stump considers all features or a random one.
    criterion, min_weight_fraction_leaf, max_bins
        As in `StumpBoostingClassifier`.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, applied after samples are drawn.
    random_state : int, RandomState instance or None, default=None
        Controls the bootstrap samples and random features.  The result does not depend on the
        order of the training samples.
    categorical_features, n_jobs, verbose
        As in `StumpSVC`.

    Attributes
    ----------
    stumps_, estimator_weights_, estimator_errors_
        As in `StumpBoostingClassifier`.  Weights are ``1 / n_estimators``, or 0 if no stump is
        better than chance on a bootstrap sample.
    oob_decision_function_ : ndarray of shape (n_samples,) or (n_samples, n_classes)
        Mean out-of-bag vote on each training sample; NaN for samples that are in every bag.
    oob_score_, oob_error_ : float
        Weighted accuracy of the out-of-bag votes, and one minus it.
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

    n_estimators: int = 1000

    def _fit_table(self, table: ClassTable) -> None:
        binned = self._bin(table)
        problems = table.problems()
        seed = self._seed()
        total = self.n_estimators * len(problems)
        with EnsembleProgress(self.verbose, type(self).__name__, total) as progress:
            bags = [
                bag_stumps(
                    binned.packing,
                    positive,
                    binned.search,
                    self._choice,
                    sample_weight=table.sample_weight,
                    cost=table.class_factor,
                    n_estimators=self.n_estimators,
                    seed=seed,
                    n_threads=count_threads(self.n_jobs),
                    report=progress,
                )
                for positive in problems
            ]
        stumps = [bag.stumps for bag in bags]
        self._store(table.classes, stumps, binned.columns)
        self._store_out_of_bag(table, bags)

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        return vote_fractions(scores, (1.0 + scores) / 2)

    def _store_out_of_bag(self, table: ClassTable, bags: list[BaggingResult]) -> None:
        votes = np.full((table.n_input_rows, len(bags)), np.nan)
        votes[table.input_index] = np.column_stack([bag.out_of_bag for bag in bags])
        self.oob_decision_function_ = votes[:, 0] if len(bags) == 1 else votes
        scores = self.oob_decision_function_[table.input_index]
        if np.all(np.isnan(scores)):
            warn_user(
                f"{type(self).__name__}: no sample was left out of any bag, so there is no "
                f"out-of-bag score; raise n_estimators={self.n_estimators}, or divide "
                f"sample_weight by its mean if its integers do not count copies of samples."
            )
        has_votes = ~np.isnan(votes[table.input_index]).any(axis=1)
        predicted = labels_from_scores(scores[has_votes], self.classes_)
        correct = predicted == self.classes_[table.label[has_votes]]
        weight = None if table.sample_weight is None else table.sample_weight[has_votes]
        has_any = has_votes.any()
        self.oob_score_ = float(np.average(correct, weights=weight)) if has_any else np.nan
        self.oob_error_ = 1.0 - self.oob_score_
