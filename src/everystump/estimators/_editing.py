"""Methods that edit the curves and surfaces of a fitted model; each returns an edited copy."""

from __future__ import annotations

from collections.abc import Callable, Collection
from copy import copy
from numbers import Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from everystump._core.shapes import Shape, ShapeModel
from everystump._explanations.access import (
    class_labels,
    class_model_indices,
    shape_models,
    surface_weights,
    training_density,
)
from everystump._explanations.editing import (
    CurveEdit,
    cap_shape,
    check_caps,
    check_limits,
    check_region,
    freeze_shape,
    remove_curve,
    replace_curve,
)
from everystump._explanations.surface_editing import SurfaceEdit, check_box, remove_surfaces
from everystump._explanations.terms import term_features, term_names
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
    "interactions_",
    "intercept_",
    "link_",
    "multi_class_",
    "n_features_in_",
    "shapes_",
    "surface_density_",
    "target_scale_",
}


class EditedModelError(ValueError, AttributeError):
    """An attribute of the training solution was requested from an edited model."""


class EditingMixin:
    """Edits of a model with ``shapes_``."""

    feature_info_: tuple[Feature, ...]
    shapes_: ShapeModel | list[ShapeModel]
    intercept_: np.ndarray
    certificate_: Any
    interactions_: Any

    def set_curve(
        self,
        feature: str | int | tuple,
        value: float,
        *,
        low: Any = None,
        high: Any = None,
        levels: Any = None,
        missing: Any = False,
        class_label: Any = None,
    ) -> Self:
        """Return a copy of the model whose curve or surface is constant in a region.

        Parameters
        ----------
        feature : str, int or tuple
            Name or index of the feature.  The surface of an interaction is edited if this is its
            name, such as ``"age × income"``, or a tuple of its features; the next four parameters
            then have one entry per feature, such as ``low=(30, None)``.
        value : float
            Contribution to the score in the region.
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

        Notes
        -----
        An edit of a curve does not change the interactions of its feature.

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
        edit = self._edit(feature, low, high, levels, missing)
        chosen = class_model_indices(class_labels(self), len(edit.models), class_label)
        if len(chosen) > 1:
            raise ValueError(
                f"class_label=None: the model has a curve for each of "
                f"{class_labels(self).tolist()}; pass a class."
            )
        if not isinstance(value, Real) or not np.isfinite(value):
            raise ValueError(f"value={value!r} must be a finite number.")
        edit.set(chosen[0], float(value))
        return self._finished(edit, f"was set to {value:.10g}", class_label)

    def flatten_curve(
        self,
        feature: str | int | tuple,
        *,
        low: Any = None,
        high: Any = None,
        levels: Any = None,
        missing: Any = False,
        class_label: Any = None,
    ) -> Self:
        """Return a copy of the model whose curve or surface is constant in a region, at its mean.

        The mean is taken over the training samples in the region, so that their mean score does not
        change (up to the bins of ``density_`` for features with more than 256 distinct values, and
        up to the grid of the surface for interactions).

        Parameters
        ----------
        feature, low, high, levels, missing
            The feature or interaction and the region, as in `set_curve`.
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
        edit = self._edit(feature, low, high, levels, missing)
        for k in class_model_indices(class_labels(self), len(edit.models), class_label):
            edit.set(k, edit.mean(k))
        return self._finished(edit, "was flattened", class_label)

    def cap_curve(
        self,
        feature: str | int,
        *,
        lowest: Any = None,
        highest: Any = None,
        class_label: Any = None,
    ) -> Self:
        """Return a copy of the model in which the contribution of a feature is limited.

        Contributions below ``lowest`` are raised to it, and those above ``highest`` are lowered,
        also those of missing values.  Interactions are not changed, nor what contributes 0 because
        training did not have it: unknown levels, and missing values of a feature without any.

        Parameters
        ----------
        feature : str or int
            Name or index of the feature.
        lowest, highest : float, default=None
            Limits of the contribution to the score; unlimited where None.
        class_label : label, default=None
            The class whose curve is edited; by default, the curves of all classes.

        Returns
        -------
        Self
            Edited copy, as in `set_curve`.

        Examples
        --------
        >>> from everystump import DecisionStumpClassifier
        >>> stump = DecisionStumpClassifier().fit([[0], [1], [4], [5]], [0, 0, 1, 1])
        >>> capped = stump.cap_curve("x0", highest=0.25)
        >>> capped.decision_function([[1], [4]]), capped.edits_
        (array([-1.  ,  0.25]), ('x0 was capped to at most 0.25',))
        """
        limits = check_caps(lowest, highest)
        title, d = self._single_feature(feature, "capped")
        text = f"{title} was capped to {_ends_text('at least', lowest, 'at most', highest)}"
        return self._with_curves(d, lambda shape: cap_shape(shape, *limits), text, class_label)

    def freeze_curve(
        self, feature: str | int, *, low: Any = None, high: Any = None, class_label: Any = None
    ) -> Self:
        """Return a copy of the model whose curve is constant below ``low`` and above ``high``.

        The curve keeps its values at these ends beyond them, for example where there are few
        samples.  Missing values and interactions are not changed.

        Parameters
        ----------
        feature : str or int
            Name or index of a numeric feature.
        low, high : float, default=None
            The ends of the part of the curve that does not change; unbounded where None.
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
        >>> frozen = model.freeze_curve("x0", high=2)
        >>> scores = frozen.decision_function([[2], [3]])
        >>> bool(scores[0] == scores[1]), frozen.edits_
        (True, ('x0 was frozen above 2',))
        """
        if low is None and high is None:
            raise ValueError("low=None, high=None: pass one of them, or both.")
        limits = check_limits(low, high)
        title, d = self._single_feature(feature, "frozen")
        if self.feature_info_[d].levels is not None:
            raise ValueError(
                f"feature={title!r} is a category and has no order, so it cannot be frozen beyond "
                f"a value; use set_curve or flatten_curve."
            )
        text = f"{title} was frozen {_ends_text('below', low, 'above', high)}"
        return self._with_curves(d, lambda shape: freeze_shape(shape, *limits), text, class_label)

    def _single_feature(self, feature: Any, verb: str) -> tuple[Any, int]:
        """Return the name and the index of a feature; raise if it is an interaction."""
        models = shape_models(self)
        term = term_features(self.feature_info_, models[0].terms, feature)
        (title,) = term_names(self.feature_info_, [term])
        if len(term) > 1:
            raise ValueError(
                f"feature={title!r} is an interaction, and only curves are {verb}; use set_curve, "
                f"flatten_curve or remove_feature."
            )
        return title, term[0]

    def _with_curves(
        self, d: int, change: Callable[[Shape], Shape], text: str, class_label: Any
    ) -> Self:
        """Return a copy in which the curves of a feature are changed, for some or all classes."""
        models = shape_models(self)
        for k in class_model_indices(class_labels(self), len(models), class_label):
            models = replace_curve(models, k, d, change(models[k][d]))
        return self._edited(models, text + self._class_suffix(class_label, len(models)), None)

    def remove_feature(self, feature: str | int | tuple) -> Self:
        """Return a copy of the model without the contribution of a feature or of an interaction.

        A feature is removed with all its interactions.  The means of what is removed over the
        training samples are added to the intercept, so that their mean score does not change (up to
        the bins of ``density_``, and up to the grids of surfaces).

        Parameters
        ----------
        feature : str, int or tuple
            Name or index of the feature, or an interaction, as in `set_curve`.  Samples must still
            have its columns.

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
        models = shape_models(self)
        term = term_features(self.feature_info_, models[0].terms, feature)
        shifts, weights = np.zeros(len(models)), None
        removed = [
            t
            for t, surface in enumerate(models[0].surfaces)
            if term == surface.features or (len(term) == 1 and term[0] in surface.features)
        ]
        if removed:
            weights = surface_weights(self, len(models[0].surfaces))
            models, weights, shifts = remove_surfaces(models, weights, removed)
        if len(term) == 1:
            models, means = remove_curve(models, term[0], training_density(self)[term[0]])
            shifts = shifts + means
        (title,) = term_names(self.feature_info_, [term])
        also = len(removed) if len(term) == 1 else 0
        others = f" with {pluralize(also, 'interaction')}" if also else ""
        edited = self._edited(models, f"{title} was removed{others}", weights)
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

    def _edit(
        self, feature: Any, low: Any, high: Any, levels: Any, missing: Any
    ) -> CurveEdit | SurfaceEdit:
        """Return the edit of a feature or of an interaction in a region."""
        models, features = shape_models(self), self.feature_info_
        term = term_features(features, models[0].terms, feature)
        (title,) = term_names(features, [term])
        if len(term) == 1:
            region = check_region(features[term[0]], title, low, high, levels, missing)
            return CurveEdit(self, models, term[0], title, region)
        weights = surface_weights(self, len(models[0].surfaces))
        box = check_box(features, term, low, high, levels, missing)
        return SurfaceEdit(models, weights, term, title, box)

    def _finished(self, edit: CurveEdit | SurfaceEdit, what: str, class_label: Any) -> Self:
        """Return a copy with an edit, and its description."""
        suffix = self._class_suffix(class_label, len(edit.models))
        text = f"{edit.title} {what}{edit.description}{suffix}"
        return self._edited(edit.models, text, edit.weights)

    @staticmethod
    def _class_suffix(class_label: Any, n_models: int) -> str:
        return f" for class {class_label!r}" if class_label is not None and n_models > 1 else ""

    def _edited(
        self, models: list[ShapeModel], description: str, weights: tuple[np.ndarray, ...] | None
    ) -> Self:
        """Return a copy with other curves and surfaces and without the results of training.

        ``weights`` replace those of the training samples at the grid points of surfaces, unless
        they are None.
        """
        edited = copy_without_solution(self, _VALID)
        edited.shapes_ = models if isinstance(self.shapes_, list) else models[0]
        if weights is not None:
            edited.surface_density_ = weights
        if hasattr(self, "interactions_"):
            kept = set(models[0].terms)
            edited.interactions_ = [term for term in self.interactions_ if tuple(term) in kept]
        if hasattr(self, "certificate_"):
            edited.certificate_ = None
        edited._edits = (*self.edits_, description)
        return edited


def _ends_text(low_word: str, low: Any, high_word: str, high: Any) -> str:
    """Return the description of an interval, of which one end may be None."""
    ends = [(low_word, low), (high_word, high)]
    return " and ".join(f"{word} {end:.10g}" for word, end in ends if end is not None)


def copy_without_solution(estimator: Any, valid: Collection[str]) -> Any:
    """Return a copy with the parameters and ``valid`` attributes; access to others is an error."""
    names = {*valid, *EDIT_ATTRIBUTES, *estimator.get_params(deep=False)}
    removed = sorted(set(vars(estimator)) - names - {estimator._fitted_attribute})
    copied = copy(estimator)
    for name in removed:
        del copied.__dict__[name]
    copied._removed_attributes = (*vars(estimator).get("_removed_attributes", ()), *removed)
    return copied
