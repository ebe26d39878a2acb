"""The options of a run in a TOML file: read by ``--config``, written by ``--save-config``."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from everystump._files import replace_surrogates, write_text
from everystump._text import InvalidInputError, suggest_name
from everystump.cli.common import PATH, check_out
from everystump.cli.console import exit_on_input_error

# Options that no file holds, and those that do not change the result.
_NOT_IN_FILES = ("config", "save_config", "help")
_NOT_SAVED = (*_NOT_IN_FILES, "force", "as_json")
_STANDARD_INPUT = "-"


def _read_callback(context: click.Context, _: click.Parameter, path: Path | None) -> None:
    if path is not None:
        with exit_on_input_error():
            context.default_map = read_config(path, context.command)


CONFIG = click.option(
    "--config",
    type=PATH,
    metavar="FILE",
    is_eager=True,
    expose_value=False,
    callback=_read_callback,
    help="TOML file with options of the run; options of the command line take precedence.",
)
SAVE_CONFIG = click.option(
    "--save-config",
    type=PATH,
    metavar="FILE",
    help="Write the options of this run to a TOML file, to repeat it with --config.",
)


def read_config(path: Path, command: click.Command) -> dict[str, Any]:
    """Return the options in a file by the names of the parameters of a command.

    Paths are relative to the folder of the file.
    """
    import tomllib

    where = f"--config {replace_surrogates(str(path))}"
    try:
        found = tomllib.loads(path.read_bytes().decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        what = str(error).rstrip(".")
        raise InvalidInputError(f"{where} is not a TOML file ({what}); fix it.") from None
    except OSError as error:
        raise InvalidInputError(f"{where}: {error.strerror or error}; check the name.") from None
    known = {_key(parameter): parameter for parameter in command.params}
    known = {key: own for key, own in known.items() if own.name not in _NOT_IN_FILES}
    values: dict[str, Any] = {}
    for key, value in found.items():
        parameter = known.get(key) or known.get(key.replace("_", "-"))
        if parameter is None:
            raise InvalidInputError(
                f"{where}: {key!r} is not an option of {command.name}; "
                f"{suggest_name(key, list(known))}."
            )
        try:
            values[str(parameter.name)] = _as_input(value, parameter, path.parent)
        except TypeError as error:
            raise InvalidInputError(f"{where}: {key} must be {error}.") from None
    return values


def write_config(path: Path, resolved: Mapping[str, Any]) -> None:
    """Write the options of the current command to a file.

    Paths are written relative to the folder of the file, unless they are absolute.

    Parameters
    ----------
    path : Path
        The file.
    resolved : mapping of str to object
        Values of parameters that the command has chosen, which replace those of the user.
    """
    from importlib.metadata import version

    context = click.get_current_context()
    command, values = context.command, {**context.params, **resolved}
    lines = [
        f"# Options of a run of everystump {version('everystump')}; to repeat it:",
        f"# everystump {command.name} --config {shlex.quote(path.name)}",
    ]
    for parameter in command.params:
        value = values.get(str(parameter.name))
        is_unset = value in (None, ()) or (value is False and parameter.name not in resolved)
        if parameter.name in _NOT_SAVED or is_unset:
            continue
        if isinstance(value, Path):
            value = _relative(value, path.parent)
        lines.append(f"{_key(parameter)} = {to_toml(value)}")
    write_text(path, "\n".join(lines) + "\n")


def is_from_command_line(name: str) -> bool:
    """Whether a parameter of the current command was set on the command line, not in a file."""
    source = click.get_current_context().get_parameter_source(name)
    return source is click.core.ParameterSource.COMMANDLINE


def check_config(path: Path | None, force: bool, *paths: Path) -> None:
    """Raise before any work if the options cannot be written to a file.

    ``paths`` are those of the command, which must not be overwritten, and which must be UTF-8.
    """
    if path is None:
        return
    check_out(path, force, *paths, option="--save-config")
    for other in paths:
        if os.path.abspath(other) == os.path.abspath(path):
            raise InvalidInputError(f"--save-config {path} is also used; name another file.")
        name = replace_surrogates(str(other))
        if name != str(other):
            raise InvalidInputError(
                f"--save-config: the name {name} is not UTF-8; rename the file, or omit the option."
            )


def to_toml(value: Any) -> str:
    r"""Return text, a number, a boolean or a list of these as a TOML value.

    Examples
    --------
    >>> print(to_toml(["a \"b\" \\ \n\x7f é", 0.25, True]))
    ["a \"b\" \\ \n\u007f é", 0.25, true]
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(to_toml, value))}]"
    # The escapes of JSON are those of TOML, which also needs one for the delete character.
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(parameter: click.Parameter) -> str:
    """Return the key of a parameter: its long option without dashes, or the name of an argument."""
    if isinstance(parameter, click.Argument):
        return str(parameter.name)
    return max(parameter.opts, key=len).lstrip("-")


def _as_input(value: Any, parameter: click.Parameter, folder: Path) -> Any:
    """Return a value as it would be on the command line; raise TypeError with what is expected."""
    if getattr(parameter, "is_flag", False):
        if not isinstance(value, bool):
            raise TypeError("true or false")
        return value
    if getattr(parameter, "multiple", False):
        return [_as_text(item) for item in (value if isinstance(value, list) else [value])]
    text = _as_text(value)
    if isinstance(parameter.type, click.Path) and text != _STANDARD_INPUT:
        return str(folder / text)
    return text


def _as_text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise TypeError("text or a number")
    return value if isinstance(value, str) else repr(value)


def _relative(path: Path, folder: Path) -> str:
    if path.is_absolute() or str(path) == _STANDARD_INPUT:
        return str(path)
    return os.path.relpath(path, folder)
