"""Base classes of the finite ensembles of stumps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from everystump._core.boosting.boosting import (
    BoostingResult,
    Monitor,
    StopReason,
    StumpChoice,
    best_of_all,
    best_of_random,
    boost,
)
from everystump._core.boosting.gains import GAINS
from everystump._core.boosting.losses import BOOSTING_LOSSES
from everystump._core.boosting.rows import BoostedRows
from everystump._core.boosting.search import Stump, StumpSearch
from everystump._core.boosting.stumps import Stumps
from everystump._core.columns import Columns, make_columns
from everystump._core.packing import Packing, pack
from everystump._core.progress import EnsembleProgress
from everystump._core.shapes import ShapeModel
from everystump._core.threads import count_threads
from everystump._sklearn_compat import Interval, one_of
from everystump._tables.labels import labels_from_scores
from everystump._tables.training_table import ClassTable, TrainingTable
from everystump._tables.validation import check_rows
from everystump._warnings import warn_user
from everystump.estimators._base import (
    TabularClassifier,
    TabularEstimator,
    as_class_list,
    unwrap_binary,
)

# Larger training sets are binned by default.
_MAX_EXACT_SAMPLES = 10_000
_DEFAULT_BINS = 256
_MAX_WEIGHT_RATIO, _MAX_WEIGHT = 1e24, 1e100


class BinnedTable(NamedTuple):
    """Binned training data and the search for stumps on it."""

    columns: Columns
    packing: Packing
    search: StumpSearch


@dataclass(eq=False, repr=False, kw_only=True)
class FiniteEnsemble(TabularEstimator):
    """A weighted vote of finitely many stumps."""

    _parameter_constraints: ClassVar[dict] = {
        "features": [one_of("best", "random")],
        "min_weight_fraction_leaf": [Interval(Real, 0, 0.5, closed="both")],
        "categorical_features": ["array-like", one_of("from_dtype"), None],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
    }

    features: str = "best"
    min_weight_fraction_leaf: float = 0.0
    categorical_features: Any = "from_dtype"
    random_state: Any = None
    n_jobs: int | None = None

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        count_threads(self.n_jobs)
        table = self._read_table(X, y, sample_weight)
        _check_weights(table.weight)
        self._fit_table(table)

    def _read_table(self, X: Any, y: Any, sample_weight: Any) -> Any:
        """Validate training data, and clear an earlier fit unless this one continues it."""
        raise NotImplementedError

    def _fit_table(self, table: Any) -> None:
        """Fit to validated training data."""
        raise NotImplementedError

    def _max_bins(self, n_samples: int) -> int:
        """Return the maximum number of bins per feature."""
        return n_samples

    def _search(self, columns: Columns) -> StumpSearch:
        """Return the search for stumps on binned columns."""
        raise NotImplementedError

    def _bin(self, table: TrainingTable) -> BinnedTable:
        """Bin the training data."""
        columns = make_columns(
            table.X,
            max_bins=max(2, self._max_bins(len(table.X))),
            n_levels=table.n_levels,
            sample_weight=table.sample_weight,
            n_threads=count_threads(self.n_jobs),
        )
        packing = pack(columns.codes, columns.sizes)
        return BinnedTable(columns, packing, self._search(columns))

    def _choice(self, rng: np.random.Generator) -> StumpChoice:
        """Return the function that chooses the next stump."""
        if self.features == "random":
            return best_of_random(rng, self.n_features_in_)
        return best_of_all

    def _seed(self) -> int:
        """Return a random seed for one fit."""
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    @property
    def estimator_weights_(self) -> np.ndarray | list[np.ndarray]:
        """Weight of each stump; a list of arrays for more than two classes."""
        return self._stump_attribute("weight")

    @property
    def estimator_errors_(self) -> np.ndarray | list[np.ndarray]:
        """Weighted training error of each stump when it was chosen; a list as above.

        For a regressor, the mean training loss after the round of the stump.
        """
        return self._stump_attribute("error")

    def _stump_attribute(self, name: str) -> Any:
        check_is_fitted(self, "shapes_")
        return unwrap_binary([getattr(stumps, name) for stumps in as_class_list(self.stumps_)])


@dataclass(eq=False, repr=False, kw_only=True)
class FiniteClassifier(FiniteEnsemble, TabularClassifier):
    """A classifier by a weighted vote of finitely many stumps."""

    _parameter_constraints: ClassVar[dict] = {
        **FiniteEnsemble._parameter_constraints,
        "criterion": [one_of(*GAINS)],
        "class_weight": [dict, str, None],
    }

    criterion: str = "error"
    class_weight: Any = None

    def _read_table(self, X: Any, y: Any, sample_weight: Any) -> ClassTable:
        reset = not self._continues_fit()
        return self._check_training_data(X, y, sample_weight, self.class_weight, reset=reset)

    def _continues_fit(self) -> bool:
        """Return whether a fit continues an earlier one."""
        return False

    def _search(self, columns: Columns) -> StumpSearch:
        return StumpSearch(columns.columns, self.criterion, self.min_weight_fraction_leaf)

    def _store(
        self,
        classes: np.ndarray,
        stumps: list[Stumps],
        columns: Columns,
        models: list[ShapeModel] | None = None,
    ) -> None:
        """Store the ensembles and their shape models as fitted attributes."""
        if models is None:
            n_levels = [feature.n_levels for feature in self.feature_info_]
            models = [ensemble.shape_model(n_levels) for ensemble in stumps]
        self.classes_ = classes
        self.stumps_ = unwrap_binary(stumps)
        self.shapes_ = unwrap_binary(models)
        self.exact_ = columns.exact
        self.density_ = columns.density()


@dataclass(eq=False, repr=False, kw_only=True)
class BinnedEnsemble(FiniteEnsemble):
    """A finite ensemble that bins the features of large training sets."""

    _parameter_constraints: ClassVar[dict] = {
        **FiniteEnsemble._parameter_constraints,
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "max_bins": [Interval(Integral, 2, None, closed="left"), one_of("auto")],
        "verbose": ["verbose"],
    }

    n_estimators: int = 100
    max_bins: int | str = "auto"
    verbose: int = 0

    def _max_bins(self, n_samples: int) -> int:
        if self.max_bins == "auto":
            return n_samples if n_samples <= _MAX_EXACT_SAMPLES else _DEFAULT_BINS
        return int(self.max_bins)


class BinnedClassifier(BinnedEnsemble, FiniteClassifier):
    """A finite ensemble of classification that bins the features of large training sets."""

    _parameter_constraints: ClassVar[dict] = {
        **FiniteClassifier._parameter_constraints,
        **BinnedEnsemble._parameter_constraints,
    }


class BoostedEnsemble(BinnedClassifier):
    """A classifier whose stumps are found by boosting."""

    loss: str = "exponential"
    learning_rate: float = 1.0
    _fit_seed: int

    def _boosted_rows(
        self, binned: BinnedTable, table: ClassTable, positive: np.ndarray
    ) -> BoostedRows:
        """Return the rows of a problem."""
        loss, n_threads = BOOSTING_LOSSES[self.loss], count_threads(self.n_jobs)
        return BoostedRows.in_memory(binned.packing, positive, table.weight, loss, n_threads)

    def _boost(
        self,
        rows: BoostedRows,
        search: StumpSearch,
        k: int,
        title: str,
        *,
        start: Stumps | None = None,
        monitor: Monitor = lambda stump, weight: False,
    ) -> BoostingResult:
        """Boost on the problem of class ``k``, whose ``title`` is part of progress messages."""
        rng = np.random.default_rng([self._fit_seed, k])
        if start is not None:
            for _ in range(len(start.weight)):  # skip the random numbers of the earlier fit
                rng.permutation(self.n_features_in_)
        title = f"{type(self).__name__}{title}"
        with EnsembleProgress(self.verbose, title, self.n_estimators) as progress:

            def report_and_monitor(stump: Stump, weight: float) -> bool:
                progress(stump.error)
                return monitor(stump, weight)

            return boost(
                rows,
                search,
                self._choice(rng),
                BOOSTING_LOSSES[self.loss],
                n_estimators=self.n_estimators,
                learning_rate=self.learning_rate,
                start=start,
                monitor=report_and_monitor,
            )

    def _warn_if_stopped(self, results: list[BoostingResult]) -> None:
        """Warn if boosting stopped because no stump is better than chance."""
        for k, result in enumerate(results):
            if result.stop_reason is StopReason.CHANCE:
                suffix = "" if len(results) == 1 else f" for class {self.classes_[k]!r}"
                warn_user(
                    f"{type(self).__name__} stopped after {len(result.stumps.weight)} of "
                    f"n_estimators={self.n_estimators} rounds{suffix}: every stump has a "
                    f"weighted error of one half, so none can lower the {self.loss} loss."
                )

    def staged_decision_function(self, X: Any) -> Iterator[np.ndarray]:
        """Yield the scores of samples after each round, or for each of ``stages_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Yields
        ------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Scores as in `decision_function`.  A class whose boosting stopped early keeps its last
            scores.
        """
        check_is_fitted(self, "shapes_")
        yield from self._staged_scores(check_rows(self, X))

    def _staged_scores(self, X: np.ndarray) -> Iterator[np.ndarray]:
        """Yield the scores of validated samples at each stage."""
        raise NotImplementedError

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Yield the predicted classes at each stage of `staged_decision_function`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Yields
        ------
        ndarray of shape (n_samples,)
            Class labels.
        """
        for scores in self.staged_decision_function(X):
            yield labels_from_scores(scores, self.classes_)


def _check_weights(weight: np.ndarray) -> None:
    """Check that boosting can sum and balance the weights in floating point."""
    low, high = weight.min(), weight.max()
    if low < high / _MAX_WEIGHT_RATIO or high > _MAX_WEIGHT:
        raise ValueError(
            f"sample_weight times class_weight ranges from {low:g} to {high:g}; keep it within a "
            f"factor of {_MAX_WEIGHT_RATIO:g} and below {_MAX_WEIGHT:g} (a weight of 0 drops a "
            f"sample)."
        )
