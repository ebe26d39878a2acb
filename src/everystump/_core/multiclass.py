"""One multinomial problem for all classes of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.special import logsumexp

from everystump._core.design import Design
from everystump._core.losses import Logistic
from everystump._core.solvers.certificate import Certificate
from everystump._core.solvers.multinomial import solve_multinomial
from everystump._core.solvers.multinomial_blocks import MultinomialBlocks
from everystump._core.solvers.multinomial_rows import MultinomialRows
from everystump._core.solvers.problem import Problem, Progress, Solution


def solve_classes(
    design: Design,
    label: np.ndarray,
    n_classes: int,
    weight: np.ndarray,
    *,
    C: float,
    tol: float,
    max_iter: int,
    n_threads: int,
    progress: Progress,
    index: np.ndarray | None = None,
    starts: Sequence[Solution] | None = None,
) -> list[Solution]:
    """Solve one problem on the rows ``index``; return a solution per class, with one certificate.

    With intercepts, that of a class without rows would be minus infinity; it gets a probability
    of about that of half a row, and the certificate is that of the limit.
    """
    if index is not None:
        label, weight = label[index], weight[index]
    fit_intercept = not design.terms.chains.centered
    present = np.arange(n_classes)
    if fit_intercept:
        present = np.flatnonzero(np.bincount(label, minlength=n_classes))
    if len(present) == 1:
        solutions = [_constant(design, C)]
    else:
        own_label = np.searchsorted(present, label)
        blocks = MultinomialBlocks(
            design.packing, index, own_label, C * weight, len(present), n_threads
        )
        solutions = solve_class_rows(
            design,
            MultinomialRows(blocks),
            C=C,
            tol=tol,
            max_iter=max_iter,
            progress=progress,
            starts=None if starts is None else [starts[k] for k in present.tolist()],
        )
    if len(present) == n_classes:
        return solutions
    return _with_missing_classes(design, solutions, present, n_classes, len(label))


def solve_class_rows(
    design: Design,
    rows: MultinomialRows,
    *,
    C: float,
    tol: float,
    max_iter: int,
    progress: Progress,
    starts: Sequence[Solution] | None = None,
) -> list[Solution]:
    """Solve one problem on some rows of all classes, wherever these are."""
    fit_intercept = not design.terms.chains.centered
    problem = Problem(design.terms, design.packing, Logistic, fit_intercept)
    return solve_multinomial(
        problem, rows, C, tol=tol, max_iter=max_iter, progress=progress, starts=starts
    )


def _constant(design: Design, C: float) -> Solution:
    """Return the solution for a single class."""
    return Solution(
        weights=design.terms.zeros(),
        intercept=0.0,
        dual_coef=np.zeros(design.packing.codes.n_rows),
        certificate=Certificate(0.0, 0.0, 0.0, True, 0.0),
        n_iter=0,
        C=C,
    )


def _with_missing_classes(
    design: Design, solutions: list[Solution], present: np.ndarray, n_classes: int, n_rows: int
) -> list[Solution]:
    """Return the solutions of all classes; those without rows have constant, low scores."""
    low = float(logsumexp([s.intercept for s in solutions]) - np.log(2 * n_rows + 1))
    missing = replace(
        _constant(design, solutions[0].C), intercept=low, certificate=solutions[0].certificate
    )
    found = dict(zip(present.tolist(), solutions, strict=True))
    every = [found.get(k, missing) for k in range(n_classes)]
    mean = float(np.mean([solution.intercept for solution in every]))
    return [replace(solution, intercept=solution.intercept - mean) for solution in every]
