"""Sugiyama (2015), "Introduction to Statistical Machine Learning", chapter 30."""

from __future__ import annotations

from everystump._experiments.engine import Entry

EXPERIMENTS = (
    *(
        Entry(
            f"sugiyama-figure-{number.replace('.', '-')}",
            f"Sugiyama (2015), Fig. {number}: {content}",
            "sugiyama.figures",
            100,
            parameters={"method": method},
        )
        for number, content, method in (
            ("30.4", "decision stump classification", "stump"),
            ("30.7", "bagging for decision stumps", "bagging"),
            ("30.11", "AdaBoost for decision stumps", "boosting"),
        )
    ),
    Entry(
        "sugiyama-figure-30-12-13",
        "Sugiyama (2015), Figs. 30.12 and 30.13: loss functions for boosting",
        "sugiyama.losses",
        1,
    ),
)
