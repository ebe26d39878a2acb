"""Base classes of the infinite ensembles of stumps."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np

from everystump._arguments import check_feature_range
from everystump._core.columns import Columns
from everystump._core.design import Design
from everystump._core.losses import LossFamily
from everystump._core.measures import DEFAULT_MEASURE, Measure, as_measure
from everystump._core.progress import FitProgress
from everystump._core.shapes import ShapeModel
from everystump._core.solvers.problem import Solution
from everystump._core.threads import count_threads, one_blas_thread
from everystump._scratch import ScratchSpace
from everystump._selection.folds import Fold
from everystump._selection.grid import MAX_STRENGTH
from everystump._selection.scorers import Score
from everystump._sklearn_compat import Interval, one_of
from everystump._tables.chunk_reader import ChunkReader, ReadTable
from everystump._tables.interactions import check_interactions
from everystump._tables.monotonic import check_monotonic_cst
from everystump._tables.training_table import TrainingTable
from everystump._terms import Term
from everystump.estimators._bands import BandsMixin
from everystump.estimators._base import (
    TabularEstimator,
    check_cost,
    unwrap_binary,
    warn_if_not_converged,
)
from everystump.estimators._interactions import AdditiveFit, InteractionChoice

# Interactions are measured at an additive solution of at least this tolerance, and of this cost if
# a hard margin is requested, which there need not be without interactions.
SCREENING_TOL, _SCREENING_COST = 0.01, 1.0
# The strengths that can be requested.
STRENGTH_INTERVAL = Interval(Real, 0, MAX_STRENGTH, closed="right")


@dataclass(eq=False, repr=False, kw_only=True)
class BaseStumpEnsemble(BandsMixin, TabularEstimator):
    """An infinite ensemble of stumps; subclasses define the loss and the parameters.

    Their other base class is `StumpClassifier` or that of `StumpRegressor`.
    """

    _optimum_over: ClassVar[str] = "ensemble of stumps"

    _parameter_constraints: ClassVar[dict] = {
        "measure": [str, callable, Measure],
        "max_bins": [Interval(Integral, 2, None, closed="left")],
        "categorical_features": ["array-like", one_of("from_dtype"), None],
        "fit_intercept": ["boolean"],
        "feature_range": ["array-like", None],
        "monotonic_cst": ["array-like", dict, None],
        "interactions": "no_validation",  # see `check_interactions`
        "interaction_bins": [Interval(Integral, 2, 250, closed="both")],
        "max_interaction_order": [Interval(Integral, 2, 3, closed="both")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }
    measure: Any = DEFAULT_MEASURE
    max_bins: int = 256
    categorical_features: Any = "from_dtype"
    fit_intercept: bool = True
    feature_range: Any = None
    monotonic_cst: Any = None
    interactions: Any = 0
    interaction_bins: int = 32
    max_interaction_order: int = 2
    tol: float = 1e-3
    max_iter: int = 1000
    n_jobs: int | None = None
    verbose: int = 0

    def _loss_family(self) -> LossFamily:
        """Return what makes the losses of samples."""
        raise NotImplementedError

    def _read_table(self, X: Any, y: Any, sample_weight: Any) -> TrainingTable:
        """Validate training data, and clear an earlier fit."""
        raise NotImplementedError

    def _read_chunk_table(self, reader: ChunkReader, scratch: ScratchSpace) -> ReadTable:
        """Validate and bin training data that is read in chunks."""
        raise NotImplementedError

    def _make_folds(self, table: Any, cv: Any, random_state: Any) -> list[Fold]:
        """Return the folds of the training data."""
        raise NotImplementedError

    def _hold_out(self, table: Any, fraction: float, random_state: Any) -> Fold:
        """Return a single split of the training data."""
        raise NotImplementedError

    def _make_score(self, table: Any, scoring: Any, test: np.ndarray) -> Score:
        """Return what scores a model on the samples ``test``."""
        raise NotImplementedError

    def _store(self, table: Any, design: Design, solutions: list[Solution]) -> None:
        """Store the solutions as fitted attributes."""
        raise NotImplementedError

    def _max_bins(self, n_samples: int) -> int:
        """Return the maximum number of bins per feature."""
        return self.max_bins

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> tuple[TrainingTable, Design]:
        """Validate and bin the training data."""
        measure = self._first_measure()
        n_threads = count_threads(self.n_jobs)
        table = self._read_table(X, y, sample_weight)
        design = Design.from_rows(
            table.X,
            measure=measure,
            max_bins=self._max_bins(len(table.X)),
            n_levels=table.n_levels,
            n_threads=n_threads,
            sample_weight=table.sample_weight,
            **self._design_options(),
        )
        return table, design

    def _first_measure(self) -> Measure:
        """Return the measure with which a fit begins."""
        return as_measure(self.measure)

    @property
    def _chosen_measure(self) -> Any:
        """The parameter ``measure``, or what a fit has chosen for it."""
        return self.measure

    def _fitted_measure(self) -> Measure:
        """Return the measure of the fitted model."""
        return as_measure(self._chosen_measure)

    def _design_options(self) -> dict[str, Any]:
        """Return the options of a design that do not depend on the rows."""
        limits = self.feature_range
        if limits is not None:
            limits = check_feature_range(limits, len(self.feature_info_))
        return {
            "fit_intercept": self.fit_intercept,
            "feature_range": limits,
            "directions": self._monotonic_signs(),
        }

    def fit_chunks(
        self, chunks: Any, *, memory_limit: float | None = None, scratch_dir: Any = None
    ) -> Self:
        """Fit the model to training data that is read in chunks, twice.

        Bins are found from sketches of the columns: unless a column has few distinct values, the
        bins have equal weights only up to a small error (see the user guide).  Then each value is
        stored as its bin, one byte for up to 256 bins, and the fit continues as in `fit`.

        Parameters
        ----------
        chunks : iterable
            Tuples ``(X, y)`` or ``(X, y, sample_weight)``, with the same columns in each.  They are
            iterated twice: pass a list, or an object whose ``__iter__`` starts anew, such as
            `everystump.chunks.FileChunks`.
        memory_limit : float, default=None
            The bytes that encoded samples may take in memory.  If they take more, they are stored
            in a file in ``scratch_dir`` without a name, of which nothing is left after the fit.  By
            default, half of the memory that is available.
        scratch_dir : path, default=None
            Where to store large encoded samples; the folder of temporary files by default.

        Returns
        -------
        self
            Fitted estimator.
        """
        self._validate_params()
        with one_blas_thread:
            table, columns = self._read_chunks(chunks, ScratchSpace(memory_limit, scratch_dir))
            design = Design.from_columns(
                columns,
                measure=self._first_measure(),
                sample_weight=table.sample_weight,
                **self._design_options(),
            )
            self._fit_design(table, design)
        warn_if_not_converged(self)
        return self

    def _read_chunks(self, chunks: Any, scratch: ScratchSpace) -> tuple[TrainingTable, Columns]:
        """Validate and bin training data that is read in chunks."""
        n_threads = count_threads(self.n_jobs)
        measure, max_bins = self._first_measure(), self._max_bins(sys.maxsize)
        reader = ChunkReader(chunks, self.categorical_features, measure, max_bins, n_threads)
        read = self._read_chunk_table(reader, scratch)
        self._set_training_table(read.table)
        return read.table, read.columns

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        with one_blas_thread:
            self._fit_design(*self._prepare(X, y, sample_weight))
        warn_if_not_converged(self)

    def _fit_design(self, table: TrainingTable, design: Design) -> None:
        """Fit to binned training data."""
        raise NotImplementedError

    def _interaction_choice(self, n_problems: int) -> InteractionChoice:
        """Return how the interactions are chosen."""
        signs = self._monotonic_signs()
        monotonic = frozenset([] if signs is None else np.flatnonzero(signs).tolist())
        requested = check_interactions(self.interactions, self.feature_info_)
        if isinstance(requested, list):
            shared = monotonic & {d for term in requested for d in term}
            if shared:
                name = self.feature_info_[min(shared)].display_name(min(shared))
                raise ValueError(
                    f"interactions: feature {name} has a monotonic constraint, and its "
                    f"interactions could violate it; remove either."
                )
        return InteractionChoice(
            requested, self.max_interaction_order, self.interaction_bins, monotonic, n_problems
        )

    def _monotonic_signs(self) -> np.ndarray | None:
        """Return 1 for increasing and -1 for decreasing curves; None without constraints."""
        signs = check_monotonic_cst(self.monotonic_cst, self.feature_info_)
        if signs is not None and not self.fit_intercept:
            raise ValueError(
                "fit_intercept=False cannot be combined with monotonic_cst: stumps outside the "
                "range of the data can make curves non-monotonic; use fit_intercept=True."
            )
        return signs

    def _solve(
        self,
        table: TrainingTable,
        design: Design,
        C: float,
        *,
        tol: float | None = None,
        index: np.ndarray | None = None,
        starts: Sequence[Solution] | None = None,
        n_threads: int | None = None,
        verbose: int | None = None,
    ) -> list[Solution]:
        """Solve each problem, on the samples ``index`` if given."""
        check_cost(C, table.weight)
        return self._solve_problems(
            table,
            design,
            starts,
            self.verbose if verbose is None else verbose,
            C=C,
            tol=tol or self.tol,
            max_iter=self.max_iter,
            n_threads=n_threads or count_threads(self.n_jobs),
            index=index,
        )

    def _solve_problems(
        self,
        table: Any,
        design: Design,
        starts: Sequence[Solution] | None,
        verbose: int,
        **options: Any,
    ) -> list[Solution]:
        """Solve one problem after the other; ``options`` are those of `Design.solve`."""
        solutions = []
        for k, target in enumerate(table.problems()):
            title = f"{type(self).__name__}, C={options['C']:g}{table.title(k)}"
            start = None if starts is None else starts[k]
            with FitProgress(verbose, title) as progress:
                solutions.append(
                    design.solve(
                        self._loss_family(),
                        target,
                        table.weight,
                        progress=progress,
                        start=start,
                        **options,
                    )
                )
        return solutions

    def _solve_and_prune(
        self,
        table: TrainingTable,
        design: Design,
        C: float,
        choice: InteractionChoice,
        starts: Sequence[Solution] | None,
    ) -> tuple[Design, list[Solution]]:
        """Solve, and if that shows interactions to be negligible, solve again without them.

        So the solutions are optimal for the interactions of the design that is returned.
        """
        solutions = self._solve(table, design, C, starts=starts)
        if np.isinf(C):  # there may be no hard margin without them
            return design, solutions
        needed = choice.without_negligible(design, solutions)
        if len(needed) == len(design.terms.interactions.terms):
            return design, solutions
        pruned = design.with_interactions(
            needed,
            max_cells=choice.max_cells,
            strength=design.terms.interactions.strength,
            n_threads=count_threads(self.n_jobs),
        )
        starts = [pruned.warm_start(solution, design) for solution in solutions]
        return pruned, self._solve(table, pruned, C, starts=starts)

    def _additive_solutions(self, table: TrainingTable, design: Design) -> list[Solution]:
        """Return solutions without interactions, at which interactions are measured."""
        raise NotImplementedError

    def _measure_interactions(
        self, X: Any, y: Any, sample_weight: Any, strength: float
    ) -> dict[Term, float]:
        """Return the Newton decrement of each interaction at the additive solution."""
        with one_blas_thread:
            table, design = self._prepare(X, y, sample_weight)
            choice = self._interaction_choice(len(table.problems()))
            fit = self._additive_fit(table, design, self._additive_solutions(table, design))
            pairs, triples = choice.measure(fit, strength)
        return pairs | triples

    def _additive_fit(
        self,
        table: TrainingTable,
        design: Design,
        solutions: Sequence[Solution],
        n_threads: int | None = None,
    ) -> AdditiveFit:
        """Return solutions without interactions with what is needed to measure interactions."""
        n_threads = n_threads or count_threads(self.n_jobs)
        targets = table.problems()
        return AdditiveFit(design, solutions, self._loss_family(), targets, table.weight, n_threads)

    def _store_models(
        self, design: Design, solutions: list[Solution], models: list[ShapeModel]
    ) -> None:
        """Store what does not have an entry per sample, given the shape models of solutions."""
        self._C_of_fit = solutions[0].C
        self.shapes_ = unwrap_binary(models)
        self.certificate_ = unwrap_binary([solution.certificate for solution in solutions])
        self.intercept_ = np.array([model.intercept for model in models])
        self.n_iter_ = max(1, max(solution.n_iter for solution in solutions))
        self.exact_ = design.exact
        self.half_mass_ = design.half_mass
        self.density_ = design.columns.density()
        self.interactions_ = list(design.terms.interactions.terms)
        self.interaction_strength_ = (
            float(design.terms.interactions.strength) if self.interactions_ else 0.0
        )
        self.surface_density_ = design.surface_density(models[0])
        self._max_kernel = design.max_kernel


@dataclass(eq=False, repr=False)
class FixedCEnsemble(BaseStumpEnsemble):
    """An infinite ensemble of stumps with a fixed C."""

    _parameter_constraints: ClassVar[dict] = {
        **BaseStumpEnsemble._parameter_constraints,
        "C": [Interval(Real, 0, None, closed="right")],
        "interaction_strength": [STRENGTH_INTERVAL],
    }

    C: float = 1.0
    interaction_strength: float = 0.1

    def _fitted_cost(self) -> float:
        # The parameter may have changed since the fit; a loaded model has no other record of it.
        return getattr(self, "_C_of_fit", self.C)

    def _max_bins(self, n_samples: int) -> int:
        # A hard margin is a property of the samples themselves, not of their bins.
        return n_samples if np.isinf(self.C) else self.max_bins

    def _fit_design(self, table: TrainingTable, design: Design) -> None:
        starts = None
        choice = self._interaction_choice(len(table.problems()))
        if not choice.is_none:
            design, starts = self._with_interactions(table, design, choice)
        self._store(table, *self._solve_and_prune(table, design, self.C, choice, starts))

    def _additive_solutions(self, table: TrainingTable, design: Design) -> list[Solution]:
        C = _SCREENING_COST if np.isinf(self.C) else self.C
        return self._solve(table, design, C, tol=max(self.tol, SCREENING_TOL))

    def _with_interactions(
        self, table: TrainingTable, design: Design, choice: InteractionChoice
    ) -> tuple[Design, list[Solution] | None]:
        """Return the design with interactions, and solutions from which to start."""
        additive: list[Solution] = []
        if choice.needs_screening(design):
            additive = self._additive_solutions(table, design)
        fit = self._additive_fit(table, design, additive)
        extended = choice.extend(fit, self.interaction_strength)
        starts = [extended.warm_start(solution, design) for solution in additive]
        return extended, None if np.isinf(self.C) else starts or None
