"""The sentences of the report page of a regressor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from everystump._evaluation import interval_title, metric_rows
from everystump._text import format_quantities, pluralize
from everystump.report._sentences import (
    closing_sentences,
    select_metrics,
    training_sentences,
)

_RULES = {
    "identity": "The prediction is the sum of an intercept and the contributions of all {terms}.",
    "log": (
        "The logarithm of the prediction is the sum of an intercept and the contributions of all "
        "{terms}; so a contribution of 0.1 raises the prediction by about 10%."
    ),
}


def number_paragraphs(
    about: Mapping[str, Any], model: Mapping[str, Any], quality: Mapping[str, Any] | None = None
) -> list[str]:
    """Return sentences on the training and the errors of a regressor.

    ``model`` has ``estimator``, ``features``, ``link``, and ``interactions``, the number of
    features of each; ``quality`` is that on ``X``.
    """
    sentences = training_sentences(about, model, "a number")
    if quality is not None:
        rows = pluralize(quality["n"], f"{about.get('rows') or ''} row".strip())
        median = with_unit(format_quantities(quality["median"], digits=3)[0], about.get("unit"))
        sentences.append(
            f"For half of the {rows} in this report, the prediction differs from the actual value "
            f"by {median} or less."
        )
    elif about.get("refit"):
        n_rows = pluralize(about["refit"]["n_rows"], "row")
        sentences.append(
            f"It was trained on all rows after a first model, trained on {n_rows}, had been "
            f"evaluated on the others; metrics and C path are those of the first model."
        )
    interval = about.get("interval")
    if isinstance(interval, Mapping) and interval.get("half_width") is not None:
        sentences.append(_interval(interval, about.get("unit")))
    terms = "features and interactions" if model["interactions"] else "features"
    return [
        *sentences,
        *closing_sentences(about, model, _RULES[model["link"]].format(terms=terms)),
    ]


def _interval(interval: Mapping[str, Any], unit: Any) -> str:
    width = with_unit(format_quantities(interval["half_width"], digits=3)[0], unit)
    return (
        f"Of new rows like the held-out ones, about {interval['level']:.0%} have an actual value "
        f"within {width} of the prediction (split-conformal prediction interval)."
    )


def with_unit(text: str, unit: Any) -> str:
    """Return a number with its unit, if it has one.

    Examples
    --------
    >>> with_unit("12.5", "mg/dl"), with_unit("12.5", None)
    ('12.5 mg/dl', '12.5')
    """
    return text if unit is None else f"{text} {unit}"


def metric_tiles(
    about: Mapping[str, Any], quality: Mapping[str, Any] | None
) -> list[dict[str, str]]:
    """Return R² and RMSE on new rows for the top of the page: ``name``, ``value``, ``more``."""
    found, _ = select_metrics(about, (quality or {}).get("metrics"))
    is_new = about.get("rows") != "training" or (
        found is not None and found is about.get("figures")
    )
    if found is None or not is_new:
        return []
    shown = dict(zip(found["figures"], metric_rows(found), strict=True))
    title = interval_title(found)
    return [
        {
            "name": f"{shown[name]['name']} on new rows",
            "value": with_unit(shown[name]["value"], unit),
            "more": f"{title} {shown[name]['interval']}" if shown[name]["interval"] else "",
        }
        for name, unit in (("r2", None), ("rmse", about.get("unit")))
        if name in shown
    ]
