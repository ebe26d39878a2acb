"""Targets that are classes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from everystump._evaluation import LabeledPredictions, evaluate, evaluate_model, positive_index
from everystump._selection.folds import Fold, count_folds, split_holdout, stratified_folds
from everystump._tables.labels import class_indices
from everystump._tables.weighted_rows import fit_weighted
from everystump._text import InvalidInputError, format_percents, pluralize, truncate_list
from everystump._workflow.errors import input_errors
from everystump._workflow.evaluation import error_rate, evaluate_bounds
from everystump._workflow.options import CLASSIFICATION
from everystump._workflow.targets.target import Target, too_few_rows
from everystump.estimators._base import rename_class_weights, rename_classes


@dataclass(frozen=True, eq=False)
class ClassTarget(Target):
    """The classes of some rows.

    Attributes
    ----------
    codes : ndarray of shape (n_rows,)
        The index of each row's class.
    classes : ndarray of shape (n_classes,)
        Sorted, but of two classes the second is the positive one.
    positive : object
        The positive one of two classes.
    """

    codes: np.ndarray
    classes: np.ndarray
    positive: Any
    task: ClassVar[str] = CLASSIFICATION

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.codes)

    @property
    def y(self) -> np.ndarray:
        """The labels of the rows."""
        return self.classes[self.codes]

    @property
    def labels(self) -> list[Any]:
        """The classes in their order."""
        return self.classes.tolist()

    @property
    def chunk_values(self) -> np.ndarray:
        """The indices of the classes."""
        return self.codes

    def fit_chunks(self, model: Any, chunks: Iterable) -> Any:
        """Fit a classifier to chunks with the indices of the classes."""
        number_class_weights(model, self.classes)
        model.fit_chunks(chunks)
        rename_classes(model, self.classes)
        return model

    def _taken(self, rows: np.ndarray) -> dict[str, Any]:
        return {"codes": self.codes[rows]}

    def counts(self) -> np.ndarray:
        """Return the number of rows of each class."""
        return np.bincount(self.codes, minlength=len(self.classes))

    def totals(self) -> np.ndarray:
        """Return the total weight of the rows of each class."""
        return np.bincount(self.codes, self.weight, minlength=len(self.classes))

    def split(self, fraction: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the indices of training rows and of held-out rows.

        The split is stratified where possible; the only row of a class is a training row.
        """
        # The order of the classes is that of their text.
        rank = np.argsort(np.argsort(self.classes.astype(str)))
        try:
            return split_holdout(rank.astype(self.codes.dtype)[self.codes], fraction, seed)
        except ValueError as error:
            raise too_few_rows(error) from None

    def folds(self, n_folds: int, seed: int) -> list[Fold]:
        """Return stratified folds; the only row of a class is in none of them."""
        # Of two classes the positive one is the second, but the folds do not depend on it.
        rank = np.argsort(np.argsort(self.classes))
        return stratified_folds(n_folds, rank[self.codes], seed)

    def notes(self, cv: int | None, *, selects: bool) -> list[str]:
        """Return notes on classes with too few rows for a proper evaluation."""
        classes, counts = self.classes.astype(str), self.counts()
        order = np.argsort(classes, kind="stable")
        classes, counts = classes[order], counts[order]
        single = classes[counts == 1].tolist()
        notes = []
        if single and not selects:
            what = f"{self.name} = {truncate_list(single, 5)}"
            notes.append(f"{what} has only one row: used for training, not for evaluation.")
        if cv is not None:
            n_folds = count_folds(cv, counts)
            if n_folds < cv:
                rare = counts[counts > 1].argmin()
                notes.append(
                    f"Evaluated by {n_folds} folds instead of {cv}: {self.name} = "
                    f"{classes[counts > 1][rare]} has only "
                    f"{pluralize(int(counts[counts > 1][rare]), 'row')}."
                )
        return notes

    def check_selection(self, option: str) -> None:
        """Raise if no class has two rows."""
        if count_folds(2, self._present_counts()) < 2:
            raise InvalidInputError(
                f"{pluralize(len(self), 'training row')}, one per class, are too few to choose "
                f"{option.replace('-', ' ')} by cross-validation; pass --{option}, or more rows."
            )

    def check_subsamples(self, subsample: float, preset: str, cv: int | None) -> None:
        """Raise if a class may be absent from every subsample."""
        classes, counts = np.unique(self.y.astype(str), return_counts=True)
        n_rows = int(counts.min())
        if cv is not None:
            n_rows -= -(-n_rows // max(2, count_folds(cv, counts)))
        if subsample * n_rows < 1:
            raise InvalidInputError(
                f"--model {preset} trains each member on {100 * subsample:g}% of the rows, too few "
                f"for {self.name} = {classes[counts.argmin()]} with "
                f"{pluralize(n_rows, 'training row')}; pass more rows, or choose another --model."
            )

    def _present_counts(self) -> np.ndarray:
        counts = self.counts()
        return counts[counts > 0]

    def fit(self, model: Any, X: Any) -> Any:
        """Fit a classifier whose ``classes_`` are in this order."""
        return fit_with_class_order(model, X, self.y, self.classes, self.weight)

    def describe_training(self, model: Any) -> dict[str, Any]:
        """Return the positive one of two classes, and the training rows of each class."""
        positive = self.positive if len(self.classes) == 2 else None
        return {"positive": positive, "class_counts": self.counts().tolist()}

    def predictions(self, model: Any, X: Any) -> LabeledPredictions:
        """Return the predictions of a classifier."""
        return LabeledPredictions.from_model(model, X, self.y, self.weight)

    def held_out_results(self, model: Any, X: Any, training: Self) -> dict[str, Any]:
        """Return metrics and bounds of a classifier on these rows, which were held out."""
        rows = self.describe_weighted(pluralize(len(self), "held-out row"))
        return {
            "bounds": self.bounds(model, X, unseen=True, held_out=True),
            **self._metrics(self.predictions(model, X), training, f"{rows}, 95% interval"),
        }

    def fold_results(self, model: Any, parts: Sequence[Any], training: Self) -> dict[str, Any]:
        """Return metrics of the predictions of each fold."""
        how = f"{self.describe_weighted(f'{len(parts)} folds')}, approximate 95% interval"
        return self._metrics(LabeledPredictions.concatenate(parts), training, how)

    def _metrics(self, rows: LabeledPredictions, training: Self, how: str) -> dict[str, Any]:
        classes = self.classes.tolist()
        index = positive_index(classes, self.positive)
        metrics = evaluate(rows, classes, index, training.totals().tolist())
        return {"error": error_rate(metrics, how), "figures": metrics}

    def metrics(self, model: Any, X: Any, *, unseen: bool) -> dict[str, Any]:
        """Return metrics of a stored model; see `everystump._evaluation.evaluate`."""
        about = getattr(model, "about_", {})
        positive, counts = about.get("positive"), about.get("class_counts")
        with input_errors():
            return evaluate_model(model, X, self.y, positive=positive, counts=counts, unseen=unseen)

    def summary(
        self, model: Any, X: Any, metrics: Mapping[str, Any], rows: str
    ) -> tuple[dict[str, Any], str]:
        """Return the error rate."""
        error = metrics["n_wrong"] / metrics["n_rows"]
        return {"error": error}, f"Error on {rows}: {format_percents(error)[0]}."

    def bounds(self, model: Any, X: Any, *, unseen: bool, held_out: bool) -> list[dict[str, Any]]:
        """Return bounds on the error."""
        return self.unweighted(evaluate_bounds(model, X, self.y, unseen=unseen))


def fit_with_class_order(
    model: Any, X: Any, y: np.ndarray, classes: np.ndarray, weight: np.ndarray | None = None
) -> Any:
    """Fit a classifier so that its ``classes_`` are in the order of ``classes``, and return it.

    Scores, probabilities, curves and exports of two classes refer to ``classes_[1]``, so the second
    of ``classes`` is the positive one.  If ``classes`` are not sorted, the model is fitted to their
    indices, and the classes are renamed afterwards.  The same is done for a model with a scorer of
    the user: for scorers such as "f1", the positive class is 1.

    Parameters
    ----------
    model : estimator
        One of this package.
    X : frame
        Samples.
    y : ndarray of shape (n_samples,)
        Labels.
    classes : ndarray of shape (n_classes,)
        All labels, in the order of ``classes_``.
    weight : ndarray of shape (n_samples,), optional
        Sample weights.

    Examples
    --------
    >>> from everystump import StumpSVC
    >>> X, y = [[0], [1], [2], [3]], np.array(["sick", "sick", "well", "well"])
    >>> model = fit_with_class_order(StumpSVC(), X, y, np.array(["well", "sick"]))
    >>> model.classes_.tolist(), model.predict(X).tolist(), float(model.decision_function(X)[0]) > 0
    (['well', 'sick'], ['sick', 'sick', 'well', 'well'], True)
    """
    has_scorer = getattr(model, "scoring", None) is not None
    if np.array_equal(np.unique(y), classes) and not has_scorer:
        return fit_weighted(model, X, y, weight)
    number_class_weights(model, classes)
    fit_weighted(model, X, class_indices(y, classes, len(y)), weight)
    rename_classes(model, classes)
    return model


def number_class_weights(model: Any, classes: np.ndarray) -> None:
    """Express the class weights of an estimator by the indices of the classes.

    `rename_classes` reverses it after the fit.
    """
    labels = classes.tolist()
    rename_class_weights(model, {label: k for k, label in enumerate(labels)})
