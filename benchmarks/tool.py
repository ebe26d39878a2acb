"""The command line, run in separate processes."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from benchmarks.data import two_norm
from benchmarks.report import Row
from benchmarks.settings import Settings, log
from benchmarks.targets import AtMost, Limit
from benchmarks.timing import timed

_COMMAND = [sys.executable, "-c", "from everystump.cli import main; main()"]
_LIBRARY = """
import sys
import pandas as pd
from sklearn.model_selection import train_test_split
from everystump import StumpLogisticRegressionCV
frame = pd.read_csv(sys.argv[1])
train, _ = train_test_split(frame, test_size=0.25, stratify=frame["y"], random_state=0)
StumpLogisticRegressionCV(interactions=0).fit(train.drop(columns="y"), train["y"])
"""


def fit_and_help(settings: Settings) -> Iterator[Row]:
    """The command `fit` on a CSV of 100,000 x 20 against the same in Python, and `--help`."""
    data = two_norm(settings.rows(100_000), 1000)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.csv"
        names = [f"x{d}" for d in range(data.X.shape[1])]
        pd.DataFrame(data.X.round(4), columns=names).assign(y=data.y).to_csv(path, index=False)
        log(f"  fit of a CSV of {len(data.X):,} rows ...")
        fit = [*_COMMAND, "fit", path, "--target", "y", "--interactions", "0"]
        fit += ["-o", Path(folder) / "m", "--force"]
        ours = timed(lambda: _run(fit), settings)
        peer = timed(lambda: _run([sys.executable, "-c", _LIBRARY, path]), settings)
    yield Row(
        f"everystump fit, {len(data.X):,} x {data.X.shape[1]}, C chosen",
        ours.seconds,
        peer.seconds,
        "pandas.read_csv and fit in a process",
        AtMost(1.5),
    )
    help_run = timed(lambda: _run([*_COMMAND, "--help"]), settings)
    import_run = timed(lambda: _run([sys.executable, "-c", "import click"]), settings)
    yield Row(
        "everystump --help", help_run.seconds, import_run.seconds, "import click", Limit(0.5, "s")
    )


def _run(command: list) -> None:
    subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL)
