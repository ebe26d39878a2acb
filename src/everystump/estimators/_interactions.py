"""Choosing the interactions of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np

from everystump._core.design import Design
from everystump._core.losses import LossFamily
from everystump._core.measures import Measure
from everystump._core.solvers.problem import Solution
from everystump._core.term_sizes import curve_sizes, interaction_sizes
from everystump._terms import Term

# "auto" includes at most this many pairs, and fewer if there are several classes, each with its own
# surfaces: as many as make this number of surfaces, but at least the minimum.
_MAX_AUTO, _MAX_AUTO_SURFACES, _MIN_AUTO = 300, 600, 20
# "auto" drops interactions whose standard deviation over the samples is below this fraction of the
# largest one of any term, or of any interaction if parameters were chosen with them.
_NEGLIGIBLE = 0.01
# The strength at which interactions are measured if it is not given: neither so small that only the
# smoothest ones count, nor so large that noise does.
SCREENING_STRENGTH = 0.1


class AdditiveFit(NamedTuple):
    """Solutions without interactions, one per problem; none if they are not needed."""

    design: Design
    solutions: Sequence[Solution]
    loss: LossFamily
    targets: Sequence[np.ndarray]  # of the samples, one per solution
    weight: np.ndarray  # of the samples
    n_threads: int
    scale: float = 1.0  # how many samples each one stands for


@dataclass(frozen=True)
class InteractionChoice:
    """How the interactions of a model are chosen, once its additive part is known."""

    requested: int | str | list[Term]  # see `check_interactions`
    max_order: int
    max_cells: int
    excluded: frozenset[int]  # features that may not interact
    n_problems: int  # 1 for two classes, else the number of classes
    is_validated: bool = False  # whether parameters were chosen with interactions

    @property
    def is_none(self) -> bool:
        """Whether there are no interactions."""
        return self.requested in (0, [])

    def candidates(self, design: Design) -> list[int]:
        """Return the features that can interact: those that vary and are not excluded."""
        varying = [d for d, column in enumerate(design.columns.columns) if column.varies]
        return [d for d in varying if d not in self.excluded]

    def needs_screening(self, design: Design) -> bool:
        """Whether the terms depend on a solution without interactions."""
        if isinstance(self.requested, list):
            return False
        n_features = len(self.candidates(design))
        return comb(n_features, 2) > self._n_pairs or self.max_order > 2

    @property
    def _n_pairs(self) -> int:
        if self.requested == "auto":
            return max(_MIN_AUTO, min(_MAX_AUTO, _MAX_AUTO_SURFACES // self.n_problems))
        return int(self.requested)  # type: ignore[arg-type]

    def extend(self, fit: AdditiveFit, strength: float) -> Design:
        """Return the design of an additive fit with the interactions to include."""
        return self._add(fit.design, self.terms(fit, strength), strength, fit.n_threads)

    def _add(
        self, design: Design, terms: Sequence[Term], strength: float, n_threads: int
    ) -> Design:
        return design.with_interactions(
            terms, max_cells=self.max_cells, strength=strength, n_threads=n_threads
        )

    def without_negligible(self, design: Design, solutions: Sequence[Solution]) -> list[Term]:
        """Return the interactions of a design except those that hardly contribute to solutions.

        Only automatic interactions are dropped, none that the user requested, and not all of those
        with which parameters were chosen.
        """
        terms = list(design.terms.interactions.terms)
        if self.requested != "auto" or not terms:
            return terms
        # Before purification, which on few samples can explain a table by its margins.
        sizes = interaction_sizes(design, solutions)
        largest = max(sizes.values())
        if not self.is_validated:
            largest = max(largest, *curve_sizes(design, solutions))
        return [term for term in terms if sizes[term] >= _NEGLIGIBLE * largest]

    def halve(self, design: Design, solutions: Sequence[Solution], n_threads: int) -> Design:
        """Return the design with the half of its interactions that is largest in solutions.

        Their strength is doubled, so that the sum of the kernels of pairs keeps its size.
        """
        sizes = interaction_sizes(design, solutions)
        largest = set(sorted(sizes, key=lambda term: -sizes[term])[: (len(sizes) + 1) // 2])
        interactions = design.terms.interactions
        kept = [term for term in interactions.terms if term in largest]
        return self._add(design, kept, 2 * interactions.strength, n_threads)

    def exchange_measure(self, design: Design, measure: Measure, n_threads: int) -> Design:
        """Return the design with the same interactions and feature weights, of another measure."""
        interactions = design.terms.interactions
        other = design.with_measure(design.measure.with_base(measure))
        return self._add(other, interactions.terms, interactions.strength, n_threads)

    def terms(self, fit: AdditiveFit, strength: float) -> list[Term]:
        """Return the interactions to include."""
        if isinstance(self.requested, list):
            return self.requested
        if not self.needs_screening(fit.design):
            return list(combinations(self.candidates(fit.design), 2))
        pairs, triples = self.measure(fit, strength)
        n = self._n_pairs
        return sorted(list(pairs)[:n]) + sorted(list(triples)[:n])

    def measure(
        self, fit: AdditiveFit, strength: float
    ) -> tuple[dict[Term, float], dict[Term, float]]:
        """Return the Newton decrements of pairs and of triples, the largest first."""
        sizes = curve_sizes(fit.design, fit.solutions)
        features = sorted(self.candidates(fit.design), key=lambda d: -sizes[d])
        screener = fit.design.screener(
            fit.solutions,
            fit.loss,
            fit.targets,
            fit.weight,
            strength=strength,
            max_cells=self.max_cells,
            n_threads=fit.n_threads,
            scale=fit.scale,
        )
        n = self._n_pairs
        pairs = screener.pairs(features, n)
        triples = {} if self.max_order == 2 else screener.triples(list(pairs)[:n], features)
        return pairs, triples
