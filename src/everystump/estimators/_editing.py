"""Fitted curves changed by hand: each edit returns a copy of the model that says so."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from everystump._core.columns import RowDensity
from everystump._core.shapes import Shape, ShapeModel
from everystump._tables import Feature
from everystump.estimators._reading import (
    class_model_indices,
    curves_of,
    evaluate_on_density,
    hint,
    names_of,
    number_of,
    training_density,
)

# What an edited model keeps of its training; the rest speaks of the curves that were found.
_KEPT = (
    "_edits",
    "_kept",
    "_removed_attributes",
    "_training_record",
    "certificate_",
    "classes_",
    "density_",
    "exact_",
    "feature_names_in_",
    "feature_info_",
    "intercept_",
    "n_features_in_",
    "shapes_",
)

# A sentence names so many levels at most.
_MOST_NAMED = 5


class EditedModelError(ValueError, AttributeError):
    """An edited model was asked for what only the solution of its training has."""


@dataclass(frozen=True, eq=False)
class _Part:
    """Which part of a curve is meant: from ``low`` up to ``high``, or levels, or what is missing.

    ``numbers`` are those of levels; None for features of numbers.
    """

    low: float
    high: float
    numbers: np.ndarray | None
    missing: bool
    words: str

    def has(self, places: np.ndarray) -> np.ndarray:
        """Tell which values or numbers of levels belong to the part."""
        if self.numbers is not None:
            return np.isin(places, self.numbers)
        return (places >= self.low) & (places < self.high)

    def put(self, shape: Shape, value: float) -> Shape:
        """Return the curve with a constant in this part."""
        missing = value if self.missing else shape.missing
        if self.numbers is not None:
            levels = shape.levels
            levels[self.numbers] = value
            return Shape.category(levels, missing)
        if self.low == self.high:
            return replace(shape, missing=missing)
        return replace(_constant_between(shape, self.low, self.high, value), missing=missing)

    def mean(self, shape: Shape, density: RowDensity, name: Any) -> float:
        """Return the mean of the curve over the training rows in this part."""
        weights = np.where(self.has(density.values), density.counts, 0.0)
        inside = RowDensity(density.values, weights, density.missing if self.missing else 0.0)
        values, weights = evaluate_on_density(shape, inside)
        if weights.sum() == 0:
            raise ValueError(
                f"feature={name!r} has no training rows{self.words} to take a mean of; widen the "
                f"part, or use set_curve."
            )
        return float(np.average(values, weights=weights))


class EditingMixin:
    """Edits of a model with ``shapes_``."""

    classes_: np.ndarray
    feature_info_: tuple[Feature, ...]
    shapes_: ShapeModel | list[ShapeModel]
    intercept_: np.ndarray
    certificate_: Any
    _fitted_attribute: ClassVar[str]
    _edits: tuple[str, ...]
    _removed_attributes: tuple[str, ...]

    def set_curve(
        self,
        feature: str | int,
        value: float,
        *,
        low: float | None = None,
        high: float | None = None,
        levels: Any = None,
        missing: bool = False,
        class_label: Any = None,
    ) -> Self:
        """Return a copy of the model in which a part of a curve is a constant.

        Parameters
        ----------
        feature : str or int
            Its name or its number.
        value : float
            What the feature adds to the score there.
        low, high : float, optional
            The part from ``low`` on and below ``high``; without one of them it has no end on that
            side.
        levels : list, optional
            The levels of a category.
        missing : bool, default=False
            Where the value is missing.  If no part is named, all values are meant and what is
            missing is not.
        class_label : label, optional
            Whose curve, for several classes.

        Returns
        -------
        Self
            The edited copy: ``edits_`` tells what was done, and what training had proven of the
            model is gone from it.

        Examples
        --------
        >>> from everystump import DecisionStumpClassifier
        >>> stump = DecisionStumpClassifier().fit([[0], [1], [4], [5]], [0, 0, 1, 1])
        >>> edited = stump.set_curve("x0", 0.0, low=2, high=4)
        >>> edited.decision_function([[1.9], [2.0], [3.9], [4.0]])
        array([-1.,  0.,  0.,  1.])
        >>> edited.edits_
        ('x0 was set to 0 from 2 up to 4',)
        """
        models, d = curves_of(self), number_of(self, feature)
        chosen = class_model_indices(self, models, class_label)
        if len(chosen) > 1:
            raise ValueError(
                f"class_label=None: the model has a curve for each of {self.classes_.tolist()}; "
                f"name the class."
            )
        if not isinstance(value, Real) or not np.isfinite(value):
            raise ValueError(f"value={value!r} must be a finite number.")
        part = _part(self, d, low, high, levels, missing)
        (k,) = chosen
        models = _with_curve(models, k, d, part.put(models[k][d], float(value)))
        of_class = _of_class(self, models, class_label)
        name = names_of(self)[d]
        return _edited(self, models, f"{name} was set to {value:.10g}{part.words}{of_class}")

    def flatten_curve(
        self,
        feature: str | int,
        *,
        low: float | None = None,
        high: float | None = None,
        levels: Any = None,
        missing: bool = False,
        class_label: Any = None,
    ) -> Self:
        """Return a copy of the model in which a part of a curve is flat, at its mean.

        The mean is over the training rows there, so that the mean of all their scores stays; of a
        feature with more than 256 distinct values, up to the bins of ``density_``.

        Parameters
        ----------
        feature, low, high, levels, missing
            The part, as in `set_curve`; with `missing` what is missing gets the same mean.
        class_label : label, optional
            Whose curve, for several classes; by default each class's becomes flat.

        Returns
        -------
        Self
            The edited copy, as in `set_curve`.

        Examples
        --------
        >>> from everystump import StumpSVC
        >>> model = StumpSVC().fit([[0], [1], [2], [3]], [0, 0, 1, 1])
        >>> model.flatten_curve("x0").edits_
        ('x0 was made flat',)
        """
        models, d = curves_of(self), number_of(self, feature)
        part, name = _part(self, d, low, high, levels, missing), names_of(self)[d]
        density = training_density(self)[d]
        for k in class_model_indices(self, models, class_label):
            mean = part.mean(models[k][d], density, name)
            models = _with_curve(models, k, d, part.put(models[k][d], mean))
        of_class = _of_class(self, models, class_label)
        return _edited(self, models, f"{name} was made flat{part.words}{of_class}")

    def remove_feature(self, feature: str | int) -> Self:
        """Return a copy of the model to which a feature adds nothing.

        The mean of its curve over the training rows goes to the intercept, so that the mean of
        their scores stays, up to the bins of ``density_``; it is 0 where curves are centered.

        Parameters
        ----------
        feature : str or int
            Its name or its number.  Tables must still have it.

        Returns
        -------
        Self
            The edited copy, as in `set_curve`.

        Examples
        --------
        >>> from everystump import StumpSVC
        >>> model = StumpSVC().fit([[0, 1], [1, 0], [2, 1], [3, 0]], [0, 0, 1, 1])
        >>> model.remove_feature("x1").explain_local([[0, 1]])["x1"].tolist()
        [0.0]
        """
        models, d = curves_of(self), number_of(self, feature)
        density = training_density(self)[d]
        shifts = np.zeros(len(models))
        for k, model in enumerate(models):
            values, weights = evaluate_on_density(model[d], density)
            shifts[k] = np.average(values, weights=weights)
            models = _with_curve(models, k, d, _nothing(model[d]), shift=float(shifts[k]))
        edited = _edited(self, models, f"{names_of(self)[d]} was removed")
        if hasattr(self, "intercept_"):
            edited.intercept_ = self.intercept_ + shifts
        return edited

    @property
    def edits_(self) -> tuple[str, ...]:
        """What was done to the fitted curves, one sentence an edit; a new fit clears it."""
        return vars(self).get("_edits", ())

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """Return the parameters, and the last edit if there is any."""
        shown = super().__repr__(N_CHAR_MAX)  # type: ignore[call-arg]
        edits = self.edits_
        if not edits:
            return shown
        others = f" after {len(edits) - 1} more" if len(edits) > 1 else ""
        return f"<{shown} edited: {edits[-1]}{others}>"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Say why an edited model lacks what only a solution has."""
            if name not in vars(self).get("_removed_attributes", ()):
                # A property that failed comes here as well, and fails again with its own words.
                return object.__getattribute__(self, name)
            if not self.edits_:
                raise EditedModelError(
                    f"{name}: {type(self).__name__} was the last step of a pipeline whose other "
                    f"steps have become part of its curves; ask that step of the pipeline."
                )
            raise EditedModelError(
                f"{name}: {type(self).__name__} was edited ({self.edits_[-1]}), and an edited "
                f"model is no solution of its training problem; ask the model before its edits."
            )


def _edited(estimator: Any, models: list[ShapeModel], sentence: str) -> Any:
    """Return a copy with other curves and without what only the solution has."""
    edited = copy(estimator)
    kept = {*_KEPT, *estimator.get_params(deep=False), estimator._fitted_attribute}
    lost = sorted(set(vars(estimator)) - kept)
    for name in lost:
        del edited.__dict__[name]
    edited.shapes_ = models if isinstance(estimator.shapes_, list) else models[0]
    if hasattr(estimator, "certificate_"):
        edited.certificate_ = None
    edited._edits = (*estimator.edits_, sentence)
    edited._removed_attributes = (*vars(estimator).get("_removed_attributes", ()), *lost)
    return edited


def _with_curve(
    models: list[ShapeModel], k: int, d: int, shape: Shape, shift: float = 0.0
) -> list[ShapeModel]:
    """Return the models with another curve of feature ``d`` in model ``k``."""
    shapes = (*models[k].shapes[:d], shape, *models[k].shapes[d + 1 :])
    changed = ShapeModel(shapes, models[k].intercept + shift)
    return [*models[:k], changed, *models[k + 1 :]]


def _nothing(shape: Shape) -> Shape:
    """Return a curve that adds nothing, over the levels of another."""
    missing = None if shape.missing is None else 0.0
    if shape.is_category:
        return Shape.category(np.zeros(len(shape.levels)), missing)
    return Shape(np.zeros(1), np.zeros(1), missing)


def _constant_between(shape: Shape, low: float, high: float, value: float) -> Shape:
    """Return the curve with a constant from ``low`` on and below ``high``, with jumps there."""
    knots: list[float] = []
    values: list[float] = []
    if low > -np.inf:
        left = shape.knots < low
        knots += [*shape.knots[left], low, low]
        values += [*shape.values[left], *shape.left_limit(np.array([low])), value]
    if high < np.inf:
        right = shape.knots > high
        knots += [high, high, *shape.knots[right]]
        values += [value, *shape(np.array([high])), *shape.values[right]]
    return Shape(np.array(knots or [0.0]), np.array(values or [value]))


def _part(
    estimator: Any, d: int, low: float | None, high: float | None, levels: Any, missing: bool
) -> _Part:
    """Check which part of a curve is meant."""
    feature, name = estimator.feature_info_[d], names_of(estimator)[d]
    at_missing = ["where it is missing"] if missing else []
    whole = low is None and high is None and levels is None and not missing
    if feature.levels is not None:
        if low is not None or high is not None:
            raise ValueError(
                f"low={low!r}, high={high!r}: {name!r} is a category and has no order; pass some "
                f"of its levels."
            )
        numbers = np.arange(feature.n_levels) if whole else _numbers(levels, feature, name)
        named = [repr(level) for level in feature.levels[numbers[:_MOST_NAMED]].tolist()]
        more = f" and {len(numbers) - len(named)} more" if len(numbers) > len(named) else ""
        at = [] if whole or not named else [f"at {', '.join(named)}{more}"]
        return _Part(np.nan, np.nan, numbers, missing, _joined(at + at_missing))
    if levels is not None:
        raise ValueError(f"levels={levels!r}: {name!r} is a number; pass low and high.")
    if missing and low is None and high is None:
        return _Part(0.0, 0.0, None, True, _joined(at_missing))
    bottom, top = _ends(low, high)
    words = [] if whole else [_range_in_words(bottom, top)]
    return _Part(bottom, top, None, missing, _joined(words + at_missing))


def _ends(low: Any, high: Any) -> tuple[float, float]:
    bottom = -np.inf if low is None else low
    top = np.inf if high is None else high
    if not (isinstance(bottom, Real) and isinstance(top, Real) and bottom < top):
        raise ValueError(f"low={low!r}, high={high!r}: pass numbers, low below high.")
    return float(bottom), float(top)


def _numbers(levels: Any, feature: Feature, name: Any) -> np.ndarray:
    """Return the numbers of levels given by name."""
    if levels is None:
        return np.empty(0, dtype=int)
    if isinstance(levels, str) or not hasattr(levels, "__iter__"):
        levels = [levels]
    number = feature.level_index
    for level in levels:
        if level not in number:
            raise ValueError(
                f"levels: {name!r} has no level {level!r}; {hint(level, list(number))}."
            )
    if len(levels) == 0:
        raise ValueError(f"levels={levels!r} names no level of {name!r}; name some.")
    return np.unique([number[level] for level in levels])


def _range_in_words(low: float, high: float) -> str:
    if high == np.inf:
        return f"from {low:.10g} on" if low > -np.inf else "everywhere"
    return f"from {low:.10g} up to {high:.10g}" if low > -np.inf else f"below {high:.10g}"


def _joined(parts: list[str]) -> str:
    return f" {' and '.join(parts)}" if parts else ""


def _of_class(estimator: Any, models: list[ShapeModel], class_label: Any) -> str:
    several = len(models) > 1 and class_label is not None
    return f" for class {class_label!r}" if several else ""
