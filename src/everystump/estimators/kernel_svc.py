"""Support vector classifiers with any kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from everystump._core.kernel_machines.kernel_matrix import LazyKernelMatrix, bytes_needed
from everystump._core.kernel_machines.kernels import (
    Expansion,
    Kernel,
    gamma_scale,
    make_kernel,
    takes_gamma,
)
from everystump._core.kernel_machines.leave_one_out import leave_one_out
from everystump._core.kernel_machines.problem import LOSSES, KernelProblem, KernelSolution
from everystump._core.kernel_machines.registry import kernel_names
from everystump._core.kernel_machines.train import train
from everystump._core.progress import FitProgress
from everystump._core.threads import one_blas_thread
from everystump._sklearn_compat import Interval, one_of
from everystump._tables.precomputed import check_kernel_function, check_kernel_matrix
from everystump._tables.training_table import ClassTable
from everystump._tables.validation import check_rows
from everystump.bounds._protocol import KernelEnsemble, KernelMachine
from everystump.estimators._base import (
    ScoreClassifier,
    as_class_list,
    check_cost,
    unwrap_binary,
    warn_if_not_converged,
)
from everystump.estimators._bounds import (
    BALANCED,
    INTERCEPT,
    check_is_training_data,
    find_violations,
    single_machine_ensembles,
    training_signs,
)

_GIGABYTE = 10**9
# Up to this many samples, kernel matrices are faster without BLAS threads.
_FEW_SAMPLES = 3000
# A shared kernel matrix must save this many times the kernel evaluations that it costs.
_MIN_REUSE = 3


@dataclass(eq=False, repr=False)
class KernelSVC(ScoreClassifier):
    """Support vector classifier with any kernel, with or without an intercept.

    Minimizes ``|f|^2 / 2 + C sum_i loss(y_i f(x_i))`` over the functions ``f`` of the kernel's
    reproducing kernel Hilbert space, with an optimality certificate.  Without an intercept,
    `everystump.bounds` can bound its leave-one-out error.

    Parameters
    ----------
    kernel : str or callable, default="gaussian"
        "gaussian" or its alias "rbf", "stump", "middle", "perceptron", "laplacian", "linear",
        "precomputed", or a function of two arrays that returns their kernel matrix.  With
        "precomputed", ``fit`` takes the kernel matrix of the training samples as ``X``.
    C : float, default=1.0
        Inverse regularization strength, as in `sklearn.svm.SVC`.
    gamma : float, "scale" or "auto", default="scale"
        Coefficient of the Gaussian and the Laplacian kernel: "scale" is
        ``1 / (n_features * X.var())``, "auto" is ``1 / n_features``.
    fit_intercept : bool, default=True
        Whether to fit an intercept.  Without one, a constant is added to kernels that are only
        conditionally positive definite.
    loss : {"hinge", "squared_hinge", "least_squares"}, default="hinge"
        Loss function.
    max_iter : int, default=1000
        Maximum number of iterations: working sets of samples, steps of the interior-point method,
        or ``n_samples`` (at least 1000) pair updates of LIBSVM, which solves the hinge loss with an
        intercept.  The active-set steps that follow, at most 30 each time, are not counted.
    memory_limit : float, default=2.0
        Maximum memory in gigabytes, in addition to the training data.  If the kernel matrix
        is larger, parts of it are recomputed, or an error is raised where that is impossible.
    class_weight, tol, verbose
        As in `StumpSVC`.

    Attributes
    ----------
    support_ : ndarray of shape (n_support,)
        Indices of the support vectors.
    dual_coef_ : ndarray of shape (n_samples,) or (n_classes, n_samples)
        Signed dual variables of all samples.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    expansion_ : Expansion
        Kernel, support vectors and coefficients.
    training_scores_ : ndarray of shape (n_samples,) or (n_classes, n_samples)
        Scores of the training samples; NaN for samples of weight 0.
    row_costs_ : ndarray of shape (n_samples,)
        C times the weight of each training sample and its class.
    certificate_, classes_, n_iter_, n_features_in_, feature_names_in_
        As in `StumpSVC`; the certificate is for the kernel matrix in double precision.

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

    kernel: Any = "gaussian"
    _: KW_ONLY
    C: float = 1.0
    gamma: Any = "scale"
    fit_intercept: bool = True
    loss: str = "hinge"
    class_weight: Any = None
    tol: float = 1e-3
    max_iter: int = 1000
    memory_limit: float = 2.0
    verbose: int = 0

    def __sklearn_tags__(self) -> Tags:
        """Declare whether X is a kernel matrix."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        table = self._check_training_data(X, y, sample_weight, self.class_weight)
        check_cost(self.C, table.weight)
        rows = self._training_rows(table)
        with one_blas_thread if len(rows) <= _FEW_SAMPLES else nullcontext():
            self._fit_table(table, rows, self._gram(table, rows))
        warn_if_not_converged(self)

    def _gram(
        self,
        table: ClassTable,
        rows: np.ndarray,
        buffer: np.ndarray | None = None,
        n_threads: int = 1,
    ) -> LazyKernelMatrix:
        kernel = make_kernel(self.kernel, rows, gamma=self.gamma, weight=table.sample_weight)
        return LazyKernelMatrix(kernel, rows, self._max_bytes(), buffer, n_threads)

    def _with_fixed_gamma(self, X: np.ndarray, weight: np.ndarray | None) -> KernelSVC:
        """Return an unfitted copy whose gamma is computed from ``X``, itself if gamma is fixed."""
        if self.gamma != "scale" or not takes_gamma(self.kernel):
            return self
        return clone(self).set_params(gamma=gamma_scale(X, weight))

    def _shared_gram(
        self, table: ClassTable, r: int, n_machines: int, n_threads: int
    ) -> LazyKernelMatrix | None:
        """Return the kernel matrix of all samples, for machines on ``r`` samples each.

        None if their kernels depend on their samples, if LIBSVM evaluates the kernel itself, or if
        the matrix is too large or saves too few evaluations.
        """
        n_rows = len(table.X)
        is_worthwhile = n_machines * r**2 >= _MIN_REUSE * n_rows**2
        if not is_worthwhile or bytes_needed(n_rows, n_rows) > self._max_bytes():
            return None
        rows = np.asarray(table.X, dtype=np.float64)
        gram = self._gram(table, rows, n_threads=n_threads)
        by_libsvm = self.fit_intercept and self.loss == "hinge" and gram.kernel.libsvm is not None
        return gram if gram.kernel.data_independent and not by_libsvm else None

    def _max_bytes(self) -> float:
        return self.memory_limit * _GIGABYTE

    def _fit_subsample(
        self, table: ClassTable, gram: LazyKernelMatrix | None, buffer: np.ndarray | None
    ) -> LazyKernelMatrix:
        """Fit to validated data, with its kernel matrix if given; return the matrix for reuse."""
        table = table.with_class_weight(self.class_weight)
        rows = self._training_rows(table)
        self.n_features_in_, self.feature_info_ = rows.shape[1], table.features
        gram = self._gram(table, rows, buffer) if gram is None else gram
        self._fit_table(table, rows, gram)
        warn_if_not_converged(self)
        return gram

    def _fit_table(self, table: ClassTable, rows: np.ndarray, gram: LazyKernelMatrix) -> None:
        """Fit to validated data and its kernel matrix."""
        solutions = []
        for k, positive in enumerate(table.problems()):
            problem = self._problem(positive, self.C * table.weight)
            title = f"{type(self).__name__}, {len(rows)} samples, C={self.C:g}{table.title(k)}"
            with FitProgress(self.verbose, title) as progress:
                solutions.append(train(gram, problem, progress))
        self._store(table, gram.kernel, rows, solutions)

    def _training_rows(self, table: ClassTable) -> np.ndarray:
        """Return the checked arguments of the kernel: samples, or indices of a kernel matrix."""
        # The squared losses are solved for fixed intercepts.
        free_intercept = self.fit_intercept and self.loss == "hinge"
        if self.kernel == "precomputed":
            return check_kernel_matrix(table, free_intercept=free_intercept)
        rows = np.asarray(table.X, dtype=np.float64)
        if callable(self.kernel):
            check_kernel_function(self.kernel, rows, free_intercept=free_intercept)
        return rows

    def _problem(self, positive: np.ndarray, cost: np.ndarray) -> KernelProblem:
        sign = np.where(positive, 1.0, -1.0)
        loss = LOSSES[self.loss](cost)
        return KernelProblem(sign, loss, self.fit_intercept, self.tol, self.max_iter)

    def _store(
        self,
        table: ClassTable,
        kernel: Kernel,
        rows: np.ndarray,
        solutions: list[KernelSolution],
    ) -> None:
        """Store the solutions as fitted attributes."""
        signs = table.signs()
        coef = signs * [solution.a for solution in solutions]
        scores = signs * [solution.margin for solution in solutions]
        support = np.flatnonzero(coef.any(axis=0))
        self.classes_ = table.classes
        self.intercept_ = np.array([solution.b for solution in solutions])
        self.support_ = table.input_index[support]
        support_vectors = kernel.support_vectors(rows, support, self.support_)
        self.expansion_ = Expansion(kernel, support_vectors, coef[:, support].T, self.intercept_)
        self.dual_coef_ = table.to_input_rows(coef)
        self.training_scores_ = table.to_input_rows(scores, fill=np.nan)
        self.row_costs_ = table.to_input_rows([self.C * table.weight])
        self.certificate_ = unwrap_binary([solution.certificate for solution in solutions])
        self.n_iter_ = max(1, max(solution.n_iter for solution in solutions))

    def _decision_function(self, X: np.ndarray) -> np.ndarray:
        scores = self.expansion_.evaluate(np.asarray(X, dtype=np.float64))
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def kernel_ensembles(self, X: Any, y: Any) -> list[KernelEnsemble]:
        """Return the fitted kernel machines as ensembles; see `SupportsKernelEnsembles`."""
        check_is_fitted(self, "expansion_")
        caveats = check_is_training_data(self, X, y, len(self.row_costs_))
        rows = np.asarray(check_rows(self, X), dtype=np.float64)
        signs = training_signs(self, y, len(rows))
        return single_machine_ensembles(self.kernel_machines(lambda: rows, signs), caveats)

    def _data_dependence(self) -> tuple[str, ...]:
        """Return why the kernel or the costs depend on the training samples."""
        reasons: tuple[str, ...] = ()
        if not self.expansion_.kernel.data_independent:
            name = "gamma" if takes_gamma(self.kernel) else "kernel"
            value = getattr(self, name)
            reasons = (f"{name}={value!r}: the kernel depends on the training samples",)
        return (*reasons, BALANCED) if self.class_weight == "balanced" else reasons

    def kernel_machines(
        self, rows: Callable[[], np.ndarray], signs: np.ndarray
    ) -> list[KernelMachine]:
        """Return the fitted kernel machine of each problem; see `SupportsKernelMachines`."""
        used = np.flatnonzero(self.row_costs_)
        cost, kernel = self.row_costs_[used], self.expansion_.kernel
        is_constant = kernel.constant_diagonal is not None
        diagonal = np.full(len(cost), kernel.constant_diagonal)
        if not is_constant:
            diagonal = kernel.diagonal(kernel.subset(rows(), used))
        violations = ((INTERCEPT,) if self.fit_intercept else ()) + self._data_dependence()
        duals, margins = signs * self.dual_coef_, signs * self.training_scores_
        return [
            KernelMachine(
                rows=np.arange(len(cost)),
                a=a,
                margin=margin,
                diagonal=diagonal,
                kappa=float(diagonal.max()),
                kappa_is_proven=is_constant,
                C=float(cost.max()),
                has_hinge_loss=self.loss == "hinge",
                has_bounded_duals=self.loss == "hinge",
                gap=max(0.0, certificate.primal - certificate.dual),
                refit_gap=0.0,  # `leave_one_out` solves to the optimum
                violations=violations + find_violations(sign, certificate),
                leave_one_out=partial(self._leave_one_out, rows, sign, a, margin),
            )
            for sign, a, margin, certificate in zip(
                signs[:, used],
                duals[:, used],
                margins[:, used],
                as_class_list(self.certificate_),
                strict=True,
            )
        ]

    def _leave_one_out(
        self,
        rows: Callable[[], np.ndarray],
        sign: np.ndarray,
        a: np.ndarray,
        margin: np.ndarray,
        index: np.ndarray | None = None,
    ) -> Iterator[tuple[int, np.ndarray]]:
        used = np.flatnonzero(self.row_costs_)
        kernel, problem = self.expansion_.kernel, self._problem(sign > 0, self.row_costs_[used])
        table = kernel.subset(np.asarray(rows(), dtype=np.float64), used)
        gram = LazyKernelMatrix(kernel, table, self._max_bytes())
        left_out = np.arange(len(a)) if index is None else index
        return leave_one_out(gram.full, problem, a, margin, left_out)
