"""What a model says of rows, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from everystump.study import RefusedError


def predictions(model: Any, X: Any, frame: Any, keep: Sequence[str]) -> Any:
    """Return classes, scores and probabilities, beside some columns of the table.

    Of two classes, scores and probabilities are those of the positive one.
    """
    import pandas as pd

    for name in keep:
        if name not in frame.columns:
            raise RefusedError(f"--keep {name}: the data have no such column.")
        if name.split(" ")[0] in ("prediction", "score", "probability"):
            raise RefusedError(f"--keep {name}: the output has a column of that name; rename it.")
    columns = {name: frame[name].to_numpy() for name in keep}
    columns["prediction"] = model.predict(X)
    score = model.decision_function(X)
    classes = model.classes_.tolist()
    shown = [str(label) for label in classes]
    if score.ndim == 1:
        first = classes.index(positive_of(model)) == 0
        columns["score"] = -score if first else score
        if hasattr(model, "predict_proba"):
            columns["probability"] = model.predict_proba(X)[:, 0 if first else 1]
    else:
        columns |= {f"score {name}": score[:, k] for k, name in enumerate(shown)}
        if hasattr(model, "predict_proba"):
            chances = model.predict_proba(X)
            columns |= {f"probability {name}": chances[:, k] for k, name in enumerate(shown)}
    return pd.DataFrame(columns)


def positive_of(model: Any) -> Any:
    """Return the positive label of a model of two classes."""
    classes = model.classes_.tolist()
    wanted = getattr(model, "about_", {}).get("positive", classes[1])
    return wanted if wanted in classes else classes[1]


def explanation(model: Any, X: Any) -> Any:
    """Return what each feature adds to the score of each row.

    Of two classes it is the score of the positive one; of several, each has its own columns.
    """
    parts = model.explain_local(X)
    if parts.columns.nlevels > 1:
        return parts.set_axis([f"{name} {label}" for label, name in parts.columns], axis=1)
    return -parts if model.classes_.tolist()[0] == positive_of(model) else parts


def explained_row(model: Any, X: Any, row: int) -> Any:
    """Return what each feature adds to the score of one row, the one that adds most first.

    Of several classes each has its column; features are sorted by the most that they add to any.
    """
    import pandas as pd

    if row >= len(X):
        raise RefusedError(f"--row {row}: the data have {len(X)} rows, 0 the first.")
    one = X.iloc[[row]]
    parts = explanation(model, one).to_numpy()
    titles = ["contribution"]
    if len(model.classes_) > 2:
        titles = [str(label) for label in model.classes_.tolist()]
    adds = parts.reshape(len(titles), -1).T  # the intercept, the features, the score
    order = 1 + np.argsort(-np.abs(adds[1:-1]).max(axis=1), kind="stable")
    rows = [(X.columns[d - 1], one.iat[0, d - 1], adds[d]) for d in order.tolist()]
    rows += [("(intercept)", None, adds[0]), ("(score)", None, adds[-1])]
    return pd.DataFrame(
        [
            {"feature": name, "value": value} | dict(zip(titles, each.tolist(), strict=True))
            for name, value, each in rows
        ]
    )


def error_of(model: Any, X: Any, y: np.ndarray) -> float:
    """Return the share of rows whose class is predicted wrongly."""
    return float(np.mean(model.predict(X) != y))
