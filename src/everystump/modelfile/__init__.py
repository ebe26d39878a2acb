"""Model files: fitted estimators in zip archives of plain data.

The layout, versions and limits are described in ``docs/model_files.md``.
"""

from everystump.modelfile.container import ModelFileError
from everystump.modelfile.store import load, save

__all__ = ["ModelFileError", "load", "save"]
