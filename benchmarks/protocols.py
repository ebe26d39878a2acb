"""A study: what the papers leave open, tried one thing at a time."""

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

from benchmarks.data import real, those_there
from benchmarks.report import Grid
from benchmarks.settings import N_JOBS, Settings, say
from everystump import StumpBoostingClassifier
from everystump._experiments.engine.splits import Split, random_split
from everystump._experiments.engine.statistics import mean_over_runs
from everystump._experiments.lin_li import protocol as lin_li
from everystump._experiments.lin_li.table_1 import COLUMNS
from everystump._experiments.published import load_published
from everystump._experiments.wang import methods as wang
from everystump._experiments.wang import tables as wang_tables
from everystump.datasets import load_dataset

HEADER = ("question", "data", "method", "variant", "runs", "ours (%)", "spread", "paper (%)")
STARTS = (-17, -15, -13, -9, -5)
MACHINES = {"svm_stump": "lebesgue", "svm_mid": "middle"}
FEW_AND_MANY = (100, 1000)
COSTS = (0.01, 1.0, 100.0)
# The one table that is not packaged.
OUTSIDE = "fourclass"
_QUICK_RUNS = 2

# By method, rounds of boosting (0 for the machines of Lin & Li), and variant.
Found: TypeAlias = dict[tuple[str, int, str], float]
Rows: TypeAlias = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Trial:
    """A question, and ``work``, which finds a run's errors or accuracies from its seed."""

    question: str
    data: str
    runs: int
    work: Callable[[int], Found]
    paper: Callable[[str, str, int], str]


def open_choices(settings: Settings) -> Grid:
    """Errors and accuracies by what the papers of the experiments leave open."""
    skipped: list[str] = []
    there = list(those_there({OUTSIDE: partial(real, OUTSIDE, settings)}, skipped))
    trials = [trial for trial in _trials() if there or trial.data != OUTSIDE]
    rows = [row for trial in trials for row in _rows(trial, settings)]
    title = (
        "What the papers leave open: Lin & Li test errors, Wang et al. accuracies of 10 folds; "
        "means ± standard errors over runs of seeds 0, 1, ..., runs - 1; spread: the standard "
        f"deviation of a mean of {wang.RUNS} runs"
    )
    return Grid(title, HEADER, rows, skipped)


def _trials() -> Iterator[Trial]:
    lin = partial(Trial, paper=_lin_li_paper)
    for data in ("twonorm-n", "threenorm-n"):
        yield lin("Lin & Li: grid of C", data, 12, partial(_grids, data))
    yield lin("Lin & Li: which file", "breast", 60, partial(_boosted_tables, _breasts))
    yield lin("Lin & Li: which file", "german", 30, partial(_boosted_tables, _germans))
    yield lin("Lin & Li: where holes lie", "votes84", 60, partial(_boosted_tables, _votes))
    for data in ("ringnorm", "ringnorm-n"):
        yield lin("Lin & Li: stumps chosen by", data, 30, partial(_criteria, data))
    tables = partial(Trial, paper=_wang_paper)
    for data in ("chess", OUTSIDE, "ionosphere", "monk1"):
        yield tables("Wang: C of the soft margin", data, 2, partial(_costs, data))
    yield tables("Wang: how stumps are sought", OUTSIDE, 1, _searches)
    yield tables("Wang: stumps chosen by", "ionosphere", 10, _ionosphere)
    yield tables("Wang: coding and folds", "chess", 2, _chess)


def _rows(trial: Trial, settings: Settings) -> Iterator[tuple]:
    """Yield the rows of a trial's table."""
    runs = min(trial.runs, _QUICK_RUNS) if settings.quick else trial.runs
    say(f"  {trial.question} on {trial.data}, {runs} runs ...")
    results = Parallel(n_jobs=N_JOBS)(delayed(trial.work)(seed) for seed in range(runs))
    for key in results[0]:
        method, rounds, variant = key
        mean = mean_over_runs([result[key] for result in results], scale=100.0)
        title = {**wang.METHODS, **COLUMNS}[method]
        title += f", T = {rounds}" if rounds else ""
        paper = trial.paper(trial.data, method, rounds)
        spread = f"{mean.deviation / np.sqrt(wang.RUNS):.2f}" if runs > 1 else "-"
        yield trial.question, trial.data, title, variant, runs, mean.format(2), spread, paper


def _lin_li_paper(data: str, method: str, rounds: int) -> str:
    (printed,) = (row for row in load_published("lin_li_table1") if row["dataset"] == data)
    return printed[f"{method}_{rounds}" if rounds else method]


def _wang_paper(data: str, method: str, rounds: int) -> str:
    key = {"dataset": data, "learners": str(rounds)}
    (printed,) = (row for row in load_published("wang_tables") if key.items() <= row.items())
    return printed[f"{method}_acc"]


def _grids(data: str, seed: int) -> Found:
    """Choose C from 11 odd powers of 2 that begin lower and higher."""
    rng = RandomState(seed)
    split = lin_li.draw_split(data, rng)
    cv = lin_li.make_folds(rng)
    found: Found = {}
    for method, measure in MACHINES.items():
        for start in STARTS:
            Cs = 2.0 ** np.arange(start, start + 2 * len(lin_li.STUMP_GRID), 2)
            machine = lin_li.stump_svm(measure, cv).set_params(Cs=Cs)
            variant = f"2^{start} .. 2^{np.log2(Cs[-1]):.0f}"
            found[method, 0, variant] = split.error(machine.fit(split.X, split.y))
    return found


def _boosted_tables(tables: Callable[[], dict[str, Rows]], seed: int) -> Found:
    """Boost on variants of a table."""
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
    right = wang_tables.staged_accuracies(boosted, split.X_test, split.y_test)
    return {
        ("adaboost", rounds, variant): 1.0 - wang_tables.at_round(right, rounds)
        for rounds in FEW_AND_MANY
    }


@cache
def _breasts() -> dict[str, Rows]:
    X, target = load_dataset("breast", return_X_y=True)
    fills = {
        "median": np.nanmedian(X, axis=0),
        "lowest": np.nanmin(X, axis=0),
        "highest": np.nanmax(X, axis=0),
    }
    filled = {
        f"699 rows, holes at the {name}": _scaled(np.where(np.isnan(X), fill, X), target)
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
    whole = ~np.isnan(X).any(axis=1)
    return {
        "in the middle": lin_li.load_real("votes84"),
        **{name: _scaled(np.nan_to_num(X, nan=code), target) for name, code in codes.items()},
        f"the {whole.sum()} rows without": _scaled(X[whole], target[whole]),
    }


def _scaled(X: np.ndarray, target: np.ndarray) -> Rows:
    return minmax_scale(X, (-1, 1)), 2 * target - 1


def _costs(data: str, seed: int) -> Found:
    """Give the soft margin small and large C."""
    models = [("adaboost_svm", f"C = {C:g}", _machine(C=C)) for C in COSTS]
    return _validated(wang.load_data(data), _folds(seed), models)


def _searches(seed: int) -> Found:
    """Seek the stumps among fewer thresholds, and in other ways."""
    ways = {
        "all thresholds": {},
        **{f"{bins} bins": {"max_bins": bins} for bins in (100, 50)},
        "Gini index": {"criterion": "gini"},
    }
    kinds = {"adaboost": _adaboost, "adaboost_svm": _machine}
    models = [(name, way, kinds[name](**ways[way])) for name in kinds for way in ways]
    plain = [(name, "thresholds at values", kinds[name]()) for name in kinds]
    data, cv = wang.load_data(OUTSIDE), _folds(seed)
    found = _validated(data, cv, models) | _validated(data, cv, plain, at_values=True)
    gaussian = [_gaussian(*data, *fold) for fold in cv.split(*data)]
    for rounds, right in zip(FEW_AND_MANY, np.mean(gaussian, axis=0), strict=True):
        found["adaboost_svm", rounds, "Gaussian kernel over stumps"] = float(right)
    return found


def _gaussian(X: np.ndarray, y: np.ndarray, learn: np.ndarray, test: np.ndarray) -> list[float]:
    """Return the accuracies of a machine with a Gaussian kernel over AdaBoost's stumps."""
    stumps = _adaboost().fit(X[learn], y[learn]).stumps_
    votes = np.where(X[:, stumps.feature] >= stumps.threshold, 1.0, -1.0) * stumps.direction
    return [
        SVC(C=wang.C).fit(votes[learn, :rounds], y[learn]).score(votes[test, :rounds], y[test])
        for rounds in FEW_AND_MANY
    ]


def _ionosphere(seed: int) -> Found:
    """Choose stumps by their weighted error and by the Gini index, at all T."""
    models = [("adaboost", kind, _adaboost(criterion=kind)) for kind in ("error", "gini")]
    return _validated(wang.load_data("ionosphere"), _folds(seed), models, wang_tables.ROUNDS)


def _chess(seed: int) -> Found:
    """Code the feature of three levels by three, and draw folds that are not stratified."""
    levels = load_dataset("chess").feature_names.index("katri")
    X, y = wang.load_data("chess")
    each = X[:, [levels]] == np.unique(X[:, levels])
    coded = np.hstack([np.delete(X, levels, axis=1), each])
    ways = {
        "0, 1, 2; stratified": (X, _folds(seed)),
        "a feature for each level": (coded, _folds(seed)),
        "folds not stratified": (X, _folds(seed, KFold)),
    }
    found: Found = {}
    for way, (table, cv) in ways.items():
        models = [("adaboost", way, _adaboost()), ("adaboost_svm", way, _machine())]
        found |= _validated((table, y), cv, models)
    return found


def _adaboost(**parameters: Any) -> StumpBoostingClassifier:
    return wang.adaboost(max(FEW_AND_MANY)).set_params(**parameters)


def _machine(**parameters: Any) -> Any:
    return wang.adaboost_svm(max(FEW_AND_MANY), stages=FEW_AND_MANY, **parameters)


def _folds(seed: int, kind: type = StratifiedKFold) -> StratifiedKFold | KFold:
    return kind(wang_tables.N_FOLDS, shuffle=True, random_state=seed)


def _validated(
    data: Rows,
    cv: Any,
    models: Sequence[tuple[str, str, Any]],
    stages: Sequence[int] = FEW_AND_MANY,
    *,
    at_values: bool = False,
) -> Found:
    """Return the mean accuracy over the folds of each method and variant at each T."""
    X, y = data
    each: dict[tuple[str, int, str], list[float]] = {}
    for learn, test in cv.split(X, y):
        X_test = _last_values(X[learn], X[test]) if at_values else X[test]
        for method, variant, model in models:
            right = wang_tables.staged_accuracies(model.fit(X[learn], y[learn]), X_test, y[test])
            for rounds in stages:
                accuracy = wang_tables.at_round(right, rounds)
                each.setdefault((method, rounds, variant), []).append(accuracy)
    return {key: float(np.mean(values)) for key, values in each.items()}


def _last_values(X: np.ndarray, X_test: np.ndarray) -> np.ndarray:
    """Lower test values to the last one learnt from: middles split them as ``x >= value`` does."""
    lowered = np.empty_like(X_test)
    for d, values in enumerate(map(np.unique, X.T)):
        at = np.searchsorted(values, X_test[:, d], side="right") - 1
        lowered[:, d] = values[at.clip(min=0)]
    return lowered
