"""What the finite ensembles of stumps share."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from everystump._core.boosting import (
    BOOSTING_LOSSES,
    GAINS,
    BoostedRows,
    BoostingResult,
    Monitor,
    StopReason,
    Stump,
    StumpChoice,
    Stumps,
    StumpSearch,
    best_of_all,
    best_of_random,
    boost,
)
from everystump._core.columns import Columns, make_columns
from everystump._core.packing import Packing, pack
from everystump._core.progress import EnsembleProgress
from everystump._core.shapes import ShapeModel
from everystump._core.threads import count_threads
from everystump._sklearn_compat import Interval, one_of
from everystump._tables.labels import labels_from_scores
from everystump._tables.validation import TrainingTable, check_table
from everystump.estimators._base import TabularClassifier, per_class

# Up to this many rows every value is a place of its own; more rows are binned for speed.
_ROWS_KEPT_EXACT = 10_000
_BINS = 256
_MOST_SPREAD, _MOST_WEIGHT = 1e24, 1e100


class BinnedTable(NamedTuple):
    """A table of numbers ready for the search for stumps."""

    columns: Columns
    packing: Packing
    search: StumpSearch


class FiniteEnsemble(TabularClassifier):
    """A vote of finitely many stumps, found feature by feature on the codes of the rows."""

    _parameter_constraints: ClassVar[dict] = {
        "features": [one_of("best", "random")],
        "criterion": [one_of(*GAINS)],
        "min_weight_fraction_leaf": [Interval(Real, 0, 0.5, closed="both")],
        "categorical_features": ["array-like", one_of("from_dtype"), None],
        "class_weight": [dict, str, None],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
    }

    features: str
    criterion: str
    min_weight_fraction_leaf: float
    class_weight: Any
    random_state: Any
    _fit_seed: int
    stumps_: Stumps | list[Stumps]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the stumps, and what their votes count.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Numbers and categories, values may be missing; a pandas or polars frame keeps its
            column names.
        y : array-like of shape (n_rows,)
            Labels.  An ensemble sets more than two classes one against the rest; a single stump
            is for two.
        sample_weight : array-like of shape (n_rows,), optional
            A weight of 2 counts as the row twice, a weight of 0 as its absence.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._validate_params()
        count_threads(self.n_jobs)
        reset = not self._continues_fit()
        table = check_table(self, X, y, sample_weight, self.class_weight, reset=reset)
        _check_spread(table.weight)
        self._fit_table(table)
        return self

    def _continues_fit(self) -> bool:
        """Tell whether a fit goes on from what is there."""
        return False

    def _fit_table(self, table: TrainingTable) -> None:
        """Fit to a checked table."""
        raise NotImplementedError

    def _max_bins(self, n_rows: int) -> int:
        """Return how many places a feature may have."""
        return n_rows

    def _code(self, table: TrainingTable) -> BinnedTable:
        """Find the places of each feature and code the rows."""
        columns = make_columns(
            table.X,
            max_bins=max(2, self._max_bins(len(table.X))),
            n_levels=table.n_levels,
            sample_weight=table.sample_weight,
            n_threads=count_threads(self.n_jobs),
        )
        packing = pack(columns.codes, columns.sizes)
        search = StumpSearch(columns.columns, self.criterion, self.min_weight_fraction_leaf)
        return BinnedTable(columns, packing, search)

    def _choice(self, rng: np.random.Generator) -> StumpChoice:
        """Return how stumps are to be chosen."""
        if self.features == "random":
            return best_of_random(rng, self.n_features_in_)
        return best_of_all

    def _seed(self) -> int:
        """Draw the seed of a fit."""
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _store(
        self, table: TrainingTable, found: list[Stumps], models: list[ShapeModel], columns: Columns
    ) -> None:
        """Keep the ensembles and the curves that they add up to."""
        self.classes_ = table.classes
        self.stumps_ = per_class(found)
        self.shapes_ = per_class(models)
        self.exact_ = columns.exact
        self.density_ = columns.density()

    @property
    def estimator_weights_(self) -> np.ndarray | list[np.ndarray]:
        """The weight of each stump; a list of arrays for several classes."""
        return self._stump_attribute("weight")

    @property
    def estimator_errors_(self) -> np.ndarray | list[np.ndarray]:
        """The weighted training error of each stump when it was found; a list as above."""
        return self._stump_attribute("error")

    def _vote(self, found: list[Stumps]) -> list[ShapeModel]:
        n_levels = [feature.n_levels for feature in self.feature_info_]
        return [stumps.shape_model(n_levels) for stumps in found]

    def _stump_attribute(self, name: str) -> Any:
        check_is_fitted(self, "shapes_")
        if isinstance(self.stumps_, Stumps):
            return getattr(self.stumps_, name)
        return [getattr(stumps, name) for stumps in self.stumps_]


class BinnedEnsemble(FiniteEnsemble):
    """A finite ensemble that may bin features of large tables."""

    _parameter_constraints: ClassVar[dict] = {
        **FiniteEnsemble._parameter_constraints,
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "max_bins": [Interval(Integral, 2, None, closed="left"), one_of("auto")],
        "verbose": ["verbose"],
    }

    max_bins: int | str

    def _max_bins(self, n_rows: int) -> int:
        if self.max_bins == "auto":
            return n_rows if n_rows <= _ROWS_KEPT_EXACT else _BINS
        return int(self.max_bins)


class BoostedEnsemble(BinnedEnsemble):
    """A finite ensemble whose stumps are found by boosting."""

    loss: str = "exponential"
    learning_rate: float = 1.0
    n_estimators: int
    verbose: int

    def _boost(
        self,
        coded: BinnedTable,
        table: TrainingTable,
        k: int,
        positive: np.ndarray,
        *,
        start: Stumps | None = None,
        monitor: Monitor = lambda stump, weight: False,
    ) -> BoostingResult:
        """Boost on the problem of class ``k``."""
        rng = np.random.default_rng([self._fit_seed, k])
        if start is not None:
            for _ in range(len(start.weight)):  # what the known stumps were drawn with
                rng.permutation(self.n_features_in_)
        loss = BOOSTING_LOSSES[self.loss]
        rows = BoostedRows(coded.packing, positive, table.weight, loss, count_threads(self.n_jobs))
        title = f"{type(self).__name__}{table.title(k)}"
        with EnsembleProgress(self.verbose, title, self.n_estimators) as report:

            def report_and_monitor(stump: Stump, weight: float) -> bool:
                report(stump.error)
                return monitor(stump, weight)

            return boost(
                rows,
                coded.search,
                self._choice(rng),
                loss,
                n_estimators=self.n_estimators,
                learning_rate=self.learning_rate,
                start=start,
                monitor=report_and_monitor,
            )

    def _warn_if_stopped(self, runs: list[BoostingResult]) -> None:
        """Say so if boosting stopped at an error of one half."""
        for k, run in enumerate(runs):
            if run.stop_reason is StopReason.CHANCE:
                of_class = "" if len(runs) == 1 else f" for class {self.classes_[k]!r}"
                warnings.warn(
                    f"{type(self).__name__} stopped after {len(run.stumps.weight)} of n_estimators="
                    f"{self.n_estimators} rounds{of_class}: every stump has a weighted error of "
                    f"one half, so no further one can lower the {self.loss} loss.",
                    stacklevel=4,
                )

    def staged_decision_function(self, X: Any) -> Iterator[np.ndarray]:
        """Yield the scores of the rows at each stage."""
        raise NotImplementedError

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Yield the classes of the rows at each stage of `staged_decision_function`.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows.

        Yields
        ------
        ndarray of shape (n_rows,)
            Labels out of ``classes_``.
        """
        for score in self.staged_decision_function(X):
            yield labels_from_scores(score, self.classes_)


def _check_spread(weight: np.ndarray) -> None:
    """Raise if sums of the weights are no numbers, or boosting could not make up for them."""
    low, high = weight.min(), weight.max()
    if low < high / _MOST_SPREAD or high > _MOST_WEIGHT:
        raise ValueError(
            f"sample_weight times class_weight goes from {low:g} to {high:g}; keep it within a "
            f"factor of {_MOST_SPREAD:g} and below {_MOST_WEIGHT:g} (0 leaves a row out)."
        )
