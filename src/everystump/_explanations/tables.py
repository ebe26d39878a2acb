"""Explanations as pandas frames: terms, samples, stumps, and single curves and surfaces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from everystump._core.shapes import Ensemble, Shape, ShapeModel
from everystump._core.surfaces import Axis, Surface
from everystump._explanations.access import feature_names
from everystump._explanations.bands import Bands, describe_band, point_values
from everystump._explanations.importance import Densities, importances, missing_fraction
from everystump._explanations.terms import term_names
from everystump._tables.frames import Feature
from everystump._terms import Term

_STUMP_COLUMNS = ["feature", "question", "direction", "weight", "low", "high", "level"]


def global_table(
    models: list[ShapeModel],
    features: Sequence[Feature],
    classes: np.ndarray,
    densities: Densities,
    bands: Bands | None = None,
) -> Any:
    """Return the importance of each term for each score, most important first."""
    import pandas as pd

    names = term_names(features, models[0].terms)
    values = importances(models, densities.curves, densities.surfaces)
    records = []
    for k, (label, model) in enumerate(zip(_class_columns(classes, models), models, strict=True)):
        described = [
            *(
                _describe_curve(model[d], features[d], densities.curves[d])
                for d in range(len(model))
            ),
            *map(_describe_surface, model.surfaces, densities.surfaces),
        ]
        if bands is not None:
            terms = zip(_terms(model), _terms(bands.errors[k]), _terms(densities), strict=True)
            described = [
                rest | describe_band(*term, bands)
                for rest, term in zip(described, terms, strict=True)
            ]
        records += [
            {**label, "feature": name, "importance": value, **rest}
            for name, value, rest in zip(names, values[k], described, strict=True)
        ]
    frame = pd.DataFrame.from_records(records)
    return frame.sort_values("importance", ascending=False, kind="stable", ignore_index=True)


def _terms(source: ShapeModel | Densities) -> list:
    """Return the curves of a model, or their densities, and then the surfaces."""
    curves = source.curves if isinstance(source, Densities) else source.shapes
    return [*curves, *source.surfaces]


def _describe_curve(shape: Shape, feature: Feature, density: Any) -> dict[str, Any]:
    _, contributions = _points(shape, feature)
    return {
        "lowest": float(np.min(contributions)),
        "highest": float(np.max(contributions)),
        "kind": "number" if feature.levels is None else "category",
        "share_missing": missing_fraction(density),
    }


def _describe_surface(surface: Surface, density: Any) -> dict[str, Any]:
    return {
        "lowest": float(surface.values.min()),
        "highest": float(surface.values.max()),
        "kind": "interaction",
        "share_missing": density.missing_fraction(surface),
    }


def local_table(
    models: list[ShapeModel],
    features: Sequence[Feature],
    classes: np.ndarray,
    X: Any,
    *,
    index: Any,
    n_threads: int,
) -> Any:
    """Return the contribution of each term to each score of validated samples."""
    import pandas as pd

    names = term_names(features, models[0].terms)
    width = len(names) + 2
    # pandas stores columns contiguously, so this block is not copied.
    block = np.empty((len(X), width * len(models)), order="F")
    for k, model in enumerate(models):
        part = block[:, k * width : (k + 1) * width]
        part[:, 0] = model.intercept
        model.contributions(X, n_threads=n_threads, out=part[:, 1:-1])
        np.add.reduce(part[:, :-1], axis=1, out=part[:, -1])
    columns = pd.Index([_unique("intercept", names), *names, _unique("score", names)])
    if len(models) > 1:
        levels = [classes.tolist(), columns]
        columns = pd.MultiIndex.from_product(levels, names=["class", "feature"])
    return pd.DataFrame(block, index=index, columns=columns, copy=False)


def stump_table(models: list[ShapeModel], features: Sequence[Feature], classes: np.ndarray) -> Any:
    """Return the stumps of each score with their weights, largest weight first."""
    import pandas as pd

    labels = _class_columns(classes, models)
    records = [
        {**label, **record}
        for label, model in zip(labels, models, strict=True)
        for record in _stump_records(model.ensemble(), features)
    ]
    frame = pd.DataFrame.from_records(records, columns=[*labels[0], *_STUMP_COLUMNS])
    return frame.sort_values("weight", ascending=False, kind="stable", ignore_index=True)


def curve_table(
    models: list[ShapeModel],
    features: Sequence[Feature],
    classes: np.ndarray,
    d: int,
    bands: Bands | None = None,
) -> Any:
    """Return the knots or levels of feature ``d`` with their contributions."""
    import pandas as pd

    parts = []
    for k, (label, model) in enumerate(zip(_class_columns(classes, models), models, strict=True)):
        values, contributions = _points(model[d], features[d])
        columns = {**label, "value": values, "contribution": contributions}
        if bands is not None:
            columns |= bands.columns(contributions, point_values(bands.errors[k][d]))
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)


def surface_table(
    models: list[ShapeModel],
    features: Sequence[Feature],
    classes: np.ndarray,
    term: Term,
    bands: Bands | None = None,
) -> Any:
    """Return the grid points of an interaction with their contributions."""
    import pandas as pd

    names = term_names(features, [(d,) for d in term])
    parts = []
    for k, (label, model) in enumerate(zip(_class_columns(classes, models), models, strict=True)):
        j = model.terms.index(term) - len(model)
        surface = model.surfaces[j]
        points = [_entries(axis, features[d]) for d, axis in zip(term, surface.axes, strict=True)]
        grid = np.indices(surface.values.shape).reshape(surface.order, -1)
        columns: dict[Any, Any] = {_unique(title, names): value for title, value in label.items()}
        columns |= {name: p[i] for name, p, i in zip(names, points, grid, strict=True)}
        columns[_unique("contribution", names)] = surface.values.ravel()
        if bands is not None:
            errors = bands.errors[k].surfaces[j].values.ravel()
            limits = bands.columns(surface.values.ravel(), errors)
            columns |= {_unique(title, names): value for title, value in limits.items()}
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)


def _entries(axis: Axis, feature: Feature) -> np.ndarray:
    """Return the knots or levels of an axis, the missing value last."""
    if feature.levels is None:
        return np.append(axis.knots, [np.nan] * axis.has_missing)
    return np.append(feature.levels.astype(object), [np.nan] * axis.has_missing)


def _class_columns(classes: np.ndarray, models: list[ShapeModel]) -> list[dict[str, Any]]:
    """Return the class column of each score; there is none for two classes."""
    return [{"class": label} for label in classes.tolist()] if len(models) > 1 else [{}]


def _unique(title: str, names: list) -> str:
    """Return a column title that differs from all feature names."""
    return f"({title})" if title in names else title


def _points(shape: Shape, feature: Feature) -> tuple[Any, np.ndarray]:
    """Return the knots or levels with their contributions, the missing value last."""
    points: Any = shape.knots if feature.levels is None else feature.levels
    if shape.missing is not None:
        dtype = np.float64 if feature.levels is None else object
        points = np.append(points.astype(dtype), np.nan)
    return points, point_values(shape)


def _stump_records(ensemble: Ensemble, features: Sequence[Feature]) -> Iterator[dict[str, Any]]:
    """Yield one record per stump, and one for the constant if there is any."""
    names = feature_names(features)
    levels = [[] if feature.levels is None else feature.levels.tolist() for feature in features]
    for d, low, high, k, direction, weight in zip(*ensemble[:6], strict=True):
        level = levels[d][k] if k >= 0 else None
        yield {
            "feature": names[d],
            "question": f"{names[d]} {_question(low, high, level)}",
            "direction": int(direction),
            "weight": float(weight),
            "low": float(low) if np.isfinite(low) else np.nan,
            "high": float(high) if np.isfinite(high) else np.nan,
            "level": level,
        }
    if ensemble.constant != 0.0:
        yield {
            "feature": None,
            "question": "always",
            "direction": int(np.sign(ensemble.constant)),
            "weight": abs(ensemble.constant),
            "low": np.nan,
            "high": np.nan,
            "level": None,
        }


def _question(low: float, high: float, level: Any) -> str:
    if level is not None:
        return f"is {level!r}"
    if np.isinf(low):
        return "is missing"
    return f">= {low:.10g}" if low == high else f"from {low:.10g} to {high:.10g}"
