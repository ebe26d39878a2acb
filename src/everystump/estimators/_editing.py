"""Methods that edit the shape functions of a fitted model; each returns an edited copy."""

from __future__ import annotations

from collections.abc import Collection
from copy import copy
from numbers import Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from everystump._core.shapes import ShapeModel
from everystump._explanations.access import (
    class_model_indices,
    feature_index,
    feature_names,
    shape_models,
    training_density,
)
from everystump._explanations.editing import Region, check_region, replace_curve, zero_curve
from everystump._explanations.importance import evaluate_on_density
from everystump._tables.frames import Feature
from everystump._text import pluralize

# Private attributes of an edited model; a fit deletes them.
EDIT_ATTRIBUTES = ("_edits", "_removed_attributes")
# Attributes that stay valid after an edit; all others describe the training solution.
_VALID = {
    "_kept",
    "_training_record",
    "certificate_",
    "classes_",
    "density_",
    "exact_",
    "feature_info_",
    "feature_names_in_",
    "intercept_",
    "n_features_in_",
    "shapes_",
}


class EditedModelError(ValueError, AttributeError):
    """An attribute of the training solution was requested from an edited model."""


class EditingMixin:
    """Edits of a model with ``shapes_``."""

    classes_: np.ndarray
    feature_info_: tuple[Feature, ...]
    shapes_: ShapeModel | list[ShapeModel]
    intercept_: np.ndarray
    certificate_: Any

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
        """Return a copy of the model whose curve is constant in a region.

        Parameters
        ----------
        feature : str or int
            Name or index of the feature.
        value : float
            Contribution of the feature to the score in the region.
        low, high : float, default=None
            The region ``low <= x < high`` of a numeric feature; unbounded where None.
        levels : list, default=None
            The levels of a categorical feature.
        missing : bool, default=False
            Whether the region includes missing values.  By default, the region is all values
            except missing ones.
        class_label : label, default=None
            The class whose curve is edited; required with more than two classes.

        Returns
        -------
        Self
            Edited copy.  Its ``edits_`` describe the edits; its certificate and the other results
            of training are removed.

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
        models, d = shape_models(self), feature_index(self.feature_info_, feature)
        chosen = class_model_indices(self.classes_, len(models), class_label)
        if len(chosen) > 1:
            raise ValueError(
                f"class_label=None: the model has a curve for each of {self.classes_.tolist()}; "
                f"pass a class."
            )
        if not isinstance(value, Real) or not np.isfinite(value):
            raise ValueError(f"value={value!r} must be a finite number.")
        region, name = self._region(d, low, high, levels, missing)
        (k,) = chosen
        models = replace_curve(models, k, d, region.set(models[k][d], float(value)))
        suffix = _class_suffix(models, class_label)
        return self._edited(models, f"{name} was set to {value:.10g}{region.description}{suffix}")

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
        """Return a copy of the model whose curve is constant in a region, at its mean.

        The mean is taken over the training samples in the region, so that their mean score does not
        change (up to the bins of ``density_`` for features with more than 256 distinct values).

        Parameters
        ----------
        feature, low, high, levels, missing
            The region, as in `set_curve`.
        class_label : label, default=None
            The class whose curve is edited; by default, the curves of all classes.

        Returns
        -------
        Self
            Edited copy, as in `set_curve`.

        Examples
        --------
        >>> from everystump import StumpSVC
        >>> model = StumpSVC().fit([[0], [1], [2], [3]], [0, 0, 1, 1])
        >>> model.flatten_curve("x0").edits_
        ('x0 was flattened',)
        """
        models, d = shape_models(self), feature_index(self.feature_info_, feature)
        region, name = self._region(d, low, high, levels, missing)
        density = training_density(self)[d]
        for k in class_model_indices(self.classes_, len(models), class_label):
            mean = region.mean(models[k][d], density, name)
            models = replace_curve(models, k, d, region.set(models[k][d], mean))
        suffix = _class_suffix(models, class_label)
        return self._edited(models, f"{name} was flattened{region.description}{suffix}")

    def remove_feature(self, feature: str | int) -> Self:
        """Return a copy of the model without the contribution of a feature.

        The mean of its curve over the training samples is added to the intercept, so that their
        mean score does not change (up to the bins of ``density_``).

        Parameters
        ----------
        feature : str or int
            Name or index of the feature.  Samples must still have its column.

        Returns
        -------
        Self
            Edited copy, as in `set_curve`.

        Examples
        --------
        >>> from everystump import StumpSVC
        >>> model = StumpSVC().fit([[0, 1], [1, 0], [2, 1], [3, 0]], [0, 0, 1, 1])
        >>> model.remove_feature("x1").explain_local([[0, 1]])["x1"].tolist()
        [0.0]
        """
        models, d = shape_models(self), feature_index(self.feature_info_, feature)
        density = training_density(self)[d]
        shifts = np.zeros(len(models))
        for k, model in enumerate(models):
            values, weights = evaluate_on_density(model[d], density)
            shifts[k] = np.average(values, weights=weights)
            models = replace_curve(models, k, d, zero_curve(model[d]), shift=float(shifts[k]))
        edited = self._edited(models, f"{feature_names(self.feature_info_)[d]} was removed")
        if hasattr(self, "intercept_"):
            edited.intercept_ = self.intercept_ + shifts
        return edited

    @property
    def edits_(self) -> tuple[str, ...]:
        """Descriptions of the edits, in their order; empty after a fit."""
        return vars(self).get("_edits", ())

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """Return the parameters, and the last edit if there is any."""
        text = super().__repr__(N_CHAR_MAX)  # type: ignore[call-arg]
        edits = self.edits_
        if not edits:
            return text
        others = f" ({pluralize(len(edits) - 1, 'earlier edit')})" if len(edits) > 1 else ""
        return f"<{text} edited: {edits[-1]}{others}>"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Raise an error that explains why an edited model lacks an attribute."""
            if name not in vars(self).get("_removed_attributes", ()):
                # Also called for properties that raise an AttributeError; they raise it again here.
                return object.__getattribute__(self, name)
            if not self.edits_:
                raise EditedModelError(
                    f"{name}: {type(self).__name__} was the last step of a pipeline whose other "
                    f"steps were merged into its curves; use that step of the pipeline."
                )
            raise EditedModelError(
                f"{name}: {type(self).__name__} was edited ({self.edits_[-1]}), and an edited "
                f"model is not a solution of its training problem; use the model before its edits."
            )

    def _region(
        self, d: int, low: Any, high: Any, levels: Any, missing: bool
    ) -> tuple[Region, Any]:
        """Return the region of an edit and the name of its feature."""
        name = feature_names(self.feature_info_)[d]
        return check_region(self.feature_info_[d], name, low, high, levels, missing), name

    def _edited(self, models: list[ShapeModel], description: str) -> Self:
        """Return a copy with other shape functions and without the results of training."""
        edited = copy_without_solution(self, _VALID)
        edited.shapes_ = models if isinstance(self.shapes_, list) else models[0]
        if hasattr(self, "certificate_"):
            edited.certificate_ = None
        edited._edits = (*self.edits_, description)
        return edited


def copy_without_solution(estimator: Any, valid: Collection[str]) -> Any:
    """Return a copy with the parameters and ``valid`` attributes; access to others is an error."""
    names = {*valid, *EDIT_ATTRIBUTES, *estimator.get_params(deep=False)}
    removed = sorted(set(vars(estimator)) - names - {estimator._fitted_attribute})
    copied = copy(estimator)
    for name in removed:
        del copied.__dict__[name]
    copied._removed_attributes = (*vars(estimator).get("_removed_attributes", ()), *removed)
    return copied


def _class_suffix(models: list[ShapeModel], class_label: Any) -> str:
    return f" for class {class_label!r}" if len(models) > 1 and class_label is not None else ""
