"""``everystump reproduce``: make tables and figures of the papers again."""

from __future__ import annotations

import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from everystump._experiments import NAMES, InvalidInputError, load_experiment
from everystump._experiments.journal import writing
from everystump.cli.console import InputError, echo
from everystump.cli.progress import progress_bar, warn

if TYPE_CHECKING:
    from everystump._experiments.experiment import Experiment
    from everystump._experiments.page import Finished

ALL = "all"
EXAMPLES = """\b
Examples:
  everystump reproduce --list
  everystump reproduce lin-li-table-1 --runs 10
  everystump reproduce all --runs 10 --out results
"""


def _list_names(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
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
@click.option("--runs", type=click.IntRange(min=1), help="Runs.  [default: the paper's number]")
@click.option("--jobs", type=click.IntRange(min=1), help="Processes.  [default: all cores]")
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Same seed, same numbers, whatever --jobs.",
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

    Writes NAME.md and NAME.csv with the paper's numbers beside ours, and plots, into the folder
    of --out; `all` adds README.md with everything on one page.  Finished work is kept there: the
    same command goes on where an interrupted one stopped, and one with more --runs adds to it.
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
        warn(f"Interrupted; {out} keeps what is done, and the same command goes on from there.")
        raise
    except InvalidInputError as error:
        raise InputError(str(error)) from error


def _prepare(out: Path) -> None:
    """Make the folder, and check now that files can be written and plots drawn."""
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=out).close()
    if find_spec("matplotlib") is None:
        raise InvalidInputError("Plots need matplotlib: pip install 'everystump[plot]'.")


def _run_all(out: Path, runs: int | None, jobs: int | None, seed: int) -> None:
    """Run one experiment after the other, and keep the page of all up to date."""
    from everystump._experiments.page import write_index
    from everystump._experiments.runner import MissingDataError

    command = "everystump reproduce all" + (f" --runs {runs}" if runs else "")
    finished: list[Finished] = []
    skipped: dict[str, str] = {}
    for name in NAMES:
        try:
            finished.append(_run(load_experiment(name), out, runs, jobs, seed))
        except MissingDataError as error:
            skipped[name] = str(error)
            warn(f"{name} is skipped. {error}")
        if finished:
            with writing(out):
                write_index(finished, skipped, out, command)


def _run(
    experiment: Experiment, out: Path, runs: int | None, jobs: int | None, seed: int
) -> Finished:
    """Do what is left of an experiment, write its files and say what it found."""
    from joblib import cpu_count

    from everystump._experiments.page import summary, write_experiment
    from everystump._experiments.runner import run_experiment

    with progress_bar(experiment.name) as progress:
        finished = run_experiment(
            experiment,
            out,
            runs=runs or experiment.runs,
            seed=seed,
            jobs=jobs or cpu_count(),
            progress=progress,
            warn=warn,
        )
    with writing(out):
        written = write_experiment(finished, out)
    echo(f"{experiment.title}\n  {summary(finished)}")
    echo(f"  {' '.join(str(path) for path in written)}")
    return finished
