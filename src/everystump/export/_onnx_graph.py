"""Builds an ONNX graph node by node."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any

import numpy as np

# The oldest operator sets that support double precision throughout.
_OPSET, _ML_OPSET, _IR_VERSION = 13, 3, 8


class Graph:
    """Collects nodes and constants; each is referred to by the name of its result."""

    def __init__(self, onnx: Any, reserved: Iterable[str]) -> None:
        self._onnx = onnx
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._values: dict[str, list[Any]] = {"inputs": [], "outputs": []}
        self._reserved = set(reserved)
        self._numbers = count()

    def _new_name(self) -> str:
        return next(name for k in self._numbers if (name := f"t{k}") not in self._reserved)

    def constant(self, values: Any) -> str:
        """Add a constant."""
        name = self._new_name()
        self._constants.append(self._onnx.numpy_helper.from_array(np.asarray(values), name))
        return name

    def op(self, kind: str, *inputs: str, out: str | None = None, **attributes: Any) -> str:
        """Add an operator."""
        name = self._new_name() if out is None else out
        self._nodes.append(self._onnx.helper.make_node(kind, inputs, [name], **attributes))
        return name

    def ml_op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Add an operator of the machine-learning set."""
        return self.op(kind, *inputs, domain="ai.onnx.ml", **attributes)

    def cast(self, value: str, dtype: Any) -> str:
        """Add a conversion to another type."""
        return self.op("Cast", value, to=self._element_type(dtype))

    def add(self, terms: Sequence[str]) -> str:
        """Add the sum of some values."""
        total = terms[0]
        for term in terms[1:]:
            total = self.op("Add", total, term)
        return total

    def concat(self, columns: Sequence[str]) -> str:
        """Add the concatenation of columns to one matrix."""
        return columns[0] if len(columns) == 1 else self.op("Concat", *columns, axis=1)

    def take(self, matrix: str, columns: np.ndarray, n_columns: int) -> str:
        """Add the selection of some columns of a matrix."""
        if np.array_equal(columns, np.arange(n_columns)):
            return matrix
        return self.op("Gather", matrix, self.constant(columns.astype(np.int64)), axis=1)

    def tensor(self, values: np.ndarray) -> Any:
        """Return an array as an attribute of a node."""
        return self._onnx.numpy_helper.from_array(values)

    def _element_type(self, dtype: Any) -> int:
        if np.dtype(dtype).kind in "OU":
            return self._onnx.TensorProto.STRING
        return self._onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))

    def declare(self, where: str, name: str, dtype: Any, shape: Sequence[Any]) -> None:
        """Declare a value as one of the "inputs" or "outputs"."""
        info = self._onnx.helper.make_tensor_value_info(name, self._element_type(dtype), shape)
        self._values[where].append(info)

    def serialize(self, title: str) -> bytes:
        """Return the checked model as the bytes of a file."""
        helper = self._onnx.helper
        graph = helper.make_graph(
            self._nodes, title, self._values["inputs"], self._values["outputs"], self._constants
        )
        model = helper.make_model(
            graph,
            opset_imports=[
                helper.make_opsetid("", _OPSET),
                helper.make_opsetid("ai.onnx.ml", _ML_OPSET),
            ],
            ir_version=_IR_VERSION,
            producer_name="everystump",
        )
        self._onnx.checker.check_model(model, full_check=True)
        return model.SerializeToString()
