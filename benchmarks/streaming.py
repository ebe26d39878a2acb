"""Ten million rows in files: `FileChunks`, and the command line, with their peak memory.

Run as a module with a task, a file and a number of rows, this file is the process that is measured.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from benchmarks.memory import N_FEATURES, peak_bytes, run_in_process
from benchmarks.report import Row
from benchmarks.settings import N_JOBS, Settings, log
from benchmarks.targets import AtMost, Limit
from everystump.datasets import flip_labels, make_twonorm

_BLOCK = 100_000
_GB = 1e9


def parquet(settings: Settings) -> Iterator[Row]:
    """`fit_chunks` of Parquet, 10,000,000 x 20 against a tenth of the rows, and LightGBM."""
    n_rows = settings.rows(10_000_000)
    with tempfile.TemporaryDirectory() as folder:
        many, few = Path(folder) / "many.parquet", Path(folder) / "few.parquet"
        write_table(many, n_rows)
        write_table(few, n_rows // 10)
        log(f"  fit_chunks of {n_rows:,} x {N_FEATURES} ...")
        ours, small, peer = (
            run_in_process("benchmarks.streaming", task, path)
            for task, path in (("chunks", many), ("chunks", few), ("lightgbm", many))
        )
    name = f"fit_chunks, Parquet {n_rows:,}"
    yield Row(name, ours["seconds"], small["seconds"], f"itself, {n_rows // 10:,}", AtMost(12))
    yield Row(name, ours["seconds"], peer["seconds"], "LightGBM, Sequence", AtMost(1))
    memory = (ours["peak"] / _GB, peer["peak"] / _GB)
    yield Row(f"{name}, memory", *memory, "LightGBM, Sequence", Limit(1.5, "GB"), unit="GB")


def csv(settings: Settings) -> Iterator[Row]:
    """The command `fit` on a CSV of 10,000,000 x 20 against pyarrow reading it, and LightGBM."""
    n_rows = settings.rows(10_000_000)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "many.csv"
        write_table(path, n_rows)
        log(f"  everystump fit of a CSV of {path.stat().st_size / _GB:.2g} GB ...")
        ours, reading, peer = (
            run_in_process("benchmarks.streaming", task, path)
            for task in ("tool", "read", "two-round")
        )
    name = f"everystump fit, CSV {n_rows:,}"
    yield Row(name, ours["seconds"], reading["seconds"], "pyarrow.csv.read_csv", AtMost(2.5))
    yield Row(name, ours["seconds"], peer["seconds"], "LightGBM, two_round", AtMost(1))
    memory = (ours["peak"] / _GB, peer["peak"] / _GB)
    yield Row(f"{name}, memory", *memory, "LightGBM, two_round", Limit(2.0, "GB"), unit="GB")


def write_table(path: Path, n_rows: int) -> None:
    """Write two-norm data with flipped labels, block by block."""
    schema = pa.schema([*((f"x{d}", pa.float64()) for d in range(N_FEATURES)), ("y", pa.int64())])
    with _open_table(path, schema) as file:
        for seed, start in enumerate(range(0, n_rows, _BLOCK)):
            size = min(_BLOCK, n_rows - start)
            X, y = make_twonorm(size, N_FEATURES, random_state=seed)
            y = flip_labels(y, 0.1, random_state=seed).astype(np.int64)
            file.write_table(pa.table([*X.T, y], schema=schema))


def _open_table(path: Path, schema: pa.Schema) -> Any:
    """Return a writer; the header of a CSV has no quotes, which LightGBM does not support."""
    if path.suffix == ".parquet":
        return pa.parquet.ParquetWriter(path, schema)
    file = path.open("wb")
    file.write(f"{','.join(schema.names)}\n".encode())
    return pa.csv.CSVWriter(file, schema, write_options=pa.csv.WriteOptions(include_header=False))


def fit_chunks(path: str) -> None:
    """Fit to a Parquet file in chunks."""
    from everystump import StumpLogisticRegression
    from everystump.chunks import FileChunks

    StumpLogisticRegression(n_jobs=N_JOBS).fit_chunks(FileChunks(path, target="y"))


def fit_lightgbm(path: str) -> None:
    """Fit 100 trees to a Parquet file, whose row groups are a ``Sequence``."""
    import lightgbm

    class RowGroups(lightgbm.Sequence):
        batch_size = _BLOCK

        def __init__(self, file: Any) -> None:
            self.file, self.held = file, (-1, np.empty(0))

        def __len__(self) -> int:
            return self.file.metadata.num_rows

        def __getitem__(self, index: Any) -> np.ndarray:
            # Slices are batches, which are row groups.
            first = index.start if isinstance(index, slice) else index
            if self.held[0] != first // _BLOCK:
                table = self.file.read_row_group(first // _BLOCK).drop_columns("y")
                self.held = first // _BLOCK, np.column_stack([x.to_numpy() for x in table.columns])
            if isinstance(index, slice):
                return self.held[1][first % _BLOCK : first % _BLOCK + index.stop - first]
            return self.held[1][index % _BLOCK]

    y = pa.parquet.read_table(path, columns=["y"])["y"].to_numpy()
    data = lightgbm.Dataset(RowGroups(pa.parquet.ParquetFile(path)), y)
    lightgbm.train(_LIGHTGBM, data, 100)


def fit_lightgbm_file(path: str) -> None:
    """Fit 100 trees to a CSV file, read twice instead of being kept in memory."""
    import lightgbm

    data = lightgbm.Dataset(
        path, params={"two_round": True, "header": True, "label_column": N_FEATURES}
    )
    lightgbm.train(_LIGHTGBM, data, 100)


def fit_with_tool(path: str) -> None:
    """Run the command in this process."""
    from everystump.cli.main import everystump

    out = f"{path}.stump"
    arguments = ["fit", path, "--target", "y", "--interactions", "0", "-o", out, "--stream"]
    with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())):
        everystump(arguments, standalone_mode=False)


def read_csv(path: str) -> None:
    """Read a CSV with pyarrow."""
    pa.csv.read_csv(path)


_LIGHTGBM = {"objective": "binary", "num_threads": N_JOBS, "verbose": -1}
_TASKS = {
    "chunks": fit_chunks,
    "lightgbm": fit_lightgbm,
    "two-round": fit_lightgbm_file,
    "tool": fit_with_tool,
    "read": read_csv,
}


def measure(task: str, path: str) -> dict[str, float]:
    """Return the seconds of a task, and the peak memory of this process."""
    start = time.perf_counter()
    _TASKS[task](path)
    return {"seconds": time.perf_counter() - start, "peak": peak_bytes()}


if __name__ == "__main__":
    print(json.dumps(measure(*sys.argv[1:])))
