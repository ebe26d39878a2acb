"""Score rows with a JSON document: the reference for scorers in other languages.

It uses the document and the formulas of the kernels, but no estimator.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from everystump._core.kernel_machines.registry import KERNELS, count_cuts, kernel_constant
from everystump.export._rows import rows_to_matrix

_FORMAT, _VERSIONS = "everystump-model", (1, 2, 3)
# What a prediction is of a score, by the link of a regressor.
_INVERSE_LINKS: dict[str, Callable[[np.ndarray], np.ndarray]] = {"identity": np.copy, "log": np.exp}


class JsonScores(NamedTuple):
    """The predictions of a document for some rows.

    Attributes
    ----------
    score : ndarray of shape (n_rows,) or (n_rows, n_classes)
        As `decision_function`; NaN for a row with a missing value if the model accepts none.  The
        score of a regressor is its prediction or, with a log link, the logarithm of it.
    label : list or None
        The predicted class of each row, None where there is no score; None for a regressor.
    probability : ndarray of shape (n_rows, n_classes) or None
        As `predict_proba`; None if the model has none.
    prediction : ndarray of shape (n_rows,) or None
        As `predict` of a regressor; None for a classifier.
    """

    score: np.ndarray
    label: list | None
    probability: np.ndarray | None
    prediction: np.ndarray | None = None


def score_json(document: str | bytes | Mapping[str, Any], rows: Any) -> JsonScores:
    """Score rows with a JSON document alone.

    Parameters
    ----------
    document : str, bytes or dict
        The output of `to_json`, or the dict that a JSON parser returns for it.
    rows : frame, or sequence of dict or of sequences
        A frame has a column named after each feature, and may have others.  Dicts have the names of
        the features as keys and no others; lists and arrays have the values in the order of the
        features.  A missing value is None, NaN, infinite, or a frame's missing value.

    Returns
    -------
    JsonScores
        Scores, and for a classifier labels, and probabilities if it has them; for a regressor
        predictions.

    Examples
    --------
    >>> from everystump import DecisionStumpClassifier
    >>> from everystump.export import to_json
    >>> stump = DecisionStumpClassifier().fit([[0], [1], [4], [5]], ["no", "no", "yes", "yes"])
    >>> score_json(to_json(stump), [{"x0": 2.5}, {"x0": -7}]).label
    ['yes', 'no']
    """
    model = _parse(document)
    X = rows_to_matrix(model["features"], rows)
    scores = _scores(model, X)
    no_score = np.isnan(X).any(axis=1) & (not model["takes_missing"])
    scores[no_score] = np.nan
    if "link" in model:
        prediction = _INVERSE_LINKS[model["link"]](scores[:, 0])
        return JsonScores(scores[:, 0], None, None, prediction)
    predicted = zip(no_score, _class_indices(scores), strict=True)
    labels = [None if is_missing else model["classes"][k] for is_missing, k in predicted]
    factor = model["log_odds"]
    softmax = model.get("probabilities") == "softmax"
    probability = None if factor is None else _probabilities(factor * scores, softmax=softmax)
    return JsonScores(scores[:, 0] if scores.shape[1] == 1 else scores, labels, probability)


def _parse(document: Any) -> Mapping[str, Any]:
    """Return a document as a dict, after checking its format and version."""
    parsed = document
    if isinstance(document, str | bytes | bytearray):
        try:
            parsed = json.loads(document)
        except ValueError as error:
            raise ValueError(
                f"document is not valid JSON ({error}); pass the output of "
                f"everystump.export.to_json."
            ) from error
    header = (parsed.get("format"), parsed.get("version")) if isinstance(parsed, Mapping) else None
    if header not in {(_FORMAT, version) for version in _VERSIONS}:
        raise ValueError(
            f"document has the format and version {header}, but score_json reads {_FORMAT!r} in "
            f"versions 1 to 3; write it with everystump.export.to_json."
        )
    return parsed


def _scores(terms: Mapping[str, Any], X: np.ndarray) -> np.ndarray:
    """Return the scores of a model or voter, (n_rows, n_scores)."""
    out = np.tile([score["intercept"] for score in terms["scores"]], (len(X), 1))
    for k, score in enumerate(terms["scores"]):
        for curve in score["curves"]:
            out[:, k] += _curve(curve, X[:, curve["feature"]])
        for surface in score.get("surfaces", []):
            out[:, k] += _surface(surface, X[:, surface["features"]])
    for projection in terms.get("projections", []):
        rows = X[:, projection["features"]] - projection["centre"]
        projected = rows @ np.transpose(projection["directions"])
        for k, curves in enumerate(projection["curves"]):
            for curve in curves:
                out[:, k] += _curve(curve, projected[:, curve["direction"]])
    for kernel_sum in terms.get("kernel_sums", []):
        out += _kernel(kernel_sum, X[:, kernel_sum["features"]]) @ np.array(kernel_sum["weights"])
    for vote in terms.get("votes", []):
        out += np.array(vote["weights"])[_class_indices(_scores(vote["voter"], X))]
    return out


def _class_indices(scores: np.ndarray) -> np.ndarray:
    """Return the index of the class that each row's scores predict."""
    return (scores[:, 0] > 0).astype(int) if scores.shape[1] == 1 else scores.argmax(axis=1)


def _curve(curve: Mapping[str, Any], x: np.ndarray) -> np.ndarray:
    """Return the value of a curve at each ``x``."""
    present = ~np.isnan(x)
    out = np.full(len(x), 0.0 if curve["missing"] is None else curve["missing"])
    if "level_values" in curve:
        values = np.append(curve["level_values"], 0.0)  # the last one is for unknown levels, -1
        out[present] = values[x[present].astype(int)]
    else:
        out[present] = _line(np.array(curve["knots"]), np.array(curve["values"]), x[present])
    return out


def _line(knots: np.ndarray, values: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return a curve at ``x``: linear between knots, flat beyond, right-continuous at jumps."""
    k = np.searchsorted(knots, x, side="right")
    low, high = np.clip(k - 1, 0, None), np.clip(k, None, len(knots) - 1)
    rise = values[high] - values[low]
    inside = (low < high) & (k > 0) & (rise != 0.0)
    out = np.where(k > 0, values[low], values[0])
    low, high = low[inside], high[inside]
    with np.errstate(over="ignore"):
        slope = rise[inside] / (knots[high] - knots[low])
    interpolated = values[low] + np.where(np.isfinite(slope), slope, 0.0) * (x[inside] - knots[low])
    # Rounding must not go beyond the value at the next knot: monotonic curves stay monotonic.
    ends = values[low], values[high]
    out[inside] = np.clip(interpolated, np.minimum(*ends), np.maximum(*ends))
    return out


def _surface(surface: Mapping[str, Any], X: np.ndarray) -> np.ndarray:
    """Return the value of a surface at each row, the weighted mean of 1 to 8 of its values."""
    values, out = np.array(surface["values"]), np.zeros(len(X))
    positions = [_position(axis, x) for axis, x in zip(surface["axes"], X.T, strict=True)]
    is_known = np.all([position.is_known for position in positions], axis=0)
    for corner in product((0, 1), repeat=len(positions)):
        index, weight = [], np.ones(len(X))
        for position, is_upper in zip(positions, corner, strict=True):
            index.append(position.upper if is_upper else position.lower)
            weight *= position.fraction if is_upper else 1.0 - position.fraction
        out += weight * values[tuple(index)]
    return np.where(is_known, out, 0.0)


class _Position(NamedTuple):
    """Where rows are along an axis: the entries below and above, and how far they are between."""

    lower: np.ndarray
    upper: np.ndarray
    fraction: np.ndarray
    is_known: np.ndarray  # false at unknown levels, and at missing values without an entry


def _position(axis: Mapping[str, Any], x: np.ndarray) -> _Position:
    is_missing = np.isnan(x)
    x = np.where(is_missing, 0.0, x)
    if "levels" in axis:
        n_entries = axis["levels"]
        is_known = (x >= 0.0) & (x < n_entries)
        lower = upper = np.where(is_known, x, 0.0).astype(int)
        fraction = np.zeros(len(x))
    else:
        knots = np.array(axis["knots"])
        n_entries, is_known = len(knots), np.ones(len(x), dtype=bool)
        lower = np.clip(np.searchsorted(knots, x, side="right") - 1, 0, None)
        upper = np.clip(lower + 1, None, n_entries - 1)
        with np.errstate(over="ignore"):
            width = knots[upper] - knots[lower]
        is_inside = (width > 0.0) & np.isfinite(width) & (x > knots[lower])
        distance = np.where(is_inside, x - knots[lower], 0.0)
        fraction = distance / np.where(is_inside, width, 1.0)
    lower, upper = (np.where(is_missing, n_entries, index) for index in (lower, upper))
    fraction[is_missing] = 0.0
    if not axis["missing"]:
        lower, upper = (np.where(is_missing, 0, index) for index in (lower, upper))
    return _Position(lower, upper, fraction, np.where(is_missing, axis["missing"], is_known))


def _kernel(kernel_sum: Mapping[str, Any], X: np.ndarray) -> np.ndarray:
    """Return the kernel of the rows and the support vectors."""
    spec = KERNELS[kernel_sum["kernel"].removeprefix("scaled_")]
    rows = np.array(kernel_sum["rows"])
    if spec.is_linear:
        return X @ rows.T
    if "cuts" in kernel_sum:
        X, rows = count_cuts(X, kernel_sum["cuts"]), count_cuts(rows, kernel_sum["cuts"])
    if "scale" in kernel_sum:
        X = X * kernel_sum["scale"]
    distance = _power_sum(X, rows, 1 if spec.distance == "manhattan" else 2)
    if spec.distance == "euclidean":
        distance = np.sqrt(distance)
    if spec.takes_gamma:
        return np.exp(-kernel_sum["gamma"] * distance)
    return kernel_constant(kernel_sum) - distance


def _power_sum(X: np.ndarray, rows: np.ndarray, power: int) -> np.ndarray:
    """Return the sum over the features of ``|x - y|^power``."""
    out = np.zeros((len(X), len(rows)))
    for x, y in zip(X.T, rows.T, strict=True):
        out += np.abs(x[:, None] - y) ** power
    return out


def _probabilities(log_odds: np.ndarray, *, softmax: bool) -> np.ndarray:
    """Return class probabilities: of several classes a softmax, or normalized one-vs-rest ones."""
    if log_odds.shape[1] == 1:
        return np.exp(-np.logaddexp(0.0, np.column_stack([log_odds, -log_odds])))
    log_p = log_odds if softmax else -np.logaddexp(0.0, -log_odds)
    p = np.exp(log_p - log_p.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)
