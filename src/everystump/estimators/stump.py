"""One decision stump."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Tags

from everystump._core.boosting import BOOSTING_LOSSES, BoostedRows, Stumps
from everystump._core.threads import count_threads
from everystump._tables.validation import TrainingTable
from everystump.estimators._finite import FiniteEnsemble


class DecisionStumpClassifier(FiniteEnsemble):
    """The decision stump with the smallest weighted error.

    ``direction`` where ``x >= threshold``, else the other class: the best of all n + 1 thresholds
    and both directions, by sorting (Sugiyama, section 30.1).  The threshold lies in the middle of
    its gap.  A constant vote is a stump with the threshold minus infinity.

    Parameters
    ----------
    features : {"best", "random"}, default="best"
        Look at all features, or at one that is drawn at random (another one is drawn if it has no
        stump better than a coin).
    criterion : {"error", "gini"}, default="error"
        What makes a stump good: its weighted error, or the Gini impurity of its two sides, as in
        decision trees.
    min_weight_fraction_leaf : float, default=0.0
        Each side of the stump must hold this share of all weight at least.
    categorical_features : "from_dtype", list, mask or None, default="from_dtype"
        As in `StumpSVC`.
    class_weight : dict, "balanced" or None, default=None
        Factors of the weights of each class.
    random_state : int, RandomState instance or None, default=None
        Draws the feature.
    n_jobs : int, optional
        Threads over the rows.  None is all cores, unlike in most of scikit-learn, or what
        ``joblib.parallel_config`` says.

    Attributes
    ----------
    feature_ : int
        The feature that the stump looks at.
    threshold_ : float
        Where it cuts; minus infinity if it does not, infinity if it asks "is it missing?", NaN if
        it asks for a level.
    level_ : object or None
        The level that it asks for.
    direction_ : int
        1 if it votes for ``classes_[1]`` from the threshold on, or where the answer is yes; -1 if
        for the other.
    error_ : float
        Its weighted training error.
    stumps_, estimator_weights_, estimator_errors_
        The same as arrays of one.
    shapes_ : ShapeModel
        The stump as one curve a feature.
    feature_importances_ : ndarray of shape (n_features,)
        How much each feature moves the score, in shares that sum to 1; see `explain_global`.
    classes_ : ndarray of shape (2,)
        The labels.
    exact_ : bool
        True: every value is looked at.
    feature_info_, density_
        As in `StumpSVC`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if the table had any.

    Examples
    --------
    >>> from everystump import DecisionStumpClassifier
    >>> stump = DecisionStumpClassifier().fit([[0, 7], [1, 5], [4, 6], [5, 5]], [0, 0, 1, 1])
    >>> stump.feature_, stump.threshold_, stump.error_
    (0, 2.5, 0.0)
    """

    def __init__(
        self,
        features: str = "best",
        *,
        criterion: str = "error",
        min_weight_fraction_leaf: float = 0.0,
        categorical_features: Any = "from_dtype",
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.features = features
        self.criterion = criterion
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Tags:
        """Say that there are two classes at most, and that a random feature may be a poor one."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = self.features == "random"
        return tags

    def _fit_table(self, table: TrainingTable) -> None:
        if len(table.classes) > 2:
            raise ValueError(
                f"Only binary classification is supported. The type of the target is multiclass: y "
                f"has {len(table.classes)} classes, and a stump votes for one of two; use "
                f"StumpBoostingClassifier, or wrap this one into OneVsRestClassifier."
            )
        coded = self._code(table)
        rows = BoostedRows(
            coded.packing,
            table.label == 1,
            table.weight,
            BOOSTING_LOSSES["exponential"],
            count_threads(self.n_jobs),
        )
        choose = self._choice(np.random.default_rng(self._seed()))
        stump = choose(coded.search, rows) or coded.search.best(rows.histograms())
        found = [Stumps.of([stump], [1.0])]
        self._store(table, found, self._vote(found), coded.columns)
        self.feature_, self.threshold_ = stump.feature, stump.threshold
        self.direction_, self.error_ = stump.direction, stump.error
        levels = self.feature_info_[stump.feature].level_index
        self.level_ = next((level for level, k in levels.items() if k == stump.level), None)
