"""Random binary tables and problems for Hypothesis: ties, copies, spikes, extreme scales."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from oracles import axis, chosen_axis, density

from everystump._core.measures import ChosenStumps

NAMED = ("lebesgue", "uniform", "rank", "mixed", "middle", "density")
KINDS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "ties": lambda rng, n: rng.integers(0, 4, size=n).astype(float),
    "two": lambda rng, n: rng.choice([-1.0, 3.0], size=n),
    "rare": lambda rng, n: (np.arange(n) == rng.integers(n)).astype(float),
    "constant": lambda rng, n: np.full(n, 7.0),
    "heavy": lambda rng, n: rng.standard_cauchy(size=n),
    "order": lambda rng, n: rng.permutation(n).astype(float),
}


@dataclass(frozen=True)
class Case:
    """A problem described by a few values that Hypothesis draws."""

    n: int
    kinds: tuple
    scales: tuple
    labels: str
    copies: int
    seed: int
    measure: str
    log2_C: float
    weighted: bool
    tol: float
    widen: float

    @property
    def unit_cost(self):
        """The parameter C; under lebesgue, only C times the scale of the features matters."""
        if self.log2_C > 15:
            return np.inf
        scale = max(self.scales, default=0) if self.measure == "lebesgue" else 0
        return 2.0**self.log2_C / 10.0**scale

    def table(self):
        """Return X, y in {-1, 1} and positive weights (None if not weighted)."""
        rng = np.random.default_rng(self.seed)
        columns = [
            KINDS[kind](rng, self.n) * 10.0**scale
            for kind, scale in zip(self.kinds, self.scales, strict=True)
        ]
        X = np.column_stack(columns)
        y = self._labels(rng, X)
        if self.copies:
            again = rng.integers(0, self.n, size=self.copies)
            X, y = np.vstack([X, X[again]]), np.append(y, -y[again])
        weight = rng.choice([0.5, 1.0, 3.0, 10.0], size=len(y)) if self.weighted else None
        return X, y, weight

    def _labels(self, rng, X):
        noise = rng.normal(size=self.n)
        if self.labels == "tiny":
            y = np.where(np.arange(self.n) == rng.integers(self.n), 1, -1)
        elif self.labels == "signal":
            y = np.where(X[:, 0] - np.median(X[:, 0]) + 0.1 * noise * np.std(X[:, 0]) > 0, 1, -1)
        else:
            y = np.where(noise > 0, 1, -1)
        y[:2] = -1, 1
        return y

    def stumps(self, X, weight, *, fit_intercept):
        """Return the oracle's axes, everystump's measure, and the range given to it."""
        if self.measure == "chosen":
            thresholds = self._thresholds(X)
            axes = [chosen_axis(x, t) for x, t in zip(X.T, thresholds, strict=True)]
            return axes, ChosenStumps(thresholds), None
        limits = None
        if self.widen and not fit_intercept:
            reach = self.widen * (np.ptp(X, axis=0) + 10.0 ** np.array(self.scales))
            limits = np.column_stack([X.min(axis=0) - reach, X.max(axis=0) + 2 * reach])
        pairs = [None] * X.shape[1] if limits is None else [tuple(pair) for pair in limits]
        axes = [axis(x, self.measure, weight, p) for x, p in zip(X.T, pairs, strict=True)]
        return axes, density if self.measure == "density" else self.measure, limits

    def _thresholds(self, X):
        rng = np.random.default_rng(self.seed + 1)
        thresholds = []
        for x in X.T:
            inside = rng.choice(x, size=rng.integers(1, 6))
            thresholds.append(np.append(inside, [x.min() - abs(x.min()), x.max()]))
        return thresholds


@st.composite
def cases(draw, max_rows=40, max_features=6, measures=(*NAMED, "chosen"), max_exponent=9):
    """Draw a case with scales up to ``10 ** max_exponent``.

    Only the density has moderate scales, as its mass grows with the cube.
    """
    measure = draw(st.sampled_from(measures))
    d = draw(st.integers(1, max_features))
    tame = measure == "density"
    kinds = sorted(set(KINDS) - {"heavy"} if tame else KINDS)
    exponents = st.integers(-max_exponent, max_exponent)
    scale = st.just(-1) if tame else draw(st.sampled_from([st.just(0), exponents]))
    shared = draw(scale)
    mixed = draw(st.booleans())
    return Case(
        n=draw(st.integers(5, max_rows)),
        kinds=tuple(draw(st.sampled_from(kinds)) for _ in range(d)),
        scales=tuple(draw(scale) if mixed else shared for _ in range(d)),
        labels=draw(st.sampled_from(["random", "signal", "tiny"])),
        copies=draw(st.sampled_from([0, 0, 1, 3])),
        seed=draw(st.integers(0, 2**20)),
        measure=measure,
        log2_C=draw(st.integers(-15, 17)),
        weighted=draw(st.booleans()),
        tol=draw(st.sampled_from([1e-6, 1e-6, 1e-3])),
        widen=draw(st.sampled_from([0.0, 0.5])),
    )
