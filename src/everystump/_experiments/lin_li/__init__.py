"""Lin & Li (2005), "Infinite ensemble learning with support vector machines"."""

from __future__ import annotations

from everystump._experiments.engine import Entry

RUNS, EDITION = 100, 2
EXPERIMENTS = (
    Entry(
        "lin-li-table-1",
        "Lin & Li (2005), Table 1: test error (%) of ensembles of stumps",
        "lin_li.table_1",
        RUNS,
        EDITION,
    ),
    Entry(
        "lin-li-table-2",
        "Lin & Li (2005), Table 2: test error (%) of SVM with two kernels",
        "lin_li.table_2",
        RUNS,
        EDITION,
    ),
    Entry(
        "lin-li-figure-2",
        "Lin & Li (2005), Figure 2: decision boundaries on two-norm data in the plane",
        "lin_li.figure_2",
        RUNS,
        EDITION,
    ),
)
