"""What estimators warn of, as sentences for a person."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def noting(notes: list[str]) -> Iterator[None]:
    """Add the messages of user warnings to ``notes``, each once; other warnings pass.

    Examples
    --------
    >>> notes = []
    >>> with noting(notes):
    ...     warnings.warn("C may be chosen badly.")
    >>> notes
    ['C may be chosen badly.']
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for one in caught:
        text = str(one.message)
        if not issubclass(one.category, UserWarning):
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
        elif text not in notes:
            notes.append(text)
