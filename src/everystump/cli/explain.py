"""``everystump explain``: which features matter, and why a row got its score."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from everystump.cli.common import (
    AS_JSON,
    DELIMITER,
    ENCODING,
    FORCE,
    MODEL,
    check_out,
    features_of,
    load_model,
    out_option,
    read_data,
    refusing,
    say,
)

EXAMPLES = """\b
Examples:
  everystump explain credit.stump                        # the features by importance
  everystump explain credit.stump new.csv --row 0        # why the first row got its score
  everystump explain credit.stump new.csv -o parts.csv   # what each feature adds to each row
"""


@click.command(epilog=EXAMPLES)
@MODEL
@click.argument("data", metavar="[DATA]", required=False, type=click.Path(path_type=Path))
@click.option("--row", type=click.IntRange(min=0), help="Explain this row of DATA, from 0 on.")
@out_option("A CSV of what each feature adds to each row of DATA.", required=False)
@DELIMITER
@ENCODING
@FORCE
@AS_JSON
def explain(
    model: Path,
    data: Path | None,
    row: int | None,
    out: Path | None,
    delimiter: str | None,
    encoding: str,
    force: bool,
    as_json: bool,
) -> None:
    """Show the features by importance, or what each adds to the score of rows."""
    with refusing():
        if out is not None:
            check_out(out, force, model, data)
        from everystump.files import write_text
        from everystump.study import RefusedError
        from everystump.study.saying import positive_of

        fitted = load_model(model)
        if not hasattr(fitted, "explain_global"):
            raise RefusedError(
                f"{type(fitted).__name__} has no curves to explain; fit with another --model."
            )
        if data is None:
            if row is not None or out is not None:
                raise RefusedError("--row and --out explain rows of DATA; name the file.")
            table: Any = fitted.explain_global()
        else:
            rows = features_of(fitted, read_data(data, delimiter, encoding))
            table = fitted.explain_local(rows)
            if fitted.classes_.tolist()[0] == positive_of(fitted) and len(fitted.classes_) == 2:
                table = -table
            if out is not None:
                write_text(out, table.to_csv(index=False))
                click.echo(f"{len(table):,} rows: {out}", err=True)
                return
            if row is not None and row >= len(table):
                raise RefusedError(f"--row {row}: the data have {len(table)} rows, 0 the first.")
            table = _one_row(table.iloc[row or 0], rows.iloc[row or 0])
        records = table.to_dict("records")
    say({"rows": records}, [table.to_string(index=False)], as_json)


def _one_row(parts: Any, values: Any) -> Any:
    """Return a row's contributions, the largest first, with its values."""
    import pandas as pd

    order = parts.drop(["intercept", "score"], errors="ignore").abs().sort_values(ascending=False)
    names = [*order.index, *[name for name in ("intercept", "score") if name in parts.index]]
    return pd.DataFrame(
        {
            "feature": [str(name) for name in names],
            "value": [values.get(name, "") for name in names],
            "contribution": [float(parts[name]) for name in names],
        }
    )
