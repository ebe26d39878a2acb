"""The models that a user selects by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import everystump
from everystump._text import pluralize
from everystump._workflow.options import CLASSIFICATION, REGRESSION, InteractionOptions

# The interactions of models that support them, if the user does not choose: "auto" or a number.
DEFAULT_INTERACTIONS: int | str = "auto"
_VOTE_SUBSAMPLE = 0.4


@dataclass(frozen=True)
class Preset:
    """A model that is selected by name.

    Attributes
    ----------
    description : str
        What it is, for help and reports.
    make : callable
        Returns an estimator without interactions for a C, or None, and a seed.
    make_with_interactions : callable or None
        The same with interactions, None if the model does not support them.
    has_C : bool
        Whether the model has a parameter C.
    selects_C : bool
        Whether C is selected by 5-fold cross-validation if none is given.
    numeric_only : bool
        Whether the model accepts neither text nor missing values.
    subsample : float or None
        Fraction of the rows that each member of a vote is trained on, None if all.
    describe_fitted : callable, optional
        Returns the description of a fitted model that differs from ``description``.
    task : str
        What it is for, "classification" or "regression".
    class_weight_parameter : str or None
        The parameter with the weights of the classes, None if there is none.
    monotonic : bool
        Whether curves can be constrained to increase or to decrease.
    has_probabilities : bool
        Whether the model predicts probabilities.
    """

    description: str
    make: Callable[[float | None, int], Any]
    make_with_interactions: Callable[[float | None, int, InteractionOptions], Any] | None = None
    has_C: bool = True
    selects_C: bool = False
    numeric_only: bool = False
    subsample: float | None = None
    describe_fitted: Callable[[Any], str] | None = None
    task: str = CLASSIFICATION
    class_weight_parameter: str | None = "class_weight"
    monotonic: bool = False
    has_probabilities: bool = False

    def build(self, C: float | None, seed: int, interactions: InteractionOptions) -> Any:
        """Return an estimator."""
        if interactions.is_none or self.make_with_interactions is None:
            return self.make(C, seed)
        return self.make_with_interactions(C, seed, interactions)

    def describe(self, model: Any) -> str:
        """Return the description of a fitted model."""
        return self.describe_fitted(model) if self.describe_fitted else self.description


def _stump_ensemble(
    name: str, C: float | None, seed: int, interactions: InteractionOptions | None = None
) -> Any:
    """Return the estimator ``name``, or its CV version if C or a strength is to be chosen."""
    params: dict[str, Any] = {"interactions": 0}
    if interactions is not None:
        params = {
            "interactions": interactions.which,
            "interaction_strength": interactions.strength,
        }
    chooses_strength = interactions is not None and interactions.strength is None
    if C is not None and not chooses_strength:
        return getattr(everystump, name)(C=C, **params)
    if C is not None:
        params["Cs"] = [C]
    return getattr(everystump, f"{name}CV")(random_state=seed, **params)


def _stump_preset(
    name: str, loss: str | Callable[[Any], str], task: str = CLASSIFICATION
) -> Preset:
    """Return the preset of an infinite ensemble of stumps; its loss may depend on the model."""

    def describe(model: Any) -> str:
        n = len(model.interactions_)
        interactions = f" with {pluralize(n, 'interaction')}" if n else ""
        own = loss if isinstance(loss, str) else loss(model)
        return f"infinite ensemble of stumps{interactions}, {own}"

    return Preset(
        f"infinite ensemble of stumps, {loss if isinstance(loss, str) else 'regression'}",
        partial(_stump_ensemble, name),
        partial(_stump_ensemble, name),
        selects_C=True,
        describe_fitted=describe,
        task=task,
        class_weight_parameter="class_weight" if task == CLASSIFICATION else None,
        monotonic=True,
        has_probabilities=name == "StumpLogisticRegression",
    )


def _regression_loss(model: Any) -> str:
    """Return the loss of a regressor, and the quantile that it predicts."""
    what = f" of the {model.quantile:g} quantile" if model.loss == "quantile" else ""
    name = "Poisson" if model.loss == "poisson" else model.loss.replace("_", "-")
    return f"{name} loss{what}"


def _vote(C: float | None, seed: int) -> Any:
    member = everystump.StumpSVC(C or 1.0, fit_intercept=False)
    return everystump.SubsampleVotingClassifier(
        member, subsample=_VOTE_SUBSAMPLE, random_state=seed
    )


def _count_stumps(model: Any) -> str:
    """Return the number of stumps found by boosting, over all classes."""
    weights = model.estimator_weights_
    per_class = weights if isinstance(weights, list) else [weights]
    return pluralize(sum(map(len, per_class)), "stump")


# Default C: the best of 0.001, 0.01, 0.03, ..., 10 by the mean error on held-out rows of 18 tables.
PRESETS: dict[str, Preset] = {
    "stump-logistic": _stump_preset("StumpLogisticRegression", "logistic loss"),
    "stump-svm": _stump_preset("StumpSVC", "hinge loss"),
    "stump-regression": _stump_preset("StumpRegressor", _regression_loss, REGRESSION),
    "perceptron": Preset(
        "infinite ensemble of perceptrons; numeric features only",
        lambda C, seed: everystump.PerceptronSVC(C or 1.0, random_state=seed),
        numeric_only=True,
    ),
    "boost": Preset(
        "LogitBoost, up to 300 stumps",
        lambda _, seed: everystump.StumpBoostingClassifier(
            "logistic", n_estimators=300, random_state=seed
        ),
        has_C=False,
        has_probabilities=True,
        describe_fitted=lambda model: f"LogitBoost, {_count_stumps(model)}",
    ),
    "bag": Preset(
        "bagging of 1,000 stumps",
        lambda _, seed: everystump.StumpBaggingClassifier(random_state=seed),
        has_C=False,
        has_probabilities=True,
    ),
    "boost-svm": Preset(
        "up to 100 stumps from AdaBoost, weighted by an SVM",
        lambda C, seed: everystump.BoostedStumpSVC(C=C or 0.01, random_state=seed),
        describe_fitted=lambda model: f"{_count_stumps(model)} from AdaBoost, weighted by an SVM",
    ),
    "vote": Preset(
        "mean of 30 SVMs, each trained on 40% of the rows",
        _vote,
        subsample=_VOTE_SUBSAMPLE,
        class_weight_parameter="estimator__class_weight",
    ),
}
# The preset of each task, if the user does not choose.
DEFAULT_PRESETS = {CLASSIFICATION: "stump-logistic", REGRESSION: "stump-regression"}


def list_presets(is_able: Callable[[Preset], bool]) -> str:
    """Return the names of some presets, to suggest for ``--model``.

    Examples
    --------
    >>> list_presets(lambda preset: preset.selects_C and preset.task == CLASSIFICATION)
    'stump-logistic or stump-svm'
    """
    return " or ".join(name for name, preset in PRESETS.items() if is_able(preset))
