"""Heat maps of the interactions of a model, with the distribution of the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from everystump._core.gridweights import grid_weights
from everystump._core.shapes import ShapeModel
from everystump._explanations.access import (
    class_labels,
    class_model_indices,
    shape_models,
    sum_name,
)
from everystump._explanations.bands import check_bands
from everystump._explanations.importance import sample_densities
from everystump._explanations.joint import GridDensity, surface_std
from everystump._explanations.terms import interaction_features, name_terms
from everystump._tables.validation import check_rows
from everystump._terms import Term
from everystump._text import format_short_percent, pluralize
from everystump.explain._bands import HeatAxis, heat_axis
from everystump.explain._display import (
    FIRST,
    MISSING,
    PALE,
    SECOND,
    TEXT,
    add_note,
    display_names,
    edit_notes,
    escape,
    favored_notes,
    sign_colors,
    truncate,
    wrap,
)
from everystump.explain._panels import SurfacePanel, make_panels

_N_COLUMNS = 3
_HISTOGRAM_SIZE, _HISTOGRAM_GAP = 0.14, 0.02  # relative to the heat map
_HATCH, _HATCH_COLOR = "////", "#8a93a0"
_BAR_HEIGHT = 0.16  # inches
_HATCHED = "hatched: no samples"
_DOTS, _DOT_COLOR = "..", "#8a93a0"


@dataclass
class SurfacesDisplay:
    """Heat maps of the most important interactions, or of chosen ones.

    The color is the contribution to the score or, of a regressor, to its prediction; all heat maps
    have the same scale, with 0 in the middle.  Histograms show the distribution of the samples in
    each feature, and regions without samples are hatched.  A category has its most important
    levels, sorted as in `CurvesDisplay`, and the mean of the others; missing values are set apart.
    An interaction of three features is drawn at three values of one of them.  After
    `compute_bands`, regions are dotted where the pointwise band of the surface contains 0.

    Attributes
    ----------
    names : list of str
        The interactions drawn, most important first unless they were chosen.
    panels : list of SurfacePanel
        The heat maps, each with a title, two features, their surface and the samples.
    caption : str
        Which class positive values favor, how many interactions are drawn, and whether the model
        was edited.
    colors : (str, str)
        The colors of positive and of negative contributions.
    level : float or None
        The level of the bands; None without bands.
    limit : float
        The largest contribution that is drawn, positive or negative, in regions with samples.
    figure_ : matplotlib Figure
        The plot, set by `plot`.
    axes_ : ndarray of matplotlib Axes
        One per panel.

    Examples
    --------
    >>> from everystump import StumpSVC
    >>> X, y = [[0, 0], [1, 0], [0, 1], [1, 1]], ["no", "yes", "yes", "no"]
    >>> model = StumpSVC(interactions=[(0, 1)], interaction_strength=1).fit(X, y)
    >>> display = SurfacesDisplay.from_estimator(model)
    >>> display.names, display.caption
    (['x0 × x1'], "contribution to the score (positive values favor class 'yes')")
    """

    names: list[str]
    panels: list[SurfacePanel]
    caption: str = ""
    colors: tuple[str, str] = (SECOND, FIRST)
    level: float | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        *,
        terms: Any = None,
        max_terms: int = 6,
        class_label: Any = None,
        feature_names: Any = None,
        bands: bool | float | None = None,
    ) -> Self:
        """Draw the interactions of a fitted stump ensemble.

        Parameters
        ----------
        estimator : estimator
            Fitted, with ``shapes_`` that have surfaces.
        X : array-like of shape (n_samples, n_features), optional
            Samples whose distribution is drawn, and on which importance is measured; the training
            samples by default.
        terms : list of str or tuple, optional
            The interactions to draw, in this order: names such as ``"age × income"``, or tuples of
            features; the most important ones by default.
        max_terms : int, default=6
            Maximum number of interactions to draw if `terms` is not given.
        class_label : label, optional
            With several classes, the class whose surfaces are drawn; the first one by default.
        feature_names : list of str, optional
            Names of the features; those of the training data by default.
        bands : bool or float, optional
            Whether to mark where the band of a surface contains 0, or the level of the bands.  By
            default 95% bands are used if there are standard errors, see `compute_bands`.

        Returns
        -------
        SurfacesDisplay
            With ``figure_`` and ``axes_``.
        """
        check_is_fitted(estimator)
        if max_terms < 1:
            raise ValueError(f"max_terms={max_terms} must be at least 1.")
        models = shape_models(estimator)
        k = class_model_indices(class_labels(estimator), len(models), class_label)[0]
        model = models[k]
        if not model.surfaces:
            raise ValueError(
                f"estimator={estimator!r} has no interactions; fit it with interactions, or draw "
                f"its curves with CurvesDisplay."
            )
        names = display_names(estimator, len(model), feature_names)
        densities, weights = _densities(estimator, model, X)
        if terms is None:
            chosen = _most_important(model, weights)[:max_terms]
        else:
            chosen = _chosen(estimator, model, terms, names)
        if bands is None:
            bands = getattr(estimator, "standard_errors_", None) is not None
        found = check_bands(estimator, bands)
        info = estimator.feature_info_
        panels = []
        for t in chosen:
            half = None if found is None else found.width * found.errors[k].surfaces[t].values
            surface = model.surfaces[t]
            panels += make_panels(model, surface, names, info, weights[t], densities, half)
        favored = favored_notes(estimator, models, k)
        return cls(
            name_terms(names, [model.surfaces[t].features for t in chosen]),
            panels,
            _caption(estimator, model, favored, len(chosen), terms is not None),
            sign_colors(len(class_labels(estimator)), k),
            None if found is None else found.level,
        ).plot()

    @property
    def limit(self) -> float:
        """The largest contribution that is drawn."""
        return max(_largest(panel) for panel in self.panels) or 1.0

    def plot(self) -> Self:
        """Draw the heat maps on a new figure."""
        import matplotlib.pyplot as plt
        from matplotlib.colors import LinearSegmentedColormap, Normalize

        n_columns = min(_N_COLUMNS, len(self.panels))
        n_rows = -(-len(self.panels) // n_columns)
        notes = [_HATCHED, *([] if self.level is None else [_dotted(self.level)])]
        caption = wrap("; ".join([self.caption, *notes]), n_columns)
        height = 3.2 * n_rows + 0.7 + 0.15 * caption.count("\n")
        self.figure_, axes = plt.subplots(
            n_rows,
            n_columns,
            figsize=(3.7 * n_columns, height),
            squeeze=False,
            layout="constrained",
        )
        self.axes_ = axes.ravel()[: len(self.panels)]
        for axis in axes.ravel()[len(self.panels) :]:
            axis.set_visible(False)
        positive, negative = self.colors
        colormap = LinearSegmentedColormap.from_list("sign", [negative, "white", positive])
        norm = Normalize(-self.limit, self.limit)
        marks = [
            _draw(axis, panel, colormap, norm)
            for axis, panel in zip(self.axes_, self.panels, strict=True)
        ]
        values = np.concatenate([panel.surface.values.ravel() for panel in self.panels])
        bar = self.figure_.colorbar(
            plt.cm.ScalarMappable(norm, colormap),
            ax=axes,
            location="bottom",
            fraction=_BAR_HEIGHT / height,
            aspect=3.0 * n_columns / _BAR_HEIGHT,
            shrink=0.8,
            extend="both" if np.abs(values).max() > self.limit else "neither",
        )
        used = [note for k, note in enumerate(notes) if any(mark[k] for mark in marks)]
        caption = wrap("; ".join([self.caption, *used]), n_columns)
        bar.set_label(escape(caption), color=TEXT, fontsize=9)
        bar.ax.tick_params(labelsize=8, colors=TEXT)
        bar.outline.set_visible(False)
        return self


def _densities(estimator: Any, model: ShapeModel, X: Any) -> tuple[Any, Any]:
    """Return the distribution of samples in each feature, and at the grid points of surfaces."""
    if X is not None:
        rows = check_rows(estimator, X)
        return sample_densities(rows), grid_weights(model.surfaces, rows)
    densities = getattr(estimator, "density_", None)
    weights = getattr(estimator, "surface_density_", ())
    if len(weights) != len(model.surfaces):
        weights = (None,) * len(model.surfaces)
    return densities or (None,) * len(model), weights


def _most_important(model: ShapeModel, weights: Any) -> list[int]:
    """Return the surfaces with a nonzero importance, most important first; at least one."""
    importances = [
        surface_std(surface, None if own is None else GridDensity(own))
        for surface, own in zip(model.surfaces, weights, strict=True)
    ]
    order = np.argsort(-np.array(importances), kind="stable")
    return order[: max(1, np.count_nonzero(importances))].tolist()


def _chosen(estimator: Any, model: ShapeModel, terms: Any, names: list[str]) -> list[int]:
    """Return the surfaces of interactions given by their displayed or training names."""
    if isinstance(terms, str) or not hasattr(terms, "__iter__"):
        raise ValueError(f"terms={terms!r} must be a list; pass [{terms!r}].")
    displayed = dict(zip(name_terms(names, model.terms), model.terms, strict=True))
    chosen: list[Term] = []
    for term in terms:
        known = displayed.get(term, ()) if isinstance(term, str) else ()
        if isinstance(term, tuple | list):
            term = tuple(names.index(name) if name in names else name for name in term)
        is_known = len(known) > 1
        info = estimator.feature_info_
        chosen.append(known if is_known else interaction_features(info, model.terms, term))
    if not chosen:
        raise ValueError("terms=[] is empty; pass an interaction, or None.")
    return [model.terms.index(term) - len(model) for term in dict.fromkeys(chosen)]


def _caption(
    estimator: Any, model: ShapeModel, favored: list[str], n_drawn: int, chosen: bool
) -> str:
    parts = [add_note(f"contribution to the {sum_name(estimator)}", favored)]
    if n_drawn < len(model.surfaces):
        most = "" if chosen else "most important "
        n = pluralize(len(model.surfaces), "interaction")
        parts.append(f"{'' if chosen else 'the '}{n_drawn} {most}of {n}")
    return "; ".join(parts + edit_notes(estimator))


def _largest(panel: SurfacePanel) -> float:
    """Return the largest absolute contribution of a panel at grid points with samples."""
    values = np.abs(panel.surface.values)
    if panel.weights is not None and panel.weights.any():
        values = values[panel.weights > 0]
    return float(values.max())


def _dotted(level: float) -> str:
    return f"dotted: 0 is within the {format_short_percent(level)} band"


def _draw(axis: Any, panel: SurfacePanel, colormap: Any, norm: Any) -> tuple[bool, bool]:
    """Draw a heat map; return whether some of it is hatched, and whether some is dotted."""
    weights = np.ones(panel.surface.values.shape) if panel.weights is None else panel.weights
    sizes = weights * np.abs(panel.surface.values)
    x, y = (heat_axis(panel, j, sizes.sum(axis=1 - j)) for j in (0, 1))
    is_hatched = is_dotted = False
    for column in x.bands:
        for row in y.bands:
            values = row.values @ panel.surface.values.T @ column.values.T
            axis.pcolormesh(
                column.edges, row.edges, values, cmap=colormap, norm=norm, rasterized=True
            )
            edges, is_empty = (column.edges, row.edges), np.zeros(values.shape, dtype=bool)
            if panel.weights is not None:
                is_empty = row.nearby @ weights.T @ column.nearby.T == 0
                is_hatched |= _hatch(axis, edges, is_empty, _HATCH, _HATCH_COLOR)
            if panel.half_widths is not None:
                half = row.values @ panel.half_widths.T @ column.values.T
                is_uncertain = (np.abs(values) < half) & ~is_empty
                is_dotted |= _hatch(axis, edges, is_uncertain, _DOTS, _DOT_COLOR)
    _finish(axis, panel, x, y)
    return is_hatched, is_dotted


def _finish(axis: Any, panel: SurfacePanel, x: HeatAxis, y: HeatAxis) -> None:
    """Draw the ticks, names and histograms of a heat map."""
    axis.set_xlim(*x.limits)
    axis.set_ylim(*y.limits)
    _set_ticks(axis.xaxis, x)
    _set_ticks(axis.yaxis, y)
    if panel.surface.axes[0].is_category:
        axis.tick_params(axis="x", labelrotation=30)
        for label in axis.get_xticklabels():
            label.set(ha="right", rotation_mode="anchor")
    axis.set_xlabel(escape(truncate(panel.names[0], 34)), fontsize=9, color=TEXT)
    axis.set_ylabel(escape(truncate(panel.names[1], 24)), fontsize=9, color=TEXT)
    axis.spines[:].set_visible(False)
    _draw_histograms(axis, x, y)
    height = _HISTOGRAM_SIZE + _HISTOGRAM_GAP if x.bars else 0.0
    axis.set_title(escape(panel.title), fontsize=10, y=1.0 + height)


def _hatch(
    axis: Any, edges: tuple[np.ndarray, np.ndarray], mask: np.ndarray, hatch: str, color: str
) -> bool:
    """Hatch some pixels; return whether there are any."""
    if not mask.any():
        return False
    corners = [np.repeat(own, 2)[1:-1] for own in edges]
    inside = np.repeat(np.repeat(mask, 2, axis=0), 2, axis=1).astype(float)
    regions = axis.contourf(*corners, inside, levels=[0.5, 1.5], colors="none", hatches=[hatch])
    regions.set_edgecolor(color)
    regions.set_linewidth(0.0)
    return True


def _set_ticks(axis: Any, own: HeatAxis) -> None:
    axis.set_ticks(own.ticks, [escape(label) for label in own.labels])
    axis.set_tick_params(labelsize=8, labelcolor=TEXT, color=TEXT)
    if own.missing_at is not None:
        axis.get_ticklabels()[-1].set_color(MISSING)


def _draw_histograms(axis: Any, x: HeatAxis, y: HeatAxis) -> None:
    """Draw the distribution of the samples above and to the right of a heat map."""
    start = 1.0 + _HISTOGRAM_GAP
    top = axis.inset_axes([0.0, start, 1.0, _HISTOGRAM_SIZE], sharex=axis)
    right = axis.inset_axes([start, 0.0, _HISTOGRAM_SIZE, 1.0], sharey=axis)
    for part, own, draw in ((top, x, "bar"), (right, y, "barh")):
        for bars in own.bars:
            getattr(part, draw)(bars.centers, bars.heights, bars.width, color=PALE)
        part.axis("off")
