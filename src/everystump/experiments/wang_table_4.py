"""Wang et al. (2019), Table IV: accuracy and time against the number of stumps on chess."""

from __future__ import annotations

from everystump.experiments.wang_tables import table

NOTE = """
**TODO**
"""
EXPERIMENT = table(4, "chess", NOTE)
