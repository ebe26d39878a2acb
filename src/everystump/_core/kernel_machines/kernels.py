"""Kernels with fixed parameters, and the fitted kernel machine, a weighted sum of kernels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import linear_kernel

from everystump._core.kernel_machines.registry import KERNELS, canonical_name, kernel_product
from everystump._core.solvers.kernel_certificate import weighted_sum
from everystump._core.threads import thread_map

_DIAGONAL_ROWS = 64
_BLOCK_ENTRIES = 1_000_000


class Kernel:
    """A kernel; the defaults suit an arbitrary function."""

    # Whether the kernel does not depend on the training rows.
    data_independent: bool = True

    @property
    def constant_diagonal(self) -> float | None:
        """``K(x, x)``, None if it depends on x."""
        return None

    @property
    def libsvm(self) -> dict[str, Any] | None:
        """The parameters of `sklearn.svm.SVC` for this kernel, None if LIBSVM does not have it."""
        return None

    @property
    def is_linear(self) -> bool:
        """Whether the kernel is the inner product."""
        return False

    def matrix(self, X: np.ndarray, support_vectors: np.ndarray) -> np.ndarray:
        """Return the kernel matrix of new rows and support vectors."""
        raise NotImplementedError

    def fill(self, X: np.ndarray, index: np.ndarray, out: np.ndarray) -> None:
        """Write the kernel matrix of the training rows ``X[index]`` and all of ``X``."""
        out[:] = self.matrix(X[index], X)

    def support_vectors(
        self, X: np.ndarray, index: np.ndarray, row_number: np.ndarray
    ) -> np.ndarray:
        """Return the training rows ``X[index]`` in the form that prediction needs: as they are.

        ``row_number`` holds their indices in the user's table, which may have rows of weight 0.
        """
        return X[index]

    def subset(self, X: np.ndarray, index: np.ndarray) -> np.ndarray:
        """Return the training rows ``index``."""
        return X[index]

    def diagonal(self, X: np.ndarray) -> np.ndarray:
        """Return ``K(x, x)`` of each training row."""
        if self.constant_diagonal is not None:
            return np.full(len(X), self.constant_diagonal)
        blocks = [X[k : k + _DIAGONAL_ROWS] for k in range(0, len(X), _DIAGONAL_ROWS)]
        return np.concatenate([np.diag(self.matrix(b, b)) for b in blocks])


@dataclass(frozen=True)
class NamedKernel(Kernel):
    """A kernel of the registry with its parameters."""

    name: str
    parameters: dict[str, Any]
    data_independent: bool = True  # whether no parameter was estimated from the training rows

    @property
    def constant_diagonal(self) -> float | None:
        """``K(x, x)``, None if it depends on x."""
        return KERNELS[self.name].diagonal(self.parameters)

    @property
    def libsvm(self) -> dict[str, Any] | None:
        """The parameters of `sklearn.svm.SVC` for this kernel, None if LIBSVM does not have it."""
        name = KERNELS[self.name].libsvm
        return None if name is None else {"kernel": name, **self.parameters}

    @property
    def is_linear(self) -> bool:
        """Whether the kernel is the inner product."""
        return KERNELS[self.name].is_linear

    def matrix(self, X: np.ndarray, support_vectors: np.ndarray) -> np.ndarray:
        """Return the kernel matrix of new rows and support vectors."""
        return _finite(kernel_product(self.name, X, support_vectors, self.parameters), self.name)

    def fill(self, X: np.ndarray, index: np.ndarray, out: np.ndarray) -> None:
        """Write the kernel matrix of the training rows ``X[index]`` and all of ``X``."""
        kernel_product(self.name, X[index], X, self.parameters, out=out)
        if self.is_linear:  # the only kernel whose products may overflow
            _finite(out, self.name)


@dataclass(frozen=True)
class CallableKernel(Kernel):
    """A function that maps two arrays of rows to their kernel matrix."""

    function: Callable[..., np.ndarray]

    def matrix(self, X: np.ndarray, support_vectors: np.ndarray) -> np.ndarray:
        """Return the kernel matrix of new rows and support vectors."""
        products = np.asarray(self.function(X, support_vectors))
        if products.dtype.kind not in "biuf":
            raise ValueError(
                f"kernel={self.function!r} returned {products.dtype}; it must return real numbers."
            )
        n_rows, n_columns = len(X), len(support_vectors)
        if products.shape != (n_rows, n_columns):
            raise ValueError(
                f"kernel={self.function!r} returned an array of shape {products.shape} for "
                f"{n_rows} and {n_columns} rows; it must return one of shape "
                f"{(n_rows, n_columns)}."
            )
        return _finite(products.astype(np.float64, copy=False), self.function)


@dataclass(frozen=True)
class PrecomputedKernel(Kernel):
    """The user's own kernel matrix, used instead of the rows."""

    def support_vectors(
        self, X: np.ndarray, index: np.ndarray, row_number: np.ndarray
    ) -> np.ndarray:
        """Return the indices of the rows."""
        return row_number

    def matrix(self, X: np.ndarray, support_vectors: np.ndarray) -> np.ndarray:
        """Return the columns of the support vectors."""
        return X[:, support_vectors]

    def fill(self, X: np.ndarray, index: np.ndarray, out: np.ndarray) -> None:
        """Write some rows of the matrix."""
        out[:] = X[index]

    def diagonal(self, X: np.ndarray) -> np.ndarray:
        """Return the diagonal of the matrix."""
        return np.diag(X)

    def subset(self, X: np.ndarray, index: np.ndarray) -> np.ndarray:
        """Return the kernel matrix of these rows."""
        return X[np.ix_(index, index)]


def make_kernel(
    kernel: str | Callable[..., np.ndarray],
    X: np.ndarray,
    *,
    gamma: Any,
    weight: np.ndarray | None,
) -> Kernel:
    """Return a kernel with its parameters, estimated from the training rows where needed.

    For exponential kernels, ``gamma="scale"`` is ``1 / (n_features * X.var())``, with weighted
    rows, and "auto" is ``1 / n_features``.
    """
    if kernel == "precomputed":
        return PrecomputedKernel()
    if kernel is linear_kernel:
        kernel = "linear"
    if callable(kernel):
        return CallableKernel(kernel)
    name = canonical_name(kernel)
    spec = KERNELS[name]
    if spec.takes_gamma:
        return NamedKernel(name, {"gamma": _resolve_gamma(gamma, X, weight)}, gamma != "scale")
    if spec.parameter is None or spec.estimate is None:
        return NamedKernel(name, {})
    return NamedKernel(name, {spec.parameter: spec.estimate(X)}, data_independent=False)


def takes_gamma(kernel: Any) -> bool:
    """Whether a kernel, given by name or as a function, has a parameter ``gamma``."""
    named = isinstance(kernel, str) and kernel != "precomputed"
    return named and KERNELS[canonical_name(kernel)].takes_gamma


def gamma_scale(X: np.ndarray, weight: np.ndarray | None) -> float:
    """Return ``1 / (n_features * X.var())``, 1 if the variance is 0."""
    center = np.average(X, axis=0, weights=weight).mean()
    variance = np.average((X - center) ** 2, axis=0, weights=weight).mean()
    return float(1.0 / (X.shape[1] * variance)) if variance > 0 else 1.0


def _resolve_gamma(gamma: Any, X: np.ndarray, weight: np.ndarray | None) -> float:
    if gamma == "scale":
        return gamma_scale(X, weight)
    return 1.0 / X.shape[1] if gamma == "auto" else float(gamma)


def _finite(products: np.ndarray, kernel: Any) -> np.ndarray:
    """Return a kernel matrix, or raise if it holds NaN or infinity."""
    if not np.isfinite(products.sum()):
        raise ValueError(
            f"kernel={kernel!r} returned NaN or infinity; scale the features or use another kernel."
        )
    return products


@dataclass(frozen=True)
class Expansion:
    """``f(x) = sum of coef_j K(x_j, x) + intercept`` over the support vectors (eq. 2)."""

    kernel: Kernel
    # (n_support, n_features), or, for a precomputed kernel, their row indices.
    support_vectors: np.ndarray
    coef: np.ndarray  # (n_support, n_outputs): signed dual variables
    intercept: np.ndarray  # (n_outputs,)

    @cached_property
    def linear_coef(self) -> np.ndarray:
        """The coefficients of the features, (n_features, n_outputs), for the linear kernel.

        Summed in twice the working precision: as the coefficients sum to 0, large offsets cancel.
        """
        return np.column_stack([weighted_sum(self.support_vectors, c) for c in self.coef.T])

    def evaluate(self, X: np.ndarray, n_threads: int = 1) -> np.ndarray:
        """Return the scores, (n_rows, n_outputs), block by block."""
        out = np.tile(self.intercept, (len(X), 1))
        if len(self.support_vectors) == 0:
            return out
        if self.kernel.is_linear:
            out += X @ self.linear_coef
            return out
        step = max(1, _BLOCK_ENTRIES // len(self.support_vectors))

        def add(first: int) -> None:
            block = slice(first, first + step)
            out[block] += self.kernel.matrix(X[block], self.support_vectors) @ self.coef

        thread_map(add, range(0, len(X), step), n_threads)
        return out
