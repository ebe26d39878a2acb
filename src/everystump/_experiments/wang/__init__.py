"""Wang et al. (2019), "Feature learning viewpoint of AdaBoost and a new algorithm"."""

from __future__ import annotations

from everystump._experiments.engine import Entry

DATASETS = {2: "fourclass", 3: "ionosphere", 4: "chess", 5: "monk1"}
"""The data of Tables II to V and of Figs. 2 to 5, by number."""
NUMERALS = {2: "II", 3: "III", 4: "IV", 5: "V"}

RUNS = 5

EXPERIMENTS = (
    *(
        Entry(
            f"wang-table-{number}",
            f"Wang et al. (2019), Table {NUMERALS[number]}: accuracy (%) and time against the "
            f"number of weak learners on {dataset}",
            "wang.tables",
            RUNS,
            parameters={"dataset": dataset},
        )
        for number, dataset in DATASETS.items()
    ),
    *(
        Entry(
            f"wang-figure-{number}",
            f"Wang et al. (2019), Fig. {number}: accuracy (%) and time against the percentage of "
            f"labeled samples on {dataset}",
            "wang.figures",
            RUNS,
            parameters={"dataset": dataset},
        )
        for number, dataset in DATASETS.items()
    ),
)
