"""A fitted estimator and the rows that it was fitted to."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from everystump._core.solvers import Certificate
from everystump._sklearn_compat import num_samples
from everystump._tables import as_supported_table
from everystump._tables.labels import class_indices, one_vs_rest
from everystump._tables.overlap import Overlap, TrainingRecord
from everystump._tables.row_hashes import hash_rows
from everystump._tables.validation import check_rows
from everystump.bounds._kernel_ensemble import KernelEnsemble, KernelMachine
from everystump.bounds._protocol import NotTrainingDataError, SupportsKernelMachines

BIASED = "fit_intercept=True: with a bias outside the kernel the bound is not proven"
BALANCED = 'class_weight="balanced": the costs follow the training rows'


class TrainingOverlapMixin:
    """An estimator that knows the rows again that it learned from."""

    _fitted_attribute: ClassVar[str]
    _training_record: TrainingRecord | None = None
    classes_: np.ndarray

    def training_overlap(self, X: Any, y: Any) -> Overlap:
        """Compare labelled rows with those that the model learned from.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows.
        y : array-like of shape (n_rows,)
            Their labels.

        Returns
        -------
        Overlap
            How many of them are known, and whether they are the training table itself.

        Examples
        --------
        >>> from everystump import StumpSVC
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
        >>> model = StumpSVC().fit(X, y)
        >>> model.training_overlap(X, y).same_table
        True
        >>> model.training_overlap([[3.0], [5.0]], [1, 1]).share
        0.5
        """
        check_is_fitted(self, self._fitted_attribute)
        return self._compare(X, y)

    def _compare(self, X: Any, y: Any) -> Overlap:
        rows = as_supported_table(self._comparable_rows(X))
        label, record = class_indices(y, self.classes_, num_samples(X)), self._training_record
        return Overlap(recorded=False) if record is None else record.compare(hash_rows(rows, label))

    def _comparable_rows(self, X: Any) -> Any:
        """Return rows as the numbers by which they are known."""
        return check_rows(self, X)


class KernelEnsemblesMixin:
    """An estimator that is a kernel machine, or a vote of such."""

    def kernel_ensembles(self, X: Any, y: Any) -> list[KernelEnsemble]:
        """Return the fitted machine, or vote of machines, as `everystump.bounds` reads it.

        Parameters
        ----------
        X, y : array-like
            The very table of the training.

        Returns
        -------
        list of Combination
            One for two classes, else one for each class against the rest.
        """
        return self._kernel_ensembles(X, y)

    def _kernel_ensembles(self, X: Any, y: Any) -> list[KernelEnsemble]:
        raise NotImplementedError


def check_training_table(fitted: Any, X: Any, y: Any, n_input_rows: int) -> tuple[str, ...]:
    """Raise unless a table is the one of the training; return why it may not be, if nobody knows.

    ``n_input_rows`` is the number of rows of that table.
    """
    overlap = fitted.training_overlap(X, y)
    if overlap.same_table:
        return ()
    if overlap.recorded or num_samples(X) != n_input_rows:
        raise NotTrainingDataError(
            f"X and y must be the very table that {type(fitted).__name__} was fitted to, all rows "
            f"in their order."
        )
    return (overlap.doubt,)


def training_signs(fitted: Any, y: Any, n_rows: int) -> np.ndarray:
    """Return the labels of the training rows as 1 and -1: (n_problems, n_rows).

    Two classes are one problem; of several, each against the rest is one.
    """
    label = class_indices(y, fitted.classes_, n_rows)
    return np.where(one_vs_rest(label, len(fitted.classes_)), 1.0, -1.0)


def violations_of(sign: np.ndarray, certificate: Certificate) -> tuple[str, ...]:
    """Return what the theorems ask for and the fit of any kernel machine may lack."""
    found = []
    if not certificate.converged:
        found.append("the fit stopped above its tolerance; raise max_iter or tol")
    if min(np.sum(sign > 0), np.sum(sign < 0)) < 2:
        found.append("a class has one row only, without which a machine has one class to learn")
    return tuple(found)


def absolute_gap(certificate: Certificate) -> float:
    """Return by how much an objective may be above its optimum."""
    return max(0.0, certificate.primal - certificate.dual)


def as_kernel_machines(machine: Any, rows: Any, signs: np.ndarray) -> list[KernelMachine]:
    """Return a machine of a vote as the bounds read it, one for each problem."""
    if not isinstance(machine, SupportsKernelMachines):
        raise ValueError(
            f"estimator={machine!r} is no kernel machine, and the bounds are for votes of "
            f"KernelSVC or StumpSVC; validation_bound is for any classifier."
        )
    return machine.kernel_machines(rows, signs)


def one_by_one(
    machines: list[KernelMachine], caveats: tuple[str, ...] = ()
) -> list[KernelEnsemble]:
    """Return each machine as a vote of one."""
    return [
        KernelEnsemble((machine,), np.ones(1), machine.margin, caveats=caveats)
        for machine in machines
    ]
