"""Figures of merit in a terminal: each beside a baseline, with its interval."""

from __future__ import annotations

from typing import Any

from everystump.cli.speech import table, wrapped


def figures_text(found: dict[str, Any]) -> str:
    """Return the figures that `everystump.evaluation.evaluate` found, as a table for people."""
    from everystump.evaluation import figure_rows, verdict

    always = f"always “{found['baseline']['answer']}”"
    shown = figure_rows(found)
    titles = {"name": "", "value": "model", "interval": "95% interval", "baseline": always}
    if not any(one["interval"] for one in shown):
        del titles["interval"]
    rows = [[one[key] for key in titles] for one in shown]
    text = table(list(titles.values()), rows, right=range(1, len(titles)))
    said = verdict(found)
    return f"{text}\n\n{wrapped(said)}" if said else text
