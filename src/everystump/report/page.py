"""The report page: one HTML file that contains everything and works offline."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from collections.abc import Mapping
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from everystump._files import check_output_path, write_text
from everystump.report._encoding import pack
from everystump.report.summary import summarize

_SCRIPTS = (
    "scorer.js",
    "charts.js",
    "finder.js",
    "inputs.js",
    "numbers.js",
    "whatif.js",
    "surfaces.js",
    "curves.js",
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
    style = _read("page.css")
    script = "\n".join(_read(name) for name in _SCRIPTS)
    sentences = summary["text"]["description"]
    values = {
        "title": _escape(summary["title"]),
        "style": style,
        "style_hash": _hash(style),
        "script": script,
        "script_hash": _hash(script),
        "edits": _edits(summary["edits"]),
        "description": "\n".join(f"<p>{_escape(text)}</p>" for text in sentences),
        "data": _json(summary),
    }
    return _PLACEHOLDER.sub(lambda match: values[match[1]], _read("template.html"))


@cache
def _read(name: str) -> str:
    """Return the text of a file of this package."""
    return files("everystump.report").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """Return the hash of an inline script or style for the security policy."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _escape(text: str) -> str:
    """Return text for HTML; lone surrogates, which UTF-8 cannot encode, become question marks."""
    return escape(text.encode("utf-8", "replace").decode())


def _edits(edits: list[str]) -> str:
    if not edits:
        return ""
    items = "".join(f"<li>{_escape(edit)}</li>" for edit in edits)
    return (
        '<aside class="edited" role="note"><strong>This model was edited by hand after training.'
        f"</strong> Its curves and scores are those after the edits; its error, certificate and "
        f"bounds were determined before them.<ul>{items}</ul></aside>"
    )


def _json(summary: Mapping[str, Any]) -> str:
    """Return a summary as JSON that cannot end the script element that contains it."""
    packed = {**summary, "document": pack(summary["document"])}
    text = json.dumps(packed, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")
