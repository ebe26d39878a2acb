"""A model as an ONNX graph in double precision."""

from __future__ import annotations

from typing import Any

import numpy as np

from everystump.export.onnxgraph import Graph
from everystump.export.onnxterms import Matrix, Terms, winner
from everystump.export.readable import readable
from everystump.export.record import Model, holds_text

_OUTPUTS = ("label", "score", "probability")


def to_onnx(model: Any) -> bytes:
    """Return a fitted model as the bytes of an ONNX file; needs the ``onnx`` extra.

    If no feature is text there is one input, ``X`` of shape (n_rows, n_features).  Else there is
    one of shape (n_rows, 1) for each feature under its name: text for categories of text, numbers
    of double precision for all others.  A missing number is NaN, a missing text is empty, unless
    the empty text is a level.  The outputs are ``label``, ``score`` and, where the estimator has
    `predict_proba`, ``probability``.

    Parameters
    ----------
    model : estimator or Pipeline
        A fitted estimator of this package, or a pipeline that scales, fills or selects columns and
        ends in an additive one.

    Returns
    -------
    bytes
        The model, of operator sets 13 and ai.onnx.ml 3.

    Examples
    --------
    >>> from everystump import DecisionStumpClassifier
    >>> stump = DecisionStumpClassifier().fit([[0], [1], [4], [5]], ["no", "no", "yes", "yes"])
    >>> len(to_onnx(stump)) > 100
    True
    """
    return _Writer(_onnx(), readable(model)).model()


def _onnx() -> Any:
    """Return the package, or say how to get it."""
    try:
        import onnx
        import onnx.checker
        import onnx.helper
        import onnx.numpy_helper
    except ImportError as error:
        raise ImportError(
            "Export to ONNX needs the package onnx, which is not installed: "
            "pip install 'everystump[onnx]'."
        ) from error
    return onnx


class _Writer:
    """Writes inputs, scores and outputs of one model."""

    def __init__(self, onnx: Any, model: Model) -> None:
        self._model = model
        self._inputs = _input_names(model)
        self._graph = Graph(onnx, {*self._inputs, *_OUTPUTS})

    def model(self) -> bytes:
        """Return the bytes of the file."""
        terms = self._read()
        scores = self._graph.op("Identity", terms.scores(self._model.body))
        if not self._model.takes_missing:
            scores = self._refuse_missing(scores)
        self._write(scores)
        return self._graph.model(self._model.estimator)

    def _read(self) -> Terms:
        """Declare the inputs; read numbers as one matrix, text as the numbers of its levels."""
        graph, features = self._graph, self._model.features
        codes: dict[int, str] = {}
        column: dict[int, int] = {}
        for d, feature in enumerate(features):
            if holds_text(feature):
                codes[d] = self._coded(d)
            else:
                column[d] = len(column)
        if codes:
            for d, name in enumerate(self._inputs):
                graph.end("inputs", name, str if d in codes else np.float64, ["N", 1])
        else:
            graph.end("inputs", "X", np.float64, ["N", len(features)])
        given = [self._inputs[d] for d in column] if codes else ["X"]
        self._matrix = Matrix("", None, 0)
        if column:
            X = graph.side_by_side(given)
            zero = graph.constant(0.0)
            there = graph.op("Equal", graph.op("Sub", X, X), zero)
            self._matrix = Matrix(graph.op("Where", there, X, zero), there, len(column))
        return Terms(graph, features, self._matrix, column, codes)

    def _coded(self, d: int) -> str:
        """Return the numbers of a text's levels; unknown ones and what is missing come last."""
        levels = self._model.features[d].levels
        known = [] if levels is None else levels.tolist()
        number = {"": len(known) + 1, **{level: k for k, level in enumerate(known)}}
        return self._graph.ml_op(
            "LabelEncoder",
            self._inputs[d],
            keys_strings=list(number),
            values_int64s=list(number.values()),
            default_int64=len(known),
        )

    def _refuse_missing(self, scores: str) -> str:
        """Return scores that are NaN for rows that lack a value."""
        graph = self._graph
        there = graph.cast(str(self._matrix.there), np.float64)
        whole = graph.op("ReduceMin", there, axes=[1], keepdims=1)
        complete = graph.op("Greater", whole, graph.constant(0.0))
        return graph.op("Where", complete, scores, graph.constant(np.nan))

    def _write(self, scores: str) -> None:
        """Declare the outputs."""
        graph, n_scores = self._graph, self._model.body.n_scores
        classes = np.array(self._model.classes)
        labels = graph.constant(classes.astype(object) if classes.dtype.kind == "U" else classes)
        graph.op("Gather", labels, winner(graph, scores, n_scores), out="label")
        graph.end("outputs", "label", classes.dtype, ["N"])
        if n_scores == 1:
            graph.op("Squeeze", scores, graph.constant(np.array([1])), out="score")
        else:
            graph.op("Identity", scores, out="score")
        graph.end("outputs", "score", np.float64, ["N"] if n_scores == 1 else ["N", n_scores])
        if self._model.log_odds is not None:
            self._write_probability(scores, self._model.log_odds)

    def _write_probability(self, scores: str, factor: float) -> None:
        graph, n_scores = self._graph, self._model.body.n_scores
        odds = graph.op("Mul", scores, graph.constant(factor))
        if n_scores == 1:
            both = graph.op("Concat", graph.op("Neg", odds), odds, axis=1)
            graph.op("Sigmoid", both, out="probability")
        else:  # each against the rest, scaled to sum to 1
            far = graph.op("Exp", graph.op("Neg", graph.op("Abs", odds)))
            over = graph.op("Log", graph.op("Add", far, graph.constant(1.0)))
            low = graph.op("Min", odds, graph.constant(0.0))
            graph.op("Softmax", graph.op("Sub", low, over), axis=1, out="probability")
        graph.end("outputs", "probability", np.float64, ["N", len(self._model.classes)])


def _input_names(model: Model) -> list[str]:
    """Return the names of the inputs; one that an output has gets ``input_`` before it."""
    if not any(holds_text(feature) for feature in model.features):
        return ["X"]
    names: list[str] = []
    for name in model.names:
        while name in _OUTPUTS or name in names:
            name = f"input_{name}"
        names.append(name)
    return names
