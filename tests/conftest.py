"""Settings for all tests: one thread per process, and how many examples Hypothesis draws.

Under the profile "quick" a search draws 30% of its examples, under "full" all of them; both draw
the same examples in every run.  EVERYSTUMP_EXAMPLES=N draws N new ones.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # pytest-xdist runs one process per core

from hypothesis import settings
from oracles import EXAMPLES

settings.register_profile("full", max_examples=100, derandomize=True, deadline=None, database=None)
settings.register_profile("quick", settings.get_profile("full"), max_examples=30)
settings.register_profile("random", max_examples=EXAMPLES or 100, deadline=None, print_blob=True)
settings.load_profile("random" if EXAMPLES else "quick")
