from ._estimators import DaskStumpBoostingClassifier as DaskStumpBoostingClassifier
from ._estimators import DaskStumpLogisticRegression as DaskStumpLogisticRegression
from ._estimators import DaskStumpSVC as DaskStumpSVC
from ._watch import ClusterError as ClusterError

__all__: list[str]
