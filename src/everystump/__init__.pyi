from . import bounds as bounds
from . import chunks as chunks
from . import conformal as conformal
from . import datasets as datasets
from . import estimators as estimators
from . import explain as explain
from . import export as export
from . import kernels as kernels
from . import measures as measures
from . import report as report
from . import shapes as shapes
from .estimators import *  # noqa: F403
from .estimators.merging import merge as merge
from .modelfile import ModelFileError as ModelFileError
from .modelfile import load as load
from .modelfile import save as save
from .report.notebook import show as show

__version__: str
__all__: list[str]
