"""Which stumps vote: measures over the thresholds of each feature.

The weight function ``r`` of Definition 1 (Lin & Li) is a measure over thresholds.  A solver needs
only the mass ``m[k]`` between neighboring bins and, for models without an intercept, the mass
outside the data.  A measure also determines how a feature's curve interpolates between bins,
because it distributes the stumps within the gap.

The stump "is missing" has the mass of the single gap of an indicator column of zeros and ones (1
under a density), and so has "is this level", so that a category has the same mass as its one-hot
columns; except under `Mixed`, where a level has half of it, so that a category of two levels is the
same as one column of zeros and ones.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.integrate import quad_vec

from everystump._core.columns import Column

Function = Callable[[np.ndarray], np.ndarray]

DEFAULT_MEASURE = "mixed"


@dataclass(frozen=True)
class Masses:
    """The masses of one feature."""

    inside: np.ndarray  # (n_bins - 1,): between each bin except the first and its parent
    left: float = 0.0  # between the lower end of the feature's range and the first bin
    right: float = 0.0

    @property
    def outside(self) -> float:
        """Mass of the stumps whose vote is the same in all bins."""
        return self.left + self.right


class Measure(ABC):
    """A measure over thresholds.

    Attributes
    ----------
    is_step : bool
        Whether curves are step functions that jump at the cuts, not interpolated between bins.
    is_piecewise_linear : bool
        Whether curves are exactly linear between their knots.
    uses_counts : bool
        Whether masses depend on the rows, not only on the range of the feature.
    indicator_mass : float
        The mass of a stump "is this level" or "is missing".
    level_mass : float or None
        The mass of a stump "is this level", if it differs; a missing category is a level.
    """

    is_step = False
    is_piecewise_linear = True
    uses_counts = True
    indicator_mass = 2.0
    level_mass: float | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def check(self, n_features: int) -> None:
        """Check that the measure can be used for a table of ``n_features``; by default it can."""
        return

    def for_interactions(self) -> Measure:
        """Return the measure of each feature of an interaction."""
        return self

    def with_base(self, base: Measure) -> Measure:
        """Return the measure ``base``, with the weights of features of this one, if it has any."""
        return base

    @abstractmethod
    def masses(self, column: Column, d: int) -> Masses:
        """Return the masses of the thresholds of feature ``d`` in ``[column.low, column.high]``."""

    def stump_masses(self, column: Column, d: int) -> Masses:
        """Return the masses of all stumps of feature ``d``: thresholds and indicators."""
        indicators = self.indicator_masses(column, d)
        if column.is_category:
            return Masses(indicators)
        masses = self.masses(column, d)
        if len(indicators) == 0:
            return masses
        return replace(masses, inside=np.append(masses.inside, indicators))

    def indicator_masses(self, column: Column, d: int) -> np.ndarray:
        """Return the mass of the stumps "is this level" and "is missing".

        An indicator that is the same for all rows has no mass: its column of zeros or ones has no
        gap.
        """
        if not column.is_category and column.missing == 0:
            return np.empty(0)
        weights = column.weights[column.first if column.is_category else column.missing_bin :]
        total = column.weights.sum()
        mass = self.indicator_mass
        if column.is_category and self.level_mass is not None:
            mass = self.level_mass
        return np.where((weights > 0) & (weights < total), mass, 0.0)

    def thresholds(self, d: int) -> np.ndarray | None:
        """Return the only thresholds of feature ``d``, or None if every threshold may vote."""
        return None

    def knot_positions(self, column: Column, d: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the knots of a feature's curve and their positions between the bins.

        At a knot of position 3.25 the curve is a quarter of the way from the value of bin 3 to
        that of bin 4.
        """
        return column.values, np.arange(len(column.values), dtype=np.float64)


class Lebesgue(Measure):
    """Length in the feature's own units: exactly the stump kernel of Definition 2."""

    uses_counts = False
    indicator_mass = 1.0

    def masses(self, column: Column, d: int) -> Masses:
        """Return the length of every gap."""
        return _lengths(column, 1.0)


class Uniform(Measure):
    """Length, with each feature's range scaled to 2: the paper's SVM-Stump without a scaler."""

    uses_counts = False

    def masses(self, column: Column, d: int) -> Masses:
        """Return the length of every gap, relative to half the range."""
        return _lengths(column, column.high / 2 - column.low / 2)


class Rank(Measure):
    """Rows in the gap, a total of 2 per feature: invariant to monotonic transforms, like trees."""

    def masses(self, column: Column, d: int) -> Masses:
        """Return half the rows at both ends of every gap, scaled."""
        return Masses(_scaled_to_two((column.counts[1:] + column.counts[:-1]) / 2))


class EqualShare(Measure):
    """The same mass for every gap, a total of 2 per feature."""

    def masses(self, column: Column, d: int) -> Masses:
        """Return equal masses."""
        return Masses(_scaled_to_two(np.ones(len(column.values) - 1)))


class Mixed(Measure):
    """The mean of `Uniform`, `Rank` and `EqualShare`: robust to long tails and to spikes.

    Levels of categories have half the mass that they have under these.
    """

    level_mass = 1.0
    parts = (Uniform(), Rank(), EqualShare())

    def masses(self, column: Column, d: int) -> Masses:
        """Return the mean mass of the three."""
        parts = [part.masses(column, d) for part in self.parts]
        inside = parts[0].inside + parts[1].inside
        inside += parts[2].inside
        inside /= 3
        return Masses(inside, sum(p.left for p in parts) / 3, sum(p.right for p in parts) / 3)


class Middle(Measure):
    """One stump of mass 1 in the middle of every gap (SVM-Mid); curves are step functions."""

    is_step = True
    indicator_mass = 1.0

    def masses(self, column: Column, d: int) -> Masses:
        """Return 1 for every gap."""
        return Masses(np.ones(len(column.values) - 1))


class ChosenStumps(Measure):
    """Only the specified stumps, each a feature of -1 and +1 with ``r = 1``: a mass of 2 per stump.

    Parameters
    ----------
    thresholds : sequence of array-like
        The thresholds of each feature; a threshold that occurs twice counts twice.
    levels : sequence of sequence of int, optional
        The codes of the levels with a stump "is this level", for each category.
    missing : sequence of int, optional
        The number of stumps "is missing" of each feature.
    """

    is_step = True

    def __init__(
        self,
        thresholds: Sequence,
        levels: Sequence[Sequence[int]] | None = None,
        missing: Sequence[int] | None = None,
    ) -> None:
        try:
            arrays = [np.asarray(t, dtype=np.float64) for t in thresholds]
        except (TypeError, ValueError):
            arrays = [np.full(1, np.nan)]
        if not all(np.all(np.isfinite(t)) for t in arrays):
            raise ValueError(
                f"thresholds={thresholds!r} must be a list of arrays of finite numbers, one array "
                f"per feature."
            )
        self._thresholds = [np.sort(t, axis=None) for t in arrays]
        self._levels = [()] * len(arrays) if levels is None else levels
        self._missing = [0] * len(arrays) if missing is None else missing

    def check(self, n_features: int) -> None:
        """Check that there is one array of thresholds for each feature."""
        _check_one_each("thresholds", len(self._thresholds), n_features)

    def thresholds(self, d: int) -> np.ndarray:
        """Return the distinct thresholds of feature ``d``, which cut it into bins."""
        return np.unique(self._thresholds[d])

    def masses(self, column: Column, d: int) -> Masses:
        """Return twice the number of stumps at each cut."""
        _, multiplicity = np.unique(self._thresholds[d], return_counts=True)
        return Masses(2.0 * multiplicity)

    def indicator_masses(self, column: Column, d: int) -> np.ndarray:
        """Return twice the number of stumps "is this level" and "is missing"."""
        n_levels = len(column.values) if column.is_category else 0
        chosen = np.bincount(np.asarray(self._levels[d], dtype=int), minlength=n_levels)
        missing = [self._missing[d]] if column.missing > 0 else []
        return 2.0 * np.append(chosen[:n_levels], missing)


class Density(Measure):
    """A density over thresholds: Definition 1 in general; the mass of a gap is its integral.

    Parameters
    ----------
    function : callable or sequence of callables
        Maps an array of thresholds to non-negative densities; one callable for all features, or one
        per feature.  It is integrated numerically, so a spike much narrower than a gap may be
        missed.  The constant 1 is `Lebesgue`.
    """

    uses_counts = False
    is_piecewise_linear = False
    indicator_mass = 1.0
    _PIECES = 32

    def __init__(self, function: Function | Sequence[Function]) -> None:
        if not callable(function) and not isinstance(function, Sequence):
            raise ValueError(
                f"function={function!r} must be a callable, or a list of one per feature."
            )
        self.function = function

    def check(self, n_features: int) -> None:
        """Check that there is one density for all features or one for each."""
        if not callable(self.function):
            _check_one_each("densities", len(self.function), n_features)

    def masses(self, column: Column, d: int) -> Masses:
        """Integrate the density over every gap."""
        edges = np.concatenate([[column.low], column.values, [column.high]])
        mass = self._integrate(edges, d)
        return Masses(mass[1:-1], float(mass[0]), float(mass[-1]))

    def knot_positions(self, column: Column, d: int) -> tuple[np.ndarray, np.ndarray]:
        """Follow the integrated density inside each gap, in linear pieces."""
        n = len(column.values)
        if n == 1:
            return super().knot_positions(column, d)
        parts = np.linspace(0.0, n - 1.0, (n - 1) * self._PIECES + 1)
        knots = np.interp(parts, np.arange(n), column.values)
        mass = self._integrate(knots, d).reshape(n - 1, self._PIECES)
        total = mass.sum(axis=1, keepdims=True)
        fraction = np.divide(mass, total, out=np.full_like(mass, 1 / self._PIECES), where=total > 0)
        positions = np.cumsum(fraction, axis=1) + np.arange(n - 1)[:, None]
        positions[:, -1] = np.arange(1, n)
        return knots, np.concatenate([[0.0], positions.ravel()])

    def _integrate(self, edges: np.ndarray, d: int) -> np.ndarray:
        function = self.function if callable(self.function) else self.function[d]
        return _integrate(function, edges[:-1], edges[1:], d)


_BY_NAME: dict[str, type[Measure]] = {
    "lebesgue": Lebesgue,
    "middle": Middle,
    "mixed": Mixed,
    "rank": Rank,
    "uniform": Uniform,
}


def as_measure(measure: str | Measure | Function) -> Measure:
    """Return a measure, given its name, a density, or the measure itself.

    Examples
    --------
    >>> type(as_measure("rank")).__name__
    'Rank'
    """
    if isinstance(measure, Measure):
        return measure
    if isinstance(measure, type):
        raise ValueError(
            f"measure={measure.__name__} is a class; pass an instance of it, as in "
            f"{measure.__name__}(...)."
        )
    if callable(measure):
        return Density(measure)
    if measure in _BY_NAME:
        return _BY_NAME[measure]()
    names = ", ".join(repr(name) for name in sorted(_BY_NAME))
    raise ValueError(
        f"measure={measure!r} is unknown; use {names}, a density (a callable), or a Measure; "
        f"estimators that choose C also accept 'auto'."
    )


def _check_one_each(what: str, n_entries: int, n_features: int) -> None:
    if n_entries != n_features:
        raise ValueError(
            f"measure: there are {what} for {n_entries} features, but X has {n_features}; pass one "
            f"per feature."
        )


def _lengths(column: Column, unit: float) -> Masses:
    """Return the length of every gap in multiples of ``unit``; all are 0 if ``unit`` is 0."""
    if unit == 0.0:
        return Masses(np.zeros(len(column.values) - 1))
    edges = np.empty(len(column.values) + 2)
    edges[0], edges[1:-1], edges[-1] = column.low, column.values, column.high
    if (column.high - column.low) / unit < np.inf:
        length = (edges[1:] - edges[:-1]) / unit
    else:
        length = np.diff(edges / 2 / unit) * 2
    return Masses(length[1:-1], float(length[0]), float(length[-1]))


def _scaled_to_two(mass: np.ndarray) -> np.ndarray:
    return mass * (2.0 / mass.sum()) if len(mass) else mass


def _integrate(function: Function, low: np.ndarray, high: np.ndarray, d: int) -> np.ndarray:
    """Integrate ``function`` over each ``[low[k], high[k]]`` by adaptive quadrature."""
    width = high - low

    def integrand(t: float) -> np.ndarray:
        value = np.asarray(function(low + t * width), dtype=np.float64)
        if value.shape != low.shape:
            raise ValueError(
                f"measure: the density of feature {d} returned shape {value.shape} for "
                f"{low.shape} thresholds; it must return one value per threshold."
            )
        if np.any(value < 0):
            raise ValueError(
                f"measure: the density of feature {d} is {value.min():g} at some threshold; "
                f"a density must not be negative."
            )
        return np.where(width > 0, value, 0.0) * width

    with np.errstate(all="ignore"):
        mass, error = quad_vec(integrand, 0.0, 1.0, norm="max", epsrel=1e-8, limit=200)[:2]
    if not np.all(np.isfinite(mass)) or error > 1e-4 * max(mass.max(initial=0.0), 1e-300):
        raise ValueError(
            f"measure: the density of feature {d} could not be integrated over "
            f"[{low[0]:g}, {high[-1]:g}]; use one that is finite and integrable there."
        )
    return mass


def finite_masses(measure: Measure, column: Column, d: int) -> Masses:
    """Return the masses of a feature; raise if their sum overflows."""
    masses = measure.stump_masses(column, d)
    if not np.isfinite(masses.inside.sum() + masses.outside):
        raise ValueError(
            f"measure: feature {d} ranges from {column.low:g} to {column.high:g}, too wide for its "
            f'mass to be a finite number; scale the feature or use measure="rank".'
        )
    return masses


def are_proportional(first: Sequence[Masses], second: Sequence[Masses]) -> bool:
    """Return whether the masses of all features are a multiple of others, up to rounding.

    Examples
    --------
    >>> masses = [Masses(np.array([1.0, 3.0])), Masses(np.array([2.0]))]
    >>> doubled = [Masses(2.0 * own.inside) for own in masses]
    >>> are_proportional(masses, doubled), are_proportional(masses, [masses[0], doubled[1]])
    (True, False)
    """
    a, b = (
        np.concatenate([np.append(own.inside, [own.left, own.right]) for own in masses])
        for masses in (first, second)
    )
    return np.allclose(a * (b.sum() / (a.sum() or 1.0)), b, rtol=1e-9, atol=0.0)
