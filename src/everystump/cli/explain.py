"""``everystump explain``: which features matter, and why a row got its score."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from everystump._text import format_percent
from everystump._workflow.dialect import Dialect
from everystump.cli.common import (
    AS_JSON,
    FORCE,
    MODEL,
    check_curves,
    check_out,
    load_model,
    out_option,
    read_data,
    text_options,
)
from everystump.cli.console import exit_on_input_error, say, table, wrapped
from everystump.cli.progress import print_notes

_IMPORTANCE = "How much each feature moves the score: standard deviation of what it adds"
EXAMPLES = """\b
Examples:
  everystump explain credit.stump                       # by importance
  everystump explain credit.stump new.csv --row 0       # why this score
  everystump explain credit.stump new.csv -o parts.csv  # of all rows
"""


@click.command(epilog=EXAMPLES, short_help="Show what matters, or why a row got its score.")
@MODEL
@click.argument("data", metavar="[DATA]", required=False, type=click.Path(path_type=Path))
@click.option("--row", type=click.IntRange(min=0), help="Explain this row of DATA, from 0 on.")
@out_option("A CSV of what each feature adds to each row of DATA.", required=False)
@text_options
@FORCE
@AS_JSON
def explain(
    model: Path,
    data: Path | None,
    row: int | None,
    out: Path | None,
    dialect: Dialect,
    force: bool,
    as_json: bool,
) -> None:
    """Show the features by importance, or what each adds to the score of rows."""
    with exit_on_input_error():
        from everystump._workflow import InvalidInputError
        from everystump._workflow.matching import match_features
        from everystump._workflow.predictions import importances, row_prediction

        if out is not None:
            check_out(out, force, model, data)
        if data is None and (row is not None or out is not None):
            raise InvalidInputError("--row and --out explain rows of DATA; name the file.")
        if row is not None and out is not None:
            raise InvalidInputError(
                "--row explains one row and --out all of them; pass one of the two."
            )
        fitted = load_model(model)
        check_curves(fitted)
        notes, record, title = list[str](), dict[str, Any](), ""
        if data is None:
            found, rows = importances(fitted)
            record = {"measured_on": rows}
            title = wrapped(f"{_IMPORTANCE} over {rows}.")
        else:
            frame, notes = read_data(data, dialect, fitted)
            X = match_features(fitted, frame)
            found = _of_rows(fitted, X, row or 0, out)
            if out is None:
                record = row_prediction(fitted, X, row or 0)
                title = f"Row {row or 0} of {data} (0 is the first).\n{_outcome(fitted, record)}"
    print_notes(notes)
    if out is not None:
        text = f"{len(found):,} rows: {out}"
        say({"out": str(out), "rows": len(found)}, text, as_json)
    else:
        say(record | {"rows": found.to_dict("records")}, f"{title}\n\n{_shown(found)}", as_json)


def _of_rows(model: Any, X: Any, row: int, out: Path | None) -> Any:
    """Return what each feature adds to a row, or write that of all rows."""
    from everystump._files import write_text
    from everystump._workflow.predictions import explanation, row_contributions

    if out is None:
        return row_contributions(model, X, row)
    parts = explanation(model, X)
    write_text(out, parts.to_csv(index=False))
    return parts


def _outcome(model: Any, record: dict[str, Any]) -> str:
    """Return the predicted class of a row, its probability and what the signs mean."""
    label, classes = record["prediction"], model.classes_.tolist()
    probabilities = record.get("probability")
    sure = f", probability {format_percent(probabilities[label])}" if probabilities else ""
    if len(classes) > 2:
        return f"Predicted: “{label}”{sure}, as the class with the largest score."
    signs = f"above zero (blue) favor “{classes[1]}”, those below (orange) “{classes[0]}”."
    score = f"score {record['score']:+.3f}"
    return f"Predicted: “{label}”{sure}; {score}.\n{wrapped(f'Numbers {signs}')}"


def _shown(found: Any) -> str:
    """Return the columns that a person reads, with bars of how much a feature counts."""
    from everystump._workflow.predictions import NOT_FEATURES

    read = found.drop(columns=["lowest", "highest", "share_missing"], errors="ignore")
    is_sum = read["feature"].isin(NOT_FEATURES)
    is_row = "value" in read
    if is_row:
        read["value"] = [_as_text(x) for x in read["value"].tolist()]
        read.loc[is_sum, "value"] = ""
        read["feature"] = read["feature"].replace({NOT_FEATURES[0]: "(intercept, baseline)"})
    sizes = next((read[name] for name in ("importance", "contribution") if name in read), None)
    bars = None if sizes is None else sizes.where(~is_sum, 0.0).tolist()
    adds = read.columns[2:].tolist() if is_row else []
    for name in adds:
        read[name] = [f"{x:+.3f}" for x in read[name]]
    rows = read.astype(object).to_numpy().tolist()
    return table(
        [str(name) for name in read.columns],
        rows,
        bars,
        right=range(2, 2 + len(adds)),
        colors=("blue", "dark_orange3") if is_row else ("", ""),
    )


def _as_text(value: Any) -> str:
    if value is None or value != value:
        return "missing"
    return f"{value:g}" if isinstance(value, float) else str(value)
