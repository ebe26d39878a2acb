"""Converts a vote over subsamples to the kernel machines that `everystump.bounds` is about."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from everystump._tables.validation import check_rows
from everystump.bounds._protocol import EnsembleMember, KernelEnsemble, KernelMachine
from everystump.estimators._base import ShapeClassifier
from everystump.estimators._bounds import (
    KernelEnsemblesMixin,
    as_kernel_machines,
    check_is_training_data,
    training_signs,
)
from everystump.estimators._editing import EditedModelError

_SCALED = 'gamma="scale": the kernel depends on the training samples'


class KernelVoteClassifier(ShapeClassifier, KernelEnsemblesMixin):
    """A vote over subsamples with the methods that bounds need."""

    combine: str
    outputs: str
    n_rows_: int
    estimators_: list
    estimators_samples_: list[np.ndarray]
    estimators_features_: list[np.ndarray | None]
    weights_: np.ndarray
    _adaptive: bool
    _problems: list[KernelEnsemble] | None

    @property
    def has_fixed_weights(self) -> bool:
        """Whether the weights of the vote do not depend on the training samples."""
        return self.combine == "mean"

    @property
    def combines_signs(self) -> bool:
        """Whether the signs of the scores are combined instead of the scores."""
        return self.outputs == "votes"

    def clone_for_leave_one_out(self) -> Self:
        """Return an unfitted copy with the same subsample size, at most ``n_rows_ - 1``.

        Returns
        -------
        SubsampleVotingClassifier
            Unfitted copy.
        """
        r = len(self.estimators_samples_[0])
        return clone(self).set_params(subsample=min(r, self.n_rows_ - 1))

    def ensemble_members(self, X: Any, y: Any) -> list[EnsembleMember]:
        """Return the members of the vote with their weights and samples, for `everystump.bounds`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The training data.
        y : array-like of shape (n_samples,)
            The training labels.

        Returns
        -------
        list of EnsembleMember
            One per estimator.
        """
        self._check_bound_applies(X, y)
        data, labels = check_rows(self, X), np.asarray(y)
        members = zip(
            self.estimators_,
            self.weights_,
            self.estimators_samples_,
            self.estimators_features_,
            strict=True,
        )
        return [
            EnsembleMember(machine, weight, rows, _part(data, rows, features), labels[rows])
            for machine, weight, rows, features in members
        ]

    def _check_bound_applies(self, X: Any, y: Any) -> tuple[str, ...]:
        """Check that bounds apply to the vote and to the data; return caveats about the data."""
        check_is_fitted(self, "weights_")
        if not self.has_fixed_weights:
            raise ValueError(
                'combine="svm" learns the weights of the vote, and the bounds are for fixed '
                'weights; use combine="mean", or validation_bound on held-out samples.'
            )
        if self.edits_:
            raise EditedModelError(
                f"{type(self).__name__} was edited ({self.edits_[-1]}), and the bounds are for the "
                f"estimators as they were trained; use the model before its edits."
            )
        record = self._training_record
        if record is not None and record.weights_checksum:
            raise ValueError(
                "sample_weight: the bounds are for votes over samples of equal weight; fit without "
                "weights, or use validation_bound on held-out samples."
            )
        return check_is_training_data(self, X, y, self.n_rows_)

    def _kernel_ensembles(self, X: Any, y: Any) -> list[KernelEnsemble]:
        caveats = self._check_bound_applies(X, y)
        if self._problems is None:
            signs = training_signs(self, y, self.n_rows_)
            self._problems = self._read_problems(check_rows(self, X), signs)
        return [replace(problem, caveats=caveats) for problem in self._problems]

    def _read_problems(self, X: np.ndarray, signs: np.ndarray) -> list[KernelEnsemble]:
        by_problem: list[list[KernelMachine]] = [[] for _ in signs]
        adaptive = (_SCALED,) if self._adaptive else ()
        for machine, rows, features in zip(
            self.estimators_, self.estimators_samples_, self.estimators_features_, strict=True
        ):
            found = as_kernel_machines(machine, partial(_part, X, rows, features), signs[:, rows])
            for problem, member in zip(by_problem, found, strict=True):
                violations = member.violations + adaptive
                problem.append(replace(member, rows=rows, violations=violations))
        r = len(self.estimators_samples_[0])
        margins = signs * self._decision_function(X).T
        return [
            KernelEnsemble(
                tuple(machines),
                self.weights_,
                margin,
                combines_signs=self.combines_signs,
                subsample=r,
            )
            for machines, margin in zip(by_problem, margins, strict=True)
        ]


def _part(X: np.ndarray, rows: np.ndarray, features: np.ndarray | None) -> np.ndarray:
    """Return the samples and features of one member."""
    return X[rows] if features is None else X[rows][:, features]
