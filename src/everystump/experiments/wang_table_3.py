"""Wang et al. (2019), Table III: accuracy and time against the number of stumps on ionosphere."""

from __future__ import annotations

from everystump.experiments.wang_tables import table

NOTE = """
**TODO**
"""
EXPERIMENT = table(3, "ionosphere", NOTE)
