"""Support vector machine with any kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from everystump._core.kernel_machines import (
    LOSSES,
    Expansion,
    Kernel,
    KernelProblem,
    KernelSolution,
    LazyKernelMatrix,
    bytes_needed,
    gamma_scale,
    kernel_names,
    leave_one_out,
    make_kernel,
    takes_gamma,
    train,
)
from everystump._core.progress import FitProgress
from everystump._core.threads import one_blas_thread
from everystump._sklearn_compat import Interval, one_of
from everystump._tables.precomputed import check_kernel_function, check_kernel_matrix
from everystump._tables.validation import TrainingTable, check_rows, check_table
from everystump.bounds._kernel_ensemble import KernelEnsemble, KernelMachine
from everystump.estimators._base import (
    ScoreClassifier,
    as_class_list,
    check_cost,
    per_class,
    warn_if_not_converged,
)
from everystump.estimators._training import (
    BALANCED,
    BIASED,
    KernelEnsemblesMixin,
    absolute_gap,
    check_training_table,
    one_by_one,
    training_signs,
    violations_of,
)

_GIGABYTE = 10**9
_FEW_ROWS = 3000
# Products taken from a common matrix must be so many times those computed for it.
_WORTH = 3


class KernelSVC(KernelEnsemblesMixin, ScoreClassifier):
    """Support vector machine with any kernel, with or without a bias, and proven optimal.

    Solves ``min |f|^2 / 2 + C sum of loss(y f(x))`` over the functions of a kernel.  Without a
    bias it is the machine whose leave-one-out error `everystump.bounds` can bound.

    Parameters
    ----------
    kernel : str or callable, default="gaussian"
        "gaussian" (or "rbf", the same), "stump", "middle", "perceptron", "laplacian", "linear",
        "precomputed", or a function of two tables that returns the matrix of their rows' products.
    C : float, default=1.0
        What a unit of loss costs.
    gamma : float, "scale" or "auto", default="scale"
        Of the Gaussian and the Laplacian kernel; "scale" is one over the number of features times
        their variance, "auto" one over the number of features.
    fit_intercept : bool, default=True
        Whether to add a free constant; kernels that are positive definite only with one are
        given the constant that makes them so without.
    loss : {"hinge", "squared_hinge", "least_squares"}, default="hinge"
        The loss of a margin.
    class_weight : dict, "balanced" or None, default=None
        Factors of C for each class.
    tol : float, default=1e-3
        The relative duality gap to reach.
    max_iter : int, default=1000
        Iterations at most: groups of rows to solve for, steps of the interior-point method, or
        for LIBSVM, which trains the hinge with a bias, as many pairs as there are rows (1000 at
        least).  The active-set steps that follow, 30 at most each time, are not counted.
    memory_limit : float, default=2.0
        Gigabytes that may be used beside the table.  If the kernel matrix does not fit, parts of it
        are computed again and again, or the fit is refused where that cannot be.
    verbose : int, default=0
        1 shows live progress.

    Attributes
    ----------
    support_ : ndarray of int, shape (n_support,)
        The rows whose dual variables are not 0.
    dual_coef_ : ndarray of shape (n_rows,) or (n_classes, n_rows)
        Signed dual variables, zeros kept.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The biases.
    expansion_ : Expansion
        Kernel, support vectors, coefficients.
    training_scores_ : ndarray of shape (n_rows,) or (n_classes, n_rows)
        The scores of the training rows; NaN for those of weight 0.
    row_costs_ : ndarray of shape (n_rows,)
        C times the weight of each training row and its class.
    certificate_, classes_, n_iter_, n_features_in_, feature_names_in_
        As in `StumpSVC`; the certificate takes the kernel matrix as it is in double precision.

    Examples
    --------
    >>> from everystump import KernelSVC
    >>> from everystump.bounds import loo_bound
    >>> from everystump.datasets import make_threenorm
    >>> X, y = make_threenorm(300, random_state=0)
    >>> model = KernelSVC(C=0.5, gamma=0.02, fit_intercept=False).fit(X, y)
    >>> bound = loo_bound(model, X, y)
    >>> bound.holds, bound.value < 0.5, model.certificate_.converged
    (True, True, True)
    """

    _fitted_attribute: ClassVar[str] = "expansion_"

    _parameter_constraints: ClassVar[dict] = {
        "kernel": [one_of(*kernel_names(), "precomputed"), callable],
        "C": [Interval(Real, 0, None, closed="neither")],
        "gamma": [one_of("scale", "auto"), Interval(Real, 0, None, closed="neither")],
        "fit_intercept": ["boolean"],
        "loss": [one_of(*LOSSES)],
        "class_weight": [dict, str, None],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "memory_limit": [Interval(Real, 0, None, closed="neither")],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        kernel: Any = "gaussian",
        *,
        C: float = 1.0,
        gamma: Any = "scale",
        fit_intercept: bool = True,
        loss: str = "hinge",
        class_weight: Any = None,
        tol: float = 1e-3,
        max_iter: int = 1000,
        memory_limit: float = 2.0,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.gamma = gamma
        self.fit_intercept = fit_intercept
        self.loss = loss
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.memory_limit = memory_limit
        self.verbose = verbose

    def __sklearn_tags__(self) -> Tags:
        """Say that precomputed products are rows and columns at once."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train the machine, one for each class if there are more than two.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Numbers; with ``kernel="precomputed"`` the products of all rows with each other.
        y : array-like of shape (n_rows,)
            Labels of two or more classes; more than two are set one against the rest.
        sample_weight : array-like of shape (n_rows,), optional
            A weight of 2 counts as the row twice, a weight of 0 as its absence.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._validate_params()
        table = check_table(self, X, y, sample_weight, self.class_weight)
        check_cost(self.C, table.weight)
        rows = self._training_rows(table)
        # Small matrices are quicker without BLAS's own threads, which wait for each other.
        with one_blas_thread if len(rows) <= _FEW_ROWS else nullcontext():
            self._fit_table(table, rows, self._gram(table, rows))
        warn_if_not_converged(self)
        return self

    def _gram(
        self,
        table: TrainingTable,
        rows: np.ndarray,
        buffer: np.ndarray | None = None,
        n_threads: int = 1,
    ) -> LazyKernelMatrix:
        kernel = make_kernel(self.kernel, rows, gamma=self.gamma, weight=table.sample_weight)
        return LazyKernelMatrix(kernel, rows, self._bytes(), buffer, n_threads)

    def _with_fixed_gamma(self, X: np.ndarray, weight: np.ndarray | None) -> KernelSVC:
        """Return an unfitted machine whose gamma is that of the rows ``X`` from now on."""
        if self.gamma != "scale" or not takes_gamma(self.kernel):
            return self
        return clone(self).set_params(gamma=gamma_scale(X, weight))

    def _common_gram(
        self, table: TrainingTable, r: int, n_machines: int, n_threads: int
    ) -> LazyKernelMatrix | None:
        """Return the kernel matrix of a table for machines on ``r`` of its rows each, if it pays.

        None if their kernels depend on their rows, if LIBSVM computes its own products, or if the
        matrix takes too much memory or saves too few of their products.
        """
        n_rows = len(table.X)
        if n_machines * r**2 < _WORTH * n_rows**2 or bytes_needed(n_rows, n_rows) > self._bytes():
            return None
        rows = np.asarray(table.X, dtype=np.float64)
        gram = self._gram(table, rows, n_threads=n_threads)
        by_libsvm = self.fit_intercept and self.loss == "hinge" and gram.kernel.libsvm is not None
        return gram if gram.kernel.data_independent and not by_libsvm else None

    def _bytes(self) -> float:
        return self.memory_limit * _GIGABYTE

    def _fit_part(
        self, table: TrainingTable, gram: LazyKernelMatrix | None, buffer: np.ndarray | None
    ) -> LazyKernelMatrix:
        """Train on a checked table, perhaps with its products; return these for others to reuse."""
        table = table.weighed(self.class_weight)
        rows = self._training_rows(table)
        self.n_features_in_, self.feature_info_ = rows.shape[1], table.features
        gram = self._gram(table, rows, buffer) if gram is None else gram
        self._fit_table(table, rows, gram)
        warn_if_not_converged(self)
        return gram

    def _fit_table(self, table: TrainingTable, rows: np.ndarray, gram: LazyKernelMatrix) -> None:
        """Train on the rows of a checked table and their products."""
        trained = []
        for k, positive in enumerate(table.problems()):
            problem = self._problem(positive, self.C * table.weight)
            title = f"{type(self).__name__}, {len(rows)} rows, C={self.C:g}{table.title(k)}"
            with FitProgress(self.verbose, title) as report:
                trained.append(train(gram, problem, report))
        self._store(table, gram.kernel, rows, trained)

    def _training_rows(self, table: TrainingTable) -> np.ndarray:
        """Return the rows between which products are taken."""
        # The squared losses are solved for one bias after another, each time without any.
        free_bias = self.fit_intercept and self.loss == "hinge"
        if self.kernel == "precomputed":
            return check_kernel_matrix(table, bias=free_bias)
        rows = np.asarray(table.X, dtype=np.float64)
        if callable(self.kernel):
            check_kernel_function(self.kernel, rows, bias=free_bias)
        return rows

    def _problem(self, positive: np.ndarray, cost: np.ndarray) -> KernelProblem:
        sign = np.where(positive, 1.0, -1.0)
        return KernelProblem(
            sign, LOSSES[self.loss](cost), self.fit_intercept, self.tol, self.max_iter
        )

    def _store(
        self, table: TrainingTable, kernel: Kernel, rows: np.ndarray, trained: list[KernelSolution]
    ) -> None:
        signs = table.signs()
        coef = signs * [machine.a for machine in trained]
        scores = signs * [machine.margin for machine in trained]
        support = np.flatnonzero(coef.any(axis=0))
        self.classes_ = table.classes
        self.intercept_ = np.array([machine.b for machine in trained])
        self.support_ = table.kept[support]
        support_vectors = kernel.support_vectors(rows, support, self.support_)
        self.expansion_ = Expansion(kernel, support_vectors, coef[:, support].T, self.intercept_)
        self.dual_coef_ = _spread(coef, table, 0.0)
        self.training_scores_ = _spread(scores, table, np.nan)
        self.row_costs_ = _spread(self.C * table.weight[None], table, 0.0)
        self.certificate_ = per_class([machine.certificate for machine in trained])
        self.n_iter_ = max(1, max(machine.n_iter for machine in trained))

    def _decision_function(self, X: np.ndarray) -> np.ndarray:
        scores = self.expansion_.evaluate(np.asarray(X, dtype=np.float64))
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _kernel_ensembles(self, X: Any, y: Any) -> list[KernelEnsemble]:
        check_is_fitted(self, "expansion_")
        caveats = check_training_table(self, X, y, len(self.row_costs_))
        numbers = np.asarray(check_rows(self, X), dtype=np.float64)
        signs = training_signs(self, y, len(numbers))
        return one_by_one(self.kernel_machines(lambda: numbers, signs), caveats)

    def _data_dependence(self) -> tuple[str, ...]:
        """Return why the kernel or the costs were not known before the training rows were."""
        found: tuple[str, ...] = ()
        if not self.expansion_.kernel.data_independent:
            which = (
                f"gamma={self.gamma!r}" if takes_gamma(self.kernel) else f"kernel={self.kernel!r}"
            )
            found = (f"{which}: the kernel follows the training rows",)
        return (*found, BALANCED) if self.class_weight == "balanced" else found

    def kernel_machines(
        self, rows: Callable[[], np.ndarray], signs: np.ndarray
    ) -> list[KernelMachine]:
        """Return the fitted machine as theorems see it, for votes of which it is a part.

        Parameters
        ----------
        rows : callable
            Gives the training rows as numbers.
        signs : ndarray of shape (n_problems, n_rows)
            Their labels as 1 and -1: one problem for two classes, else one per class.

        Returns
        -------
        list of KernelMachine
            One for each problem, on the rows of positive weight.
        """
        used = np.flatnonzero(self.row_costs_)
        cost, kernel = self.row_costs_[used], self.expansion_.kernel
        known = kernel.constant_diagonal is not None
        diagonal = np.full(len(cost), kernel.constant_diagonal)
        if not known:
            diagonal = kernel.diagonal(kernel.subset(rows(), used))
        lacks = ((BIASED,) if self.fit_intercept else ()) + self._data_dependence()
        duals, margins = signs * self.dual_coef_, signs * self.training_scores_
        return [
            KernelMachine(
                rows=np.arange(len(cost)),
                a=a,
                margin=margin,
                diagonal=diagonal,
                kappa=float(diagonal.max()),
                kappa_is_proven=known,
                C=float(cost.max()),
                has_hinge_loss=self.loss == "hinge",
                has_bounded_duals=self.loss == "hinge",
                gap=absolute_gap(proof),
                refit_gap=0.0,  # `leave_one_out` goes to the optimum
                violations=lacks + violations_of(sign, proof),
                leave_one_out=partial(self._leave_each_out, rows, sign, a, margin),
            )
            for sign, a, margin, proof in zip(
                signs[:, used],
                duals[:, used],
                margins[:, used],
                as_class_list(self.certificate_),
                strict=True,
            )
        ]

    def _leave_each_out(
        self,
        rows: Callable[[], np.ndarray],
        sign: np.ndarray,
        a: np.ndarray,
        margin: np.ndarray,
        some: np.ndarray | None = None,
    ) -> Iterator[tuple[int, np.ndarray]]:
        used = np.flatnonzero(self.row_costs_)
        kernel, problem = self.expansion_.kernel, self._problem(sign > 0, self.row_costs_[used])
        table = kernel.subset(np.asarray(rows(), dtype=np.float64), used)
        gram = LazyKernelMatrix(kernel, table, self._bytes())
        every = np.arange(len(a)) if some is None else some
        return leave_one_out(gram.full, problem, a, margin, every)


def _spread(by_row: np.ndarray, table: TrainingTable, absent: float) -> np.ndarray:
    """Return what was found for the rows that count for all rows of the user's table."""
    out = np.full((len(by_row), table.n_input_rows), absent)
    out[:, table.kept] = by_row
    return out[0] if len(out) == 1 else out
