"""The report page: one HTML file that contains everything and works offline."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from everystump._files import check_output_path, write_text
from everystump._text import displayable
from everystump.report._encoding import pack, pack_bands, pack_features
from everystump.report.summary import summarize

_STYLES = ("page.css", "evaluation.css")
_SCRIPTS = (
    "scorer.js",
    "bands.js",
    "charts.js",
    "finder.js",
    "inputs.js",
    "levels.js",
    "choices.js",
    "scales.js",
    "units.js",
    "numbers.js",
    "snapshot.js",
    "save.js",
    "datarows.js",
    "whatif.js",
    "maprows.js",
    "surfaces.js",
    "curves.js",
    "metrics.js",
    "decisions.js",
    "evaluationrows.js",
    "decision_charts.js",
    "evaluation.js",
    "classes.js",
    "coverage.js",
    "groups.js",
    "mistakes.js",
    "overview.js",
    "page.js",
)
_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")


def write_report(
    model: Any,
    path: str | os.PathLike[str],
    X: Any = None,
    y: Any = None,
    *,
    about: Mapping[str, Any] | None = None,
) -> None:
    """Write the report page of a model, completely or not at all.

    Parameters
    ----------
    model : estimator or Pipeline
        Fitted, with curves (``shapes_``), or a pipeline of scalers, imputers and column selections
        that ends in such an estimator.
    path : str or Path
        The HTML file, which is replaced if it exists.
    X, y : array-like, optional
        Rows that it was not trained on, and their classes.  If they are training rows, the page is
        labeled accordingly and has no intervals; if some are, or it is unknown, there is a warning.
    about : dict, optional
        Further information; see `summarize`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from everystump import DecisionStumpClassifier
    >>> stump = DecisionStumpClassifier().fit([[0], [1], [4], [5]], [0, 0, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(stump, Path(folder) / "stump.html")
    ...     print([file.name for file in Path(folder).iterdir()])
    ['stump.html']
    """
    out = check_output_path(path)
    write_text(out, render(summarize(model, X, y, about=about)))


def render(summary: Mapping[str, Any]) -> str:
    """Return the page of a summary.

    All text from the data is escaped, and the content security policy of the page allows only its
    own scripts.

    Parameters
    ----------
    summary : dict
        The result of `summarize`.

    Returns
    -------
    str
        HTML with its styles, scripts and data.

    Examples
    --------
    >>> from everystump import DecisionStumpClassifier
    >>> stump = DecisionStumpClassifier().fit([[0], [1], [4], [5]], ["<no>", "<no>", "yes", "yes"])
    >>> page = render(summarize(stump))
    >>> page.startswith("<!doctype html>"), "<no>" in page
    (True, False)
    """
    sentences = summary["text"]["description"]
    values = {
        "title": escape_text(summary["title"]),
        "edits": _edits(summary["edits"]),
        "headline": _headline(summary["text"]["metrics"]),
        "description": "\n".join(f"<p>{escape_text(text)}</p>" for text in sentences),
    }
    return render_page("template.html", _STYLES, _SCRIPTS, values, _pack_summary(summary))


def render_page(
    template: str,
    styles: Sequence[str],
    scripts: Sequence[str],
    values: Mapping[str, str],
    data: Mapping[str, Any],
) -> str:
    """Return a page of files of this package: a template with styles, scripts and data.

    ``values`` are HTML, in which text is escaped; its placeholders in the template have double
    braces.
    """
    style, script = ("\n".join(map(_read, names)) for names in (styles, scripts))
    texts = {
        **values,
        "style": style,
        "style_hash": _hash(style),
        "script": script,
        "script_hash": _hash(script),
        "data": _json(data),
    }
    return _PLACEHOLDER.sub(lambda match: texts[match[1]], _read(template))


@cache
def _read(name: str) -> str:
    """Return the text of a file of this package."""
    return files("everystump.report").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """Return the hash of an inline script or style for the security policy."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def escape_text(text: str) -> str:
    """Return text for HTML; see `displayable`."""
    return escape(displayable(text))


def _edits(edits: list[str]) -> str:
    if not edits:
        return ""
    items = "".join(f"<li>{escape_text(edit)}</li>" for edit in edits)
    return (
        '<aside class="edited" role="note"><strong>This model was edited by hand after training.'
        f"</strong> Its curves and scores are those after the edits; its error, certificate and "
        f"bounds were determined before them.<ul>{items}</ul></aside>"
    )


def _headline(metrics: Mapping[str, Any] | None) -> str:
    """Return whether the model beats a constant prediction, and on which rows."""
    if metrics is None:
        return ""
    name = "verdict warning" if metrics["headline"]["is_warning"] else "verdict"
    return (
        f'<p class="{name}">{escape_text(metrics["headline"]["text"])}</p>\n'
        f'<h3 id="metrics-title">{escape_text(metrics["title"])}</h3>'
    )


def _pack_summary(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return a summary with encoded arrays."""
    document, interactions = summary["document"], summary.get("interactions", [])
    packed = {
        **summary,
        "document": pack(document, interactions),
        "features": pack_features(summary["features"]),
    }
    if interactions:  # the cells are those of the axes of surfaces
        packed["interactions"] = [_without(term, "cells") for term in interactions]
    if summary.get("bands"):
        packed["bands"] = pack_bands(summary["bands"], document, interactions)
    return packed


def _json(data: Mapping[str, Any]) -> str:
    """Return data as JSON that cannot end the script element that contains it."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def _without(record: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name != key}
