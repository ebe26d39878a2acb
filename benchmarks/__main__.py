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
    bounds_table,
    calibration,
    columns_speed,
    cs,
    finite,
    kernel_machines,
    kernel_memory,
    many_rows,
    measures,
    memory,
    page,
    path,
    perceptron,
    prediction,
    protocols,
    real_data,
    side_by_side,
    startup,
    tables,
    tool,
    two_norm,
    wide,
)
from benchmarks.report import HEADER, Absent, Grid, Row, machine, table
from benchmarks.settings import Settings, say

RATIOS: dict[str, Callable[[Settings], Iterable[Row | Absent]]] = {
    "two-norm-svc": two_norm.against_svc,
    "two-norm-ebm": two_norm.against_ebm,
    "two-norm-lightgbm": two_norm.against_lightgbm,
    "two-norm-scaling": two_norm.against_itself,
    "wide": wide.against_lightgbm,
    "real-ebm": real_data.against_ebm,
    "real-svc": real_data.against_svc,
    "covers": real_data.covers,
    "binning": columns_speed.against_lightgbm,
    "memory": memory.above_input,
    "many-rows": many_rows.ten_times,
    "path": path.against_one_fit,
    "prediction": prediction.against_trees_and_ebm,
    "startup": startup.second_process,
    "boosting": finite.against_adaboost,
    "boosting-lightgbm": finite.against_lightgbm,
    "boosting-scores": finite.few_and_many_rounds,
    "bagging": finite.against_bagging,
    "chess": finite.chess,
    "bounds": kernel_machines.bounds,
    "det-loo": kernel_machines.det_loo,
    "vote": kernel_machines.vote,
    "perceptron": perceptron.against_svc,
    "kernel-memory": kernel_memory.within_budget,
    "tables": tables.holes_and_categories,
    "coding": tables.coding,
    "like-adult": tables.like_adult,
    "after-the-fit": tables.after_the_fit,
    "tool": tool.fit_and_help,
    "page": page.opening_and_sliding,
}
STUDIES: dict[str, Callable[[Settings], Grid]] = {
    "cs": cs.seven_cs,
    "measures": measures.four_measures,
    "bounds-table": bounds_table.all_bounds,
    "protocols": protocols.open_choices,
    "calibration": calibration.curves,
    "side-by-side": side_by_side.peers_and_ours,
}
GROUPS = {"ratios": [*RATIOS], "studies": [*STUDIES], "all": [*RATIOS, *STUDIES]}


class Results:
    """Everything measured so far."""

    def __init__(self, settings: Settings, file: Path | None) -> None:
        self.settings, self.file = settings, file
        self.rows: dict[str, list[Row | Absent]] = {}
        self.grids: dict[str, Grid] = {}
        self.failed: list[str] = []

    def add(self, name: str) -> None:
        """Run a benchmark; what fails is told in the table, and the others go on."""
        say(name)
        try:
            if name in STUDIES:
                self.grids[name] = STUDIES[name](self.settings)
            else:
                for row in RATIOS[name](self.settings):
                    self.rows.setdefault(name, []).append(row)
                    say("  " + " | ".join(row.cells()))
        except Exception as error:
            traceback.print_exc()
            self.failed.append(name)
            why = f"{type(error).__name__}: {error}"
            self.rows.setdefault(name, []).append(Absent(name, "failed", why))
        self._write()

    def text(self) -> str:
        """Return the table of ratios, then those of the studies."""
        cells = [row.cells() for rows in self.rows.values() for row in rows]
        parts = [table(HEADER, cells)] if cells else []
        if self.settings.quick:
            parts.append("A quick run: the targets are those of the full sizes.")
        return "\n\n".join(parts + [grid.text() for grid in self.grids.values()])

    def _write(self) -> None:
        if self.file is not None:
            self.file.write_text(json.dumps(self._record(), indent=1) + "\n")

    def _record(self) -> dict[str, Any]:
        return {
            "machine": machine(self.settings),
            "ratios": [
                {"name": name, **row.record()} for name, rows in self.rows.items() for row in rows
            ],
            "studies": {name: grid.record() for name, grid in self.grids.items()},
        }


def main(arguments: list[str] | None = None) -> int:
    """Run what the command line asks for."""
    options = _parser().parse_args(arguments)
    if options.list:
        for name, bench in {**RATIOS, **STUDIES}.items():
            print(f"{name:18} {(bench.__doc__ or '').splitlines()[0]}")
        return 0
    results = Results(Settings(options.quick, options.patience), options.json)
    for name in _chosen(options.names):
        results.add(name)
    print(results.text())
    return 1 if results.failed else 0


def _chosen(names: list[str]) -> list[str]:
    wanted = {single for name in names or ["all"] for single in GROUPS.get(name, [name])}
    return [name for name in GROUPS["all"] if name in wanted]


def _known(name: str) -> str:
    if name not in GROUPS and name not in GROUPS["all"]:
        names = ", ".join([*GROUPS["all"], *GROUPS])
        raise argparse.ArgumentTypeError(f"{name!r} is no benchmark: choose from {names}")
    return name


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Run the benchmarks.")
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        type=_known,
        help="what to run: names of --list, ratios, studies, or all (the default)",
    )
    parser.add_argument("--list", action="store_true", help="name the benchmarks")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows, fewer repeats")
    parser.add_argument(
        "--patience",
        type=float,
        default=Settings.patience,
        metavar="SECONDS",
        help="stop a peer that is tried on more and more rows here (default: %(default)g)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the results here")
    return parser


if __name__ == "__main__":
    sys.exit(main())
