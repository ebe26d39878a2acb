"""``everystump explain``: feature importances, or contributions to the prediction for a row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from everystump._values import is_missing
from everystump._workflow.options import Dialect
from everystump.cli.common import (
    MODEL,
    OPTIONAL_DATA,
    check_out,
    file_options,
    load_curves,
    out_option,
)
from everystump.cli.console import exit_on_input_error, print_notes, print_result, table, wrap
from everystump.cli.help import CSV_FORMAT, OTHER, GroupedCommand

_SMALL, _LARGE = 0.01, 1000.0
EXAMPLES = """\b
Examples:
  everystump explain credit.stump                       # importances
  everystump explain credit.stump new.csv --row 0       # one row
  everystump explain credit.stump new.csv -o parts.csv  # all rows
"""
HEADINGS = {"Output": ("row", "top", "out"), **CSV_FORMAT, **OTHER}


@click.command(
    cls=GroupedCommand,
    headings=HEADINGS,
    epilog=EXAMPLES,
    short_help="Show importances, or explain the prediction for a row.",
)
@MODEL
@OPTIONAL_DATA
@click.option("--row", type=click.IntRange(min=0), help="Row of DATA to explain, counting from 0.")
@click.option(
    "--top",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="Number of terms to print, the largest first; CSV and JSON have all.",
)
@out_option("CSV file to write with the contributions for all rows of DATA.", required=False)
@file_options
def explain(
    model: Path,
    data: Path | None,
    row: int | None,
    top: int,
    out: Path | None,
    dialect: Dialect,
    force: bool,
    as_json: bool,
) -> None:
    """Show feature importances or, with DATA, explain the predictions for rows."""
    with exit_on_input_error():
        from everystump._text import InvalidInputError
        from everystump._workflow.matching import match_files
        from everystump._workflow.outputs import outputs_of
        from everystump._workflow.predictions import (
            contributions,
            find_row,
            importances,
            row_contributions,
            row_prediction,
            write_tables,
        )

        check_out(out, force, model, data)
        if data is None and (row is not None or out is not None):
            raise InvalidInputError("--row and --out explain rows of DATA; pass the file.")
        if row is not None and out is not None:
            raise InvalidInputError("--row explains one row and --out all rows; pass one of them.")
        fitted = load_curves(model)
        outputs = outputs_of(fitted)
        notes, record, title = list[str](), dict[str, Any](), ""
        if data is None:
            found, rows = importances(fitted)
            record = {"measured_on": rows}
            size = f"standard deviation of the contribution to {outputs.summed}"
            title = wrap(f"Importance: {size} over {rows}.")
        else:
            chunks = match_files(fitted, data, dialect, notes)
            if out is not None:
                n_rows = write_tables((contributions(fitted, X) for X in chunks), out)
            else:
                sample = find_row(chunks, row or 0)
                found, record = row_contributions(fitted, sample), row_prediction(fitted, sample)
                sentences = map(wrap, outputs.row_sentences(record))
                title = "\n".join([f"Row {row or 0} of {data} (counting from 0).", *sentences])
    print_notes(*notes)
    if out is not None:
        text = f"Wrote {n_rows:,} rows to {out}"
        print_result({"out": str(out), "rows": n_rows}, text, as_json)
    else:
        record |= {"rows": found.to_dict("records")}
        text = f"{title}\n\n{_contribution_table(found, outputs.total, top)}"
        print_result(record, text, as_json)


def _contribution_table(found: Any, total: str, top: int) -> str:
    """Return the largest importances or contributions as a table with bars, and their ``total``."""
    from everystump._workflow.outputs import INTERCEPT

    frame = found.drop(columns=["lowest", "highest", "share_missing"], errors="ignore")
    is_row = "value" in frame
    frame, n_others = _largest(frame, frame["feature"].isin([INTERCEPT, total]), top)
    is_sum = frame["feature"].isin([INTERCEPT, total])
    if is_row:
        frame["value"] = [_as_text(x) for x in frame["value"].tolist()]
        frame.loc[is_sum, "value"] = ""
        frame["feature"] = frame["feature"].replace({INTERCEPT: "(intercept, baseline)"})
    sizes = next((frame[name] for name in ("importance", "contribution") if name in frame), None)
    bars = None if sizes is None else sizes.where(~is_sum, 0.0).tolist()
    signed = frame.columns[2:].tolist() if is_row else []
    for name in signed:
        frame[name] = _numbers(frame[name].tolist(), "+")
    if "importance" in frame:
        frame["importance"] = _numbers(frame["importance"].tolist())
        signed = ["importance"]
    text = table(
        [str(name) for name in frame.columns],
        frame.astype(object).to_numpy().tolist(),
        bars,
        right=[frame.columns.get_loc(name) for name in signed],
        colors=("blue", "dark_orange3") if is_row else ("", ""),
    )
    return (
        f"{text}\n\n{n_others} smaller terms: --top {top + n_others} shows them."
        if n_others
        else text
    )


def _largest(frame: Any, is_sum: Any, top: int) -> tuple[Any, int]:
    """Return the first ``top`` terms, the sum of the others' contributions and the other rows.

    A single other term is not worth summarizing.  Return also how many others there are.  With
    several classes, a term has an importance for each.
    """
    import pandas as pd

    terms = frame["feature"][~is_sum].unique()
    n_others = len(terms) - top
    if n_others < 2:
        return frame, 0
    is_other = frame["feature"].isin(terms[top:])
    parts = [frame[~is_sum & ~is_other], frame[is_sum]]
    if "value" in frame:
        sums = frame[is_other].drop(columns=["feature", "value"]).sum()
        others = {"feature": f"({n_others} other terms)", "value": ""} | sums.to_dict()
        parts.insert(1, pd.DataFrame([others]))
    return pd.concat(parts, ignore_index=True), n_others


def _numbers(values: list[float], sign: str = "") -> list[str]:
    """Return numbers with three decimal places, or as many as suit large and small ones."""
    from everystump._text import format_quantities

    if _SMALL <= max(map(abs, values), default=1.0) < _LARGE:
        return [f"{value:{sign}.3f}" for value in values]
    texts = zip(format_quantities(*values), values, strict=True)
    return [sign + text if value >= 0 else text for text, value in texts]


def _as_text(value: Any) -> str:
    if isinstance(value, list):  # of an interaction
        return ", ".join(map(_as_text, value))
    if is_missing(value):
        return "missing"
    return f"{value:g}" if isinstance(value, float) else str(value)
