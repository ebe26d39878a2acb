"""Kernels whose parameters are known, each under the name that a user gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from sklearn.metrics.pairwise import linear_kernel

from everystump._core.kernel_machines import products

_DIAGONAL_ROWS = 64

# Maps two tables of rows to the matrix of their products.
PairFunction = Callable[..., np.ndarray]


class Kernel(Protocol):
    """Products of rows."""

    @property
    def fixed(self) -> bool:
        """Whether it was known before the training rows were."""

    @property
    def own(self) -> float | None:
        """The product of every row with itself, None if it is not the same for all."""

    @property
    def libsvm(self) -> dict[str, Any] | None:
        """The kernel in LIBSVM's own words, None if LIBSVM does not know it."""

    @property
    def linear(self) -> bool:
        """Whether it is the plain product of rows."""

    def keep(self, X: np.ndarray, index: np.ndarray, number: np.ndarray) -> np.ndarray:
        """Return what must be kept of some training rows to take products with them later.

        ``number`` are the rows' numbers in the user's table, ``index`` those in ``X``.
        """

    def between(self, X: np.ndarray, kept: np.ndarray) -> np.ndarray:
        """Return the products of new rows with kept ones."""

    def fill(self, X: np.ndarray, index: np.ndarray, out: np.ndarray) -> None:
        """Write the products of some training rows with all of them."""

    def diagonal(self, X: np.ndarray) -> np.ndarray:
        """Return the product of each training row with itself."""

    def restrict(self, X: np.ndarray, index: np.ndarray) -> np.ndarray:
        """Return a training table of fewer rows."""


@dataclass(frozen=True)
class PairKernel:
    """A kernel that is a function of two rows, perhaps one that can write into a given array."""

    function: PairFunction
    fixed: bool = True
    own: float | None = None
    libsvm: dict[str, Any] | None = None
    writes: bool = False

    @property
    def linear(self) -> bool:
        """Whether it is the plain product of rows."""
        return self.function is linear_kernel

    def keep(self, X: np.ndarray, index: np.ndarray, number: np.ndarray) -> np.ndarray:
        """Return the rows themselves."""
        return X[index]

    def between(self, X: np.ndarray, kept: np.ndarray) -> np.ndarray:
        """Return the products of new rows with kept ones."""
        given = np.asarray(self.function(X, kept))
        if given.dtype.kind not in "biuf":
            raise ValueError(
                f"kernel={self.function!r} returned {given.dtype}; it must return real numbers."
            )
        found = given.astype(np.float64, copy=False)
        if found.shape != (len(X), len(kept)):
            raise ValueError(
                f"kernel={self.function!r} returned an array of shape {found.shape} for "
                f"{len(X)} and {len(kept)} rows; it must return one of shape "
                f"{(len(X), len(kept))}."
            )
        if not np.isfinite(found.sum()):
            raise ValueError(
                f"kernel={self.function!r} returned NaN or infinity; scale the features or use "
                f"another kernel."
            )
        return found

    def fill(self, X: np.ndarray, index: np.ndarray, out: np.ndarray) -> None:
        """Write the products of some training rows with all of them."""
        if self.writes:
            self.function(X[index], X, out=out)
        else:
            out[:] = self.between(X[index], X)

    def diagonal(self, X: np.ndarray) -> np.ndarray:
        """Return the product of each row with itself."""
        if self.own is not None:
            return np.full(len(X), self.own)
        blocks = [X[k : k + _DIAGONAL_ROWS] for k in range(0, len(X), _DIAGONAL_ROWS)]
        return np.concatenate([np.diag(self.between(block, block)) for block in blocks])

    def restrict(self, X: np.ndarray, index: np.ndarray) -> np.ndarray:
        """Return the rows themselves."""
        return X[index]


@dataclass(frozen=True)
class PrecomputedKernel:
    """The user's own products: a table of them stands for the rows."""

    fixed: bool = True
    own: float | None = None
    libsvm: dict[str, Any] | None = None

    @property
    def linear(self) -> bool:
        """Rows are not known, only their products."""
        return False

    def keep(self, X: np.ndarray, index: np.ndarray, number: np.ndarray) -> np.ndarray:
        """Return the numbers of the rows."""
        return number

    def between(self, X: np.ndarray, kept: np.ndarray) -> np.ndarray:
        """Return the columns of the kept rows."""
        return X[:, kept]

    def fill(self, X: np.ndarray, index: np.ndarray, out: np.ndarray) -> None:
        """Write some rows of the matrix."""
        out[:] = X[index]

    def diagonal(self, X: np.ndarray) -> np.ndarray:
        """Return the matrix's diagonal."""
        return np.diag(X)

    def restrict(self, X: np.ndarray, index: np.ndarray) -> np.ndarray:
        """Return the products of these rows with each other."""
        return X[np.ix_(index, index)]


def make_kernel(
    name: str | PairFunction, X: np.ndarray, *, gamma: Any, weight: np.ndarray | None
) -> Kernel:
    """Return a kernel ready for products, its open parameters taken from the training rows.

    Parameters
    ----------
    name : str or callable
        One of ``KERNELS``, "precomputed", or a function of two tables.
    X : ndarray of shape (n_rows, n_features)
        The training rows.
    gamma : float, "scale" or "auto"
        For the kernels that have one: "scale" is 1 over the number of features times their
        variance, "auto" 1 over the number of features.
    weight : ndarray of shape (n_rows,) or None
        How often each row counts in the variance.

    Returns
    -------
    Kernel
        The kernel.
    """
    if callable(name):
        return PairKernel(name)
    if name == "precomputed":
        return PrecomputedKernel()
    return KERNELS[name](X, _as_gamma(gamma, X, weight))


def takes_gamma(name: Any) -> bool:
    """Tell whether a kernel has a gamma."""
    return name in ("gaussian", "laplacian", "rbf")


def gamma_scale(X: np.ndarray, weight: np.ndarray | None) -> float:
    """Return one over the number of features times their variance, 1 if that is 0."""
    center = np.average(X, axis=0, weights=weight).mean()
    variance = np.average((X - center) ** 2, axis=0, weights=weight).mean()
    return float(1.0 / (X.shape[1] * variance)) if variance > 0 else 1.0


def _as_gamma(gamma: Any, X: np.ndarray, weight: np.ndarray | None) -> tuple[float, bool]:
    """Return gamma, and whether it was known before the rows were."""
    if gamma == "scale":
        return gamma_scale(X, weight), False
    return (1.0 / X.shape[1] if gamma == "auto" else float(gamma)), True


def _gaussian(X: np.ndarray, gamma: tuple[float, bool]) -> PairKernel:
    value, fixed = gamma
    function = partial(products.gaussian, gamma=value)
    return PairKernel(function, fixed, 1.0, {"kernel": "rbf", "gamma": value}, writes=True)


def _laplacian(X: np.ndarray, gamma: tuple[float, bool]) -> PairKernel:
    value, fixed = gamma
    return PairKernel(partial(products.laplacian, gamma=value), fixed, 1.0, writes=True)


def _linear(X: np.ndarray, gamma: tuple[float, bool]) -> PairKernel:
    return PairKernel(linear_kernel, libsvm={"kernel": "linear"})


def _stump(X: np.ndarray, gamma: tuple[float, bool]) -> PairKernel:
    own = float(np.ptp(X, axis=0).sum()) / 2
    return PairKernel(partial(products.stump, constant=own), False, own, writes=True)


def _middle(X: np.ndarray, gamma: tuple[float, bool]) -> PairKernel:
    cuts = products.midpoints_of(X)
    own = sum(len(c) for c in cuts) / 2
    return PairKernel(partial(products.middle_stump, cuts=cuts), False, own, writes=True)


def _perceptron(X: np.ndarray, gamma: tuple[float, bool]) -> PairKernel:
    center = (X.min(axis=0) + X.max(axis=0)) / 2
    radius = float(np.linalg.norm(X - center, axis=1).max())
    own = radius / products.mean_abs_cosine(X.shape[1])
    return PairKernel(partial(products.perceptron, constant=own), False, own, writes=True)


KERNELS: dict[str, Callable[[np.ndarray, tuple[float, bool]], PairKernel]] = {
    "gaussian": _gaussian,
    "laplacian": _laplacian,
    "linear": _linear,
    "middle": _middle,
    "perceptron": _perceptron,
    "stump": _stump,
    "rbf": _gaussian,
}
