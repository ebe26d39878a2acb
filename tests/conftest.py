"""Hypothesis for all tests: the same examples in every run, or EVERYSTUMP_EXAMPLES new ones."""

from hypothesis import settings
from oracles import EXAMPLES

settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
settings.register_profile("random", max_examples=EXAMPLES or 100, deadline=None, print_blob=True)
settings.load_profile("random" if EXAMPLES else "fixed")
