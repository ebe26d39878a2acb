"""Estimators for Dask arrays and dataframes, which need the ``dask`` extra.

Public names are imported on first use; ``__init__.pyi`` lists them.
"""

from everystump._lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__)
