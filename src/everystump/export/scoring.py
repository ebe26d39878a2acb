"""What a JSON document says of rows: the scorer that other languages rewrite.

Nothing here knows the estimators, and NumPy is all it needs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from everystump.export.rows import read_rows

_FORMAT = ("everystump-model", 1)


class Scored(NamedTuple):
    """What a document says of some rows.

    Attributes
    ----------
    score : ndarray of shape (n_rows,) or (n_rows, n_classes)
        As `decision_function`; NaN for a row that lacks a value where none may be missing.
    label : list
        The class of each row, None where there is no score.
    probability : ndarray of shape (n_rows, n_classes) or None
        As `predict_proba`; None if the model has none.
    """

    score: np.ndarray
    label: list
    probability: np.ndarray | None


def score_json(document: str | bytes | Mapping[str, Any], rows: Any) -> Scored:
    """Score rows with a JSON document alone.

    Parameters
    ----------
    document : str, bytes or dict
        What `to_json` wrote, or what a JSON reader made of it.
    rows : frame, or sequence of dict or of sequences
        A frame has a column for each feature, by name, and may have others.  Dicts have the names
        of the features and no others; lists and arrays have their order.  A missing value is None,
        NaN, infinite, or what a frame has for them.

    Returns
    -------
    Scored
        Scores, labels, and probabilities if the model has them.

    Examples
    --------
    >>> from everystump import DecisionStumpClassifier
    >>> from everystump.export import to_json
    >>> stump = DecisionStumpClassifier().fit([[0], [1], [4], [5]], ["no", "no", "yes", "yes"])
    >>> score_json(to_json(stump), [{"x0": 2.5}, {"x0": -7}]).label
    ['yes', 'no']
    """
    known = _read(document)
    X = read_rows(known["features"], rows)
    scores = _scores(known, X)
    unread = np.isnan(X).any(axis=1) & (not known["takes_missing"])
    scores[unread] = np.nan
    said = zip(unread, _said(scores), strict=True)
    named = [None if no_score else known["classes"][k] for no_score, k in said]
    factor = known["log_odds"]
    probability = None if factor is None else _probabilities(factor * scores)
    return Scored(scores[:, 0] if scores.shape[1] == 1 else scores, named, probability)


def _read(document: Any) -> Mapping[str, Any]:
    """Return a document as a dict, or say that it is none."""
    known = document
    if isinstance(document, str | bytes | bytearray):
        try:
            known = json.loads(document)
        except ValueError as error:
            raise ValueError(
                f"document is no JSON ({error}); pass what everystump.export.to_json wrote."
            ) from error
    given = (known.get("format"), known.get("version")) if isinstance(known, Mapping) else None
    if given != _FORMAT:
        raise ValueError(
            f"document has the format and version {given}, and this scorer reads {_FORMAT}; write "
            f"it with everystump.export.to_json."
        )
    return known


def _scores(body: Mapping[str, Any], X: np.ndarray) -> np.ndarray:
    """Return the scores of a model or voter, (n_rows, n_scores)."""
    out = np.tile([score["intercept"] for score in body["scores"]], (len(X), 1))
    for k, score in enumerate(body["scores"]):
        for curve in score["curves"]:
            out[:, k] += _curve(curve, X[:, curve["feature"]])
    for projection in body.get("projections", []):
        rows = X[:, projection["features"]] - projection["centre"]
        places = rows @ np.transpose(projection["directions"])
        for k, curves in enumerate(projection["curves"]):
            for curve in curves:
                out[:, k] += _curve(curve, places[:, curve["direction"]])
    for kernel_sum in body.get("kernel_sums", []):
        out += _kernel(kernel_sum, X[:, kernel_sum["features"]]) @ np.array(kernel_sum["weights"])
    for vote in body.get("votes", []):
        out += np.array(vote["weights"])[_said(_scores(vote["voter"], X))]
    return out


def _said(scores: np.ndarray) -> np.ndarray:
    """Return the number of the class that each row's scores name."""
    return (scores[:, 0] > 0).astype(int) if scores.shape[1] == 1 else scores.argmax(axis=1)


def _curve(curve: Mapping[str, Any], x: np.ndarray) -> np.ndarray:
    """Return what a curve adds at each ``x``."""
    there = ~np.isnan(x)
    out = np.full(len(x), 0.0 if curve["missing"] is None else curve["missing"])
    if "level_values" in curve:
        values = np.append(curve["level_values"], 0.0)  # the last one is that of unknown levels
        out[there] = values[x[there].astype(int)]
    else:
        out[there] = _line(np.array(curve["knots"]), np.array(curve["values"]), x[there])
    return out


def _line(knots: np.ndarray, values: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return a curve at ``x``: straight between knots, flat beyond, right values at jumps."""
    k = np.searchsorted(knots, x, side="right")
    low, high = np.clip(k - 1, 0, None), np.clip(k, None, len(knots) - 1)
    rise = values[high] - values[low]
    inside = (low < high) & (k > 0) & (rise != 0.0)
    out = np.where(k > 0, values[low], values[0])
    low, high = low[inside], high[inside]
    with np.errstate(over="ignore"):
        slope = rise[inside] / (knots[high] - knots[low])
    found = values[low] + np.where(np.isfinite(slope), slope, 0.0) * (x[inside] - knots[low])
    # Rounding must not lead beyond the next knot's value: monotone curves stay so.
    ends = values[low], values[high]
    out[inside] = np.clip(found, np.minimum(*ends), np.maximum(*ends))
    return out


def _kernel(kernel_sum: Mapping[str, Any], X: np.ndarray) -> np.ndarray:
    """Return the products of the rows with the support vectors."""
    name, rows = kernel_sum["kernel"], np.array(kernel_sum["rows"])
    if name == "linear":
        return X @ rows.T
    if name == "middle":
        cuts = kernel_sum["cuts"]
        return sum(map(len, cuts)) / 2 - _apart(_places(X, cuts), _places(rows, cuts), 1)
    if name == "stump":
        return kernel_sum["constant"] - _apart(X, rows, 1)
    if name == "perceptron":
        return kernel_sum["constant"] - np.sqrt(_apart(X, rows, 2))
    if name == "scaled_perceptron":
        return kernel_sum["constant"] - np.sqrt(_apart(X * kernel_sum["scale"], rows, 2))
    return np.exp(-kernel_sum["gamma"] * _apart(X, rows, 1 if name == "laplacian" else 2))


def _apart(X: np.ndarray, rows: np.ndarray, power: int) -> np.ndarray:
    """Return the sum over the features of ``|x - y|^power``."""
    out = np.zeros((len(X), len(rows)))
    for x, y in zip(X.T, rows.T, strict=True):
        out += np.abs(x[:, None] - y) ** power
    return out


def _places(X: np.ndarray, cuts: Sequence[Sequence[float]]) -> np.ndarray:
    """Return how many cuts of its feature lie up to each value."""
    columns = zip(cuts, X.T, strict=True)
    places = [np.searchsorted(np.array(c, dtype=np.float64), x, side="right") for c, x in columns]
    return np.column_stack(places).astype(np.float64)


def _probabilities(log_odds: np.ndarray) -> np.ndarray:
    """Return the chance of each class: of several, each against the rest, scaled to sum to 1."""
    if log_odds.shape[1] == 1:
        return np.exp(-np.logaddexp(0.0, np.column_stack([log_odds, -log_odds])))
    log_p = -np.logaddexp(0.0, -log_odds)
    chance = np.exp(log_p - log_p.max(axis=1, keepdims=True))
    return chance / chance.sum(axis=1, keepdims=True)
