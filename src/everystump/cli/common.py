"""What the commands share: how they read, write, fail and speak."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

MODEL = click.argument("model", metavar="MODEL", type=click.Path(path_type=Path))
DATA = click.argument("data", metavar="DATA", type=click.Path(path_type=Path))
DELIMITER = click.option("--delimiter", help="What separates cells.  [default: found in the file]")
ENCODING = click.option(
    "--encoding", default="utf-8", show_default=True, help="How the text of a CSV is encoded."
)
FORCE = click.option("--force", is_flag=True, help="Replace the output file if it is there.")
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON, for machines.")


def out_option(help: str, *, required: bool = True) -> Callable:
    """Return the option that names the output file."""
    kind = click.Path(path_type=Path)
    return click.option("-o", "--out", type=kind, required=required, metavar="OUT", help=help)


@contextmanager
def refusing() -> Iterator[None]:
    """Turn what a user can mend into one sentence and the exit code of bad input."""
    from everystump.modelfile import ModelFileError
    from everystump.study import RefusedError

    try:
        yield
    except (RefusedError, ModelFileError, FileExistsError, IsADirectoryError) as error:
        raise click.ClickException(str(error)) from None
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        what = str(error.strerror or error).rstrip(".")
        raise click.ClickException(f"{where}{what}.") from None
    except (ValueError, TypeError) as error:
        raise click.ClickException(" ".join(str(error).split())) from None


def check_out(out: Path, force: bool, *inputs: Path | None) -> None:
    """Raise before any work if the output cannot be written, or is one of the inputs."""
    from everystump.files import check_place
    from everystump.study import RefusedError

    if out.exists() and any(one and one.exists() and out.samefile(one) for one in inputs):
        raise RefusedError(f"{out} is an input as well; name another file to write.")
    if out.exists() and not force and not out.is_dir():
        raise RefusedError(f"{out} is there already; pass --force to replace it.")
    check_place(out)


def load_model(path: Path) -> Any:
    """Return the model in a file."""
    from everystump.modelfile import load

    return load(path)


def read_data(path: Path, delimiter: str | None, encoding: str) -> Any:
    """Return a table as a pandas frame."""
    from everystump.study.sources import read_file

    return read_file(path, delimiter=delimiter, encoding=encoding)


def features_of(model: Any, frame: Any) -> Any:
    """Return the columns that a model looks at."""
    from everystump.study import RefusedError

    names = [str(name) for name in model.feature_names_in_]
    absent = [name for name in names if name not in frame.columns]
    if absent:
        more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
        raise RefusedError(f"The data lack the column {absent[0]!r}{more}, which the model needs.")
    text = [feature.levels is not None and feature.kind == "text" for feature in model.features_]
    drifted = [name for name, is_text in zip(names, text, strict=True) if is_text]
    return frame[names].assign(**{name: as_text(frame[name]) for name in drifted})


def labels_of(model: Any, frame: Any) -> Any:
    """Return the labels of a table as the model has them, None if it has no such column."""
    about = getattr(model, "about_", {})
    target = about.get("target")
    if target not in frame.columns:
        return None
    column = frame[target]
    kind = model.classes_.dtype.kind
    return as_text(column).to_numpy(dtype=object) if kind in "OU" else column.to_numpy()


def as_text(column: Any) -> Any:
    """Return a column that was text in training as text: another file may have numbers only."""
    if column.dtype.kind not in "iufb":
        return column
    from everystump.study.labels import labels_as_text

    out = column.astype(object)
    there = column.notna().to_numpy()
    out[there] = labels_as_text(column[there].to_numpy())
    return out.where(there, None)


def say(record: dict[str, Any], lines: list[str], as_json: bool) -> None:
    """Print what a command found, for machines or for people."""
    if not as_json:
        click.echo("\n".join(lines))
        return
    from everystump.report.plain import as_plain

    click.echo(json.dumps(as_plain(record), allow_nan=False))


def percent(share: float) -> str:
    """Return a share in percent."""
    return f"{100 * share:.1f} %"
