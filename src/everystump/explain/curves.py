"""The curves of a shape model, feature by feature, with the data's density under them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from everystump.explain.names import feature_names as names_of
from everystump.shapes import Shape, ShapeModel

_COLUMNS = 4
_LINE, _FILL, _TEXT = "#1f5fa8", "#c9d6e6", "#555555"


@dataclass
class CurvesDisplay:
    """Curves of the features that move the score most.

    Attributes
    ----------
    names : list of str
        The features drawn, most influential first.
    shapes : list of Shape
        Their curves.
    samples : list of ndarray or None
        The data's values of each, for the densities.
    caption : str
        Which class, and how many of how many features.
    figure_ : matplotlib Figure
        The picture, once drawn.
    axes_ : ndarray of matplotlib Axes
        One a feature.
    """

    names: list[str]
    shapes: list[Shape]
    samples: list[np.ndarray] | None
    caption: str = ""

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        *,
        max_features: int = 12,
        class_index: int = 0,
        feature_names: Any = None,
    ) -> Self:
        """Draw the curves of a fitted stump ensemble.

        Parameters
        ----------
        estimator : estimator
            Fitted, with ``shapes_``.
        X : array-like of shape (n_rows, n_features), optional
            Rows whose density is drawn under the curves and which say how far each curve moves
            the score; without it the knots stand in.
        max_features : int, default=12
            Draw at most this many.
        class_index : int, default=0
            Which class's curves, for several classes.
        feature_names : list of str, optional
            Names; those of the training table by default.

        Returns
        -------
        CurvesDisplay
            With ``figure_`` and ``axes_``.
        """
        check_is_fitted(estimator)
        if max_features < 1:
            raise ValueError(f"max_features={max_features} must be at least 1.")
        models = _models(estimator)
        if not 0 <= class_index < len(models):
            raise ValueError(
                f"class_index={class_index}: the model has {len(models)} set(s) of curves; pass a "
                f"number from 0 to {len(models) - 1}."
            )
        model = models[class_index]
        names = names_of(estimator, len(model), feature_names)
        values = None if X is None else np.asarray(X, dtype=np.float64)
        _check_columns(len(model), values)
        spread = [
            np.std(shape(shape.knots if values is None else values[:, d]))
            for d, shape in enumerate(model)
        ]
        order = np.argsort(spread)[::-1][: max(1, min(max_features, np.count_nonzero(spread)))]
        return cls(
            [names[d] for d in order],
            [model[d] for d in order],
            None if values is None else [values[:, d] for d in order],
            _caption(estimator, models, class_index, len(order), len(model)),
        ).plot()

    def plot(self) -> Self:
        """Draw the curves on a new figure."""
        import matplotlib.pyplot as plt

        n_columns = min(_COLUMNS, len(self.shapes))
        n_rows = -(-len(self.shapes) // n_columns)
        self.figure_, axes = plt.subplots(
            n_rows,
            n_columns,
            figsize=(3.0 * n_columns, 2.3 * n_rows),
            sharey=True,
            squeeze=False,
            layout="constrained",
        )
        self.axes_ = axes.ravel()
        for k, axis in enumerate(self.axes_):
            if k < len(self.shapes):
                self._draw(axis, k)
            else:
                axis.set_visible(False)
        self.figure_.supxlabel(self.caption, color=_TEXT, fontsize=9)
        self.figure_.supylabel("added to the score", color=_TEXT, fontsize=10)
        return self

    def _draw(self, axis: Any, k: int) -> None:
        shape = self.shapes[k]
        seen = shape.knots if self.samples is None else self.samples[k]
        low = float(min(shape.knots[0], seen.min()))
        high = float(max(shape.knots[-1], seen.max()))
        margin = 0.04 * (high - low) or 0.5
        if self.samples is not None:
            density = axis.twinx()
            density.hist(self.samples[k], bins=30, range=(low, high + 1e-12), color=_FILL)
            density.set_ylim(0, 3.2 * density.get_ylim()[1])
            density.set_axis_off()
            axis.set_zorder(density.get_zorder() + 1)
            axis.patch.set_visible(False)
        axis.axhline(0.0, color=_TEXT, linewidth=0.6, linestyle=(0, (4, 4)))
        x = np.concatenate([[low - margin], shape.knots, [high + margin]])
        y = np.concatenate([shape.values[:1], shape.values, shape.values[-1:]])
        axis.plot(x, y, color=_LINE, linewidth=1.6)
        axis.set_title(self.names[k], fontsize=10)
        axis.tick_params(labelsize=8, colors=_TEXT)
        axis.spines[["top", "right"]].set_visible(False)


def _models(estimator: Any) -> list[ShapeModel]:
    """Return the curves of each class; a `PerceptronSVC` has those of its axes."""
    models = getattr(estimator, "shapes_", None) or getattr(estimator, "axis_shapes_", None)
    if models is None:
        raise ValueError(
            f"estimator={estimator!r} has no curves; pass an ensemble of stumps, or a "
            f"PerceptronSVC with include_axes=True."
        )
    return [models] if isinstance(models, ShapeModel) else models


def _caption(
    estimator: Any, models: list[ShapeModel], class_index: int, n_drawn: int, n_features: int
) -> str:
    parts = ["the axes' part of the score"] if hasattr(estimator, "axis_shapes_") else []
    if len(models) > 1:
        parts.append(f"class {estimator.classes_[class_index]} against the rest")
    if n_drawn < n_features:
        parts.append(f"the {n_drawn} of {n_features} features that move the score most")
    return ", ".join(parts)


def _check_columns(n_features: int, values: np.ndarray | None) -> None:
    if values is not None and (values.ndim != 2 or values.shape[1] != n_features):
        raise ValueError(
            f"X has shape {values.shape}, but the model has {n_features} features; pass a table "
            f"with one column for each."
        )
