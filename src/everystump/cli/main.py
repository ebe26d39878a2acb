"""The command ``everystump`` itself: its commands, and how they fail."""

from __future__ import annotations

import os
import signal
import sys

import click

from everystump.cli.bench import bench
from everystump.cli.bound import bound
from everystump.cli.explain import explain
from everystump.cli.export import export
from everystump.cli.fit import fit
from everystump.cli.predict import predict
from everystump.cli.report import report
from everystump.cli.reproduce import reproduce

BAD_INPUT = 2
INTERRUPTED = 130


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="everystump")
def everystump() -> None:
    """Every stump votes: models of tabular data that are exact, certified and readable."""


for command in (fit, predict, explain, report, export, bound, reproduce, bench):
    everystump.add_command(command)


def main() -> None:
    """Run the command; bad input ends it with one sentence and exit code 2."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # to be stopped is to be interrupted
    try:
        everystump.main(standalone_mode=False)
        sys.stdout.flush()
    except click.Abort:
        sys.exit(INTERRUPTED)
    except click.ClickException as error:
        error.show()
        sys.exit(BAD_INPUT)
    except OSError as error:
        # What is still to be printed has no place to go either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        click.echo(f"Error: standard output cannot be written to: {error.strerror}.", err=True)
        sys.exit(BAD_INPUT)
