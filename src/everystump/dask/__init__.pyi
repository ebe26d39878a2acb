from ._cluster import ClusterError as ClusterError
from ._estimators import DaskStumpBoostingClassifier as DaskStumpBoostingClassifier
from ._estimators import DaskStumpLogisticRegression as DaskStumpLogisticRegression
from ._estimators import DaskStumpSVC as DaskStumpSVC

__all__: list[str]
