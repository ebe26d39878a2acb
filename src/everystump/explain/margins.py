"""The margins of samples, and the margin of AdaBoost+SVM against the number of stumps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from everystump._explanations.access import class_model_indices, shape_models
from everystump._tables.labels import class_indices, classifier_scores
from everystump._text import format_short_percent
from everystump.explain._display import (
    DASHED,
    LINE_COLORS,
    NEUTRAL,
    TEXT,
    AxesDisplay,
    check_classifier,
    escape,
    training_attribute,
)


@dataclass
class MarginsDisplay(AxesDisplay):
    """The cumulative distribution of the margins of samples.

    The margin of a sample is ``y f(x)``, the score of its own class; with several classes it is
    that score minus the largest score of the others.  A sample with a margin of 0 or below is
    misclassified.

    Attributes
    ----------
    margins : dict of ndarray
        The margins of each set of samples, ascending.
    figure_, ax_ : matplotlib Figure and Axes
        The plot, set by `plot`.

    Examples
    --------
    >>> from everystump import StumpBoostingClassifier
    >>> from everystump.datasets import make_twonorm
    >>> X, y = make_twonorm(100, random_state=0)
    >>> model = StumpBoostingClassifier(n_estimators=20).fit(X, y)
    >>> display = MarginsDisplay.from_estimator(model, X, y)
    >>> display.margins["training rows"].shape
    (100,)
    """

    margins: dict[str, np.ndarray]

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        X_test: Any = None,
        y_test: Any = None,
        ax: Any = None,
    ) -> Self:
        """Draw the margins of samples under any fitted classifier.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier, with a decision function or probabilities.
        X, y : array-like, optional
            The training data.
        X_test, y_test : array-like, optional
            Held-out data.
        ax : matplotlib Axes, optional
            The axes to draw on; a new figure by default.

        Returns
        -------
        MarginsDisplay
            With ``figure_`` and ``ax_``.
        """
        check_classifier(estimator, cls)
        pairs = {"training rows": (X, y), "held-out rows": (X_test, y_test)}
        for name, pair in pairs.items():
            if (pair[0] is None) != (pair[1] is None):
                raise ValueError(f"only X or only y of the {name} was passed; pass both.")
        passed = {name: pair for name, pair in pairs.items() if pair[0] is not None}
        if not passed:
            raise ValueError("X=None and X_test=None: there are no samples to draw; pass X and y.")
        margins = {name: np.sort(_margins(estimator, *pair)) for name, pair in passed.items()}
        return cls(margins).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        ax.axvline(0.0, color=TEXT, linewidth=0.8, linestyle=DASHED)
        ends = [(margins[0], margins[-1]) for margins in self.margins.values()]
        low, high = min(low for low, _ in ends), max(high for _, high in ends)
        padding = 0.04 * (high - low) or 0.5
        for (name, margins), color in zip(self.margins.items(), LINE_COLORS, strict=False):
            wrong = format_short_percent(float(np.mean(margins <= 0)))
            ax.step(
                np.concatenate([[low - padding], margins, [high + padding]]),
                np.concatenate([[0.0], np.arange(1, len(margins) + 1) / len(margins), [1.0]]),
                where="post",
                color=color,
                linewidth=1.8,
                label=f"{escape(name)}:\n{wrong} at or below 0",
            )
        ax.set_xlim(low - padding, high + padding)
        ax.set_ylim(0.0, 1.02)
        ax.set_xlabel("margin y f(x)")
        ax.set_ylabel("cumulative fraction of samples")
        ax.legend(frameon=False, fontsize=9, loc="lower right", handlelength=1.2)


def _margins(estimator: Any, X: Any, y: Any) -> np.ndarray:
    """Return the score of each sample's class minus the largest score of the others."""
    score = classifier_scores(estimator, X)
    label = class_indices(y, estimator.classes_, len(score))
    if score.ndim == 1:
        return np.where(label == 1, score, -score)
    return class_margins(score, label)[0]


def class_margins(scores: np.ndarray, label: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the margin of one class per sample over the best other class, and that class."""
    samples = np.arange(len(label))
    others = scores.copy()
    others[samples, label] = -np.inf
    best_other = others.argmax(axis=1)
    return scores[samples, label] - scores[samples, best_other], best_other


@dataclass
class MarginDisplay(AxesDisplay):
    """The margin of a `BoostedStumpSVC` against its number of stumps (Wang et al., Theorem 4).

    Attributes
    ----------
    n_estimators : ndarray of shape (n_stages,)
        Numbers of stumps.
    margin : ndarray of shape (n_stages,)
        The margin ``1 / |beta|`` at each.
    hard : bool
        Whether it is the hard margin, which by Theorem 4 cannot decrease.
    figure_, ax_ : matplotlib Figure and Axes
        The plot, set by `plot`.
    """

    n_estimators: np.ndarray
    margin: np.ndarray
    hard: bool

    @classmethod
    def from_estimator(cls, estimator: Any, *, class_label: Any = None, ax: Any = None) -> Self:
        """Draw the margins of a fitted `BoostedStumpSVC`.

        Parameters
        ----------
        estimator : BoostedStumpSVC
            Fitted, with several `stages`.
        class_label : label, optional
            With several classes, the class whose margin is drawn; the first one by default.
        ax : matplotlib Axes, optional
            The axes to draw on; a new figure by default.

        Returns
        -------
        MarginDisplay
            With ``figure_`` and ``ax_``.
        """
        stages = training_attribute(
            estimator, "stages_", "has no stages; pass a fitted BoostedStumpSVC"
        )
        n_models = len(shape_models(estimator))
        k = class_model_indices(estimator.classes_, n_models, class_label)[0]
        margins = [np.atleast_1d(stage.margin)[k] for stage in stages]
        counts = np.array([stage.n_estimators for stage in stages])
        return cls(counts, np.array(margins), bool(np.isinf(estimator.C))).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        kind = "hard" if self.hard else "soft"
        ax.plot(
            self.n_estimators, self.margin, color=NEUTRAL, linewidth=1.8, marker="o", markersize=4
        )
        ax.set_ylim(0, 1.1 * self.margin.max())
        ax.set_xlim(0, None)
        ax.set_xlabel("number of stumps")
        ax.set_ylabel(f"{kind} margin 1 / |β|")
