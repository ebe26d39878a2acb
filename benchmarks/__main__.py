"""Run the benchmarks: ``python -m benchmarks [NAME ...] [--quick] [--json FILE] [--list]``."""

from __future__ import annotations

import argparse
import json
import sys
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from benchmarks import (
    bands,
    bounds_table,
    calibration,
    conformal,
    cost_model,
    cs,
    dask_cluster,
    dask_faults,
    finite,
    interactions_tables,
    kernel_machines,
    kernel_memory,
    many_rows,
    measures,
    memory,
    merging,
    multinomial,
    page,
    pairs,
    perceptron,
    prediction,
    protocols,
    real_data,
    regression,
    regression_tables,
    side_by_side,
    startup,
    streaming,
    tables,
    tool,
    two_norm,
    wide,
)
from benchmarks.report import HEADER, Row, Skipped, StudyTable, environment, format_table
from benchmarks.settings import Settings, log
from everystump.datasets import DatasetNotFoundError

RATIOS: dict[str, Callable[[Settings], Iterable[Row | Skipped]]] = {
    "two-norm-svc": two_norm.against_svc,
    "two-norm-ebm": two_norm.against_ebm,
    "two-norm-lightgbm": two_norm.against_lightgbm,
    "two-norm-scaling": two_norm.against_itself,
    "wide": wide.against_lightgbm,
    "real-ebm": real_data.against_ebm,
    "real-svc": real_data.against_svc,
    "covers": real_data.covers,
    "binning": two_norm.binning,
    "memory": memory.above_input,
    "many-rows": many_rows.ten_times,
    "stream-parquet": streaming.parquet,
    "stream-csv": streaming.csv,
    "dask": dask_cluster.against_local,
    "path": two_norm.path,
    "prediction": prediction.against_trees_and_ebm,
    "startup": startup.second_process,
    "boosting": finite.against_adaboost,
    "boosting-lightgbm": finite.against_lightgbm,
    "boosting-scores": finite.few_and_many_rounds,
    "bagging": finite.against_bagging,
    "chess": finite.chess,
    "bounds": kernel_machines.all_bounds,
    "det-loo": kernel_machines.det_loo,
    "vote": kernel_machines.vote,
    "perceptron": perceptron.against_svc,
    "kernel-memory": kernel_memory.within_budget,
    "tables": tables.missing_values_and_categories,
    "coding": tables.coding,
    "like-adult": tables.like_adult,
    "after-the-fit": tables.after_the_fit,
    "tool": tool.fit_and_help,
    "page": page.opening_and_sliding,
    "regression-squared": regression.squared,
    "regression-quantile": regression.quantile,
    "regression-epsilon": regression.epsilon,
    "regression-boosting": regression.boosting,
    "pairs-magic": pairs.magic,
    "pairs-magic-cv": pairs.magic_cv,
    "pairs-covertype": pairs.covertype,
    "pairs-covertype-cv": pairs.covertype_cv,
    "pairs-two-norm": pairs.simulated,
    "pairs-usps": pairs.usps,
    "pairs-memory": pairs.memory,
    "pairs-predict": pairs.prediction,
    "bands-time": bands.times,
    "multinomial": multinomial.usps,
}
STUDIES: dict[str, Callable[[Settings], StudyTable]] = {
    "cs": cs.seven_cs,
    "measures": measures.four_measures,
    "bounds-table": bounds_table.all_bounds,
    "protocols": protocols.open_choices,
    "calibration": calibration.curves,
    "calibration-tables": calibration.tables,
    "multinomial-tables": multinomial.tables,
    "side-by-side": side_by_side.ours_and_peers,
    "interactions-tables": interactions_tables.accuracy,
    "regression-tables": regression_tables.accuracy,
    "merge": merging.merged_models,
    "dask-faults": dask_faults.lost_workers,
    "cost-model": cost_model.predictions,
    "bands": bands.coverage,
    "conformal": conformal.coverage,
}
GROUPS = {"ratios": [*RATIOS], "studies": [*STUDIES], "all": [*RATIOS, *STUDIES]}


class Results:
    """The results so far."""

    def __init__(self, settings: Settings, file: Path | None) -> None:
        self.settings, self.file = settings, file
        self.rows: dict[str, list[Row | Skipped]] = {}
        self.tables: dict[str, StudyTable] = {}
        self.failed: list[str] = []

    def add(self, name: str) -> None:
        """Run a benchmark; a failure is reported in the table, and the others are run."""
        log(name)
        try:
            if name in STUDIES:
                self.tables[name] = STUDIES[name](self.settings)
            else:
                for row in RATIOS[name](self.settings):
                    self.rows.setdefault(name, []).append(row)
                    log("  " + " | ".join(row.cells()))
        except DatasetNotFoundError as error:
            self.rows.setdefault(name, []).append(Skipped(name, "skipped", str(error)))
        except Exception as error:
            traceback.print_exc()
            self.failed.append(name)
            reason = f"{type(error).__name__}: {error}"
            self.rows.setdefault(name, []).append(Skipped(name, "failed", reason))
        self._write()

    def text(self) -> str:
        """Return the table of ratios, followed by those of the studies."""
        cells = [row.cells() for rows in self.rows.values() for row in rows]
        parts = [format_table(HEADER, cells)] if cells else []
        if self.settings.quick:
            parts.append("A quick run: the targets are those of a full run.")
        return "\n\n".join(parts + [table.text() for table in self.tables.values()])

    def _write(self) -> None:
        if self.file is not None:
            self.file.write_text(json.dumps(self._record(), indent=1) + "\n")

    def _record(self) -> dict[str, Any]:
        return {
            "machine": environment(self.settings),
            "ratios": [
                {"name": name, **row.record()} for name, rows in self.rows.items() for row in rows
            ],
            "studies": {name: table.record() for name, table in self.tables.items()},
        }


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmarks named on the command line."""
    options = _parser().parse_args(arguments)
    if options.list:
        for name, bench in {**RATIOS, **STUDIES}.items():
            print(f"{name:19} {(bench.__doc__ or '').splitlines()[0]}")
        return 0
    settings = Settings(options.quick, options.patience, options.cache, options.cached_peers)
    results = Results(settings, options.json)
    for name in _selected(options.names):
        results.add(name)
    print(results.text())
    return 1 if results.failed else 0


def _selected(names: list[str]) -> list[str]:
    selected = {single for name in names or ["all"] for single in GROUPS.get(name, [name])}
    return [name for name in GROUPS["all"] if name in selected]


def _benchmark_name(name: str) -> str:
    if name not in GROUPS and name not in GROUPS["all"]:
        names = ", ".join([*GROUPS["all"], *GROUPS])
        raise argparse.ArgumentTypeError(f"{name!r} is not a benchmark: choose from {names}")
    return name


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Run the benchmarks.")
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        type=_benchmark_name,
        help="names of --list, or ratios, studies, all (default: all)",
    )
    parser.add_argument("--list", action="store_true", help="list the benchmarks")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows, fewer repeats")
    parser.add_argument(
        "--patience",
        type=float,
        default=Settings.patience,
        metavar="SECONDS",
        help="time limit for a peer that is tried on more and more rows (default: %(default)g)",
    )
    parser.add_argument(
        "--cache",
        type=Path,
        metavar="FILE",
        help="CSV file of results of interactions-tables that is read and extended",
    )
    parser.add_argument(
        "--cached-peers",
        action="store_true",
        help="leave out splits for which the cache has no results of the peers",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the results to FILE")
    return parser


if __name__ == "__main__":
    sys.exit(main())
