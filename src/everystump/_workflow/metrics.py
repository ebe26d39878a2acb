"""The metrics by which C and the strength of interactions are chosen, by their usual names."""

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
    title : str
        Its name in sentences.
    task : str
        "classification" or "regression".
    needs_probabilities : bool
        Whether it is a metric of probabilities.
    several : str or None
        The scorer for more than two classes, if it is another one.
    """

    scoring: str
    title: str
    task: str = CLASSIFICATION
    needs_probabilities: bool = False
    several: str | None = None

    @property
    def option(self) -> str:
        """The option that asks for it."""
        return f"--metric {self.scoring.removeprefix('neg_')}"

    def scoring_for(self, n_classes: int) -> str:
        """Return the scorer for a number of classes, 0 for a regression."""
        return self.several if self.several is not None and n_classes > 2 else self.scoring

    def uses_probabilities(self, n_classes: int) -> bool:
        """Whether it is computed from probabilities, for a number of classes."""
        return self.needs_probabilities or self.scoring_for(n_classes) == "roc_auc_ovr"


_ALL = (
    SelectionMetric("accuracy", "accuracy"),
    SelectionMetric("balanced_accuracy", "balanced accuracy"),
    SelectionMetric("roc_auc", "AUC", several="roc_auc_ovr"),
    SelectionMetric("average_precision", "average precision"),
    SelectionMetric("neg_log_loss", "log loss", needs_probabilities=True),
    SelectionMetric("neg_brier_score", "Brier score", needs_probabilities=True),
    SelectionMetric("f1", "F1", several="f1_macro"),
    SelectionMetric("precision", "precision", several="precision_macro"),
    SelectionMetric("recall", "recall", several="recall_macro"),
    SelectionMetric("f1_macro", "macro F1"),
    SelectionMetric("f1_weighted", "weighted F1"),
    SelectionMetric("matthews_corrcoef", "Matthews correlation coefficient"),
    SelectionMetric("r2", "R²", REGRESSION),
    SelectionMetric("neg_mean_absolute_error", "mean absolute error", REGRESSION),
    SelectionMetric("neg_mean_squared_error", "mean squared error", REGRESSION),
    SelectionMetric("neg_root_mean_squared_error", "root mean squared error", REGRESSION),
    SelectionMetric("neg_median_absolute_error", "median absolute error", REGRESSION),
    SelectionMetric(
        "neg_mean_absolute_percentage_error", "mean absolute percentage error", REGRESSION
    ),
    SelectionMetric("neg_mean_poisson_deviance", "Poisson deviance", REGRESSION),
    SelectionMetric("neg_mean_gamma_deviance", "gamma deviance", REGRESSION),
    SelectionMetric("explained_variance", "explained variance", REGRESSION),
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
_TITLES = {
    **{metric.several: metric.title for metric in _ALL if metric.several is not None},
    **{scoring: metric.title for scoring, metric in METRICS.items()},
    "neg_mean_pinball_loss": "pinball loss",
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


def scoring_title(scoring: str) -> str:
    """Return the name of a scorer in sentences.

    Examples
    --------
    >>> scoring_title("neg_log_loss"), scoring_title("score")
    ('log loss', 'score')
    """
    return _TITLES.get(scoring, scoring)
