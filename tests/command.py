"""The command `everystump` for tests: in this process, or in another one."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from click.testing import CliRunner

import everystump as package
from everystump.cli.main import everystump
from everystump.datasets import load_dataset

PROGRAM = [sys.executable, "-c", "from everystump.cli import main; main()"]
# For tests that are not about interactions, most of the time of a fit.
ADDITIVE = ("--interactions", 0)
ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(package.__file__).parents[1])}


def run(*arguments):
    """Run a command in this process."""
    return CliRunner().invoke(everystump, [str(a) for a in arguments])


def input_error(*arguments):
    """Return the message of a command that fails on invalid input."""
    done = run(*arguments)
    assert done.exit_code == 2 and isinstance(done.exception, SystemExit), done.output
    assert done.stderr.startswith("Error: ") and done.stderr.count("\n") == 1
    return done.stderr.removeprefix("Error: ").strip()


def start(*arguments, stdout):
    """Start a command as a process."""
    return subprocess.Popen(
        [*PROGRAM, *map(str, arguments)], stdout=stdout, stderr=subprocess.PIPE, env=ENVIRONMENT
    )


def write_credit(path):
    """Write numbers and text with missing values, a constant column and row numbers."""
    data = load_dataset("german", as_frame=True)
    frame = data.data.iloc[:400].astype({"purpose": str})
    frame = frame.assign(bank="ours", number=np.arange(400), default=data.target[:400])
    frame.loc[::7, "amount"] = np.nan
    frame.loc[::9, "purpose"] = None
    frame.to_csv(path, index=False)
    return path


def fitted(tmp_path, frame, *options):
    """Write a table and fit a model to its column y; return both files."""
    data, out = tmp_path / "t.csv", tmp_path / "m.stump"
    frame.to_csv(data, index=False)
    args = ("--target", "y", "--C", 1, *ADDITIVE, "-o", out, "--force")
    done = run("fit", data, *args, *options)
    assert done.exit_code == 0, done.output
    return data, out


def some_rows(n, seed=0, **more):
    """Return a table with a feature, further columns and the label y."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=n)
    return pd.DataFrame({"a": a, **more, "y": np.where(a + rng.normal(size=n) > 0, "yes", "no")})
