"""A table beside a model: the columns that it looks at, the labels, and which rows are fresh."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from everystump.study import RefusedError
from everystump.study.labels import labels_as_text
from everystump.study.plan import split_rows
from everystump.study.rowmarks import mark_rows, mark_table, share_known

_CHANCE = 0.01


@dataclass(frozen=True, eq=False)
class Trial:
    """Rows to judge a model by.

    Attributes
    ----------
    X : pandas.DataFrame
        The features.
    y : ndarray or None
        The labels as the model has them, None if the table has none.
    fresh : bool
        Whether the model did not learn from the rows.
    doubt : str or None
        Why they may not be fresh after all.
    """

    X: Any
    y: np.ndarray | None
    fresh: bool = True
    doubt: str | None = None

    def part(self, rows: np.ndarray) -> Trial:
        """Return some of the rows."""
        return Trial(self.X.iloc[rows], None if self.y is None else self.y[rows])


def features_of(model: Any, frame: Any) -> Any:
    """Return the columns that a model looks at."""
    names = [str(name) for name in model.feature_names_in_]
    absent = [name for name in names if name not in frame.columns]
    if absent:
        more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
        raise RefusedError(f"The data lack the column {absent[0]!r}{more}, which the model needs.")
    text = [feature.levels is not None and feature.kind == "text" for feature in model.features_]
    drifted = [name for name, is_text in zip(names, text, strict=True) if is_text]
    return frame[names].assign(**{name: _as_text(frame[name]) for name in drifted})


def trial_of(model: Any, frame: Any) -> Trial:
    """Return the rows of a table to judge a model by.

    Of the table that it was made from, these are the ones that were held out: which they are
    follows from the labels, the share and the seed.
    """
    about = getattr(model, "about_", {})
    target = about.get("target")
    if target not in frame.columns:
        return Trial(features_of(model, frame), None)
    frame = frame[frame[target].notna().to_numpy()]
    trial = Trial(features_of(model, frame), _labels(model, frame[target]))
    if "table" not in about:
        return trial
    labels = labels_as_text(frame[target].to_numpy())
    marks = mark_rows(trial.X, labels)
    found = mark_table(marks)
    if found == about["table"]:
        if not about["n_held_out"]:
            return Trial(trial.X, trial.y, fresh=False)
        return trial.part(split_rows(labels, about["holdout"], about["seed"])[1])
    if found[0] == about["table"][0]:
        raise RefusedError(
            "The data are the rows that the model was made from, in another order, and which ones "
            "were held out cannot be told; pass the file as it was, or fresh rows."
        )
    return Trial(trial.X, trial.y, doubt=_doubt(share_known(marks, about["learned"])))


def _doubt(share: float) -> str | None:
    """Return a warning if more rows than chance would have it are like training rows."""
    if share < _CHANCE:
        return None
    return (
        f"about {100 * share:.0f} % of these rows equal rows that the model learned from; if they "
        f"are the same ones, the error is too low and the bound does not hold."
    )


def _labels(model: Any, column: Any) -> np.ndarray:
    """Return labels as the model has them."""
    is_text = model.classes_.dtype.kind in "OU"
    y = _as_text(column).to_numpy(dtype=object) if is_text else column.to_numpy()
    known = model.classes_.tolist()
    unknown = sorted(set(y.tolist()) - set(known), key=str)
    if unknown:
        raise RefusedError(
            f"{column.name!r} is {unknown[0]!r} in some rows, which is none of the labels that the "
            f"model knows, {known}; mend or leave out the rows."
        )
    return y


def _as_text(column: Any) -> Any:
    """Return a column that was text in training as text: another file may have numbers only."""
    if column.dtype.kind not in "iufb":
        return column
    out = column.astype(object)
    there = column.notna().to_numpy()
    out[there] = labels_as_text(column[there].to_numpy())
    return out.where(there, None)
