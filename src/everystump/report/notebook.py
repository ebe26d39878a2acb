"""The report page inside a notebook."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from everystump._text import displayable
from everystump.report.page import render
from everystump.report.summary import summarize

# The page runs its own script and saves files; it cannot reach the notebook, or the network.
_SANDBOX = "allow-scripts allow-downloads"


class InlinePage:
    """A page that a notebook shows in a frame of its own, as `show` returns it.

    Attributes
    ----------
    html : str
        The page, which is complete: written to a file, it opens in a browser.
    height : int
        The height of the frame in pixels.
    """

    def __init__(self, html: str, title: str, height: int) -> None:
        self.html = html
        self.title = title
        self.height = height

    def _repr_html_(self) -> str:
        return (
            f'<iframe title="{escape(self.title)}" sandbox="{_SANDBOX}" style="width:100%;height:'
            f'{self.height}px;border:1px solid #8886;border-radius:6px" '
            f'srcdoc="{escape(self.html)}"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<{self.title}: a page for a notebook; write_report(model, path) writes a file>"


def show(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    about: Mapping[str, Any] | None = None,
    height: int = 800,
) -> InlinePage:
    """Show the report page of a model in a notebook.

    The page is displayed if this is the last expression of a cell; elsewhere, pass the result to
    ``display`` of IPython.

    Parameters
    ----------
    model : estimator or Pipeline
        Fitted, with curves (``shapes_``), or a pipeline of scalers, imputers and column selections
        that ends in such an estimator.
    X, y : array-like, optional
        Rows that it was not trained on, and their classes or targets.
    about : dict, optional
        Further information; see `everystump.report.summarize`.
    height : int, default=800
        The height of the frame in pixels.

    Returns
    -------
    InlinePage
        An object that Jupyter displays; IPython is not required.

    Examples
    --------
    >>> import everystump
    >>> stump = everystump.DecisionStumpClassifier().fit([[0], [1], [4], [5]], [0, 0, 1, 1])
    >>> everystump.show(stump)
    <Model report: DecisionStumpClassifier: a page for a notebook; write_report(model, path) ...>
    >>> everystump.show(stump)._repr_html_()[:46]
    '<iframe title="Model report: DecisionStumpClas'
    """
    if not isinstance(height, int) or isinstance(height, bool) or height < 1:
        raise ValueError(f"height={height!r} must be a positive number of pixels, such as 800.")
    summary = summarize(model, X, y, about=about)
    return InlinePage(render(summary), displayable(summary["title"]), height)
