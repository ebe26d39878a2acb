"""A graph of ONNX nodes that grows from its inputs to its outputs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any

import numpy as np

# The oldest sets whose operators take and give double precision throughout.
_OPSET, _ML_OPSET, _IR_VERSION = 13, 3, 8


class Graph:
    """Collects nodes and constants; each is referred to by the name of its result.

    Parameters
    ----------
    onnx : module
        The package ``onnx``.
    taken : iterable of str
        Names that inputs and outputs have.
    """

    def __init__(self, onnx: Any, taken: Iterable[str]) -> None:
        self._onnx = onnx
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._ends: dict[str, list[Any]] = {"inputs": [], "outputs": []}
        self._taken = set(taken)
        self._numbers = count()

    def _fresh(self) -> str:
        return next(name for k in self._numbers if (name := f"t{k}") not in self._taken)

    def constant(self, values: Any) -> str:
        """Return a constant."""
        name = self._fresh()
        self._constants.append(self._onnx.numpy_helper.from_array(np.asarray(values), name))
        return name

    def op(self, kind: str, *inputs: str, out: str | None = None, **attributes: Any) -> str:
        """Return what an operator makes of its inputs."""
        name = self._fresh() if out is None else out
        self._nodes.append(self._onnx.helper.make_node(kind, inputs, [name], **attributes))
        return name

    def ml_op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Return what an operator of the machine-learning set makes of its inputs."""
        return self.op(kind, *inputs, domain="ai.onnx.ml", **attributes)

    def cast(self, value: str, dtype: Any) -> str:
        """Return a value as another type."""
        return self.op("Cast", value, to=self._kind(dtype))

    def total(self, terms: Sequence[str]) -> str:
        """Return the sum of some values."""
        found = terms[0]
        for term in terms[1:]:
            found = self.op("Add", found, term)
        return found

    def side_by_side(self, columns: Sequence[str]) -> str:
        """Return columns as one matrix."""
        return columns[0] if len(columns) == 1 else self.op("Concat", *columns, axis=1)

    def take(self, matrix: str, columns: np.ndarray, n_columns: int) -> str:
        """Return some columns of a matrix."""
        if np.array_equal(columns, np.arange(n_columns)):
            return matrix
        return self.op("Gather", matrix, self.constant(columns.astype(np.int64)), axis=1)

    def tensor(self, values: np.ndarray) -> Any:
        """Return an array as an attribute of a node."""
        return self._onnx.numpy_helper.from_array(values)

    def _kind(self, dtype: Any) -> int:
        if np.dtype(dtype).kind in "OU":
            return self._onnx.TensorProto.STRING
        return self._onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))

    def end(self, which: str, name: str, dtype: Any, shape: Sequence[Any]) -> None:
        """Declare one of the "inputs" or "outputs"."""
        made = self._onnx.helper.make_tensor_value_info(name, self._kind(dtype), shape)
        self._ends[which].append(made)

    def model(self, title: str) -> bytes:
        """Return the checked model as the bytes of a file."""
        helper = self._onnx.helper
        graph = helper.make_graph(
            self._nodes, title, self._ends["inputs"], self._ends["outputs"], self._constants
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
