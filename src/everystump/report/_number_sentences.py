"""The sentences of the report page of a regressor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from everystump._text import format_quantities, format_short_percent, pluralize
from everystump.report._key_figures import with_unit
from everystump.report._sentences import closing_sentences, training_sentences

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
    level = format_short_percent(interval["level"])
    return (
        f"Of new rows like the held-out ones, about {level} have an actual value "
        f"within {width} of the prediction (split-conformal prediction interval)."
    )
