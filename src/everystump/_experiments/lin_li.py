"""What Lin & Li (2005) do in Tables 1 and 2: their data, their splits, their choice of C."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.random import RandomState
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import minmax_scale

from everystump._experiments.splits import Split, split_rows
from everystump.datasets import (
    flip_labels,
    load_dataset,
    make_ringnorm,
    make_threenorm,
    make_twonorm,
)
from everystump.estimators.svc import StumpSVCCV

ARTIFICIAL = {"twonorm": make_twonorm, "threenorm": make_threenorm, "ringnorm": make_ringnorm}
NOISY = "-n"
NOISE = 0.1
TRAINING_ROWS, TEST_ROWS = 300, 3000
TRAINING_SHARE = 0.6
# Which file is meant where several are about the same data.
FILES = {"breast": "breast_683", "german": "german_numeric"}
REAL = ("australian", "breast", "german", "heart", "ionosphere", "pima", "sonar", "votes84")
DATASETS: dict[str, tuple[str, ...]] = {
    **{name + noise: () for name in ARTIFICIAL for noise in ("", NOISY)},
    **{name: (FILES.get(name, name),) for name in REAL},
}
FOLDS = 5
STUMP_GRID = 2.0 ** np.arange(-17, 4, 2)
RUNS = 100

PROTOCOL = """
Two-norm, three-norm and ring-norm in 20 dimensions: 300 rows to learn from and 3,000 to test on,
drawn anew in each run; `-n` has the labels of 10 % of the training rows swapped. The eight UCI
sets: features scaled to [−1, 1] over all rows, a random 60 % to learn from, the rest to test on.
C by 5-fold cross-validation, then one fit on all training rows. 100 runs; errors are standard
errors of the mean. All methods see the same rows in a run.

What the paper leaves open, and the trials behind our choices (`python -m benchmarks protocols`):

- **The grid of 11 values of C** of the stump kernels. We take 2⁻¹⁷, 2⁻¹⁵, …, 2³: with r = ½ the
  kernels are large, and grids that begin higher miss the printed errors under noise (SVM-Mid on
  twonorm-n, 12 runs: 15.6 % from 2⁻⁵, 8.2 % from 2⁻⁹, 3.6 % from 2⁻¹³, 3.3 % from 2⁻¹⁵ or 2⁻¹⁷;
  the paper has 3.29 %).
- **The folds** are shuffled and stratified, as LIBSVM's own are; ties go to the smaller C, then to
  the smaller γ.
- **Ring-norm**: the mean of the inner class is 1/√20 in each feature, Breiman's choice; others use
  2/√20.
- **breast** is the 683 rows without holes, on which AdaBoost errs 4.2 and 4.7 % at T = 100 and 1000
  (60 runs; the paper has 4.27 and 4.51 %); with the 16 others filled in, 4.7 and 5.1 % by the
  median or 5.0 and 5.5 % by the highest value.
- **german** is its numeric form of 24 features; the raw 20, text coded by level, make no difference
  (AdaBoost, 30 runs: 24.6 and 26.7 % against 24.5 and 26.7 %; the paper has 25.0 and 26.9 %).
- The holes of **votes84** lie in the middle between no and yes, at 0; wherever they lie, or with
  their rows left out, AdaBoost errs 4.2 to 4.6 % at T = 100 and 5.2 to 5.5 % at T = 1000 (60 runs;
  the paper has 4.07 and 5.29 %).
"""


def draw(dataset: str, rng: RandomState) -> Split:
    """Draw one run's rows."""
    kind = dataset.removesuffix(NOISY)
    if kind not in ARTIFICIAL:
        X, y = real_data(dataset)
        return split_rows(X, y, round(TRAINING_SHARE * len(y)), rng)
    X, y = ARTIFICIAL[kind](TRAINING_ROWS, random_state=rng)
    X_test, y_test = ARTIFICIAL[kind](TEST_ROWS, random_state=rng)
    if kind != dataset:
        y = flip_labels(y, NOISE, random_state=rng)
    return Split(X, y, X_test, y_test)


@cache
def real_data(dataset: str) -> tuple[np.ndarray, np.ndarray]:
    """Return a UCI set with features in [-1, 1], holes at 0, and labels -1 and +1."""
    X, target = load_dataset(*DATASETS[dataset], return_X_y=True)
    return np.nan_to_num(minmax_scale(X, (-1, 1))), 2 * target - 1


def folds(rng: RandomState) -> StratifiedKFold:
    """Return the folds by which parameters are chosen."""
    return StratifiedKFold(FOLDS, shuffle=True, random_state=rng.randint(2**31 - 1))


@cache
def load_compiled_code() -> None:
    """Fit a few rows, so that no time that is taken later includes what a process does once."""
    X, y = make_twonorm(40, 2, random_state=0)
    stump_machine("lebesgue", StratifiedKFold(2)).fit(X, y)


def stump_machine(measure: str, cv: StratifiedKFold) -> StumpSVCCV:
    """Return SVM-Stump (``measure="lebesgue"``) or SVM-Mid (``"middle"``), nothing binned."""
    most_values = TRAINING_ROWS * 10
    return StumpSVCCV(Cs=STUMP_GRID, cv=cv, measure=measure, max_bins=most_values, n_jobs=1)
