from .boundary import BoundaryDisplay as BoundaryDisplay
from .contributions import ContributionsDisplay as ContributionsDisplay
from .curves import CurvesDisplay as CurvesDisplay
from .feature_learning import FeatureLearningDisplay as FeatureLearningDisplay
from .importances import ImportanceDisplay as ImportanceDisplay
from .interactions import measure_interactions as measure_interactions
from .intervals import IntervalsDisplay as IntervalsDisplay
from .losses import LossesDisplay as LossesDisplay
from .margins import MarginDisplay as MarginDisplay
from .margins import MarginsDisplay as MarginsDisplay
from .residuals import ResidualsDisplay as ResidualsDisplay
from .selection import BoundSearchDisplay as BoundSearchDisplay
from .selection import PathDisplay as PathDisplay
from .surfaces import SurfacesDisplay as SurfacesDisplay

__all__: list[str]
