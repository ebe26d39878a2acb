"""Train and evaluate a model on files that need not fit into memory.

Files are parsed once, into a scratch file.  Held-out rows are set aside, C and the interactions are
chosen on a random sample of the training rows, and the model is fitted to all of them in chunks.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from everystump._core.progress import transient
from everystump._explanations.access import certificate_and_path
from everystump._text import InvalidInputError, format_bytes, pluralize
from everystump._workflow.errors import collect_warnings, input_errors
from everystump._workflow.evaluation import interaction_results
from everystump._workflow.fitting import (
    FittedRows,
    describe_fit,
    holdout_results,
    results_before_refit,
)
from everystump._workflow.options import ColumnOptions, Dialect
from everystump._workflow.plan import Hyperparameters, Plan
from everystump._workflow.presets import PRESETS
from everystump._workflow.reading.stream import FileStream, find_large, is_single
from everystump._workflow.spool import Head, Spool, spool_files

# At most this many rows are held out, and used to choose C.
MAX_HELD_OUT_ROWS = MAX_SELECTION_ROWS = 200_000


def find_stream(path: Path, requested: bool | None, plan: Plan) -> FileStream | None:
    """Return the files of a path if they are to be read in chunks, else None.

    Unless requested, these are several files, and files that are too large for the memory if the
    model can be fitted in chunks.
    """
    if requested is False or (str(path) == "-" and not path.exists()):
        return None
    stream = FileStream.find(path) if requested else find_large(path)
    obstacle = _obstacle(plan)
    if stream is None or obstacle is None:
        return stream
    if requested is None and is_single(path):
        return None
    raise InvalidInputError(f"{path} cannot be read in chunks: {obstacle}.")


def _obstacle(plan: Plan) -> str | None:
    """Return why a model cannot be fitted in chunks, None if it can."""
    if not plan.model.selects_C:
        able = [name for name, preset in PRESETS.items() if preset.selects_C]
        return f"{plan.preset} needs all rows in memory; use --model {' or '.join(able)}"
    if plan.cv is not None:
        return "--cv needs all rows in memory; use --holdout"
    if plan.bands:
        return "--bands needs all rows in memory; omit it"
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        return "this needs pyarrow: pip install 'everystump[parquet]'"
    return None


def fit_stream(
    stream: FileStream,
    target: str,
    options: ColumnOptions,
    plan: Plan,
    *,
    source: str | None = None,
    dialect: Dialect | None = None,
    verbose: int = 0,
) -> Any:
    """Return a fitted model with the same ``about_`` as that of `fit_model`."""
    dialect = dialect or Dialect()
    with tempfile.TemporaryDirectory(prefix="everystump-") as folder:
        head = Head.read(stream, target, options, dialect)
        plan.check_features(head.features.X, head.features.dropped)
        spool = spool_files(stream, head, target, dialect, Path(folder) / "rows.arrow")
        plan = plan.for_target(spool.target)
        return _StreamFit(spool, plan, source, dialect, verbose).run(stream.n_bytes())


@dataclass(frozen=True, eq=False)
class _StreamFit:
    """A fit to spooled rows."""

    spool: Spool
    plan: Plan
    source: str | None
    dialect: Dialect
    verbose: int

    def run(self, n_bytes: int) -> Any:
        """Split the rows, choose C, fit, evaluate, and describe the model."""
        spool, plan, target = self.spool, self.plan, self.spool.target
        notes = plan.notes(target)
        notes.append(f"Read in chunks: {format_bytes(n_bytes)} without compression.")
        plan = replace(plan, holdout=min(plan.holdout, MAX_HELD_OUT_ROWS / len(target)))
        train, held_out = plan.split_target(target)
        test = train[:0] if held_out is None else held_out
        hyperparameters, chosen = self._choose(train, notes)
        model = self._fit(train, hyperparameters, notes)
        evaluated = holdout_results(model, *spool.rows(test), target.take(train))
        results = certificate_and_path(model) | interaction_results(model) | chosen | evaluated
        if plan.refit:
            results = results_before_refit(results, len(train), len(test))
            train, test = np.arange(len(target)), train[:0]
            model = self._fit(train, hyperparameters, notes)
            results = {"bounds": [], **certificate_and_path(model)} | results
        rows = FittedRows(
            target.take(train),
            len(test),
            spool.messages,
            spool.head.features.dropped,
            spool.head.features.parsing | spool.head.reader.parsing,
        )
        model.about_ = describe_fit(
            model, plan, rows, results, notes, source=self.source, dialect=self.dialect
        )
        return model

    @property
    def _n_classes(self) -> int:
        return len(self.spool.target.labels)

    def _choose(
        self, train: np.ndarray, notes: list[str]
    ) -> tuple[Hyperparameters, dict[str, Any]]:
        """Return C and interactions, chosen on a sample of the training rows, and the paths."""
        plan = self.plan
        if not plan.cross_validates:
            return plan.hyperparameters, {}
        sample = train
        if len(train) > MAX_SELECTION_ROWS:
            fraction = MAX_SELECTION_ROWS / len(train)
            sample = train[self.spool.target.take(train).split(fraction, plan.seed)[1]]
            what = "C" if plan.chosen_interactions.is_none else "C and interactions"
            n_rows = pluralize(len(sample), "training row")
            notes.append(f"{what}: chosen on a random sample of {n_rows}.")
        chooser = plan.build(plan.hyperparameters, self.verbose, self._n_classes)
        X, target = self.spool.rows(sample)
        with input_errors(), transient(), collect_warnings(notes):
            target.fit(chooser, X)
        results = certificate_and_path(chooser)
        results.pop("certificate", None)
        chosen = Hyperparameters.chosen_by(chooser, plan.C)
        return chosen, results | interaction_results(chooser)

    def _fit(self, rows: np.ndarray, hyperparameters: Hyperparameters, notes: list[str]) -> Any:
        """Return a model of some rows, fitted in chunks."""
        model = self.plan.build(hyperparameters, self.verbose, self._n_classes)
        is_used = np.zeros(len(self.spool.target), dtype=bool)
        is_used[rows] = True
        with input_errors(), transient(), collect_warnings(notes):
            self.spool.target.fit_chunks(model, self.spool.chunks(is_used))
        return model.set_params(verbose=0)
