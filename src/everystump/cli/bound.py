"""``everystump bound``: what theory says of a model's error."""

from __future__ import annotations

from pathlib import Path

import click

from everystump.cli.common import (
    AS_JSON,
    DATA,
    DELIMITER,
    ENCODING,
    MODEL,
    features_of,
    labels_of,
    load_model,
    percent,
    read_data,
    refusing,
    say,
)

EXAMPLES = """\b
Examples:
  everystump bound credit.stump fresh.csv   # labelled rows that had no part in training
"""


@click.command(epilog=EXAMPLES)
@MODEL
@DATA
@DELIMITER
@ENCODING
@AS_JSON
def bound(model: Path, data: Path, delimiter: str | None, encoding: str, as_json: bool) -> None:
    """Bound the error of a model by labelled rows that had no part in its training.

    Of the table that it was made from, those that were held out are taken.
    """
    with refusing():
        from everystump.study import RefusedError
        from everystump.study.fitting import bounds_on
        from everystump.study.saying import error_of, held_out_of

        fitted = load_model(model)
        frame = read_data(data, delimiter, encoding)
        frame, fresh = held_out_of(fitted, frame, features_of(fitted, frame))
        X, y = features_of(fitted, frame), labels_of(fitted, frame)
        if y is None:
            target = getattr(fitted, "about_", {}).get("target")
            raise RefusedError(f"The data lack the labels, column {target!r}; a bound needs them.")
        error = error_of(fitted, X, y)
        found = bounds_on(fitted, X, y, fresh=fresh)
    kind = "rows" if fresh else "rows, from which the model learned"
    lines = [f"Error on these {len(y):,} {kind}: {percent(error)}."]
    for one in found:
        state = "holds" if one["holds"] else "does not hold here, an estimate at most"
        value = "says nothing (1 or more)" if one["vacuous"] else percent(one["value"])
        lines.append(f"{one['name']}: {value}; {state}. {one['reference']}")
        lines += [f"    assumes {text}" for text in one["assumptions"]]
    say({"error": error, "bounds": found}, lines, as_json)
