"""An experiment of milliseconds, and the command `everystump reproduce` with it."""

import os
import signal
import sys
import time

import numpy as np

from everystump._experiments.engine import Entry
from everystump._experiments.engine.experiment import Experiment, Report, Task
from everystump.cli import main

ENTRY = Entry("toy", "Toy", "toy_experiment", runs=4)
SECONDS = 0.02
PROGRAM = """
import everystump.cli.reproduce
from everystump.cli import main
import toy_experiment
everystump.cli.reproduce.load_experiment = toy_experiment.load_experiment
main()
"""


def run_task(seed, run):
    time.sleep(SECONDS)
    value = float(np.random.default_rng(seed).normal())
    return {"value": value, "worker": os.getpid(), "fit_seconds": float(np.random.random())}


def report(records):
    return Report(data=[{"run": record["run"], "value": record["value"]} for record in records])


def load_experiment(name):
    """Return the toy under its name, and the real experiments under theirs."""
    if name != ENTRY.name:
        from everystump._experiments import load_experiment

        return load_experiment(name)
    return Experiment(ENTRY, "The protocol.", Task.per_run, run_task, report)


def in_process(monkeypatch, capsys):
    """Yield a function that runs the command in this process, without network access."""

    def no_network(**_):
        raise AssertionError("unexpected network access")

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["everystump", "reproduce", *map(str, arguments)])
        code = 0
        try:
            main()
        except SystemExit as end:
            code = end.code
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    monkeypatch.setattr("everystump.cli.reproduce.load_experiment", load_experiment)
    monkeypatch.setattr("sklearn.datasets.fetch_openml", no_network)
    monkeypatch.delenv("EVERYSTUMP_DATA", raising=False)
    handler = signal.getsignal(signal.SIGTERM)
    yield call
    signal.signal(signal.SIGTERM, handler)


def is_one_sentence(errors):
    """Return whether the errors are one line that starts with "Error: "."""
    lines = [line for line in errors.splitlines() if line.strip()]
    return len(lines) == 1 and lines[0].startswith("Error: ") and lines[0].endswith(".")
