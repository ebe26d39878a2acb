"""What a fitted model of curves says of itself: features, rows, stumps, and single curves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from everystump._core.columns import RowDensity
from everystump._core.shapes import Ensemble, Shape, ShapeModel
from everystump._core.threads import count_threads
from everystump._tables import Feature, is_frame
from everystump._tables.validation import check_rows

_MOST_NAMED = 10


class ExplanationMixin:
    """Explanations of a model with ``shapes_``, as pandas frames."""

    classes_: np.ndarray
    shapes_: ShapeModel | list[ShapeModel]
    feature_info_: tuple[Feature, ...]
    density_: tuple[RowDensity, ...]
    n_jobs: int | None

    @property
    def feature_importances_(self) -> np.ndarray:
        """How much each feature moves the score, as shares that sum to 1.

        It is the ``importance`` of `explain_global` on the training rows, summed over the classes
        if there are several, and divided by its total, as scikit-learn has it; all are 0 if no
        feature moves the score.  `SelectFromModel` and `RFE` of scikit-learn go by it.
        """
        try:
            models, seen = curves_of(self), training_density(self)
        except NotFittedError:
            raise
        except ValueError as error:
            raise AttributeError(f"no feature_importances_: {error}") from None
        each = np.sum(spreads(models, seen), axis=0)
        return each / each.sum() if each.any() else each

    def explain_global(self, X: Any = None) -> Any:
        """Return how much each feature moves the score.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features), optional
            Rows to measure on; the training rows with their sample weights by default.

        Returns
        -------
        pandas.DataFrame
            One row a feature, or for several classes one a feature and class, most important
            first.  ``importance`` is the standard deviation of what the feature adds to the score,
            ``lowest`` and ``highest`` are the ends of its curve, ``share_missing`` is the share of
            the rows without a value.

        Notes
        -----
        Features with more than 256 distinct values are measured in 256 bins of the training rows.

        Examples
        --------
        >>> from everystump import StumpSVC
        >>> model = StumpSVC().fit([[0, 7], [1, 7], [2, 7], [3, 7]], [0, 0, 1, 1])
        >>> model.explain_global()[["feature", "kind", "importance"]].round(2)
          feature    kind  importance
        0      x0  number         0.9
        1      x1  number         0.0
        """
        import pandas as pd

        models, names = curves_of(self), names_of(self)
        seen = training_density(self) if X is None else densities(check_rows(self, X))
        records = []
        for label, model in zip(_labels(self, models), models, strict=True):
            for d, (name, shape) in enumerate(zip(names, model, strict=True)):
                _, ends = _points(shape, self.feature_info_[d])
                records.append(
                    {
                        **label,
                        "feature": name,
                        "importance": spread(shape, seen[d]),
                        "lowest": float(np.min(ends)),
                        "highest": float(np.max(ends)),
                        "kind": kind_of(self.feature_info_[d]),
                        "share_missing": share_missing(seen[d]),
                    }
                )
        frame = pd.DataFrame.from_records(records)
        return frame.sort_values("importance", ascending=False, kind="stable", ignore_index=True)

    def explain_local(self, X: Any) -> Any:
        """Return what each feature adds to the score of each row.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows; a pandas frame keeps its index.

        Returns
        -------
        pandas.DataFrame
            One row a row; the columns are ``intercept``, the features and ``score``, which is the
            sum of the others and equals `decision_function`.  For several classes the columns have
            two levels, class and feature.

        Examples
        --------
        >>> from everystump import StumpSVC
        >>> X = [[0, 7], [1, 7], [2, 7], [3, 7]]
        >>> model = StumpSVC().fit(X, [0, 0, 1, 1])
        >>> frame = model.explain_local(X)
        >>> frame.columns.tolist()
        ['intercept', 'x0', 'x1', 'score']
        >>> bool(abs(frame["score"] - model.decision_function(X)).max() < 1e-12)
        True
        """
        import pandas as pd

        models, names = curves_of(self), names_of(self)
        rows = check_rows(self, X)
        n_threads = count_threads(self.n_jobs)
        width = len(names) + 2
        # Column by column in memory, as pandas keeps it: the frame takes it without a copy.
        block = np.empty((len(rows), width * len(models)), order="F")
        for k, model in enumerate(models):
            part = block[:, k * width : (k + 1) * width]
            part[:, 0] = model.intercept
            model.contributions(rows, n_threads=n_threads, out=part[:, 1:-1])
            np.add.reduce(part[:, :-1], axis=1, out=part[:, -1])
        columns = pd.Index([_unlike("intercept", names), *names, _unlike("score", names)])
        if len(models) > 1:
            labels = self.classes_.tolist()
            columns = pd.MultiIndex.from_product([labels, columns], names=["class", "feature"])
        index = X.index if is_frame(X) and hasattr(X, "iloc") else None
        return pd.DataFrame(block, index=index, columns=columns, copy=False)

    def explain_ensemble(self) -> Any:
        """Return the model as a vote: every smooth stump with its question and its weight.

        Returns
        -------
        pandas.DataFrame
            One row a stump, heaviest first.  Its answer to ``question`` is from -1 (no) to 1
            (yes), and grows straight from ``low`` to ``high`` where these differ.  A missing value
            is on no side of a threshold, where the answer is 0, and at no level, where it is no;
            its own question makes up for what training found, or for nothing if it saw none.  The
            score is the sum of ``weight * direction * answer``; ``always`` is a vote on every row.

        Examples
        --------
        >>> from everystump import DecisionStumpClassifier
        >>> stump = DecisionStumpClassifier().fit([[0], [1], [4], [5]], [0, 0, 1, 1])
        >>> stump.explain_ensemble()[["feature", "question", "direction", "weight"]]
          feature   question  direction  weight
        0      x0  x0 >= 2.5          1     1.0
        """
        import pandas as pd

        models = curves_of(self)
        names = names_of(self)
        records = [
            {**label, **record}
            for label, model in zip(_labels(self, models), models, strict=True)
            for record in _stumps(model.ensemble(), names, self.feature_info_)
        ]
        titles = ["feature", "question", "direction", "weight", "low", "high", "level"]
        titles = titles if len(models) == 1 else ["class", *titles]
        frame = pd.DataFrame.from_records(records, columns=titles)
        return frame.sort_values("weight", ascending=False, kind="stable", ignore_index=True)

    def curve(self, feature: str | int) -> Any:
        """Return the curve of a feature.

        Parameters
        ----------
        feature : str or int
            Its name or its number.

        Returns
        -------
        pandas.DataFrame
            ``value`` and what it adds to the score, ``contribution``: one row a level of a
            category, or a knot of a curve that runs straight between knots and flat beyond them.
            The same knot twice is a jump, the second row holding there.  A last row without a
            value tells what a missing one adds, if training saw any.  For several classes there
            is a column ``class``.

        Examples
        --------
        >>> from everystump import DecisionStumpClassifier
        >>> stump = DecisionStumpClassifier().fit([[0], [1], [4], [5]], [0, 0, 1, 1])
        >>> stump.curve("x0")
           value  contribution
        0    2.5          -1.0
        1    2.5           1.0
        """
        import pandas as pd

        models = curves_of(self)
        d = number_of(self, feature)
        parts = []
        for label, model in zip(_labels(self, models), models, strict=True):
            places, values = _points(model[d], self.feature_info_[d])
            parts.append(pd.DataFrame({**label, "value": places, "contribution": values}))
        return pd.concat(parts, ignore_index=True)


def curves_of(estimator: Any) -> list[ShapeModel]:
    """Return the curves of each class, one set for two classes, or say that there are none."""
    check_is_fitted(estimator, estimator._fitted_attribute)
    models = getattr(estimator, "shapes_", None)
    if models is None:
        raise ValueError(
            f"{type(estimator).__name__} has no curves: its machines are no ensembles of stumps, "
            f"or see some of the features only, or cast votes; combine the scores of stump "
            f"ensembles on all features."
        )
    return models if isinstance(models, list) else [models]


def names_of(estimator: Any) -> list:
    """Return the names of the features, x0, x1 and so on if the training table had none."""
    names = [feature.name for feature in estimator.feature_info_]
    return [f"x{d}" if name is None else name for d, name in enumerate(names)]


def number_of(estimator: Any, feature: Any) -> int:
    """Return the number of a feature given by its name or number."""
    names = names_of(estimator)
    if feature in names:
        return names.index(feature)
    if isinstance(feature, int | np.integer) and not isinstance(feature, bool):
        if 0 <= feature < len(names):
            return int(feature)
        raise ValueError(
            f"feature={feature}: the model has {len(names)} features; pass a name or a number "
            f"from 0 to {len(names) - 1}."
        )
    raise ValueError(
        f"feature={feature!r} is none of the {len(names)} features; {hint(feature, names)}."
    )


def hint(given: Any, known: list) -> str:
    """Return which of some names is most like the given one, or what they are.

    Examples
    --------
    >>> hint("Aeg", ["height", "age"]), hint("zip", ["height", "age"])
    ("use 'age'", "use one of ['height', 'age']")
    """
    shown = {str(name).casefold(): name for name in known}
    like = get_close_matches(str(given).casefold(), shown, 1, cutoff=0.5)
    if like:
        return f"use {shown[like[0]]!r}"
    some = f"{known[:_MOST_NAMED]!r}" if len(known) <= _MOST_NAMED else f"{known[:_MOST_NAMED]!r}…"
    return f"use one of {some}"


def class_model_indices(estimator: Any, models: list[ShapeModel], class_label: Any) -> list[int]:
    """Return the numbers of the models of a class, all of them for None."""
    classes = estimator.classes_.tolist()
    known = classes[1:] if len(models) == 1 else classes
    if class_label is None:
        return list(range(len(models)))
    if class_label not in known:
        raise ValueError(
            f"class_label={class_label!r}: there are curves for {known}; name one of them."
        )
    return [known.index(class_label)]


def training_density(estimator: Any) -> tuple[RowDensity, ...]:
    """Return where the training rows lie, or say that the model does not know."""
    density = getattr(estimator, "density_", None)
    if density is None:
        raise ValueError(
            f"{type(estimator).__name__} has no density_ of its training rows; pass rows to "
            f"explain_global(X), or fit again."
        )
    return density


def kind_of(feature: Feature) -> str:
    """Return what a feature is: a number or a category."""
    return "number" if feature.levels is None else "category"


def evaluate_on_density(shape: Shape, density: RowDensity) -> tuple[np.ndarray, np.ndarray]:
    """Return what a curve adds at each place where rows lie, and the weight of the rows there."""
    values, weights = shape(density.values), density.counts
    if density.missing > 0:
        values = np.append(values, shape.at_missing())
        weights = np.append(weights, density.missing)
    return values, weights


def spread(shape: Shape, density: RowDensity) -> float:
    """Return the standard deviation of a curve over the rows."""
    values, weights = evaluate_on_density(shape, density)
    mean = np.average(values, weights=weights)
    return float(np.sqrt(np.average((values - mean) ** 2, weights=weights)))


def spreads(
    models: Iterable[ShapeModel], density: Sequence[RowDensity | None]
) -> list[list[float]]:
    """Return how much each feature moves each score: a list per score, a number per feature.

    Where no rows are known (None), it is the standard deviation over the points of the curve.
    """
    return [
        [_move(shape, seen) for shape, seen in zip(model, density, strict=True)] for model in models
    ]


def _move(shape: Shape, seen: RowDensity | None) -> float:
    if seen is not None:
        return spread(shape, seen)
    return float(np.std(shape.levels if shape.is_category else shape.values))


def share_missing(density: RowDensity) -> float:
    """Return the share of the rows without a value."""
    return float(density.missing / (density.counts.sum() + density.missing))


def densities(rows: Any) -> tuple[RowDensity, ...]:
    """Return where given rows lie in each feature."""
    found = []
    for d in range(rows.shape[1]):
        x = rows[:, d]
        there = x[~np.isnan(x)].astype(np.float64)
        values, counts = np.unique(there, return_counts=True)
        found.append(RowDensity(values, counts.astype(np.float64), float(len(x) - len(there))))
    return tuple(found)


def _labels(estimator: Any, models: list[ShapeModel]) -> list[dict[str, Any]]:
    """Return what names the class of each set of curves: nothing for two classes."""
    return [{"class": label} for label in estimator.classes_.tolist()] if len(models) > 1 else [{}]


def _unlike(title: str, names: list) -> str:
    """Return a column's title that no feature has."""
    return f"({title})" if title in names else title


def _points(shape: Shape, feature: Feature) -> tuple[Any, np.ndarray]:
    """Return the knots or levels of a curve with its values, what is missing last."""
    places: Any = shape.knots if feature.levels is None else feature.levels
    values = shape.levels if shape.is_category else shape.values
    if shape.missing is None:
        return places, values
    kind = np.float64 if feature.levels is None else object
    return np.append(places.astype(kind), np.nan), np.append(values, shape.missing)


def _stumps(
    ensemble: Ensemble, names: list, features: tuple[Feature, ...]
) -> Iterator[dict[str, Any]]:
    """Yield each stump of a vote in words and numbers."""
    levels = [[] if feature.levels is None else feature.levels.tolist() for feature in features]
    for d, low, high, k, direction, weight in zip(*ensemble[:6], strict=True):
        level = levels[d][k] if k >= 0 else None
        yield {
            "feature": names[d],
            "question": f"{names[d]} {_asked(low, high, level)}",
            "direction": int(direction),
            "weight": float(weight),
            "low": float(low) if np.isfinite(low) else np.nan,
            "high": float(high) if np.isfinite(high) else np.nan,
            "level": level,
        }
    if ensemble.constant != 0.0:
        yield {
            "feature": None,
            "question": "always",
            "direction": int(np.sign(ensemble.constant)),
            "weight": abs(ensemble.constant),
            "low": np.nan,
            "high": np.nan,
            "level": None,
        }


def _asked(low: float, high: float, level: Any) -> str:
    if level is not None:
        return f"is {level!r}"
    if np.isinf(low):
        return "is missing"
    return f">= {low:.10g}" if low == high else f"from {low:.10g} to {high:.10g}"
