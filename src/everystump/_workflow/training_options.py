"""What the user asks of the training: class weights, monotonic curves, and the metric that counts.

Options are checked in two steps: what they say, and whether the model supports it, before any file
is read; and whether columns and classes have these names, once the table is known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from everystump._text import InvalidInputError, suggest_name
from everystump._workflow.metrics import METRICS, SelectionMetric, find_metric
from everystump._workflow.options import CLASSIFICATION, LOG_LOSSES, NUMBER_PATTERN
from everystump._workflow.presets import PRESETS, Preset, list_presets
from everystump._workflow.schema.columns import NUMBERS, column_kind
from everystump._workflow.schema.labels import find_label

BALANCED = "balanced"
_DIRECTIONS = {"increasing": "increasing", "decreasing": "decreasing"}
_DIRECTIONS |= {"1": "increasing", "+1": "increasing", "-1": "decreasing"}
_SHIFTED = (
    "Scores and probabilities are those of classes weighted by --class-weight, not of the class "
    "frequencies in the data."
)
T = TypeVar("T")


@dataclass(frozen=True)
class TrainingOptions:
    """Options of the training, apart from C, the loss and the interactions.

    Attributes
    ----------
    class_weight : "balanced", dict or None
        Weights by label; labels are text until `for_classes`.
    monotonic : dict
        "increasing" or "decreasing", by the name of the feature.
    metric : SelectionMetric or None
        What chooses C, the measure, feature weights and interactions; if None, the default of the
        model.
    """

    class_weight: str | Mapping[Any, float] | None = None
    monotonic: Mapping[str, str] = field(default_factory=dict)
    metric: SelectionMetric | None = None

    @classmethod
    def parse(
        cls, class_weight: str | None, monotonic: Sequence[str], metric: str | None
    ) -> TrainingOptions:
        """Return the options of texts.

        Examples
        --------
        >>> options = TrainingOptions.parse("yes=5, no=1", ["age=increasing,income=-1"], "AUC")
        >>> options.class_weight, options.monotonic
        ({'yes': 5.0, 'no': 1.0}, {'age': 'increasing', 'income': 'decreasing'})
        """
        return cls(
            None if class_weight is None else _parse_weights(class_weight),
            _parse_directions(monotonic),
            None if metric is None else find_metric(metric),
        )

    @property
    def tasks(self) -> dict[str, str]:
        """The task that each of these options implies."""
        tasks = {}
        if self.class_weight is not None:
            tasks["--class-weight"] = CLASSIFICATION
        if self.metric is not None:
            tasks[self.metric.option] = self.metric.task
        return tasks

    def check_model(self, name: str, preset: Preset, *, chooses: bool) -> None:
        """Raise if a model does not support an option.

        ``chooses`` says whether C or the strength of interactions is chosen.
        """
        task = preset.task
        if self.monotonic and not preset.monotonic:
            able = list_presets(lambda other: other.monotonic and other.task == task)
            raise InvalidInputError(
                f"--monotonic: {name} has no monotonic constraints; omit the option, or use "
                f"--model {able}."
            )
        if self.metric is None:
            return
        option = self.metric.option
        if not chooses:
            able = list_presets(lambda other: other.selects_C and other.task == task)
            why = (
                "C and the interactions are given; omit one of the options"
                if preset.selects_C
                else f"{name} chooses nothing by cross-validation; omit it, or use --model {able}"
            )
            raise InvalidInputError(f"{option} has no effect, because {why}.")
        if self.metric.needs_probabilities and not preset.has_probabilities:
            raise _no_probabilities(option, name)

    def check_loss(self, loss: str | None) -> None:
        """Raise if the metric needs positive predictions, and a loss may predict others."""
        if self.metric is not None and self.metric.is_deviance and loss not in LOG_LOSSES:
            raise InvalidInputError(
                f"{self.metric.option} needs positive predictions; use --loss "
                f"{' or '.join(LOG_LOSSES)}, or another --metric."
            )

    def check_numbers(self, name: str, lowest: float) -> None:
        """Raise if the lowest number of a target is too low for the metric."""
        if self.metric is METRICS["neg_mean_gamma_deviance"] and lowest <= 0:
            raise InvalidInputError(
                f"{self.metric.option} needs positive numbers, but {name!r} has {lowest:g}; use "
                f"--metric mean_poisson_deviance."
            )

    def check_columns(
        self, X: Any, dropped: Mapping[str, str], interactions: Sequence[str]
    ) -> None:
        """Raise if a monotonic column is not a numeric feature, or is to interact."""
        for name in self.monotonic:
            check_feature("--monotonic", name, X, dropped)
            if hasattr(X[name], "cat") or column_kind(X[name]) != NUMBERS:
                raise InvalidInputError(
                    f"--monotonic: {name!r} is categorical, and its levels have no order; remove "
                    f"it from the option, or see --numeric."
                )
            if name in interactions:
                raise InvalidInputError(
                    f"--monotonic: {name!r} is also listed in --interactions, which could violate "
                    f"the constraint; remove it from one of them."
                )

    def for_classes(self, target: str, labels: Sequence[Any], name: str) -> TrainingOptions:
        """Return the options with the labels of a target instead of text; raise if one is unknown.

        ``name`` is that of the model.
        """
        metric, has_probabilities = self.metric, PRESETS[name].has_probabilities
        if metric and metric.uses_probabilities(len(labels)) and not has_probabilities:
            raise _no_probabilities(f"{metric.option} of {len(labels)} classes", name)
        if not isinstance(self.class_weight, Mapping):
            return self
        weights: dict[Any, float] = {}
        for text, weight in self.class_weight.items():
            label = find_label(text, labels)
            if label is None:
                remedy = suggest_name(text, [str(other) for other in labels])
                raise InvalidInputError(
                    f"--class-weight: {text!r} is not a class of {target!r}; {remedy}."
                )
            if label in weights:
                raise _listed_twice("--class-weight", str(label))
            weights[label] = weight
        return replace(self, class_weight=weights)

    def params(self, preset: Preset, estimator: Any, n_classes: int) -> dict[str, Any]:
        """Return the parameters of an estimator that these options set."""
        params: dict[str, Any] = {}
        if self.class_weight is not None and preset.class_weight_parameter is not None:
            params[preset.class_weight_parameter] = self.class_weight
        if self.monotonic:
            params["monotonic_cst"] = dict(self.monotonic)
        if self.metric is not None and "scoring" in estimator.get_params():
            params["scoring"] = self.metric.scoring_for(n_classes)
        return params

    @property
    def notes(self) -> list[str]:
        """Notes on what the options do to the model."""
        return [] if self.class_weight is None else [_SHIFTED]


def check_feature(option: str, name: str, X: Any, dropped: Mapping[str, str]) -> None:
    """Raise if a column that an option names is not a feature.

    ``dropped`` has the names of dropped columns, and why they were dropped.
    """
    if name in dropped:
        remedy = "do not drop it" if dropped[name] == "requested" else f"pass --use {name}"
        raise InvalidInputError(
            f"{option}: column {name!r} was dropped ({dropped[name]}); {remedy}, or remove it from "
            f"the option."
        )
    if name not in X.columns:
        remedy = suggest_name(name, X.columns.tolist())
        if option == "--interactions" and any(mark in str(c) for c in X.columns for mark in ":,"):
            remedy += " (rename columns with a colon or a comma to list them)"
        raise InvalidInputError(f"{option}: {name!r} is not a feature; {remedy}.")


def _parse_weights(text: str) -> str | dict[str, float]:
    if text.strip() == BALANCED:
        return BALANCED
    weights = _parse_pairs(
        "--class-weight", [text], NUMBER_PATTERN, float, "balanced, or yes=5,no=1"
    )
    for label, weight in weights.items():
        if not 0.0 < weight < float("inf"):
            raise InvalidInputError(
                f"--class-weight: the weight of {label!r} is {weight:g}; pass a positive number."
            )
    return weights


def _parse_directions(texts: Sequence[str]) -> dict[str, str]:
    words = "|".join(map(re.escape, _DIRECTIONS))
    example = "age=increasing,income=decreasing"
    return _parse_pairs("--monotonic", texts, words, _DIRECTIONS.__getitem__, example)


def _parse_pairs(
    option: str, texts: Sequence[str], value: str, convert: Callable[[str], T], example: str
) -> dict[str, T]:
    """Return names and values of texts such as ``a=1,b=2``; names may contain commas."""
    pair = re.compile(rf"(.+?)\s*=\s*({value})\s*(?:,|$)", re.DOTALL)
    found: dict[str, T] = {}
    for text in texts:
        position = 0
        while position < len(text) or not text:
            match = pair.match(text, position)
            if match is None:
                raise InvalidInputError(f"{option} {text!r} must be like {example}.")
            name = match[1].strip()
            if name in found:
                raise _listed_twice(option, name)
            found[name] = convert(match[2])
            position = match.end()
    return found


def _listed_twice(option: str, name: str) -> InvalidInputError:
    return InvalidInputError(f"{option}: {name!r} is listed twice; remove one of them.")


def _no_probabilities(option: str, name: str) -> InvalidInputError:
    able = list_presets(lambda other: other.has_probabilities and other.selects_C)
    return InvalidInputError(
        f"{option} needs probabilities, which {name} does not predict; use --model {able}, or "
        f"another --metric."
    )
