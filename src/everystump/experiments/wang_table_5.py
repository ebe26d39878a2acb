"""Wang et al. (2019), Table V: accuracy and time against the number of stumps on monk1."""

from __future__ import annotations

from everystump.experiments.wang_tables import table

NOTE = """
**TODO**
"""
EXPERIMENT = table(5, "monk1", NOTE)
