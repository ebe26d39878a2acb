"""The metrics by which C and other parameters are chosen, by their usual names."""

from __future__ import annotations

from dataclasses import dataclass

from everystump._text import InvalidInputError, suggest_name
from everystump._workflow.options import CLASSIFICATION, REGRESSION


@dataclass(frozen=True)
class SelectionMetric:
    """A scorer of scikit-learn that chooses hyperparameters by cross-validation.

    Attributes
    ----------
    scoring : str
        Its name in scikit-learn.
    task : str
        "classification" or "regression".
    needs_probabilities : bool
        Whether it is a metric of probabilities.
    several : str or None
        The scorer for more than two classes, if it is another one.
    """

    scoring: str
    task: str = CLASSIFICATION
    needs_probabilities: bool = False
    several: str | None = None

    @property
    def option(self) -> str:
        """The option that asks for it."""
        return f"--metric {self.scoring.removeprefix('neg_')}"

    @property
    def is_deviance(self) -> bool:
        """Whether it is defined for positive predictions only."""
        return self.scoring.endswith("_deviance")

    def scoring_for(self, n_classes: int) -> str:
        """Return the scorer for a number of classes, 0 for a regression."""
        return self.several if self.several is not None and n_classes > 2 else self.scoring

    def uses_probabilities(self, n_classes: int) -> bool:
        """Whether it is computed from probabilities, for a number of classes."""
        return self.needs_probabilities or self.scoring_for(n_classes) == "roc_auc_ovr"


_ALL = (
    SelectionMetric("accuracy"),
    SelectionMetric("balanced_accuracy"),
    SelectionMetric("roc_auc", several="roc_auc_ovr"),
    SelectionMetric("average_precision"),
    SelectionMetric("neg_log_loss", needs_probabilities=True),
    SelectionMetric("neg_brier_score", needs_probabilities=True),
    SelectionMetric("f1", several="f1_macro"),
    SelectionMetric("precision", several="precision_macro"),
    SelectionMetric("recall", several="recall_macro"),
    SelectionMetric("f1_macro"),
    SelectionMetric("f1_weighted"),
    SelectionMetric("matthews_corrcoef"),
    SelectionMetric("r2", REGRESSION),
    SelectionMetric("neg_mean_absolute_error", REGRESSION),
    SelectionMetric("neg_mean_squared_error", REGRESSION),
    SelectionMetric("neg_root_mean_squared_error", REGRESSION),
    SelectionMetric("neg_median_absolute_error", REGRESSION),
    SelectionMetric("neg_mean_absolute_percentage_error", REGRESSION),
    SelectionMetric("neg_mean_poisson_deviance", REGRESSION),
    SelectionMetric("neg_mean_gamma_deviance", REGRESSION),
    SelectionMetric("explained_variance", REGRESSION),
)
METRICS = {metric.scoring: metric for metric in _ALL}
"""The metrics that ``--metric`` accepts, by their names in scikit-learn."""
_ALIASES = {
    "auc": "roc_auc",
    "roc": "roc_auc",
    "ap": "average_precision",
    "logloss": "neg_log_loss",
    "cross_entropy": "neg_log_loss",
    "brier": "neg_brier_score",
    "mcc": "matthews_corrcoef",
    "mae": "neg_mean_absolute_error",
    "mse": "neg_mean_squared_error",
    "rmse": "neg_root_mean_squared_error",
    "mape": "neg_mean_absolute_percentage_error",
    "r²": "r2",
}


def find_metric(text: str) -> SelectionMetric:
    """Return the metric of a name: that of scikit-learn, with or without ``neg_``, or an alias.

    Case does not matter, nor do spaces, dashes and underscores.

    Examples
    --------
    >>> find_metric("AUC").scoring, find_metric("log loss").scoring, find_metric("MAE").scoring
    ('roc_auc', 'neg_log_loss', 'neg_mean_absolute_error')
    """
    key = text.strip().lower().replace("-", "_").replace(" ", "_")
    for name in (key, f"neg_{key}", _ALIASES.get(key, "")):
        if name in METRICS:
            return METRICS[name]
    names = [name.removeprefix("neg_") for name in METRICS]
    raise InvalidInputError(
        f"--metric {text}: there is no such metric; {suggest_name(key, [*names, *_ALIASES])}."
    )
