"""The entry point of ``everystump``: its commands and exit codes."""

from __future__ import annotations

import errno
import os
import signal
import sys
from typing import NoReturn

import click

from everystump.cli.bench import bench
from everystump.cli.bound import bound
from everystump.cli.compare import compare
from everystump.cli.console import BAD_INPUT, OutputClosedError, echo_stderr
from everystump.cli.edit import edit
from everystump.cli.explain import explain
from everystump.cli.export import export
from everystump.cli.fit import fit
from everystump.cli.predict import predict
from everystump.cli.report import report
from everystump.cli.reproduce import reproduce

INTERRUPTED = 130
_WRITE_ERRORS = (errno.ENOSPC, errno.EIO, errno.EBADF)
_NUMBERS = {"integer range": "an integer", "float range": "a number"}  # words of click, and ours
EXAMPLES = """\b
Examples:
  everystump fit credit.csv --target default -o credit.stump
  everystump report credit.stump credit.csv -o credit.html
  everystump predict credit.stump new.csv -o predictions.csv

Shell completion for bash: eval "$(_EVERYSTUMP_COMPLETE=bash_source everystump)"; use zsh_source or
fish_source for other shells.
"""


class _OrderedGroup(click.Group):
    """A group whose commands are listed in the order of use, not alphabetically."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(self.commands)


@click.group(
    cls=_OrderedGroup,
    epilog=EXAMPLES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="everystump")
def everystump() -> None:
    """Train, explain and export interpretable models of tabular data.

    The models are infinite ensembles of decision stumps, trained to proven optimality.
    """


for command in (fit, predict, explain, report, compare, edit, export, bound, reproduce, bench):
    everystump.add_command(command)


def main() -> None:
    """Run the command; invalid input is reported in one sentence, with exit code 2."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as for an interrupt
    try:
        everystump.main(prog_name="everystump", standalone_mode=False)
    except click.Abort:
        sys.exit(INTERRUPTED)
    except click.exceptions.NoArgsIsHelpError as error:
        echo_stderr(error.format_message())
        sys.exit(BAD_INPUT)
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "everystump"
        echo_stderr(f"Error: {_one_sentence(error.format_message())}; see '{command} --help'.")
        sys.exit(BAD_INPUT)
    except click.ClickException as error:
        echo_stderr(f"Error: {error.format_message()}")
        sys.exit(error.exit_code)
    except OutputClosedError as error:
        _exit_without_output(error)
    except OSError as error:
        if error.errno not in _WRITE_ERRORS or error.filename is not None:
            raise
        _exit_without_output(OutputClosedError(error))  # printing help failed


def _one_sentence(message: str) -> str:
    """Return a message of click without its final period, and with a suggestion in parentheses.

    Examples
    --------
    >>> _one_sentence("No such option '--modl'. Did you mean '--model'?")
    "No such option '--modl' (did you mean '--model'?)"
    >>> _one_sentence("'x' is not a valid float range.")
    "'x' is not a number"
    """
    for words, noun in _NUMBERS.items():
        message = message.replace(f"is not a valid {words}", f"is not {noun}")
    what, _, suggestion = message.partition(". ")
    suggestion = suggestion.removeprefix("(").removesuffix(")")
    if not suggestion.startswith("Did you mean"):
        return message.rstrip(".")
    return f"{what} ({suggestion[0].lower()}{suggestion[1:]})"


def _exit_without_output(error: OutputClosedError) -> NoReturn:
    """Exit from a command whose standard output cannot be written."""
    if sys.stdout is not None:  # discard what is left in its buffer
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if error.reason is not None:  # otherwise the reader, such as `head`, closed the pipe
        echo_stderr(f"Error: standard output: {error.reason}.")
    sys.exit(BAD_INPUT)
