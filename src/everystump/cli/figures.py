"""Figures of merit in a terminal: each beside a baseline, with its interval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from everystump.cli.console import table, wrapped

_LONGEST = 13  # letters of a label, so that a line of the table fits 80 columns


def metrics_text(found: Mapping[str, Any]) -> str:
    """Return the figures that `everystump._evaluation.evaluate` found, as a table for people."""
    from everystump._evaluation import interval_title, metric_rows, verdict

    always = f"always “{_short(found['baseline']['answer'])}”"
    positive = found["positive"]
    shown = metric_rows({**found, "positive": None if positive is None else _short(positive)})
    titles = {"name": "", "value": "model", "interval": interval_title(found), "baseline": always}
    if not any(one["interval"] for one in shown):
        del titles["interval"]
    rows = [[one[key] for key in titles] for one in shown]
    text = table(list(titles.values()), rows, right=range(1, len(titles)))
    warning = verdict(found)
    return f"{text}\n\n{wrapped(warning)}" if warning else text


def _short(label: Any) -> str:
    text = str(label)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
