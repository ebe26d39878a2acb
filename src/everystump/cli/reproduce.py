"""``everystump reproduce``: reproduce tables and figures of the papers."""

from __future__ import annotations

import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from everystump._experiments import NAMES, load_experiment
from everystump._experiments.engine.journal import output_errors
from everystump._text import InvalidInputError
from everystump.cli.console import InputError, echo, print_notes
from everystump.cli.progress import progress_bar

if TYPE_CHECKING:
    from everystump._experiments.engine.experiment import Experiment
    from everystump._experiments.engine.pages import ExperimentResult

ALL = "all"
EXAMPLES = """\b
Examples:
  everystump reproduce --list
  everystump reproduce lin-li-table-1 --runs 10
  everystump reproduce all --runs 10 --out results
"""


def _list_names(context: click.Context, _: click.Parameter, requested: bool) -> None:
    if requested:
        echo("\n".join(NAMES))
        context.exit()


@click.command(epilog=EXAMPLES, short_help="Reproduce the tables and figures of the papers.")
@click.argument("name", metavar="NAME|all")
@click.option(
    "--list",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_list_names,
    help="List the names, one per line.",
)
@click.option(
    "--runs", type=click.IntRange(min=1), help="Number of runs.  [default: the paper's number]"
)
@click.option(
    "--jobs", type=click.IntRange(min=1), help="Number of processes.  [default: all cores]"
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Random seed; the results do not depend on --jobs.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default="reproduction",
    show_default=True,
    help="Folder for tables, plots and finished work.",
)
def reproduce(name: str, runs: int | None, jobs: int | None, seed: int, out: Path) -> None:
    """Reproduce a table or figure of a paper, or all of them.

    Writes NAME.md and NAME.csv with the paper's numbers and ours, and a plot, to the folder given
    by --out; `all` adds README.md with all results on one page.  Finished work is kept there: the
    same command resumes an interrupted one, and a larger --runs adds to it.
    """
    try:
        if name == ALL:
            _prepare(out)
            _run_all(out, runs, jobs, seed)
        else:
            experiment = load_experiment(name)
            _prepare(out)
            _run(experiment, out, runs, jobs, seed)
    except KeyboardInterrupt:
        print_notes(
            f"Interrupted; finished work is kept in {out}, and the same command resumes it."
        )
        raise
    except InvalidInputError as error:
        raise InputError(str(error)) from error


def _prepare(out: Path) -> None:
    """Create the folder, and check early that files can be written and plots drawn."""
    with output_errors(out):
        out.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=out).close()
    if find_spec("matplotlib") is None:
        raise InvalidInputError("Plots need matplotlib: pip install 'everystump[plot]'.")


def _run_all(out: Path, runs: int | None, jobs: int | None, seed: int) -> None:
    """Run all experiments in turn, and update the page of all results after each."""
    from everystump._experiments.engine.pages import write_index
    from everystump._experiments.engine.runner import MissingDataError

    command = "everystump reproduce all" + (f" --runs {runs}" if runs else "")
    results: list[ExperimentResult] = []
    skipped: dict[str, str] = {}
    for name in NAMES:
        try:
            results.append(_run(load_experiment(name), out, runs, jobs, seed))
        except MissingDataError as error:
            skipped[name] = str(error)
            print_notes(f"{name} is skipped. {error}")
        if results:
            with output_errors(out):
                write_index(results, skipped, out, command)


def _run(
    experiment: Experiment, out: Path, runs: int | None, jobs: int | None, seed: int
) -> ExperimentResult:
    """Run the unfinished tasks of an experiment, write its files and print a summary."""
    from joblib import cpu_count

    from everystump._experiments.engine.pages import summary, write_experiment
    from everystump._experiments.engine.runner import run_experiment

    with progress_bar(experiment.name) as progress:
        result = run_experiment(
            experiment,
            out,
            runs=runs or experiment.entry.runs,
            seed=seed,
            jobs=jobs or cpu_count(),
            progress=progress,
            warn=print_notes,
        )
    with output_errors(out):
        written = write_experiment(result, out)
    echo(f"{experiment.title}\n  {summary(result)}")
    echo(f"  {' '.join(str(path) for path in written)}")
    return result
