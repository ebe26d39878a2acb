"""An experiment of milliseconds, also as a program that `everystump reproduce toy` runs in."""

import os
import time

import numpy as np

from everystump._experiments.engine import Entry
from everystump._experiments.engine.experiment import Experiment, Report, Task

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
