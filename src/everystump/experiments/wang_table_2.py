"""Wang et al. (2019), Table II: accuracy and time against the number of stumps on fourclass."""

from __future__ import annotations

from everystump.experiments.wang_tables import table

NOTE = """
**TODO**
"""
EXPERIMENT = table(2, "fourclass", NOTE)
