"""The folder of data files that the user names in the environment."""

from __future__ import annotations

import os
from pathlib import Path

FOLDER_VARIABLE = "EVERYSTUMP_DATA"
SUFFIXES = (".csv", ".csv.gz")


def user_files() -> dict[str, Path]:
    """Return the data files of the user's folder by name; a plain file hides a compressed one."""
    folder = os.environ.get(FOLDER_VARIABLE)
    if not folder:
        return {}
    try:
        paths = list(Path(folder).iterdir())
    except OSError as error:
        raise ValueError(
            f"{FOLDER_VARIABLE}={folder!r} is no folder that can be read ({error.strerror}): "
            "set it to a folder of CSV files."
        ) from error
    return {
        path.name.removesuffix(suffix): path
        for suffix in reversed(SUFFIXES)
        for path in paths
        if path.name.endswith(suffix) and path.is_file()
    }


def where() -> str:
    """Say in an error message which folder is meant, and its present value."""
    value = os.environ.get(FOLDER_VARIABLE) or "not set"
    return f"the folder that the environment variable {FOLDER_VARIABLE} names ({value})"
