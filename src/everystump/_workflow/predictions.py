"""What a model says of rows, as a table."""

from __future__ import annotations

from typing import Any

import numpy as np

from everystump._text import pluralize
from everystump._workflow import InvalidInputError, asking

NOT_FEATURES = ("(intercept)", "(score)")


def predictions(model: Any, X: Any, kept: Any) -> Any:
    """Return classes, scores and, if there are any, probabilities, beside some kept columns.

    Scores are the model's own.  Of two classes the probability is that of the positive one.
    """
    import pandas as pd

    with asking():
        columns = {"prediction": model.predict(X)}
        columns |= _by_class("score", model, model.decision_function(X))
        if hasattr(model, "predict_proba"):
            probabilities = _by_class("probability", model, model.predict_proba(X))
            several = len(model.classes_) > 2
            columns |= probabilities if several else _positive_one(model, probabilities)
    taken = next((name for name in kept.columns if name in columns), None)
    if taken is not None:
        raise InvalidInputError(f"--keep {taken}: the output has a column of that name; rename it.")
    return pd.DataFrame({name: kept[name].to_numpy() for name in kept.columns} | columns)


def _by_class(what: str, model: Any, values: np.ndarray) -> dict[str, np.ndarray]:
    """Return a column, or one per class."""
    if values.ndim == 1:
        return {what: values}
    return {f"{what} {label}": values[:, k] for k, label in enumerate(model.classes_.tolist())}


def _positive_one(model: Any, probabilities: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the probabilities of the positive label."""
    wanted = f"probability {getattr(model, 'about_', {}).get('positive')}"
    name = wanted if wanted in probabilities else list(probabilities)[1]
    return {name: probabilities[name]}


def explanation(model: Any, X: Any) -> Any:
    """Return what each feature adds to the score of each row; several classes in columns each."""
    with asking():
        parts = model.explain_local(X)
    if parts.columns.nlevels > 1:
        return parts.set_axis([f"{name} {label}" for label, name in parts.columns], axis=1)
    return parts


def row_contributions(model: Any, X: Any, row: int) -> Any:
    """Return what each feature adds to the score of one row, the one that adds most first.

    Of several classes each has its column; features are sorted by the most that they add to any.
    """
    import pandas as pd

    if row >= len(X):
        raise InvalidInputError(
            f"--row {row}: the data have {pluralize(len(X), 'row')}, 0 the first; choose one."
        )
    one = X.iloc[[row]]
    parts = explanation(model, one).to_numpy()
    titles = ["contribution"]
    if len(model.classes_) > 2:
        titles = [str(label) for label in model.classes_.tolist()]
    adds = parts.reshape(len(titles), -1).T  # the intercept, the features, the score
    order = 1 + np.argsort(-np.abs(adds[1:-1]).max(axis=1), kind="stable")
    rows = [(X.columns[d - 1], one.iat[0, d - 1], adds[d]) for d in order.tolist()]
    rows += [(NOT_FEATURES[0], None, adds[0]), (NOT_FEATURES[1], None, adds[-1])]
    return pd.DataFrame(
        [
            {"feature": name, "value": value} | dict(zip(titles, each.tolist(), strict=True))
            for name, value, each in rows
        ]
    )


def row_prediction(model: Any, X: Any, row: int) -> dict[str, Any]:
    """Return the predicted class of a row, and its scores and probabilities by class.

    Of two classes the score is that of the second, which one above zero favors.
    """
    one, classes = X.iloc[[row]], model.classes_.tolist()
    with asking():
        scores = np.ravel(model.decision_function(one)).tolist()
        record = {"prediction": model.predict(one).tolist()[0]}
        record["score"] = (
            scores[0] if len(classes) == 2 else dict(zip(classes, scores, strict=True))
        )
        if hasattr(model, "predict_proba"):
            probabilities = model.predict_proba(one)[0].tolist()
            record["probability"] = dict(zip(classes, probabilities, strict=True))
    return record


def importances(model: Any) -> tuple[Any, str]:
    """Return the features by importance, and which rows it was measured on.

    These are the rows that were held out, if some were and the model has not been edited since.
    """
    frame, known = model.explain_global(), getattr(model, "about_", {}).get("importances")
    if known is None or model.edits_:
        return frame, "training rows"
    names = [str(name) for name in model.feature_names_in_]
    classes = model.classes_.tolist() if len(known["values"]) > 1 else [None]
    measured = {
        (label, name): value
        for label, values in zip(classes, known["values"], strict=True)
        for name, value in zip(names, values, strict=True)
    }
    of = frame["class"] if "class" in frame else [None] * len(frame)
    each = [measured[label, str(name)] for label, name in zip(of, frame["feature"], strict=True)]
    frame = frame.assign(importance=each)
    rows = pluralize(known["n_rows"], "held-out row")
    return frame.sort_values("importance", ascending=False, kind="stable", ignore_index=True), rows
