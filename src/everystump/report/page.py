"""The page: one HTML file that needs nothing else, and works offline."""

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
from everystump.report.coding import pack
from everystump.report.summary import summarize

_SCRIPTS = ("scorer.js", "charts.js", "finder.js", "inputs.js", "whatif.js", "curves.js", "page.js")
_PLACE = re.compile(r"\{\{(\w+)\}\}")


def write_report(
    model: Any,
    path: str | os.PathLike[str],
    X: Any = None,
    y: Any = None,
    *,
    about: Mapping[str, Any] | None = None,
) -> None:
    """Write the page of a model, whole or not at all.

    Parameters
    ----------
    model : estimator or Pipeline
        Fitted, with curves (``shapes_``); of a pipeline that scales, fills or selects columns, its
        last step.
    path : str or Path
        The HTML file, which is replaced if it is there.
    X, y : array-like, optional
        Rows that it was not trained on, and their classes.  If they are training rows, the page
        says so and shows no intervals; if some are, or nobody knows, it warns.
    about : dict, optional
        What else is known; see `summarize`.

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

    All text of the data is escaped, and the page's security policy lets no script run but its own.

    Parameters
    ----------
    summary : dict
        What `summarize` returned.

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
    style = _file("page.css")
    script = "\n".join(_file(name) for name in _SCRIPTS)
    filling = {
        "title": _escaped(summary["title"]),
        "style": style,
        "style_hash": _hash(style),
        "script": script,
        "script_hash": _hash(script),
        "edits": _edits(summary["edits"]),
        "words": "\n".join(f"<p>{_escaped(text)}</p>" for text in summary["words"]["trained"]),
        "data": _as_data(summary),
    }
    return _PLACE.sub(lambda place: filling[place[1]], _file("template.html"))


@cache
def _file(name: str) -> str:
    """Return a file of this package."""
    return files("everystump.report").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """Return what a security policy knows a text by."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _escaped(text: str) -> str:
    """Return a text for HTML; halves of characters, which no file can hold, as question marks."""
    return escape(text.encode("utf-8", "replace").decode())


def _edits(edits: list[str]) -> str:
    if not edits:
        return ""
    each = "".join(f"<li>{_escaped(edit)}</li>" for edit in edits)
    return (
        '<aside class="edited" role="note"><strong>This model was edited by hand after training.'
        f"</strong> Its curves and scores are those after the edits; what is stated below of its "
        f"training, error, certificate and bounds was found before them.<ul>{each}</ul></aside>"
    )


def _as_data(summary: Mapping[str, Any]) -> str:
    """Return a summary as JSON in which nothing can end the script element that holds it."""
    packed = {**summary, "document": pack(summary["document"])}
    text = json.dumps(packed, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")
