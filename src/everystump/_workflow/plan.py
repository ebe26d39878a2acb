"""Which model to train and how to evaluate it, and checks that the rows suffice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from everystump._text import InvalidInputError
from everystump._workflow.options import (
    CLASSIFICATION,
    REGRESSION,
    InteractionOptions,
    LossOptions,
)
from everystump._workflow.presets import (
    DEFAULT_INTERACTIONS,
    DEFAULT_PRESETS,
    PRESETS,
    Preset,
    list_presets,
)
from everystump._workflow.schema.columns import NUMBERS, column_kind
from everystump._workflow.schema.training_data import TrainingData
from everystump._workflow.targets.target import Target
from everystump._workflow.training_options import TrainingOptions, check_feature
from everystump.measures import Weighted


@dataclass(frozen=True, eq=False)
class Hyperparameters:
    """What is given or chosen before a fit.

    Attributes
    ----------
    C : float or None
        Inverse regularization strength; chosen by the fit if None.
    interactions : InteractionOptions
        The interactions.
    measure : str, Measure or None
        The measure that an earlier fit has chosen, with weights of the features; the default of the
        preset if None.
    """

    C: float | None
    interactions: InteractionOptions
    measure: Any = None

    @classmethod
    def chosen_by(cls, model: Any, C: float | None) -> Hyperparameters:
        """Return what a fitted model has chosen, to fit another one; ``C`` if it was given."""
        terms = getattr(model, "interactions_", [])
        strength = model.interaction_strength_ if terms else None
        measure = getattr(model, "measure_", None)
        weights = getattr(model, "feature_weights_", None)
        if weights is not None and np.any(weights != 1):
            measure = Weighted(measure, weights)
        interactions = InteractionOptions(terms, strength)
        return cls(getattr(model, "C_", C), interactions, measure)


@dataclass(frozen=True)
class Plan:
    """How to train a model and how to evaluate it.

    Attributes
    ----------
    preset : str or None
        A name in `PRESETS`; that of the task if None.
    C : float or None
        Inverse regularization strength; the preset's default if None.
    holdout : float
        Fraction of the rows held out for evaluation.
    cv : int or None
        Number of folds for evaluation by cross-validation instead.
    seed : int
        Random seed.
    refit : bool
        Whether the final model is trained on all rows, held-out ones included.
    interactions : InteractionOptions or None
        Interactions of features; the default of the preset if None.
    loss : LossOptions
        The loss of a regression.
    training : TrainingOptions
        Class weights, monotonic curves, and the metric that chooses C.
    bands : bool
        Whether to compute standard errors of the curves.
    """

    preset: str | None = None
    C: float | None = None
    holdout: float = 0.25
    cv: int | None = None
    seed: int = 0
    refit: bool = False
    interactions: InteractionOptions | None = None
    loss: LossOptions = field(default_factory=LossOptions)
    training: TrainingOptions = field(default_factory=TrainingOptions)
    bands: bool = False

    def for_target(self, target: Target) -> Plan:
        """Return the plan with a model for the task of a target, and with its classes."""
        plan = self.for_task(target.task)
        plan.check_model()
        if target.task == REGRESSION:
            self.loss.check_target(target.name, float(target.y.min()))
            self.training.check_numbers(target.name, float(target.y.min()))
        training = plan.training.for_classes(target.name, target.labels, str(plan.preset))
        return replace(plan, training=training)

    def for_task(self, task: str) -> Plan:
        """Return the plan with a model for a task; raise if the chosen one is for another."""
        if self.preset is None:
            return replace(self, preset=DEFAULT_PRESETS[task])
        if self.model.task != task:
            raise InvalidInputError(
                f"--model {self.preset} is for {self.model.task}, but the target is for {task}; "
                f"use --model {DEFAULT_PRESETS[task]}."
            )
        return self

    @property
    def model(self) -> Preset:
        """The chosen model; until the task is known, that of a classification."""
        return PRESETS[self.preset or DEFAULT_PRESETS[CLASSIFICATION]]

    def build(self, hyperparameters: Hyperparameters, verbose: int, n_classes: int) -> Any:
        """Return an estimator that is not fitted, for a number of classes or, if 0, for numbers."""
        estimator = self.model.build(hyperparameters.C, self.seed, hyperparameters.interactions)
        options = self.training.params(self.model, estimator, n_classes)
        if hyperparameters.measure is not None:
            options["measure"] = hyperparameters.measure
        return estimator.set_params(verbose=verbose, **self.loss.params, **options)

    def split(self, data: TrainingData) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the indices of training rows and of held-out rows, None without a holdout."""
        self.check_features(data.X, data.dropped)
        return self.split_target(data.target)

    def check_model(self) -> None:
        """Raise if the preset does not support an option; if there is none, the task decides."""
        if self.preset is None:
            return
        if self.C is not None and not self.model.has_C:
            raise InvalidInputError(
                f"--C {self.C:g}: {self.preset} has no C; omit it, or choose another --model."
            )
        if self.bands and not self.model.selects_C:
            raise InvalidInputError(
                f"--bands: {self.preset} has no bands; omit the option, or use --model "
                f"{DEFAULT_PRESETS[self.model.task]}."
            )
        if not self.chosen_interactions.is_none and self.model.make_with_interactions is None:
            task = self.model.task
            able = list_presets(lambda p: p.make_with_interactions is not None and p.task == task)
            raise InvalidInputError(
                f"--interactions: {self.preset} has no interactions; omit the option, or use "
                f"--model {able}."
            )
        self.training.check_model(self.preset, self.model, chooses=self.cross_validates)
        self.training.check_loss(self.loss.loss)

    def check_features(self, X: Any, dropped: Mapping[str, str]) -> None:
        """Raise if the preset does not support a feature, or if an option names another column."""
        interactions = self.chosen_interactions.names
        for name in interactions:
            check_feature("--interactions", name, X, dropped)
        self.training.check_columns(X, dropped, interactions)
        if self.model.numeric_only:
            _check_numeric(X, str(self.preset))

    def split_target(self, target: Target) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the same as `split`, without a check of the features."""
        train, test = np.arange(len(target)), None
        if self.cv is None:
            train, test = target.split(self.holdout, self.seed)
        training = target.take(train)
        if self.model.subsample is not None:
            training.check_subsamples(self.model.subsample, str(self.preset), self.cv)
        if self.cross_validates:
            training.check_selection("C" if self.C is None else "interaction-strength")
        return train, test

    @property
    def hyperparameters(self) -> Hyperparameters:
        """What the user gives, before anything is chosen."""
        return Hyperparameters(self.C, self.chosen_interactions)

    @property
    def chosen_interactions(self) -> InteractionOptions:
        """The interactions that the user asks for, or those of the preset."""
        if self.interactions is not None:
            return self.interactions
        has_interactions = self.model.make_with_interactions is not None
        return InteractionOptions(DEFAULT_INTERACTIONS if has_interactions else 0)

    @property
    def cross_validates(self) -> bool:
        """Whether C or the strength of interactions is chosen by cross-validation."""
        if not self.model.selects_C:
            return False
        interactions = self.chosen_interactions
        return self.C is None or not (interactions.is_none or interactions.strength is not None)

    def notes(self, target: Target) -> list[str]:
        """Return notes on rows that are too few for a proper evaluation."""
        found = target.notes(self.cv, selects=self.cross_validates)
        return [*found, *self.training.notes]


def _check_numeric(X: Any, preset: str) -> None:
    """Raise if a column has text or missing values."""
    for name in X.columns:
        kind = "categories" if hasattr(X[name], "cat") else column_kind(X[name])
        what = f"holds {kind}" if kind != NUMBERS else "has missing values"
        if kind != NUMBERS or X[name].isna().any():
            raise InvalidInputError(
                f"{name!r} {what}, but --model {preset} accepts numbers only; --drop the column, "
                f"or choose another --model."
            )
