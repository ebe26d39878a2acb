"""Steps of fitted pipelines that work on each column by itself, as routes of columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from everystump._pipelines.columns import Route

Routes = list[Route]


def through(step: Any, routes: Routes, name: str) -> Routes:
    """Return the columns after a step."""
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return routes
    known = next((read for kind, read in _readers() if type(step) is kind), None)
    if known is None and hasattr(step, "get_support") and hasattr(step, "inverse_transform"):
        known = _selection
    if known is None:
        raise cannot(f"step {name!r} ({type(step).__name__})", "cannot be put into curves")
    try:
        return known(step, routes)
    except _UnsuitedError as reason:
        raise cannot(f"step {name!r} ({type(step).__name__})", str(reason)) from None


class _UnsuitedError(Exception):
    """Why a step of a known kind cannot be folded."""


def cannot(who: str, why: str) -> ValueError:
    """Return what to raise if a part of a pipeline does something that curves cannot."""
    return ValueError(
        f"model: {who} of the pipeline {why}; what can be are scalers of each column, "
        f"SimpleImputer, selections of columns and passthrough. Transform the table first and pass "
        f"the last step alone, or keep the pipeline with skops or joblib."
    )


def _readers() -> list[tuple[type, Callable[[Any, Routes], Routes]]]:
    """Return what reads each kind of step; a subclass may do something else, and is not read."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import (
        FunctionTransformer,
        MaxAbsScaler,
        MinMaxScaler,
        RobustScaler,
        StandardScaler,
    )

    return [
        (Pipeline, _pipeline),
        (ColumnTransformer, _column_transformer),
        (FunctionTransformer, _function),
        (MaxAbsScaler, lambda step, routes: _scaled(routes, None, step.scale_)),
        (MinMaxScaler, _min_max),
        (RobustScaler, lambda step, routes: _scaled(routes, step.center_, step.scale_)),
        (SimpleImputer, _imputer),
        (StandardScaler, _standard),
    ]


def _pipeline(step: Any, routes: Routes) -> Routes:
    for name, inner in step.steps:
        routes = through(inner, routes, name)
    return routes


def _column_transformer(step: Any, routes: Routes) -> Routes:
    names = getattr(step, "feature_names_in_", None)
    out: Routes = []
    for name, inner, columns in step.transformers_:
        own = [routes[d] for d in _positions(columns, names, len(routes))]
        if own and not (isinstance(inner, str) and inner == "drop"):
            out += through(inner, own, name)
    return out


def _positions(columns: Any, names: Any, n: int) -> list[int]:
    """Return the numbers of columns as a ColumnTransformer names them."""
    known = [] if names is None else list(names)
    if isinstance(columns, str):
        return [known.index(columns)]
    if isinstance(columns, slice):
        start, stop = columns.start, columns.stop
        start = known.index(start) if isinstance(start, str) else start
        stop = known.index(stop) + 1 if isinstance(stop, str) else stop
        return list(range(n))[slice(start, stop, columns.step)]
    if np.ndim(columns) == 0:
        return [range(n)[int(columns)]]
    given = list(columns)
    if all(isinstance(one, str) for one in given):
        return [known.index(one) for one in given]
    return np.arange(n)[np.asarray(given)].tolist()


def _function(step: Any, routes: Routes) -> Routes:
    if step.func is not None:
        raise _UnsuitedError("calls a function of its own")
    return routes


def _min_max(step: Any, routes: Routes) -> Routes:
    if step.clip:
        raise _UnsuitedError("clips values (clip=True)")
    each = zip(routes, step.scale_.tolist(), step.min_.tolist(), strict=True)
    return [route.then(_stretch_and_shift(scale, low)) for route, scale, low in each]


def _stretch_and_shift(scale: float, low: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda x: x * scale + low


def _standard(step: Any, routes: Routes) -> Routes:
    return _scaled(routes, step.mean_ if step.with_mean else None, step.scale_)


def _scaled(routes: Routes, centres: Any, scales: Any) -> Routes:
    """Return columns that were shifted and divided, where either was done at all."""
    for k, route in enumerate(routes):
        if centres is not None:
            route = route.then(_minus(float(centres[k])))
        if scales is not None:
            route = route.then(_over(float(scales[k])))
        routes = [*routes[:k], route, *routes[k + 1 :]]
    return routes


def _minus(centre: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda x: x - centre


def _over(scale: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda x: x / scale


def _imputer(step: Any, routes: Routes) -> Routes:
    if step.add_indicator:
        raise _UnsuitedError("adds columns (add_indicator=True)")
    if not (isinstance(step.missing_values, float) and np.isnan(step.missing_values)):
        raise _UnsuitedError(
            f"replaces other values than NaN (missing_values={step.missing_values!r})"
        )
    filled = zip(routes, step.statistics_.tolist(), strict=True)
    return [route.fill(value) for route, value in filled if value == value]


def _selection(step: Any, routes: Routes) -> Routes:
    return [routes[d] for d in step.get_support(indices=True)]
