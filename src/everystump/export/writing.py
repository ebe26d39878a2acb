"""Write exports to files, atomically."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from everystump._files import check_output_path, check_path, write_atomic
from everystump.export._reader import read_model
from everystump.export.document import to_json
from everystump.export.onnx import to_onnx
from everystump.export.sql import to_sql

_WRITERS: dict[str, Callable[..., str | bytes]] = {
    "json": to_json,
    "onnx": to_onnx,
    "sql": to_sql,
}


def write(
    model: Any,
    path: str | os.PathLike[str],
    to: str | None = None,
    *,
    table: str | Sequence[str] | None = None,
    keep: Sequence[str] | None = None,
    probability: bool = False,
) -> None:
    """Write a fitted model to a file; if it cannot be exported, nothing is written.

    Parameters
    ----------
    model : estimator or Pipeline
        A fitted estimator of this package, or a pipeline of scalers, imputers and column selections
        that ends in an additive one.
    path : str or Path
        The file, which is replaced if it exists; symbolic links are followed.
    to : {"json", "onnx", "sql"}, optional
        The format; by default that of the file's suffix.
    table, keep
        For SQL, the name of the table and the columns to pass through, as in `to_sql`.
    probability : bool, default=False
        Whether the output must include probabilities.  In SQL, they are added; JSON and ONNX
        always have them if the model predicts any, and otherwise this is an error.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from everystump import DecisionStumpClassifier
    >>> stump = DecisionStumpClassifier().fit([[0], [1], [4], [5]], [0, 0, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(stump, Path(folder) / "stump.json")
    ...     print([file.name for file in Path(folder).iterdir()])
    ['stump.json']
    """
    out = check_path(path)
    file_format = out.suffix.lower().removeprefix(".") if to is None else to
    if not isinstance(file_format, str) or file_format not in _WRITERS:
        argument = f"path={str(path)!r}" if to is None else f"to={to!r}"
        raise ValueError(
            f"{argument} does not name an export format; end the path in .json, .onnx or .sql, or "
            f"pass to='json', to='onnx' or to='sql'."
        )
    check_output_path(path)
    if file_format == "sql":
        content: str | bytes = to_sql(model, table or "data", keep=keep, probability=probability)
    else:
        _check_options(model, file_format, table, keep, probability)
        content = _WRITERS[file_format](model)
    data = content.encode() if isinstance(content, str) else content
    write_atomic(out, lambda file: file.write_bytes(data))


def _check_options(model: Any, to: str, table: Any, keep: Any, probability: bool) -> None:
    """Raise if an option does not apply to a format without tables."""
    for name, value in (("table", table), ("keep", keep)):
        if value is not None:
            raise ValueError(f"{name}={value!r} is for SQL, not for {to}; pass None, or to='sql'.")
    if probability:
        read_model(model).check_probability()
