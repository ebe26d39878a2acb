"""The named kernels, one entry each, as used by estimators, model files and exporters.

To add a kernel, add an entry to `KERNELS`, and its name to the docstring of `KernelSVC`, to
``docs/export.md`` and to the JSON schema of exported models, which a test compares with the table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import gammaln

from everystump._core import columns

_CDIST = {"manhattan": "cityblock", "euclidean": "euclidean"}


@dataclass(frozen=True)
class KernelSpec:
    """The formula of a kernel.

    With the parameter "gamma" it is ``exp(-gamma d)``, with "constant" it is ``constant - d`` for
    the distance ``d``.  With "cuts", an array per feature, values are replaced by the number of
    cuts below them, and the constant is half the number of cuts.  The inner product has none.
    """

    distance: str  # "manhattan", "euclidean", "squared_euclidean", or "dot", the inner product
    parameter: str | None
    # Estimates the constant or the cuts from the training rows.
    estimate: Callable[[np.ndarray], Any] | None = None
    libsvm: str | None = None  # its name in LIBSVM, if it has one
    aliases: tuple[str, ...] = ()

    @property
    def is_linear(self) -> bool:
        """Whether the kernel is the inner product."""
        return self.distance == "dot"

    @property
    def takes_gamma(self) -> bool:
        """Whether the kernel has the parameter ``gamma``."""
        return self.parameter == "gamma"

    def diagonal(self, parameters: Mapping[str, Any]) -> float | None:
        """Return ``K(x, x)``, None if it depends on x."""
        if self.parameter is None:
            return None
        return 1.0 if self.takes_gamma else kernel_constant(parameters)


def kernel_constant(parameters: Mapping[str, Any]) -> float:
    """Return the constant of a kernel ``constant - d``."""
    if "cuts" in parameters:
        return sum(len(cuts) for cuts in parameters["cuts"]) / 2
    return float(parameters["constant"])


def midpoints(X: np.ndarray) -> list[np.ndarray]:
    """Return the midpoints between neighboring values of each feature."""
    values = [np.unique(column) for column in X.T]
    return [columns.midpoints(v[:-1], v[1:]) for v in values]


def mean_abs_cosine(n_features: int) -> float:
    """Return the mean of ``|cos|`` of the angle between a random and a fixed direction."""
    half = n_features / 2
    return float(np.exp(gammaln(half) - gammaln(half + 0.5)) / np.sqrt(np.pi))


def _stump_constant(X: np.ndarray) -> float:
    """Return half the summed ranges of the features (Lin & Li, Definition 2)."""
    return float(np.ptp(X, axis=0).sum()) / 2


def _perceptron_constant(X: np.ndarray) -> float:
    """Return the constant that makes the kernel positive definite on a ball around the rows."""
    center = (X.min(axis=0) + X.max(axis=0)) / 2
    radius = float(np.linalg.norm(X - center, axis=1).max())
    return radius / mean_abs_cosine(X.shape[1])


KERNELS: dict[str, KernelSpec] = {
    "gaussian": KernelSpec("squared_euclidean", "gamma", libsvm="rbf", aliases=("rbf",)),
    "laplacian": KernelSpec("manhattan", "gamma"),
    "linear": KernelSpec("dot", None, libsvm="linear"),
    "middle": KernelSpec("manhattan", "cuts", midpoints),
    "perceptron": KernelSpec("euclidean", "constant", _perceptron_constant),
    "stump": KernelSpec("manhattan", "constant", _stump_constant),
}


def kernel_names() -> list[str]:
    """Return the names of all kernels, aliases included."""
    return [*KERNELS, *(alias for spec in KERNELS.values() for alias in spec.aliases)]


def canonical_name(name: str) -> str:
    """Return the name of a kernel in `KERNELS`, given that name or an alias."""
    return next(key for key, spec in KERNELS.items() if name == key or name in spec.aliases)


def kernel_product(
    name: str,
    X: np.ndarray,
    Y: np.ndarray,
    parameters: dict[str, Any],
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Return the matrix ``K(X[i], Y[j])`` of a kernel in `KERNELS`, in ``out`` if it is given."""
    spec = KERNELS[name]
    if "cuts" in parameters:
        X, Y = (count_cuts(rows, parameters["cuts"]) for rows in (X, Y))
    if spec.is_linear:
        return np.dot(X, Y.T, out=out)
    if spec.takes_gamma:
        exponent = _scaled_distance(spec.distance, X, Y, -parameters["gamma"], out)
        return np.exp(exponent, out=exponent)
    distance = _scaled_distance(spec.distance, X, Y, 1.0, out)
    return np.subtract(kernel_constant(parameters), distance, out=distance)


def count_cuts(X: np.ndarray, cuts: list[np.ndarray]) -> np.ndarray:
    """Return the number of cuts that are at most each value."""
    columns = zip(cuts, X.T, strict=True)
    counts = [np.searchsorted(c, x, side="right") for c, x in columns]
    return np.column_stack(counts).astype(np.float64)


def _scaled_distance(
    distance: str, X: np.ndarray, Y: np.ndarray, factor: float, out: np.ndarray | None
) -> np.ndarray:
    """Return ``factor`` times the distances."""
    if distance == "squared_euclidean":
        return _scaled_squares(X, Y, factor, out)
    distances = cdist(X, Y, _CDIST[distance], out=out)
    if factor != 1.0:
        distances *= factor
    return distances


def _scaled_squares(
    X: np.ndarray, Y: np.ndarray, factor: float, out: np.ndarray | None
) -> np.ndarray:
    """Return ``factor`` times the squared Euclidean distances, by a single matrix product.

    ``|x - y|^2 = |x|^2 + |y|^2 - 2 x.y`` is the product of rows with two more features each.
    Centered rows are small, which limits the cancellation.
    """
    center = Y.mean(axis=0)
    X, Y = X - center, Y - center
    left, right = factor * np.einsum("ij,ij->i", X, X), factor * np.einsum("ij,ij->i", Y, Y)
    extended_X = np.column_stack([-2.0 * factor * X, left, np.ones(len(X))])
    extended_Y = np.column_stack([Y, np.ones(len(Y)), right])
    return np.dot(extended_X, extended_Y.T, out=out)
