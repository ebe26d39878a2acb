"""Sugiyama (2015), Figs 30.12 and 30.13: the losses of boosting."""

from __future__ import annotations

from typing import Any

import numpy as np

from everystump._core.boosting import BOOSTING_LOSSES
from everystump._experiments.experiment import Claim, Experiment, Picture, Record, Report, Task

MARGINS = np.linspace(-3, 3, 121)
FAR = 100.0
PANELS = {
    "Fig. 30.12": ("exponential",),
    "Fig. 30.13": ("exponential", "mada", "logistic"),
}
PROTOCOL = """
The losses that `StumpBoostingClassifier` minimises, from its own code, against the margin
m = y f(x): the exponential loss exp(−m) of AdaBoost beside the 0/1 loss, and with it MadaBoost's
(−m + ½ for m ≤ 0, exp(−2m)/2 beyond) and LogitBoost's log(1 + exp(−2m)). Nothing is drawn at
random: the number of runs has no effect.
"""


def work(seed: int) -> dict[str, Any]:
    """Return each loss at the margins, and its slopes from ``-2 FAR`` to ``-FAR`` and to 0."""
    ends = np.array([-2 * FAR, -FAR, 0.0])
    return {
        name: {
            "values": loss.value(MARGINS).tolist(),
            "slopes": (np.diff(loss.value(ends)) / FAR).tolist(),
        }
        for name, loss in BOOSTING_LOSSES.items()
    }


def _in_print(name: str) -> np.ndarray:
    """Return a loss by the book's formula."""
    m = MARGINS
    formulas = {
        "exponential": np.exp(-m),
        "mada": np.where(m <= 0, 0.5 - m, np.exp(-2 * m) / 2),
        "logistic": np.log(1 + np.exp(-2 * m)),
    }
    return formulas[name]


def report(records: list[Record]) -> Report:
    """Draw the losses and test what the book says of them."""
    (found,) = records
    values = {name: np.array(found[name]["values"]) for name in BOOSTING_LOSSES}
    rows = [
        {"margin": float(margin), "zero_one": float(margin <= 0)}
        | {name: float(value[i]) for name, value in values.items()}
        for i, margin in enumerate(MARGINS)
    ]
    caption = "The exponential loss (left); the losses of boosting (right)"
    return Report(
        claims=[_formulas(values), _surrogate(values), _robust(found)],
        pictures=[Picture("", caption, _draw)],
        curves=rows,
    )


def _formulas(values: dict[str, np.ndarray]) -> Claim:
    off = max(float(np.abs(value - _in_print(name)).max()) for name, value in values.items())
    return Claim(
        "The three losses are those of the book's formulas.",
        off < 1e-12,
        f"they differ by {off:.1g} at most between m = {MARGINS[0]:g} and {MARGINS[-1]:g}.",
    )


def _surrogate(values: dict[str, np.ndarray]) -> Claim:
    above = float((values["exponential"] - (MARGINS <= 0)).min())
    return Claim(
        "The exponential loss is a surrogate of the 0/1 loss.",
        above >= 0 and bool(np.all(np.diff(values["exponential"]) < 0)),
        f"it falls everywhere and is nowhere below the 0/1 loss (at least {above:.2g} above).",
    )


def _robust(found: Record) -> Claim:
    far, near = np.transpose([found[name]["slopes"] for name in ("mada", "logistic")])
    return Claim(
        "MadaBoost's loss is robust since it increases only linearly.",
        bool(abs(far[0] - near[0]) < 1e-9),
        f"its slope is {far[0]:.3f} from m = {-2 * FAR:g} to {-FAR:g} as from there to 0; "
        f"LogitBoost's is {far[1]:.3f} there, and the exponential loss at {-FAR:g} is e¹⁰⁰.",
    )


def _draw() -> Any:
    from matplotlib.figure import Figure

    from everystump.explain import LossesDisplay

    figure = Figure(figsize=(10, 4.2), layout="constrained")
    for axes, (title, losses) in zip(figure.subplots(1, 2), PANELS.items(), strict=True):
        LossesDisplay.from_losses(losses, limits=(MARGINS[0], MARGINS[-1]), ax=axes)
        axes.set_title(title)
    return figure


EXPERIMENT = Experiment(
    name="sugiyama-figure-30-12-13",
    title="Sugiyama (2015), Figs 30.12 and 30.13: loss functions for boosting",
    protocol=PROTOCOL,
    runs=1,
    tasks=lambda runs: [Task("losses", {})],
    work=work,
    report=report,
)
