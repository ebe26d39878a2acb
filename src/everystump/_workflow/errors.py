"""Errors and warnings of estimators as messages for the user of a command."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from everystump._text import InvalidInputError


@contextmanager
def input_errors() -> Iterator[None]:
    """Raise a ``ValueError`` about a user's table as `InvalidInputError`, on one line."""
    try:
        yield
    except ValueError as error:
        raise InvalidInputError(" ".join(str(error).split())) from error


@contextmanager
def collect_warnings(notes: list[str]) -> Iterator[None]:
    """Append the messages of user warnings to ``notes``, each once; reissue other warnings.

    Examples
    --------
    >>> notes = []
    >>> with collect_warnings(notes):
    ...     warnings.warn("C may be chosen badly.")
    >>> notes
    ['C may be chosen badly.']
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        text = str(warning.message)
        if not issubclass(warning.category, UserWarning):
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
        elif text not in notes:
            notes.append(text)
