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


def error_of(model: Any, X: Any, y: Any) -> float:
    """Return the share of rows whose class is predicted wrongly."""
    unknown = set(np.unique(y).tolist()) - set(model.classes_.tolist())
    if unknown:
        raise RefusedError(
            f"The data have the label {sorted(unknown, key=str)[0]!r}, which the model does not "
            f"know; it knows {model.classes_.tolist()}."
        )
    return float(np.mean(model.predict(X) != y))


def held_out_of(model: Any, frame: Any, X: Any) -> tuple[Any, bool]:
    """Return the rows that were held out, of the table that a model was made from; else all.

    Also tells whether the rows are fresh ones.  Which were held out follows from the labels, the
    share and the seed.  ``X`` are the features of the table.
    """
    from everystump.study.fitting import fingerprint, split_rows
    from everystump.study.labels import labels_as_text

    about = getattr(model, "about_", {})
    target = about.get("target")
    if target not in frame.columns or "table" not in about:
        return frame, True
    known = frame[target].notna().to_numpy()
    frame = frame[known]
    labels = labels_as_text(frame[target].to_numpy())
    found = fingerprint(X[known], labels)
    if found[0] != about["table"][0]:
        return frame, True
    if found[1] != about["table"][1]:
        raise RefusedError(
            "The data are the rows that the model was made from, in another order, and which ones "
            "were held out cannot be told; pass the file as it was, or fresh rows."
        )
    if not about["n_held_out"]:
        return frame, False
    return frame.iloc[split_rows(labels, about["holdout"], about["seed"])[1]], True
