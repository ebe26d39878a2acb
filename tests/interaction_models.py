"""Models with surfaces of all kinds, for tests of what reads a fitted model."""

from dataclasses import replace

import numpy as np

from everystump import StumpLogisticRegression
from everystump._core.gridweights import grid_weights
from everystump._tables.validation import check_rows
from everystump.shapes import Axis, Surface

TERMS = ((0, 1), (0, 2), (0, 1, 2))


def quantile_axis(x, n, jumps=False):
    """Return an axis with knots at quantiles of ``x``, each twice if it has jumps."""
    knots = np.unique(np.nanquantile(x, np.linspace(0.05, 0.95, n)))
    return Axis(np.repeat(knots, 2) if jumps else knots, has_missing=bool(np.isnan(x).any()))


def add_surfaces(model, X, terms=TERMS, *, sample_weight=None, jumps=False, seed=0):
    """Add random surfaces to a fitted additive model, the same grid for all classes."""
    rows = check_rows(model, X)
    rng = np.random.default_rng(seed)
    axes = [
        quantile_axis(rows[:, d], 5, jumps)
        if feature.levels is None
        else Axis.category(feature.n_levels, bool(np.isnan(rows[:, d]).any()))
        for d, feature in enumerate(model.feature_info_)
    ]
    models = model.shapes_ if isinstance(model.shapes_, list) else [model.shapes_]
    models = [
        replace(
            shapes,
            surfaces=tuple(
                Surface(
                    term,
                    tuple(axes[d] for d in term),
                    rng.normal(size=[len(axes[d]) for d in term]),
                )
                for term in terms
            ),
        )
        for shapes in models
    ]
    model.shapes_ = models if isinstance(model.shapes_, list) else models[0]
    model.surface_density_ = grid_weights(models[0].surfaces, rows, sample_weight)
    return model


def fit_surfaces(X, y, terms=TERMS, **options):
    """Return a logistic regression with random surfaces."""
    return add_surfaces(StumpLogisticRegression().fit(X, y), X, terms, **options)
