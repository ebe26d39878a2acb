"""The one error of model files."""

from __future__ import annotations


class ModelFileError(ValueError):
    """A model cannot be stored, or a file holds no model that can be read.

    Examples
    --------
    >>> from everystump import ModelFileError, load
    >>> try:
    ...     load(".")
    ... except ModelFileError as error:
    ...     print(error)
    '.' is a folder; pass the path of a model file.
    """
