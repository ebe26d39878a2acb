"""Conversion of fitted estimators to the kernel machines that `everystump.bounds` needs."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from everystump._core.solvers.certificate import Certificate
from everystump._sklearn_compat import num_samples
from everystump._tables.labels import class_indices, one_vs_rest
from everystump._tables.validation import check_rows
from everystump.bounds._bound import UnsupportedModelError
from everystump.bounds._protocol import (
    EnsembleMember,
    KernelEnsemble,
    KernelMachine,
    NotTrainingDataError,
    SupportsKernelMachines,
)
from everystump.estimators._base import ShapeClassifier
from everystump.estimators._editing import EditedModelError

INTERCEPT = "fit_intercept=True: with an intercept outside the kernel the bound is not proven"
BALANCED = 'class_weight="balanced": the class weights depend on the training samples'
_SCALED = 'gamma="scale": the kernel depends on the training samples'


class KernelVoteClassifier(ShapeClassifier):
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
        """Return an unfitted copy with the same subsample size, at most ``n_rows_ - 1``."""
        r = len(self.estimators_samples_[0])
        return clone(self).set_params(subsample=min(r, self.n_rows_ - 1))

    def ensemble_members(self, X: Any, y: Any) -> list[EnsembleMember]:
        """Return the members of the vote, given the training data; see `SubsampleEnsemble`."""
        self._check_bound_applies(X, y)
        X, y = check_rows(self, X), np.asarray(y)
        parts = zip(
            self.estimators_,
            self.weights_,
            self.estimators_samples_,
            self.estimators_features_,
            strict=True,
        )
        return [
            EnsembleMember(estimator, weight, rows, member_samples(X, rows, features), y[rows])
            for estimator, weight, rows, features in parts
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

    def kernel_ensembles(self, X: Any, y: Any) -> list[KernelEnsemble]:
        """Return the fitted kernel machines as ensembles; see `SupportsKernelEnsembles`."""
        caveats = self._check_bound_applies(X, y)
        if self._problems is None:
            signs = training_signs(self, y, self.n_rows_)
            self._problems = self._read_problems(check_rows(self, X), signs)
        return [replace(problem, caveats=caveats) for problem in self._problems]

    def _read_problems(self, X: np.ndarray, signs: np.ndarray) -> list[KernelEnsemble]:
        members: list[list[KernelMachine]] = []
        adaptive = (_SCALED,) if self._adaptive else ()
        for estimator, rows, features in zip(
            self.estimators_, self.estimators_samples_, self.estimators_features_, strict=True
        ):
            if not isinstance(estimator, SupportsKernelMachines):
                raise ValueError(
                    f"estimator={estimator!r} is not a kernel machine, and the bounds are for "
                    f"votes of KernelSVC or StumpSVC; use validation_bound, which is for any "
                    f"classifier."
                )
            part = partial(member_samples, X, rows, features)
            machines = estimator.kernel_machines(part, signs[:, rows])
            members.append(
                [replace(m, rows=rows, violations=m.violations + adaptive) for m in machines]
            )
        if len({len(machines) for machines in members}) > 1:
            raise UnsupportedModelError(
                "the members of the vote fit several classes in different ways, one-vs-rest and "
                "multinomial; use one multi_class for all of them, or validation_bound."
            )
        by_problem = list(zip(*members, strict=True))
        r = len(self.estimators_samples_[0])
        scores = self._decision_function(X).T
        is_joint = by_problem[0][0].n_classes > 2
        margins = class_margins(scores, signs)[None] if is_joint else signs * scores
        return [
            KernelEnsemble(
                machines,
                self.weights_,
                margin,
                combines_signs=self.combines_signs,
                subsample=r,
            )
            for machines, margin in zip(by_problem, margins, strict=True)
        ]


def member_samples(X: np.ndarray, rows: Any, features: np.ndarray | None) -> np.ndarray:
    """Return the samples and features of one member."""
    return X[rows] if features is None else X[rows][:, features]


def check_is_training_data(fitted: Any, X: Any, y: Any, n_samples: int) -> tuple[str, ...]:
    """Check that X and y are the training data; return a caveat if the model has no record of it.

    ``n_samples`` is the number of training samples.
    """
    overlap = fitted.training_overlap(X, y)
    if overlap.same_table:
        return ()
    if overlap.recorded or num_samples(X) != n_samples:
        raise NotTrainingDataError(
            f"X and y must be the data that {type(fitted).__name__} was fitted to, with all "
            f"samples in the same order."
        )
    return (overlap.leakage,)


def training_signs(fitted: Any, y: Any, n_samples: int) -> np.ndarray:
    """Return training labels as 1 and -1, of shape (n_problems, n_samples).

    Two classes are one problem; with more classes, there is one problem per class.
    """
    label = class_indices(y, fitted.classes_, n_samples)
    return np.where(one_vs_rest(label, len(fitted.classes_)), 1.0, -1.0)


def class_margins(scores: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """Return the score of each sample's class minus the largest of the others.

    Both arguments have one row per class; ``signs`` is 1 for the class of a sample, else -1.
    """
    own = np.where(signs > 0, scores, -np.inf).max(axis=0)
    return own - np.where(signs > 0, -np.inf, scores).max(axis=0)


def find_violations(signs: np.ndarray, certificate: Certificate) -> tuple[str, ...]:
    """Return the assumptions of the theorems that the fit of a kernel machine violates.

    ``signs`` has one row, or one per class of a machine of several classes.
    """
    violations = []
    if not certificate.converged:
        violations.append("the fit stopped above its tolerance; raise max_iter or tol")
    n_positive = np.sum(signs > 0, axis=-1)
    if np.min([n_positive, signs.shape[-1] - n_positive]) < 2:
        rest = "only one class remains" if signs.ndim == 1 else "the class has none"
        violations.append(f"a class has a single sample, and without it {rest}")
    return tuple(violations)


def single_machine_ensembles(
    machines: list[KernelMachine], caveats: tuple[str, ...] = ()
) -> list[KernelEnsemble]:
    """Return each kernel machine as an ensemble of one."""
    return [
        KernelEnsemble((machine,), np.ones(1), machine.margin, caveats=caveats)
        for machine in machines
    ]
