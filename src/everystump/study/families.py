"""The models that a user can ask for by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Family:
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
    """

    words: str
    make: Callable[[float | None, int], Any]
    takes_C: bool = True
    chooses_C: bool = False
    numbers_only: bool = False


def _logistic(C: float | None, seed: int) -> Any:
    from everystump.estimators.logistic import StumpLogisticRegression, StumpLogisticRegressionCV

    if C is None:
        return StumpLogisticRegressionCV()
    return StumpLogisticRegression(C)


def _svm(C: float | None, seed: int) -> Any:
    from everystump.estimators.svc import StumpSVC, StumpSVCCV

    return StumpSVCCV() if C is None else StumpSVC(C)


def _perceptron(C: float | None, seed: int) -> Any:
    from everystump.estimators.perceptron import PerceptronSVC

    return PerceptronSVC(1.0 if C is None else C, random_state=seed)


def _boost(C: float | None, seed: int) -> Any:
    from everystump.estimators.boosting import StumpBoostingClassifier

    return StumpBoostingClassifier("logistic", n_estimators=300, random_state=seed)


def _bag(C: float | None, seed: int) -> Any:
    from everystump.estimators.bagging import StumpBaggingClassifier

    return StumpBaggingClassifier(random_state=seed)


def _boost_svm(C: float | None, seed: int) -> Any:
    from everystump.estimators.boosted_svc import BoostedStumpSVC

    return BoostedStumpSVC(C=1.0 if C is None else C, random_state=seed)


def _vote(C: float | None, seed: int) -> Any:
    from everystump.estimators.subsample_voting import SubsampleVotingClassifier
    from everystump.estimators.svc import StumpSVC

    machine = StumpSVC(0.1 if C is None else C, fit_intercept=False)
    return SubsampleVotingClassifier(machine, random_state=seed)


FAMILIES: dict[str, Family] = {
    "stump-logistic": Family(
        "every stump votes, logistic loss: probabilities", _logistic, chooses_C=True
    ),
    "stump-svm": Family("every stump votes, hinge loss", _svm, chooses_C=True),
    "perceptron": Family("every perceptron votes; numbers only", _perceptron, numbers_only=True),
    "boost": Family("LogitBoost, 300 stumps", _boost, takes_C=False),
    "bag": Family("bagging, 1,000 stumps", _bag, takes_C=False),
    "boost-svm": Family("AdaBoost finds 100 stumps, an SVM their weights", _boost_svm),
    "vote": Family("30 machines on 40 % of the rows each vote", _vote),
}
