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

EXAMPLES = """\b
Examples:
  everystump explain credit.stump                       # importances
  everystump explain credit.stump new.csv --row 0       # one row
  everystump explain credit.stump new.csv -o parts.csv  # all rows
"""


@click.command(epilog=EXAMPLES, short_help="Show importances, or explain the prediction for a row.")
@MODEL
@OPTIONAL_DATA
@click.option("--row", type=click.IntRange(min=0), help="Row of DATA to explain, counting from 0.")
@out_option("CSV file to write with the contributions for all rows of DATA.", required=False)
@file_options
def explain(
    model: Path,
    data: Path | None,
    row: int | None,
    out: Path | None,
    dialect: Dialect,
    force: bool,
    as_json: bool,
) -> None:
    """Show feature importances or, with DATA, explain the predictions for rows."""
    with exit_on_input_error():
        from everystump._text import InvalidInputError
        from everystump._workflow.matching import match_features, read_table
        from everystump._workflow.outputs import outputs_of
        from everystump._workflow.predictions import importances, row_prediction

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
            frame, notes = read_table(data, dialect, fitted)
            X = match_features(fitted, frame)
            found = _contributions(fitted, X, row or 0, out)
            if out is None:
                record = row_prediction(fitted, X, row or 0)
                sentences = map(wrap, outputs.row_sentences(record))
                title = "\n".join([f"Row {row or 0} of {data} (counting from 0).", *sentences])
    print_notes(*notes)
    if out is not None:
        text = f"Wrote {len(found):,} rows to {out}"
        print_result({"out": str(out), "rows": len(found)}, text, as_json)
    else:
        record |= {"rows": found.to_dict("records")}
        print_result(record, f"{title}\n\n{_contribution_table(found, outputs.total)}", as_json)


def _contributions(model: Any, X: Any, row: int, out: Path | None) -> Any:
    """Return the contributions to the score of a row, or write those of all rows."""
    from everystump._files import write_text
    from everystump._workflow.predictions import contributions, row_contributions

    if out is None:
        return row_contributions(model, X, row)
    parts = contributions(model, X)
    write_text(out, parts.to_csv(index=False))
    return parts


def _contribution_table(found: Any, total: str) -> str:
    """Return importances or contributions, and their ``total``, as a table with bars."""
    from everystump._workflow.outputs import INTERCEPT

    frame = found.drop(columns=["lowest", "highest", "share_missing"], errors="ignore")
    is_sum = frame["feature"].isin([INTERCEPT, total])
    is_row = "value" in frame
    if is_row:
        frame["value"] = [_as_text(x) for x in frame["value"].tolist()]
        frame.loc[is_sum, "value"] = ""
        frame["feature"] = frame["feature"].replace({INTERCEPT: "(intercept, baseline)"})
    sizes = next((frame[name] for name in ("importance", "contribution") if name in frame), None)
    bars = None if sizes is None else sizes.where(~is_sum, 0.0).tolist()
    signed = frame.columns[2:].tolist() if is_row else []
    for name in signed:
        frame[name] = [f"{x:+.3f}" for x in frame[name]]
    return table(
        [str(name) for name in frame.columns],
        frame.astype(object).to_numpy().tolist(),
        bars,
        right=range(2, 2 + len(signed)),
        colors=("blue", "dark_orange3") if is_row else ("", ""),
    )


def _as_text(value: Any) -> str:
    if isinstance(value, list):  # of an interaction
        return ", ".join(map(_as_text, value))
    if is_missing(value):
        return "missing"
    return f"{value:g}" if isinstance(value, float) else str(value)
