"""What infinite ensembles of stumps do as classifiers: classes, folds, scores and bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from everystump._core.design import Design
from everystump._core.solvers.problem import Solution
from everystump._scratch import ScratchSpace
from everystump._selection.folds import Fold, make_class_folds, split_holdout
from everystump._selection.scorers import Candidate, Score, make_class_score
from everystump._sklearn_compat import one_of
from everystump._tables.chunk_reader import ChunkReader, ReadTable
from everystump._tables.labels import class_indices
from everystump._tables.training_table import ClassTable
from everystump.bounds._leave_one_out_bounds import LOO_THEOREM, bound_left_out_error
from everystump.estimators._base import TabularClassifier
from everystump.estimators._bounds import single_machine_ensembles
from everystump.estimators._interaction_path import InteractionPathEnsemble
from everystump.estimators._stump_bounds import StumpBounds
from everystump.estimators._stump_ensemble import BaseStumpEnsemble, FixedCEnsemble


@dataclass(eq=False, repr=False, kw_only=True)
class StumpClassifier(StumpBounds, BaseStumpEnsemble, TabularClassifier):
    """An infinite ensemble of stumps that classifies, one-vs-rest unless a subclass differs."""

    class_weight: Any = None

    def _read_table(self, X: Any, y: Any, sample_weight: Any) -> ClassTable:
        return self._check_training_data(X, y, sample_weight, self.class_weight)

    def _read_chunk_table(self, reader: ChunkReader, scratch: ScratchSpace) -> ReadTable:
        return reader.read(self, self.class_weight, scratch)

    def _make_folds(self, table: ClassTable, cv: Any, random_state: Any) -> list[Fold]:
        return make_class_folds(cv, table, random_state)

    def _hold_out(self, table: ClassTable, fraction: float, random_state: Any) -> Fold:
        return Fold(*split_holdout(table.label, fraction, random_state))

    def _make_score(self, table: ClassTable, scoring: Any, test: np.ndarray) -> Score:
        return make_class_score(self, scoring, table, test)

    def _as_fitted(self, y: Any) -> Any:
        """Return labels, or their indices if the user chose the order of the classes."""
        if np.array_equal(np.sort(self.classes_), self.classes_):
            return y
        return class_indices(y, self.classes_, len(y))

    def _problem_scores(self, table: ClassTable) -> list[np.ndarray]:
        scores = self._decision_function(table.X)
        return [scores] if scores.ndim == 1 else list(scores.T)

    def _store(self, table: ClassTable, design: Design, solutions: list[Solution]) -> None:
        self._store_classes(table.classes, design, solutions)
        self._kept = table.input_index
        self._largest_cost = float(solutions[0].C * table.weight.max())
        self.dual_coef_ = table.to_input_rows([solution.dual_coef for solution in solutions])
        self._kernel_diagonal = design.kernel_diagonal()

    def _store_classes(
        self, classes: np.ndarray, design: Design, solutions: list[Solution]
    ) -> None:
        """Store what does not have an entry per sample."""
        self.classes_ = classes
        models = [design.shape_model(solution) for solution in solutions]
        self._store_models(design, solutions, models)


CLASSIFIER_CONSTRAINTS: dict[str, Any] = {"class_weight": [dict, str, None]}


@dataclass(eq=False, repr=False)
class FixedCClassifier(FixedCEnsemble, StumpClassifier):
    """An infinite ensemble of stumps that classifies, with a fixed C."""

    _parameter_constraints: ClassVar[dict] = {
        **FixedCEnsemble._parameter_constraints,
        **CLASSIFIER_CONSTRAINTS,
    }


@dataclass(eq=False, repr=False)
class CPathClassifier(InteractionPathEnsemble, StumpClassifier):
    """An infinite ensemble of stumps that classifies, with parameters chosen along paths."""

    _default_scoring: ClassVar[str] = "accuracy"

    _parameter_constraints: ClassVar[dict] = {
        **InteractionPathEnsemble._parameter_constraints,
        **CLASSIFIER_CONSTRAINTS,
        "selection": [one_of("cv", "cv-1se", "loo-bound")],
    }

    def _default_scorer(self) -> str:
        return self._default_scoring

    def _folds(self, table: ClassTable) -> list[Fold]:
        """Return the folds; all samples at once for a bound on the leave-one-out error."""
        if self._selection.has_folds:
            return super()._folds(table)
        self._check_unconstrained()
        all_rows = np.arange(table.n_rows)
        return [Fold(all_rows, all_rows)]

    def _score(self, table: ClassTable, fold: Fold) -> Score:
        if self._selection.has_folds:
            return super()._score(table, fold)
        if table.X is None:
            raise ValueError(
                'selection="loo-bound" needs the samples, which fit_chunks does not keep; use fit, '
                'or selection="cv".'
            )
        self.scoring_ = "1 - leave-one-out bound"
        return _loo_bound_score(table)


def _loo_bound_score(table: ClassTable) -> Score:
    """Return a function that scores a model by one minus its leave-one-out bound."""
    signs = table.signs()

    def score(candidate: Candidate) -> float:
        machines = candidate.model().kernel_machines(lambda: table.X, signs)
        ensembles = single_machine_ensembles(machines)
        return 1.0 - bound_left_out_error(ensembles, LOO_THEOREM, table.sample_weight).value

    return score
