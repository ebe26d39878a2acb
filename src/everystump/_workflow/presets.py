"""The models that a user can ask for by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from everystump._text import pluralize

# The best of 0.001, 0.01, 0.03, ..., 10 by the mean error on held-out rows over some 18 tables.
_PERCEPTRON_C, _BOOSTED_C, _VOTE_C = 1.0, 0.01, 1.0
_VOTE_SHARE = 0.4


@dataclass(frozen=True)
class Preset:
    """A kind of model.

    Attributes
    ----------
    words : str
        What it is.
    make : callable
        Makes one of a C, or None, and a seed.
    takes_C : bool
        Whether there is a C in it.
    chooses_C : bool
        Whether it chooses C on a path by 5 folds if none is given.
    numbers_only : bool
        Whether it takes neither text nor missing values.
    share : float or None
        The share of the rows that each of its machines gets, None if all.
    found : callable, optional
        Says what a fitted one is, where that is not known before.
    """

    words: str
    make: Callable[[float | None, int], Any]
    takes_C: bool = True
    chooses_C: bool = False
    numbers_only: bool = False
    share: float | None = None
    found: Callable[[Any], str] | None = None

    def describe(self, model: Any) -> str:
        """Return what a fitted model is."""
        return self.words if self.found is None else self.found(model)


def _logistic(C: float | None, seed: int) -> Any:
    from everystump.estimators.logistic import StumpLogisticRegression, StumpLogisticRegressionCV

    if C is None:
        return StumpLogisticRegressionCV(random_state=seed)
    return StumpLogisticRegression(C)


def _svm(C: float | None, seed: int) -> Any:
    from everystump.estimators.svc import StumpSVC, StumpSVCCV

    return StumpSVCCV(random_state=seed) if C is None else StumpSVC(C)


def _perceptron(C: float | None, seed: int) -> Any:
    from everystump.estimators.perceptron import PerceptronSVC

    return PerceptronSVC(_PERCEPTRON_C if C is None else C, random_state=seed)


def _boost(C: float | None, seed: int) -> Any:
    from everystump.estimators.boosting import StumpBoostingClassifier

    return StumpBoostingClassifier("logistic", n_estimators=300, random_state=seed)


def _bag(C: float | None, seed: int) -> Any:
    from everystump.estimators.bagging import StumpBaggingClassifier

    return StumpBaggingClassifier(random_state=seed)


def _boost_svm(C: float | None, seed: int) -> Any:
    from everystump.estimators.boosted_svc import BoostedStumpSVC

    return BoostedStumpSVC(C=_BOOSTED_C if C is None else C, random_state=seed)


def _vote(C: float | None, seed: int) -> Any:
    from everystump.estimators.subsample_voting import SubsampleVotingClassifier
    from everystump.estimators.svc import StumpSVC

    machine = StumpSVC(_VOTE_C if C is None else C, fit_intercept=False)
    return SubsampleVotingClassifier(machine, subsample=_VOTE_SHARE, random_state=seed)


def _count_stumps(model: Any) -> str:
    """Return how many stumps boosting found, of all classes."""
    weights = model.estimator_weights_
    per_class = weights if isinstance(weights, list) else [weights]
    return pluralize(sum(len(of_class) for of_class in per_class), "stump")


PRESETS: dict[str, Preset] = {
    "stump-logistic": Preset(
        "every stump votes, logistic loss: probabilities", _logistic, chooses_C=True
    ),
    "stump-svm": Preset("every stump votes, hinge loss", _svm, chooses_C=True),
    "perceptron": Preset("every perceptron votes; numbers only", _perceptron, numbers_only=True),
    "boost": Preset(
        "LogitBoost, up to 300 stumps",
        _boost,
        takes_C=False,
        found=lambda model: f"LogitBoost, {_count_stumps(model)}",
    ),
    "bag": Preset("bagging, 1,000 stumps", _bag, takes_C=False),
    "boost-svm": Preset(
        "AdaBoost finds up to 100 stumps, an SVM their weights",
        _boost_svm,
        found=lambda model: f"AdaBoost found {_count_stumps(model)}, an SVM their weights",
    ),
    "vote": Preset("30 machines on 40 % of the rows each vote", _vote, share=_VOTE_SHARE),
}
