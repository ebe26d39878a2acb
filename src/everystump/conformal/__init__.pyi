from .classification import SplitConformalClassifier as SplitConformalClassifier
from .quantiles import ConformalizedQuantileRegressor as ConformalizedQuantileRegressor
from .quantiles import predict_quantiles as predict_quantiles
from .regression import SplitConformalRegressor as SplitConformalRegressor

__all__: list[str]
