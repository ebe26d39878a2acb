"""Estimators for Dask collections."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from dask import is_dask_collection
from distributed import Client, get_client

from everystump._core.boosting.losses import BOOSTING_LOSSES
from everystump._core.boosting.rows import BoostedRows
from everystump._core.boosting.search import StumpSearch
from everystump._core.columns import Columns
from everystump._core.design import Design
from everystump._core.measures import DEFAULT_MEASURE, Measure, as_measure
from everystump._core.multiclass import solve_class_rows
from everystump._core.progress import FitProgress
from everystump._core.solvers.multinomial_rows import MultinomialRows
from everystump._core.solvers.problem import Solution, SolverOptions
from everystump._core.solvers.rows import Rows
from everystump._core.threads import count_threads, one_blas_thread
from everystump._sklearn_compat import Interval, check_columns, param_names
from everystump._tables.headers import TableHeader
from everystump._tables.part_plan import PartPlanner, merge_headers
from everystump._tables.part_table import PartHeader
from everystump._tables.training_table import weight_by_class
from everystump._tables.validation import check_n_classes
from everystump._terms import Term
from everystump.dask._cluster import RowCluster
from everystump.dask._collections import assign_chunks, make_chunks, map_rows
from everystump.dask._parts import ClusterTable, EncodedTable
from everystump.estimators import (
    StumpBoostingClassifier,
    StumpLogisticRegression,
    StumpSVC,
)
from everystump.estimators._base import ScoreClassifier, check_cost, warn_if_not_converged
from everystump.estimators._interactions import AdditiveFit, InteractionChoice
from everystump.estimators._stump_classifier import FixedCClassifier
from everystump.estimators._stump_ensemble import SCREENING_TOL

# Interactions are chosen on at most about this many samples.
_MAX_SCREENED = 200_000


@dataclass(eq=False, repr=False, kw_only=True)
class _ClusterParameters:
    """The parameters that the estimators for Dask collections have in common."""

    client: Any = None
    timeout: float = 60.0


_CONSTRAINTS: dict[str, list] = {
    "client": [Client, None],
    "timeout": [Interval(Real, 0, None, closed="neither")],
}


class _DaskEstimator(_ClusterParameters, ScoreClassifier):
    """What the estimators for Dask collections have in common."""

    _local_class: ClassVar[type]
    categorical_features: Any
    class_weight: Any
    n_jobs: int | None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model to Dask collections.

        Parameters
        ----------
        X : Dask array or dataframe of shape (n_samples, n_features)
            Training data.  Each worker reads its partitions once, and keeps them in memory until
            the bins of all values are found.
        y : Dask array or series of shape (n_samples,)
            Class labels.
        sample_weight : Dask array or series of shape (n_samples,), default=None
            Sample weights.

        Returns
        -------
        self
            Fitted estimator.
        """
        self._validate_params()
        chunks = make_chunks(X, y, sample_weight)
        client = _running_client(self.client)
        # Actors use the current client.
        current, rows = client.as_current(), RowCluster(client, chunks, self.timeout)
        with one_blas_thread, current, rows as cluster:
            cluster.await_workers()
            assignment = assign_chunks(client, X, len(chunks))
            cluster.start(assignment, self.categorical_features)
            headers = cluster.collect("read_header")
            header = merge_headers(headers)
            check_columns(self, X if hasattr(X, "chunks") else X._meta)
            _set_header(cluster, header, headers, list(assignment.values()))
            n_additions = max(sum(part.n_rows) for part in headers) + 1 + len(headers)
            self._fit_cluster(self._encode(cluster, header, n_additions), header)
        self.n_rebuilt_parts_ = cluster.n_rebuilt
        return self

    def _fit_cluster(self, encoded: EncodedTable, header: TableHeader) -> None:
        """Fit to encoded rows."""
        raise NotImplementedError

    def _encoding(self) -> tuple[Measure, int, dict[str, Any]]:
        """Return the measure, the number of bins, and the other options of the design."""
        raise NotImplementedError

    def _encode(self, cluster: RowCluster, header: TableHeader, n_additions: int) -> EncodedTable:
        """Encode the rows on the workers."""
        measure, max_bins, _ = self._encoding()
        classes, weights = header.labels.classes, header.labels.weights
        check_n_classes(classes, self)
        by_class = weight_by_class(self.class_weight, classes, weights)
        self._reset()
        self._training_record = None
        self.feature_info_ = header.features
        options = {"measure": measure, **self._encoding()[2]}
        n_threads = count_threads(self.n_jobs)
        planner = PartPlanner(cluster, header, max_bins, measure, n_threads)
        columns, tables = planner.find_columns()
        cluster.update_table("set_design", tables, by_class, columns, options)
        design = Design.from_columns(
            Columns(columns, np.empty((len(columns), 0), dtype=tables[0].dtype)),
            sample_weight=None,
            join=False,
            **options,
        )
        counts, totals = header.labels.counts, by_class * weights
        table = ClusterTable(cluster, design, counts, totals, n_additions, n_threads)
        return EncodedTable(table, classes)

    def to_local(self) -> Any:
        """Return the fitted model as the estimator without Dask, for NumPy arrays and frames."""
        local = self._local_class(
            **{name: getattr(self, name) for name in param_names(self._local_class)}
        )
        local.__dict__.update(
            {k: v for k, v in vars(self).items() if k not in self.get_params(deep=False)}
        )
        del local.n_rebuilt_parts_
        return local

    def decision_function(self, X: Any) -> Any:
        """Return the score of each sample; of a Dask collection, as a lazy Dask array.

        Parameters
        ----------
        X : Dask array or dataframe, or array-like, of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        Dask array or ndarray of shape (n_samples,) or (n_samples, n_classes)
            Positive scores favor ``classes_[1]``, or the class of the column.
        """
        n_classes = len(self.classes_)
        return self._map(X, "decision_function", None if n_classes == 2 else n_classes, np.float64)

    def predict(self, X: Any) -> Any:
        """Predict the class of each sample; of a Dask collection, as a lazy Dask array.

        Parameters
        ----------
        X : Dask array or dataframe, or array-like, of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        Dask array or ndarray of shape (n_samples,)
            Class labels.
        """
        return self._map(X, "predict", None, self.classes_.dtype)

    def _map(self, X: Any, method: str, columns: int | None, dtype: Any) -> Any:
        function = getattr(self.to_local(), method)
        return map_rows(X, function, columns, dtype) if is_dask_collection(X) else function(X)

    def __sklearn_clone__(self) -> Any:
        """Return an unfitted copy with the same client."""
        return type(self)(**self.get_params(deep=False))

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the client, which cannot be pickled."""
        state = super().__getstate__()
        return {**state, "client": None}


class _DaskProbabilities(_DaskEstimator):
    """Probabilities on Dask collections."""

    def predict_proba(self, X: Any) -> Any:
        """Return the probability of each class; of a Dask collection, as a lazy Dask array.

        Parameters
        ----------
        X : Dask array or dataframe, or array-like, of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        Dask array or ndarray of shape (n_samples, n_classes)
            Probabilities in the order of ``classes_``.
        """
        return self._map(X, "predict_proba", len(self.classes_), np.float64)


class _DaskStumpEnsemble(_DaskEstimator, FixedCClassifier):
    """An infinite ensemble of stumps on a cluster."""

    def _encoding(self) -> tuple[Measure, int, dict[str, Any]]:
        options = self._design_options() if hasattr(self, "feature_info_") else {}
        return as_measure(self.measure), self._max_bins(sys.maxsize), options

    def _fit_cluster(self, encoded: EncodedTable, header: TableHeader) -> None:
        smallest, largest = header.smallest_weight, header.largest_weight
        by_class = encoded.table.class_totals / header.labels.weights
        check_cost(self.C, np.outer([smallest, largest], by_class))
        choice = self._interaction_choice(len(encoded.problems()))
        if not choice.is_none:
            encoded = encoded.with_interactions(
                self._choose_terms(encoded, choice), choice.max_cells, self.interaction_strength
            )
        solutions = self._solve_cluster(encoded, self.tol)
        needed = choice.without_negligible(encoded.design, solutions)
        if len(needed) < len(encoded.design.terms.interactions.terms):
            encoded = encoded.with_interactions(needed, choice.max_cells, self.interaction_strength)
            solutions = self._solve_cluster(encoded, self.tol)
        self._store_classes(encoded.classes, encoded.design, solutions)
        warn_if_not_converged(self)

    def _solve_cluster(
        self, encoded: EncodedTable, tol: float, keys: list[int] | None = None
    ) -> list[Solution]:
        """Solve the problem of each class; with ``keys``, keep the problems and add their keys."""
        solutions, loss = [], self._loss_family()
        for positive, suffix in encoded.problems():
            title = f"{type(self).__name__}, C={self.C:g}{suffix}"
            parts = encoded.table.open_solver(positive, loss, self.C)
            with FitProgress(self.verbose, title) as progress:
                options = SolverOptions(tol, self.max_iter, progress)
                solutions.append(encoded.design.solve_rows(loss, Rows(parts, self.C), options))
            encoded.close(parts, keys)
        return solutions

    def _choose_terms(self, encoded: EncodedTable, choice: InteractionChoice) -> list[Term]:
        """Return the interactions to include, chosen on a sample of the rows."""
        fit = self._cluster_additive_fit(encoded, choice)
        encoded.table.cluster.close_problems()
        return choice.terms(fit, self.interaction_strength)

    def _cluster_additive_fit(
        self, encoded: EncodedTable, choice: InteractionChoice
    ) -> AdditiveFit:
        """Return additive solutions on a sample of the rows, if interactions are to be measured."""
        design, loss = encoded.design, self._loss_family()
        if not choice.needs_screening(design):
            return AdditiveFit(design, [], loss, [], np.empty(0), 1)
        keys: list[int] = []
        solutions = self._solve_cluster(encoded, max(self.tol, SCREENING_TOL), keys)
        k = -(-encoded.table.n_rows // _MAX_SCREENED)
        sample = encoded.table.cluster.read("sample", keys, k)
        design = replace(design, columns=replace(design.columns, codes=sample.codes))
        solutions = [
            replace(solution, dual_coef=duals)
            for solution, duals in zip(solutions, sample.duals, strict=True)
        ]
        targets = [sample.label == positive for positive, _ in encoded.problems()]
        return AdditiveFit(design, solutions, loss, targets, sample.weight, 1, float(k))


@dataclass(eq=False, repr=False)
class DaskStumpSVC(_DaskStumpEnsemble, StumpSVC):
    """`StumpSVC` on a Dask cluster.

    The samples stay on the workers, one byte per value; each step of the solver exchanges a table
    with one number per bin with each of them.  A worker that is lost is replaced, and the fit
    continues.  The bins follow from the counts of all samples in cells that the workers share: they
    do not depend on how the samples are divided, and their edges are quantiles within half a bin.

    Parameters
    ----------
    C : float, default=1.0
        As in `StumpSVC`, like all other parameters.
    client : distributed.Client, default=None
        The client of the cluster; the current one by default.
    timeout : float, default=60.0
        Seconds without a sign of life after which a worker or the scheduler counts as lost.

    Attributes
    ----------
    n_rebuilt_parts_ : int
        How many times a part of the data was built again because its worker was lost.
    shapes_, intercept_, certificate_, classes_, n_iter_, exact_
        As in `StumpSVC`; there is no ``dual_coef_``.
    """

    _local_class = StumpSVC
    _parameter_constraints: ClassVar[dict] = {**StumpSVC._parameter_constraints, **_CONSTRAINTS}


@dataclass(eq=False, repr=False, kw_only=True)
class DaskStumpLogisticRegression(_DaskStumpEnsemble, _DaskProbabilities, StumpLogisticRegression):
    """`StumpLogisticRegression` on a Dask cluster; see `DaskStumpSVC`.

    Parameters
    ----------
    C : float, default=1.0
        As in `StumpLogisticRegression`, like all other parameters.
    client, timeout
        As in `DaskStumpSVC`.
    """

    _local_class = StumpLogisticRegression
    _parameter_constraints: ClassVar[dict] = {
        **StumpLogisticRegression._parameter_constraints,
        **_CONSTRAINTS,
    }

    def _solve_cluster(
        self, encoded: EncodedTable, tol: float, keys: list[int] | None = None
    ) -> list[Solution]:
        n_classes = len(encoded.classes)
        if not self._is_multinomial(n_classes):
            return super()._solve_cluster(encoded, tol, keys)
        parts = encoded.table.open_multinomial(self.C)
        title = self._multinomial_title(n_classes, self.C)
        with FitProgress(self.verbose, title) as progress:
            solutions = solve_class_rows(
                encoded.design,
                MultinomialRows(parts),
                C=self.C,
                tol=tol,
                max_iter=self.max_iter,
                progress=progress,
            )
        encoded.close(parts, keys)
        return solutions


@dataclass(eq=False, repr=False)
class DaskStumpBoostingClassifier(_DaskProbabilities, StumpBoostingClassifier):
    """`StumpBoostingClassifier` on a Dask cluster; see `DaskStumpSVC`.

    Parameters
    ----------
    loss : {"exponential", "mada", "logistic"}, default="exponential"
        As in `StumpBoostingClassifier`, like all other parameters; `validation_fraction` and
        `warm_start` are not supported.
    client, timeout
        As in `DaskStumpSVC`.
    """

    _local_class = StumpBoostingClassifier
    _parameter_constraints: ClassVar[dict] = {
        **StumpBoostingClassifier._parameter_constraints,
        **_CONSTRAINTS,
    }

    def _encoding(self) -> tuple[Measure, int, dict[str, Any]]:
        for name, default in (("validation_fraction", None), ("warm_start", False)):
            if getattr(self, name) != default:
                raise ValueError(
                    f"{name}={getattr(self, name)!r} is not supported on a cluster; use "
                    f"{name}={default!r}, or StumpBoostingClassifier."
                )
        options = {"fit_intercept": True, "feature_range": None}
        return as_measure(DEFAULT_MEASURE), max(2, self._max_bins(sys.maxsize)), options

    def _fit_cluster(self, encoded: EncodedTable, header: TableHeader) -> None:
        columns, loss = encoded.design.columns, BOOSTING_LOSSES[self.loss]
        search = StumpSearch(columns.columns, self.criterion, self.min_weight_fraction_leaf)
        self._fit_seed = self._seed()
        results = []
        for k, (positive, suffix) in enumerate(encoded.problems()):
            rows = BoostedRows(encoded.table.open_boosting(positive, loss), loss)
            results.append(self._boost(rows, search, k, suffix))
            encoded.table.cluster.close_problems()
        stumps, none = [result.stumps for result in results], [np.empty(0)] * len(results)
        self._store_boosted(encoded.classes, stumps, results, none, columns)


def _running_client(client: Client | None) -> Client:
    """Return the client, the current one if it is None."""
    if client is None:
        try:
            client = get_client()
        except ValueError:
            raise ValueError(
                "client=None means the current client of Dask, but there is none; start one with "
                "distributed.Client(...) first, or pass it as client."
            ) from None
    if client.status != "running":
        raise ValueError(
            f"client={client!r} is not connected (status {client.status}); pass a running client."
        )
    return client


def _set_header(
    cluster: RowCluster,
    header: TableHeader,
    headers: Sequence[PartHeader],
    chunks: Sequence[Sequence[int]],
) -> None:
    """Pass the header of the table, and where their chunks begin, to the parts that have rows."""
    n_rows = np.zeros(sum(map(len, chunks)), dtype=np.int64)
    for part, own in zip(headers, chunks, strict=True):
        n_rows[own] = part.n_rows
    starts = np.cumsum(n_rows) - n_rows
    has_rows = [sum(part.n_rows) > 0 for part in headers]
    cluster.keep(has_rows)
    own_args = [(starts[own].tolist(),) for own, kept in zip(chunks, has_rows, strict=True) if kept]
    cluster.update_table("set_header", header, own=own_args)
