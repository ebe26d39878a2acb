"""A fitted model as an ONNX graph in double precision."""

from __future__ import annotations

from typing import Any

import numpy as np

from everystump.export._onnx_graph import Graph
from everystump.export._onnx_search import Matrix
from everystump.export._onnx_terms import OnnxTerms, class_index
from everystump.export._reader import read_model
from everystump.export._record import ModelRecord, is_text

_CLASSIFIER_OUTPUTS, _REGRESSOR_OUTPUTS = ("label", "score", "probability"), ("variable",)
# The operator that turns a score into a prediction, by the link of a regressor.
_INVERSE_LINKS = {"identity": "Identity", "log": "Exp"}


def to_onnx(model: Any) -> bytes:
    """Return a fitted model as the bytes of an ONNX file; needs the ``onnx`` extra.

    If no feature is text there is one input, ``X`` of shape (n_rows, n_features).  Otherwise each
    feature has an input with its name and of shape (n_rows, 1): strings for categories of text,
    double-precision numbers for all others.  A missing number is NaN; a missing text is the empty
    string, unless that is a level.  The outputs of a classifier are ``label``, ``score`` and, where
    it has `predict_proba`, ``probability``; a regressor has the output ``variable`` of shape
    (n_rows, 1), the name that converters such as skl2onnx use.

    Parameters
    ----------
    model : estimator or Pipeline
        A fitted estimator of this package, or a pipeline of scalers, imputers and column selections
        that ends in an additive one.

    Returns
    -------
    bytes
        The model, for operator sets 13 and ai.onnx.ml 3.

    Examples
    --------
    >>> from everystump import DecisionStumpClassifier
    >>> stump = DecisionStumpClassifier().fit([[0], [1], [4], [5]], ["no", "no", "yes", "yes"])
    >>> len(to_onnx(stump)) > 100
    True
    """
    return _Writer(_import_onnx(), read_model(model)).serialize()


def _import_onnx() -> Any:
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

    def __init__(self, onnx: Any, record: ModelRecord) -> None:
        self._record = record
        self._inputs = _input_names(record)
        self._graph = Graph(onnx, {*self._inputs, *_output_names(record)})

    def serialize(self) -> bytes:
        """Return the bytes of the file."""
        terms = self._read_inputs()
        scores = self._graph.op("Identity", terms.scores(self._record.terms))
        if not self._record.takes_missing:
            scores = self._nan_if_missing(scores)
        if self._record.link is None:
            self._write_classes(scores)
        else:
            self._graph.op(_INVERSE_LINKS[self._record.link], scores, out="variable")
            self._graph.declare("outputs", "variable", np.float64, ["N", 1])
        return self._graph.serialize(self._record.estimator)

    def _read_inputs(self) -> OnnxTerms:
        """Declare the inputs; read numbers as one matrix, text as codes of levels."""
        graph, features = self._graph, self._record.features
        codes: dict[int, str] = {}
        column: dict[int, int] = {}
        for d, feature in enumerate(features):
            if is_text(feature):
                codes[d] = self._encode(d)
            else:
                column[d] = len(column)
        if codes:
            for d, name in enumerate(self._inputs):
                graph.declare("inputs", name, str if d in codes else np.float64, ["N", 1])
        else:
            graph.declare("inputs", "X", np.float64, ["N", len(features)])
        self._matrix = Matrix("", None, 0)
        if column:
            X = graph.concat([self._inputs[d] for d in column] if codes else ["X"])
            zero = graph.constant(0.0)
            present = graph.op("Equal", graph.op("Sub", X, X), zero)
            self._matrix = Matrix(graph.op("Where", present, X, zero), present, len(column))
        return OnnxTerms(graph, features, self._matrix, column, codes)

    def _encode(self, d: int) -> str:
        """Return the codes of a text's levels; unknown levels and missing values come last."""
        levels = self._record.features[d].levels
        level_list = [] if levels is None else levels.tolist()
        code = {"": len(level_list) + 1, **{level: k for k, level in enumerate(level_list)}}
        return self._graph.ml_op(
            "LabelEncoder",
            self._inputs[d],
            keys_strings=list(code),
            values_int64s=list(code.values()),
            default_int64=len(level_list),
        )

    def _nan_if_missing(self, scores: str) -> str:
        """Return scores that are NaN for rows with a missing value."""
        graph = self._graph
        present = graph.cast(str(self._matrix.present), np.float64)
        all_present = graph.op("ReduceMin", present, axes=[1], keepdims=1)
        is_complete = graph.op("Greater", all_present, graph.constant(0.0))
        return graph.op("Where", is_complete, scores, graph.constant(np.nan))

    def _write_classes(self, scores: str) -> None:
        """Declare the outputs of a classifier."""
        graph, n_scores = self._graph, self._record.terms.n_scores
        classes = np.array(self._record.classes)
        labels = graph.constant(classes.astype(object) if classes.dtype.kind == "U" else classes)
        graph.op("Gather", labels, class_index(graph, scores, n_scores), out="label")
        graph.declare("outputs", "label", classes.dtype, ["N"])
        if n_scores == 1:
            graph.op("Squeeze", scores, graph.constant(np.array([1])), out="score")
        else:
            graph.op("Identity", scores, out="score")
        graph.declare("outputs", "score", np.float64, ["N"] if n_scores == 1 else ["N", n_scores])
        if self._record.log_odds is not None:
            self._write_probability(scores, self._record.log_odds)

    def _write_probability(self, scores: str, factor: float) -> None:
        graph, n_scores = self._graph, self._record.terms.n_scores
        odds = graph.op("Mul", scores, graph.constant(factor))
        if n_scores == 1:
            both = graph.op("Concat", graph.op("Neg", odds), odds, axis=1)
            graph.op("Sigmoid", both, out="probability")
        elif self._record.softmax:
            graph.op("Softmax", odds, axis=1, out="probability")
        else:  # one-vs-rest probabilities, normalized: softmax of log(sigmoid(odds))
            exponential = graph.op("Exp", graph.op("Neg", graph.op("Abs", odds)))
            excess = graph.op("Log", graph.op("Add", exponential, graph.constant(1.0)))
            negative_part = graph.op("Min", odds, graph.constant(0.0))
            log_p = graph.op("Sub", negative_part, excess)
            graph.op("Softmax", log_p, axis=1, out="probability")
        graph.declare("outputs", "probability", np.float64, ["N", len(self._record.classes)])


def _output_names(record: ModelRecord) -> tuple[str, ...]:
    return _CLASSIFIER_OUTPUTS if record.link is None else _REGRESSOR_OUTPUTS


def _input_names(record: ModelRecord) -> list[str]:
    """Return the names of the inputs, prefixed with ``input_`` where an output has the name."""
    if not any(is_text(feature) for feature in record.features):
        return ["X"]
    names: list[str] = []
    for name in record.names:
        while name in _output_names(record) or name in names:
            name = f"input_{name}"
        names.append(name)
    return names
