"""Settings and fixtures for all tests: one thread per process, and how many random examples.

Under the profile "quick" a search draws 30% of its examples, under "full" all of them; both draw
the same examples in every run.  EVERYSTUMP_EXAMPLES=N draws N new ones.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # pytest-xdist runs one process per core

import pytest
from command import run, write_credit
from hypothesis import settings
from oracles import EXAMPLES

settings.register_profile("full", max_examples=100, derandomize=True, deadline=None, database=None)
settings.register_profile("quick", settings.get_profile("full"), max_examples=30)
settings.register_profile("random", max_examples=EXAMPLES or 100, deadline=None, print_blob=True)
settings.load_profile("random" if EXAMPLES else "quick")


@pytest.fixture(scope="session")
def credit(tmp_path_factory):
    """Return a CSV file of 400 rows, numbers and text, with missing values."""
    return write_credit(tmp_path_factory.mktemp("credit") / "credit.csv")


@pytest.fixture(scope="session")
def credit_model(credit):
    """Return the file of a model fitted to the credit table."""
    path = credit.with_suffix(".stump")
    done = run("fit", credit, "--target", "default", "--C", 0.1, "-o", path)
    assert done.exit_code == 0, done.output
    return path
