"""Figures of merit in a terminal: each beside a baseline, with its interval."""

from __future__ import annotations

from typing import Any

from everystump.cli.speech import table
from everystump.evaluation import figure_rows, verdict


def figures_text(found: dict[str, Any]) -> str:
    """Return the figures that `everystump.evaluation.evaluate` found, as a table for people."""
    always = f"always “{found['baseline']['answer']}”"
    shown = figure_rows(found)
    rows = [[one["name"], one["value"], one["interval"], one["baseline"]] for one in shown]
    text = table(["", "model", "95% interval", always], rows, right=(1, 2, 3))
    return "\n".join(filter(None, [text, verdict(found)]))
