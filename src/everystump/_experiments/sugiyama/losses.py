"""Sugiyama (2015), Figs. 30.12 and 30.13: the losses of boosting."""

from __future__ import annotations

from typing import Any

import numpy as np

from everystump._core.boosting.losses import BOOSTING_LOSSES
from everystump._experiments.engine import Entry
from everystump._experiments.engine.experiment import Claim, Experiment, Plot, Record, Report, Task
from everystump.explain import LossesDisplay

MARGINS = np.linspace(-3, 3, 121)
FAR = 100.0
PANELS = {
    "Fig. 30.12": ("exponential",),
    "Fig. 30.13": ("exponential", "mada", "logistic"),
}
PROTOCOL = """
The losses that `StumpBoostingClassifier` minimizes, computed by its own code, against the margin
m = y f(x): the exponential loss exp(−m) of AdaBoost with the 0/1 loss, and the losses of MadaBoost
(−m + ½ for m ≤ 0, exp(−2m)/2 for m > 0) and LogitBoost, log(1 + exp(−2m)). The result is
deterministic: the number of runs has no effect.
"""


def run_task(seed: int) -> dict[str, Any]:
    """Return each loss at the margins, and its slopes from ``-2 FAR`` to ``-FAR`` and to 0."""
    ends = np.array([-2 * FAR, -FAR, 0.0])
    return {
        name: {
            "values": loss.value(MARGINS).tolist(),
            "slopes": (np.diff(loss.value(ends)) / FAR).tolist(),
        }
        for name, loss in BOOSTING_LOSSES.items()
    }


def _book_formula(name: str) -> np.ndarray:
    """Return a loss computed by the book's formula."""
    m = MARGINS
    formulas = {
        "exponential": np.exp(-m),
        "mada": np.where(m <= 0, 0.5 - m, np.exp(-2 * m) / 2),
        "logistic": np.log(1 + np.exp(-2 * m)),
    }
    return formulas[name]


def report(records: list[Record]) -> Report:
    """Plot the losses and test the book's statements."""
    (found,) = records
    values = {name: np.array(found[name]["values"]) for name in BOOSTING_LOSSES}
    data = [
        {"margin": float(margin), "zero_one": float(margin <= 0)}
        | {name: float(value[i]) for name, value in values.items()}
        for i, margin in enumerate(MARGINS)
    ]
    return Report(
        claims=[_formulas(values), _surrogate(values), _robust(found)],
        plot=Plot("The exponential loss (left); the losses of boosting (right)", _plot),
        data=data,
    )


def _formulas(values: dict[str, np.ndarray]) -> Claim:
    error = max(float(np.abs(value - _book_formula(name)).max()) for name, value in values.items())
    return Claim(
        "The three losses match the book's formulas.",
        error < 1e-12,
        f"they differ by at most {error:.1g} between m = {MARGINS[0]:g} and {MARGINS[-1]:g}.",
    )


def _surrogate(values: dict[str, np.ndarray]) -> Claim:
    above = float((values["exponential"] - (MARGINS <= 0)).min())
    return Claim(
        "The exponential loss is a surrogate of the 0/1 loss.",
        above >= 0 and bool(np.all(np.diff(values["exponential"]) < 0)),
        f"it decreases everywhere and is nowhere below the 0/1 loss (at least {above:.2g} above).",
    )


def _robust(found: Record) -> Claim:
    far, near = np.transpose([found[name]["slopes"] for name in ("mada", "logistic")])
    return Claim(
        "MadaBoost's loss is robust since it increases only linearly.",
        bool(abs(far[0] - near[0]) < 1e-9),
        f"its slope is {far[0]:.3f} both from m = {-2 * FAR:g} to {-FAR:g} and from there to 0; "
        f"LogitBoost's is {far[1]:.3f} there, and the exponential loss at {-FAR:g} is e¹⁰⁰.",
    )


def _plot() -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.2), layout="constrained")
    for ax, (title, losses) in zip(figure.subplots(1, 2), PANELS.items(), strict=True):
        LossesDisplay.from_losses(losses, limits=(MARGINS[0], MARGINS[-1]), ax=ax)
        ax.set_title(title)
    return figure


def make_experiment(entry: Entry) -> Experiment:
    """Return the experiment."""
    return Experiment(entry, PROTOCOL, lambda runs: [Task("losses", {})], run_task, report)
