"""The user's folder of data files, set by an environment variable."""

from __future__ import annotations

import os
from pathlib import Path

FOLDER_VARIABLE = "EVERYSTUMP_DATA"
SUFFIXES = (".csv", ".csv.gz")


def user_files() -> dict[str, Path]:
    """Return the data files in the user's folder by name; ``.csv`` precedes ``.csv.gz``."""
    folder = os.environ.get(FOLDER_VARIABLE)
    if not folder:
        return {}
    try:
        paths = list(Path(folder).iterdir())
    except OSError as error:
        raise ValueError(
            f"{FOLDER_VARIABLE}={folder!r} cannot be read ({error.strerror}): "
            "set it to a folder of CSV files."
        ) from error
    return {
        path.name.removesuffix(suffix): path
        for suffix in reversed(SUFFIXES)
        for path in paths
        if path.name.endswith(suffix) and path.is_file()
    }


def describe_folder() -> str:
    """Return a phrase for error messages with the environment variable and its value."""
    value = os.environ.get(FOLDER_VARIABLE) or "not set"
    return f"the folder given by the environment variable {FOLDER_VARIABLE} ({value})"
