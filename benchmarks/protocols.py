"""A study of the choices that the papers leave open, varied one at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, TypeAlias

import numpy as np
from joblib import Parallel, delayed
from numpy.random import RandomState
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import minmax_scale
from sklearn.svm import SVC

from benchmarks.data import available_tables, load_table
from benchmarks.report import StudyTable
from benchmarks.settings import N_JOBS, Settings, log
from everystump import StumpBoostingClassifier
from everystump._experiments.engine.splits import Split, random_split
from everystump._experiments.engine.statistics import mean_over_runs
from everystump._experiments.lin_li import protocol as lin_li
from everystump._experiments.lin_li.table_1 import COLUMNS
from everystump._experiments.published import load_published
from everystump._experiments.wang import RUNS as WANG_RUNS
from everystump._experiments.wang import methods as wang
from everystump._experiments.wang import tables as wang_tables
from everystump.datasets import load_dataset

HEADER = ("question", "data", "method", "variant", "runs", "ours (%)", "deviation", "paper (%)")
STARTS = (-17, -15, -13, -9, -5)
SVMS = {"svm_stump": "lebesgue", "svm_mid": "middle"}
FEW_AND_MANY = (100, 1000)
CS = (0.01, 1.0, 100.0)
# The only table that is not packaged.
NOT_PACKAGED = "fourclass"
_QUICK_RUNS = 2

# By method, rounds of boosting (0 for the SVMs of Lin & Li), and variant.
Found: TypeAlias = dict[tuple[str, int, str], float]
Rows: TypeAlias = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Trial:
    """An open choice; ``work`` returns the errors or accuracies of the run with a seed."""

    question: str
    data: str
    runs: int
    work: Callable[[int], Found]
    paper: Callable[[str, str, int], str]


def open_choices(settings: Settings) -> StudyTable:
    """Errors and accuracies for choices that the papers of the experiments leave open."""
    skipped: list[str] = []
    available = list(
        available_tables({NOT_PACKAGED: partial(load_table, NOT_PACKAGED, settings)}, skipped)
    )
    trials = [trial for trial in _trials() if available or trial.data != NOT_PACKAGED]
    rows = [row for trial in trials for row in _rows(trial, settings)]
    title = (
        "Choices that the papers leave open: test errors (Lin & Li), 10-fold accuracies (Wang); "
        "means ± standard errors over runs of seeds 0, 1, ..., runs - 1; deviation: the standard "
        f"deviation of a mean of {WANG_RUNS} runs"
    )
    return StudyTable(title, HEADER, rows, skipped)


def _trials() -> Iterator[Trial]:
    lin = partial(Trial, paper=_lin_li_paper)
    for data in ("twonorm-n", "threenorm-n"):
        yield lin("Lin & Li: grid of C", data, 12, partial(_grids, data))
    yield lin("Lin & Li: which file", "breast", 60, partial(_boosted_tables, _breasts))
    yield lin("Lin & Li: which file", "german", 30, partial(_boosted_tables, _germans))
    yield lin("Lin & Li: missing values", "votes84", 60, partial(_boosted_tables, _votes))
    for data in ("ringnorm", "ringnorm-n"):
        yield lin("Lin & Li: stumps chosen by", data, 30, partial(_criteria, data))
    tables = partial(Trial, paper=_wang_paper)
    for data in ("chess", NOT_PACKAGED, "ionosphere", "monk1"):
        yield tables("Wang: C of the soft margin", data, 2, partial(_soft_margins, data))
    yield tables("Wang: search for stumps", NOT_PACKAGED, 1, _searches)
    yield tables("Wang: stumps chosen by", "ionosphere", 10, _ionosphere)
    yield tables("Wang: coding and folds", "chess", 2, _chess)


def _rows(trial: Trial, settings: Settings) -> Iterator[tuple]:
    """Yield the table rows of a trial."""
    runs = min(trial.runs, _QUICK_RUNS) if settings.quick else trial.runs
    log(f"  {trial.question} on {trial.data}, {runs} runs ...")
    results = Parallel(n_jobs=N_JOBS)(delayed(trial.work)(seed) for seed in range(runs))
    for key in results[0]:
        method, rounds, variant = key
        mean = mean_over_runs([result[key] for result in results], scale=100.0)
        title = {**wang.METHODS, **COLUMNS}[method]
        title += f", T = {rounds}" if rounds else ""
        paper = trial.paper(trial.data, method, rounds)
        deviation = f"{mean.deviation / np.sqrt(WANG_RUNS):.2f}" if runs > 1 else "-"
        yield trial.question, trial.data, title, variant, runs, mean.format(2), deviation, paper


def _lin_li_paper(data: str, method: str, rounds: int) -> str:
    (printed,) = (row for row in load_published("lin_li_table1") if row["dataset"] == data)
    return printed[f"{method}_{rounds}" if rounds else method]


def _wang_paper(data: str, method: str, rounds: int) -> str:
    key = {"dataset": data, "learners": str(rounds)}
    (printed,) = (row for row in load_published("wang_tables") if key.items() <= row.items())
    return printed[f"{method}_acc"]


def _grids(data: str, seed: int) -> Found:
    """Choose C from 11 odd powers of 2 with different starts."""
    rng = RandomState(seed)
    split = lin_li.draw_split(data, rng)
    cv = lin_li.make_folds(rng)
    found: Found = {}
    for method, measure in SVMS.items():
        for start in STARTS:
            Cs = 2.0 ** np.arange(start, start + 2 * len(lin_li.STUMP_GRID), 2)
            svm = lin_li.stump_svm(measure, cv).set_params(Cs=Cs)
            variant = f"2^{start} .. 2^{np.log2(Cs[-1]):.0f}"
            found[method, 0, variant] = split.error(svm.fit(split.X, split.y))
    return found


def _boosted_tables(tables: Callable[[], dict[str, Rows]], seed: int) -> Found:
    """Run AdaBoost on variants of a table."""
    found: Found = {}
    for variant, (X, y) in tables().items():
        rows = round(lin_li.TRAIN_FRACTION * len(y))
        found |= _boosted(random_split(X, y, rows, RandomState(seed)), variant)
    return found


def _criteria(data: str, seed: int) -> Found:
    """Choose stumps by their weighted error and by the Gini index."""
    split = lin_li.draw_split(data, RandomState(seed))
    by = [_boosted(split, criterion, criterion=criterion) for criterion in ("error", "gini")]
    return by[0] | by[1]


def _boosted(split: Split, variant: str, **parameters: Any) -> Found:
    """Return AdaBoost's test errors after few and many rounds."""
    boosted = StumpBoostingClassifier(n_estimators=max(FEW_AND_MANY), n_jobs=1, **parameters)
    boosted.fit(split.X, split.y)
    accuracies = wang_tables.staged_accuracies(boosted, split.X_test, split.y_test)
    return {
        ("adaboost", rounds, variant): 1.0 - wang_tables.at_round(accuracies, rounds)
        for rounds in FEW_AND_MANY
    }


@cache
def _breasts() -> dict[str, Rows]:
    X, target = load_dataset("breast", return_X_y=True)
    fills = {
        "median": np.nanmedian(X, axis=0),
        "minimum": np.nanmin(X, axis=0),
        "maximum": np.nanmax(X, axis=0),
    }
    filled = {
        f"699 rows, imputed by the {name}": _scaled(np.where(np.isnan(X), fill, X), target)
        for name, fill in fills.items()
    }
    return {"683 rows": lin_li.load_real("breast"), **filled}


@cache
def _germans() -> dict[str, Rows]:
    raw = _scaled(*load_dataset("german", return_X_y=True))
    return {"24 numeric features": lin_li.load_real("german"), "20 raw features": raw}


@cache
def _votes() -> dict[str, Rows]:
    X, target = load_dataset("votes84", return_X_y=True)
    codes = {"below no": -1, "above yes": 2, "as no": 0, "as yes": 1}
    complete = ~np.isnan(X).any(axis=1)
    return {
        "halfway": lin_li.load_real("votes84"),
        **{name: _scaled(np.nan_to_num(X, nan=code), target) for name, code in codes.items()},
        f"the {complete.sum()} complete rows": _scaled(X[complete], target[complete]),
    }


def _scaled(X: np.ndarray, target: np.ndarray) -> Rows:
    return minmax_scale(X, (-1, 1)), 2 * target - 1


def _soft_margins(data: str, seed: int) -> Found:
    """Use small and large C for the soft margin."""
    models = [("adaboost_svm", f"C = {C:g}", _adaboost_svm(C=C)) for C in CS]
    return _cross_validate(wang.load_data(data), _folds(seed), models)


def _searches(seed: int) -> Found:
    """Search among fewer thresholds, and by other criteria."""
    ways = {
        "all thresholds": {},
        **{f"{bins} bins": {"max_bins": bins} for bins in (100, 50)},
        "Gini index": {"criterion": "gini"},
    }
    kinds = {"adaboost": _adaboost, "adaboost_svm": _adaboost_svm}
    models = [(name, way, kinds[name](**ways[way])) for name in kinds for way in ways]
    plain = [(name, "thresholds at values", kinds[name]()) for name in kinds]
    data, cv = wang.load_data(NOT_PACKAGED), _folds(seed)
    found = _cross_validate(data, cv, models) | _cross_validate(data, cv, plain, at_values=True)
    gaussian = [_gaussian(*data, *fold) for fold in cv.split(*data)]
    for rounds, accuracy in zip(FEW_AND_MANY, np.mean(gaussian, axis=0), strict=True):
        found["adaboost_svm", rounds, "Gaussian kernel over stumps"] = float(accuracy)
    return found


def _gaussian(X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> list[float]:
    """Return the accuracies of an SVM with a Gaussian kernel over AdaBoost's stumps."""
    stumps = _adaboost().fit(X[train], y[train]).stumps_
    votes = np.where(X[:, stumps.feature] >= stumps.threshold, 1.0, -1.0) * stumps.direction
    return [
        SVC(C=wang.C).fit(votes[train, :rounds], y[train]).score(votes[test, :rounds], y[test])
        for rounds in FEW_AND_MANY
    ]


def _ionosphere(seed: int) -> Found:
    """Choose stumps by their weighted error and by the Gini index, at all T."""
    models = [("adaboost", kind, _adaboost(criterion=kind)) for kind in ("error", "gini")]
    return _cross_validate(wang.load_data("ionosphere"), _folds(seed), models, wang_tables.ROUNDS)


def _chess(seed: int) -> Found:
    """Encode the feature of three levels as three, and use folds that are not stratified."""
    levels = load_dataset("chess").feature_names.index("katri")
    X, y = wang.load_data("chess")
    each = X[:, [levels]] == np.unique(X[:, levels])
    coded = np.hstack([np.delete(X, levels, axis=1), each])
    ways = {
        "0, 1, 2; stratified": (X, _folds(seed)),
        "one feature per level": (coded, _folds(seed)),
        "folds not stratified": (X, _folds(seed, KFold)),
    }
    found: Found = {}
    for way, (table, cv) in ways.items():
        models = [("adaboost", way, _adaboost()), ("adaboost_svm", way, _adaboost_svm())]
        found |= _cross_validate((table, y), cv, models)
    return found


def _adaboost(**parameters: Any) -> StumpBoostingClassifier:
    return wang.adaboost(max(FEW_AND_MANY)).set_params(**parameters)


def _adaboost_svm(**parameters: Any) -> Any:
    return wang.adaboost_svm(max(FEW_AND_MANY), stages=FEW_AND_MANY, **parameters)


def _folds(seed: int, kind: type = StratifiedKFold) -> StratifiedKFold | KFold:
    return kind(wang_tables.N_FOLDS, shuffle=True, random_state=seed)


def _cross_validate(
    data: Rows,
    cv: Any,
    models: Sequence[tuple[str, str, Any]],
    stages: Sequence[int] = FEW_AND_MANY,
    *,
    at_values: bool = False,
) -> Found:
    """Return the mean accuracy over the folds of each method and variant for each T."""
    X, y = data
    each: dict[tuple[str, int, str], list[float]] = {}
    for train, test in cv.split(X, y):
        X_test = _round_down(X[train], X[test]) if at_values else X[test]
        for method, variant, model in models:
            accuracies = wang_tables.staged_accuracies(
                model.fit(X[train], y[train]), X_test, y[test]
            )
            for rounds in stages:
                accuracy = wang_tables.at_round(accuracies, rounds)
                each.setdefault((method, rounds, variant), []).append(accuracy)
    return {key: float(np.mean(values)) for key, values in each.items()}


def _round_down(X: np.ndarray, X_test: np.ndarray) -> np.ndarray:
    """Round test values down to training values: midpoints then split like ``x >= value``."""
    rounded = np.empty_like(X_test)
    for d, values in enumerate(map(np.unique, X.T)):
        at = np.searchsorted(values, X_test[:, d], side="right") - 1
        rounded[:, d] = values[at.clip(min=0)]
    return rounded
