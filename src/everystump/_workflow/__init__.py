"""From a file of a user to a fitted model that knows what it was made of.

``sources`` reads tables, ``schema`` finds which columns of text are numbers or dates, and
``readings`` remembers how; ``guesses`` decides what each column is and says so, ``families`` names
the models, and ``fitting`` puts them together: a model with an error measured on rows that it has
not seen, its certificate and the bounds that apply, all told in ``about_``.  ``matching`` puts a
table beside such a model, and ``saying`` tells what the model says of it.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from everystump._text import InvalidInputError

__all__ = ["InvalidInputError", "asking"]


@contextmanager
def asking() -> Iterator[None]:
    """Take what an estimator refuses, when asked about a user's table, for the user's to fix."""
    try:
        yield
    except ValueError as error:
        raise InvalidInputError(" ".join(str(error).split())) from error
