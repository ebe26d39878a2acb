"""The command `everystump`: its help, and how it reports progress."""

import io
import re
import subprocess
import sys
from importlib.metadata import version

import click
import pytest
import rich.console
import toy_experiment
from click.testing import CliRunner
from command import ENVIRONMENT

from everystump.cli.help import GroupedCommand
from everystump.cli.main import everystump
from everystump.cli.progress import progress_bar

HEAVY = ["joblib", "matplotlib", "numba", "numpy", "pandas", "rich", "scipy", "sklearn"]
HELP_PROGRAM = f"""
import sys
from everystump.cli import main
sys.argv = ["everystump", *sys.argv[1:]]
try:
    main()
finally:
    print("imported:", *sorted(set({HEAVY}) & set(sys.modules)))
"""


def test_help_names_the_command():
    result = CliRunner().invoke(everystump, ["--help"])
    assert result.exit_code == 0
    assert "reproduce" in result.output


def test_version():
    assert version("everystump") in CliRunner().invoke(everystump, ["--version"]).output


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["fit", "--help"],
        ["compare", "--help"],
        ["reproduce", "--help"],
        ["reproduce", "--list"],
    ],
)
def test_help_imports_nothing_heavy(arguments):
    done = subprocess.run(
        [sys.executable, "-c", HELP_PROGRAM, *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=ENVIRONMENT,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "imported:"


GROUPED = [name for name, own in everystump.commands.items() if isinstance(own, GroupedCommand)]


@pytest.mark.parametrize("name", GROUPED)
def test_help_lists_every_option_under_one_heading(name):
    command = everystump.commands[name]
    listed = [option for names in command.headings.values() for option in names]
    options = [own.name for own in command.params if isinstance(own, click.Option)]
    assert set(options) <= set(listed) and len(set(listed)) == len(listed)
    text = CliRunner().invoke(everystump, [name, "--help"]).output
    assert all(f"\n{heading}:\n" in text for heading in command.headings)
    assert "\nOptions:" not in text and text.count("  -h, --help") == 1
    for option in options:
        (own,) = [parameter for parameter in command.params if parameter.name == option]
        assert len(re.findall(rf"{max(own.opts, key=len)}(?=[\s,])", text)) >= 1


def test_commands_with_many_options_group_them():
    many = [name for name, own in everystump.commands.items() if len(own.params) > 6]
    assert set(many) - set(GROUPED) == set()


# Progress


@pytest.fixture
def terminal(monkeypatch):
    """Let rich write to a terminal; return the stream."""
    stream = io.StringIO()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    as_terminal = {"file": stream, "force_terminal": True, "width": 100}
    console = rich.console.Console
    monkeypatch.setattr("rich.console.Console", lambda stderr: console(**as_terminal))
    return stream


def plain(text):
    """Return a text without terminal escape codes."""
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)


def test_terminal_shows_a_bar(terminal, capsys):
    with progress_bar("heart-figure-9") as progress:
        progress(0, 5)
        progress(3, 5)
    assert "\x1b[" in terminal.getvalue()
    last = plain(terminal.getvalue()).strip().splitlines()[-1]
    assert re.search(r"heart-figure-9 .*\b3/5\b", last)
    assert capsys.readouterr() == ("", "")


def test_bar_is_removed_when_the_work_fails(terminal):
    with pytest.raises(KeyboardInterrupt), progress_bar("heart-figure-9") as progress:
        progress(1, 5)
        raise KeyboardInterrupt
    assert "1/5" in plain(terminal.getvalue())
    assert terminal.getvalue().rindex("\x1b[?25h") > terminal.getvalue().rindex("\x1b[?25l")


def test_other_streams_get_a_line_from_time_to_time(monkeypatch, capsys):
    with progress_bar("heart-figure-9") as progress:
        for done in range(5):
            progress(done, 5)
        assert capsys.readouterr().err == ""
        monkeypatch.setattr("everystump.cli.progress.PAUSE", -1.0)
        progress(4, 5)
        progress(5, 5)
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err == "heart-figure-9: 4 of 5 done\nheart-figure-9: 5 of 5 done\n"


def test_command_shows_its_bar(terminal, tmp_path, monkeypatch):
    monkeypatch.setattr("everystump.cli.reproduce.load_experiment", toy_experiment.load_experiment)
    arguments = ["reproduce", "toy", "--runs", "4", "--jobs", "1", "--out", str(tmp_path)]
    result = CliRunner().invoke(everystump, arguments)
    assert (result.exit_code, result.stderr) == (0, "")
    assert re.search(r"toy .*\b4/4\b", plain(terminal.getvalue()))
