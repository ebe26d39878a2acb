"""A single decision stump."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils import Tags

from everystump._core.boosting.losses import BOOSTING_LOSSES
from everystump._core.boosting.rows import BoostedRows
from everystump._core.boosting.stumps import Stumps
from everystump._core.threads import count_threads
from everystump._tables.training_table import ClassTable
from everystump.estimators._finite import FiniteClassifier


@dataclass(eq=False, repr=False)
class DecisionStumpClassifier(FiniteClassifier):
    """The decision stump with the smallest weighted error (Sugiyama, section 30.1).

    Predicts one class where ``x >= threshold`` and the other elsewhere.  All thresholds and both
    directions are searched; the threshold is halfway between two adjacent values.  A constant
    prediction is a stump whose threshold is minus infinity.

    Parameters
    ----------
    features : {"best", "random"}, default="best"
        Whether to consider all features or a random one; if the random feature has no stump better
        than chance, another feature is drawn.
    criterion : {"error", "gini"}, default="error"
        Quality of a stump: its weighted error, or the Gini impurity of its two sides, as in
        decision trees.
    min_weight_fraction_leaf : float, default=0.0
        Minimum fraction of the total weight on each side of the stump.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes.
    random_state : int, RandomState instance or None, default=None
        Controls the random feature.
    categorical_features, n_jobs
        As in `StumpSVC`.

    Attributes
    ----------
    feature_ : int
        Index of the feature of the stump.
    threshold_ : float
        Threshold: minus infinity for a constant prediction, infinity if the stump tests whether the
        value is missing, NaN if it tests for a level.
    level_ : object or None
        The level that the stump tests for.
    direction_ : int
        1 if the stump predicts ``classes_[1]`` where its test is true, else -1.
    error_ : float
        Weighted training error.
    stumps_, estimator_weights_, estimator_errors_
        The same as arrays of length one.
    shapes_ : ShapeModel
        The stump as shape functions.
    feature_importances_ : ndarray of shape (n_features,)
        Relative importance of each feature; see `explain_global`.
    classes_ : ndarray of shape (2,)
        Class labels.
    exact_ : bool
        Always True: features are not binned.
    feature_info_, density_, n_features_in_, feature_names_in_
        As in `StumpSVC`.

    Examples
    --------
    >>> from everystump import DecisionStumpClassifier
    >>> stump = DecisionStumpClassifier().fit([[0, 7], [1, 5], [4, 6], [5, 5]], [0, 0, 1, 1])
    >>> stump.feature_, stump.threshold_, stump.error_
    (0, 2.5, 0.0)
    """

    features: str = "best"

    def __sklearn_tags__(self) -> Tags:
        """Declare that only two classes are supported, and that a random feature may be poor."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = self.features == "random"
        return tags

    def _fit_table(self, table: ClassTable) -> None:
        if len(table.classes) > 2:
            raise ValueError(
                f"Only binary classification is supported. The type of the target is multiclass: y "
                f"has {len(table.classes)} classes; use StumpBoostingClassifier, or wrap this "
                f"estimator in OneVsRestClassifier."
            )
        binned = self._bin(table)
        rows = BoostedRows.in_memory(
            binned.packing,
            table.label == 1,
            table.weight,
            BOOSTING_LOSSES["exponential"],
            count_threads(self.n_jobs),
        )
        choose = self._choice(np.random.default_rng(self._seed()))
        stump = choose(binned.search, rows) or binned.search.best(rows.histograms())
        stumps = [Stumps.from_stumps([stump], [1.0])]
        self._store(table.classes, stumps, binned.columns)
        self.feature_, self.threshold_ = stump.feature, stump.threshold
        self.direction_, self.error_ = stump.direction, stump.error
        levels = self.feature_info_[stump.feature].level_index
        self.level_ = next((level for level, k in levels.items() if k == stump.level), None)
