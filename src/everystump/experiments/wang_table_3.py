"""Wang et al. (2019), Table III: accuracy and time against the number of stumps on ionosphere."""

from __future__ import annotations

from everystump.experiments.wang_tables import table

NOTE = """
The stumps separate the two classes, so Theorem 4 is tested on the hard margin itself.
"""
EXPERIMENT = table(3, "ionosphere", NOTE)
