"""Evgeniou, Pontil & Elisseeff (2004), on leave-one-out error and votes of classifiers."""

from __future__ import annotations

from everystump._experiments.engine import Entry

RUNS, EDITION = 50, 2
EXPERIMENTS = (
    *(
        Entry(
            f"evgeniou-figure-{number}",
            f"Evgeniou et al. (2004), Figure {number}: bounds on {dataset}, C = {C:g}",
            "evgeniou.bounds",
            RUNS,
            EDITION,
            {"dataset": dataset, "C": C},
        )
        for number, dataset, C in (
            (1, "breast", 0.5),
            (2, "thyroid", 0.5),
            (3, "diabetes", 0.5),
            (4, "heart", 0.5),
            (5, "usps", 0.5),
            (6, "usps", 50.0),
        )
    ),
    Entry(
        "evgeniou-figure-7",
        "Evgeniou et al. (2004), Figure 7: sensitivity to σ of one SVM, VCC and ACC",
        "evgeniou.figure_7",
        RUNS,
        EDITION,
    ),
    Entry(
        "evgeniou-table-2",
        "Evgeniou et al. (2004), Table II: error (%) of the best SVM, VCC and ACC of 30 SVMs",
        "evgeniou.table_2",
        RUNS,
        EDITION,
    ),
    Entry(
        "evgeniou-table-3",
        "Evgeniou et al. (2004), Table III: error (%) of votes of 100 SVMs on few samples each",
        "evgeniou.table_3",
        RUNS,
        EDITION,
    ),
)
