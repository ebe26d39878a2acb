"""Which interactions are worth adding to a model: their Newton decrements.

At a solution without interactions, with dual variables ``a`` and curvature ``W`` of the rows, the
gradient of the objective for the weights of an interaction is ``-g``, ``g = V'(y a)``, and its
diagonal curvature is ``H = 1 + diag(V' W V) - (V' W 1)^2 / 1' W 1``, where the last term is that of
a change of the intercept.  A Newton step along it would reduce the objective by about the decrement
``sum of g^2 / H / 2``.

All pairs are measured exactly if there are few.  Otherwise a first ranking of all pairs uses the
leading principal directions of each feature only, for which one matrix product per class gives the
gradients of all pairs, and the best ones are measured exactly.  The number of rows is reduced to
limit the cost of both stages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb

import numpy as np

from everystump._core import rowloops
from everystump._core.cells import make_cells
from everystump._core.codes import Codes
from everystump._core.columns import Columns
from everystump._core.interaction_layout import add_interactions, make_interactions
from everystump._core.measures import Measure
from everystump._core.threads import thread_map
from everystump._terms import Term

# More pairs than this are ranked by a few directions first.
_MAX_EXACT = 2000
# The number of terms measured at a time, which limits the size of their tables.
_TERMS_AT_ONCE = 512
# The directions and cells of the first ranking, and the number of features it includes.
_N_DIRECTIONS, _N_CELLS, _MAX_FEATURES = 3, 8, 1500
# The maximum number of table entries added up, and of multiplications of the first ranking.
_MAX_LOOKUPS, _MAX_MULTIPLICATIONS = 2e9, 4e10
# The maximum number of votes of rows that are held in memory, unless there are few rows.
_MAX_VOTES, _MIN_ROWS = 3e7, 1000


@dataclass(frozen=True)
class Residuals:
    """The rows of an additive solution: one row of each array per class."""

    duals: np.ndarray  # (n_classes, n_rows): y a
    curvature: np.ndarray  # (n_classes, n_rows): W

    def sample(self, n_rows: float) -> tuple[np.ndarray, Residuals]:
        """Return at most so many rows, weighted so that sums keep their size.

        Rows whose dual variables and curvature are 0 do not count; if all are, one is returned.
        """
        is_active = self.duals.any(axis=0) | self.curvature.any(axis=0)
        active = np.flatnonzero(is_active) if is_active.any() else np.zeros(1, dtype=np.intp)
        n = int(max(n_rows, _MIN_ROWS))
        if len(active) <= n:
            return active, Residuals(self.duals[:, active], self.curvature[:, active])
        rows = np.sort(np.random.default_rng(0).choice(active, n, replace=False))
        scale = len(active) / n
        return rows, Residuals(scale * self.duals[:, rows], scale * self.curvature[:, rows])


@dataclass(frozen=True)
class Screener:
    """Measures interactions of the features of a table."""

    columns: Columns
    measure: Measure
    residuals: Residuals
    strength: float
    max_cells: int
    fit_intercept: bool = True
    n_threads: int = 1

    def pairs(self, features: Sequence[int], n_best: int) -> dict[Term, float]:
        """Return the decrements of pairs of some features, the best first.

        These are all pairs, or if there are many at least the ``n_best`` best of the first ranking,
        which includes only the first features if these are very many.
        """
        candidates: Iterable[Term] = combinations(sorted(features), 2)
        if comb(len(features), 2) > _MAX_EXACT:
            candidates = self._rank(features, max(_MAX_EXACT, n_best))
        return self.measure_terms(list(candidates))

    def triples(self, pairs: Sequence[Term], features: Sequence[int]) -> dict[Term, float]:
        """Return the decrements of triples, the best first.

        If there are many, only triples with at least two of the given pairs, the best ones first.
        """
        if comb(len(features), 3) <= _MAX_EXACT:
            return self.measure_terms(list(combinations(sorted(features), 3)))
        return self.measure_terms(_joined_pairs(pairs)[:_MAX_EXACT])

    def measure_terms(self, terms: Sequence[Term]) -> dict[Term, float]:
        """Return the decrement of each term, the best first."""
        if not terms:
            return {}
        n_classes = len(self.residuals.duals)
        rows, residuals = self.residuals.sample(_MAX_LOOKUPS / (2 * len(terms) * n_classes))
        codes = self.columns.codes
        columns = replace(
            self.columns, codes=codes if len(rows) == codes.shape[1] else codes[:, rows]
        )
        batches = [terms[k : k + _TERMS_AT_ONCE] for k in range(0, len(terms), _TERMS_AT_ONCE)]
        parts = thread_map(
            lambda batch: self._measure(columns, residuals, batch), batches, self.n_threads
        )
        decrements = np.concatenate(parts)
        order = np.argsort(-decrements, kind="stable")
        return {terms[k]: float(decrements[k]) for k in order}

    def _measure(self, columns: Columns, residuals: Residuals, terms: Sequence[Term]) -> np.ndarray:
        packed = make_interactions(
            columns,
            terms,
            measure=self.measure,
            max_cells=self.max_cells,
            strength=self.strength,
        )
        interactions, n_rows = packed.interactions, columns.codes.shape[1]
        no_bins = np.empty((0, n_rows), dtype=np.uint8), np.zeros(1, dtype=np.int64)
        codes = add_interactions(Codes.from_bins(*no_bins), packed)
        sums, g, h = np.empty(codes.n_entries), *np.empty((2, interactions.n_weights))
        total = np.zeros(len(terms))
        for dual, curvature in zip(residuals.duals, residuals.curvature, strict=True):
            rowloops.scatter(codes, dual, 0, n_rows, sums)
            interactions.rmatvec(sums, g)
            rowloops.scatter(codes, curvature, 0, n_rows, sums)
            interactions.rmatvec(sums, h)
            diagonal = interactions.hessian_diagonal(sums)
            if self.fit_intercept:
                diagonal -= h**2 / (curvature.sum() or 1.0)
            gain = g**2 / (1.0 + np.maximum(diagonal, 0.0)) / 2
            total += [interactions.term_weights(term, gain).sum() for term in terms]
        return total

    def _rank(self, features: Sequence[int], n_best: int) -> list[Term]:
        """Return the best pairs by the leading directions of each feature."""
        kept = features[:_MAX_FEATURES]
        n_directions = _N_DIRECTIONS * len(kept)
        n_classes = len(self.residuals.duals)
        limit = _MAX_MULTIPLICATIONS / (n_classes * n_directions**2)
        limit = min(limit, _MAX_VOTES / n_directions)
        rows, residuals = self.residuals.sample(limit)
        votes, variances = self._leading_votes(kept, rows)
        first, second = np.triu_indices(len(kept), 1)
        total = np.zeros(len(first))
        for dual, curvature in zip(residuals.duals, residuals.curvature, strict=True):
            gradient = (votes.T * dual.astype(np.float32)) @ votes
            scale = self.strength * curvature.sum() * np.outer(variances, variances)
            gain = self.strength * gradient.astype(np.float64) ** 2 / (1.0 + scale) / 2
            blocks = gain.reshape(len(kept), _N_DIRECTIONS, len(kept), _N_DIRECTIONS)
            total += blocks.sum(axis=(1, 3))[first, second]
        best = np.argsort(-total, kind="stable")[:n_best]
        found = zip(first[best].tolist(), second[best].tolist(), strict=True)
        return [(min(kept[i], kept[j]), max(kept[i], kept[j])) for i, j in found]

    def _leading_votes(
        self, features: Sequence[int], rows: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the votes of the leading directions at some rows, and their variances."""
        votes = np.zeros((len(rows), len(features), _N_DIRECTIONS), dtype=np.float32)
        variances = np.zeros((len(features), _N_DIRECTIONS))
        for k, d in enumerate(features):
            cells = make_cells(self.columns.columns[d], d, self.measure, _N_CELLS)
            n = min(_N_DIRECTIONS, len(cells.variances))
            by_bin = cells.votes[cells.cell_of_bin, :n].astype(np.float32)
            votes[:, k, :n] = by_bin[self.columns.codes[d, rows]]
            variances[k, :n] = cells.variances[:n]
        return votes.reshape(len(rows), -1), variances.ravel()


def _joined_pairs(pairs: Sequence[Term]) -> list[Term]:
    """Return the triples that contain at least two of the pairs, those of the first pairs first."""
    partners: dict[int, list[int]] = {}
    triples: dict[Term, None] = {}
    for d, e in pairs:
        for shared, other in ((d, e), (e, d)):
            for third in partners.get(shared, []):
                if third != other:
                    triples[tuple(sorted((shared, other, third)))] = None
        partners.setdefault(d, []).append(e)
        partners.setdefault(e, []).append(d)
    return list(triples)
