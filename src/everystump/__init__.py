"""Glass-box additive models: infinite ensembles of decision stumps, solved to proven optimality.

Public names are imported on first use; ``__init__.pyi`` lists them.
"""

from everystump._lazy import attach_stub

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = attach_stub(__name__)
