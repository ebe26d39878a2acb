"""The command ``everystump`` itself: its commands, and how they fail."""

from __future__ import annotations

import errno
import os
import signal
import sys
from typing import NoReturn

import click

from everystump.cli.bench import bench
from everystump.cli.bound import bound
from everystump.cli.console import BAD_INPUT, OutputClosedError, echo_stderr
from everystump.cli.explain import explain
from everystump.cli.export import export
from everystump.cli.fit import fit
from everystump.cli.predict import predict
from everystump.cli.report import report
from everystump.cli.reproduce import reproduce

INTERRUPTED = 130
_NO_PLACE = (errno.ENOSPC, errno.EIO, errno.EBADF)
EXAMPLES = """\b
Examples:
  everystump fit credit.csv --target default -o credit.stump
  everystump report credit.stump credit.csv -o credit.html
  everystump predict credit.stump new.csv -o predictions.csv

Completion of commands and options, in bash: eval "$(_EVERYSTUMP_COMPLETE=bash_source everystump)";
likewise zsh_source and fish_source.
"""


class _Tool(click.Group):
    """Commands in the order in which one needs them."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(self.commands)


@click.group(
    cls=_Tool,
    epilog=EXAMPLES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="everystump")
def everystump() -> None:
    """Every stump votes: models of tabular data that are exact, certified and interpretable."""


for command in (fit, predict, explain, report, export, bound, reproduce, bench):
    everystump.add_command(command)


def main() -> None:
    """Run the command; bad input ends it with one sentence and exit code 2."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # to be stopped is to be interrupted
    try:
        everystump.main(prog_name="everystump", standalone_mode=False)
    except click.Abort:
        sys.exit(INTERRUPTED)
    except click.exceptions.NoArgsIsHelpError as error:
        echo_stderr(error.format_message())
        sys.exit(BAD_INPUT)
    except click.UsageError as error:
        of = error.ctx.command_path if error.ctx else "everystump"
        what = error.format_message().rstrip(".").replace("'. Did you", "', did you").rstrip("?")
        echo_stderr(f"Error: {what}; see '{of} --help'.")
        sys.exit(BAD_INPUT)
    except click.ClickException as error:
        echo_stderr(f"Error: {error.format_message()}")
        sys.exit(error.exit_code)
    except OutputClosedError as lost:
        _end_without_output(lost)
    except OSError as error:
        if error.errno not in _NO_PLACE or error.filename is not None:
            raise
        _end_without_output(OutputClosedError(error))  # it was help that was printed


def _end_without_output(lost: OutputClosedError) -> NoReturn:
    """End a command whose output has no place to go."""
    if sys.stdout is not None:  # nor has what is left in its buffer
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if lost.reason is not None:  # else `| head` has seen enough, no more
        echo_stderr(f"Error: standard output: {lost.reason}.")
    sys.exit(BAD_INPUT)
