"""Export of fitted models to JSON, SQL and ONNX (which needs the ``onnx`` extra)."""

from everystump.export.document import to_json
from everystump.export.onnx import to_onnx
from everystump.export.scoring import score_json
from everystump.export.sql import to_sql
from everystump.export.writing import write

__all__ = ["score_json", "to_json", "to_onnx", "to_sql", "write"]
