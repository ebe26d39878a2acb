"""Save fitted estimators to files and load them."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import numpy as np
import scipy
import sklearn
from sklearn.exceptions import NotFittedError

from everystump import __version__
from everystump._files import check_output_path, check_path, write_atomic
from everystump._pipelines.folding import fold_pipeline
from everystump.modelfile.container import (
    MAX_BYTES,
    ModelFileError,
    check_json,
    check_size,
    npy_bytes,
    read_archive,
    read_array,
    write_archive,
)
from everystump.modelfile.decode import Decoder
from everystump.modelfile.encode import Encoder
from everystump.modelfile.registry import ESTIMATORS

FORMAT, FORMAT_VERSION = "everystump model", 2
_INDEX = "model.json"
_ZIP = b"PK\x03\x04"
_START = 30 + len(_INDEX)  # bytes of a zip up to and including the name of its first file


def save(model: Any, path: str | os.PathLike, *, overwrite: bool = True) -> None:
    """Save a fitted estimator of everystump to a file, atomically.

    The file is a zip archive of a JSON text and arrays, without code; see ``docs/model_files.md``.
    Identical fits give identical files: the timings in ``cv_results_`` are not stored.

    Parameters
    ----------
    model : estimator or Pipeline
        A fitted estimator of everystump, or a scikit-learn pipeline that ends in an additive model
        after steps that scale, impute or select columns; it is stored as one model of the
        pipeline's input columns.  All parameters must be plain values, arrays or records of
        everystump; other functions and other packages' estimators raise a `ModelFileError`.
    path : str or path
        The file to write; a symbolic link is followed.
    overwrite : bool, default=True
        Whether to replace an existing file.

    Examples
    --------
    >>> import tempfile, everystump
    >>> from everystump.datasets import make_twonorm
    >>> X, y = make_twonorm(300, random_state=0)
    >>> model = everystump.StumpSVC().fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     everystump.save(model, f"{folder}/twonorm.stump")
    ...     again = everystump.load(f"{folder}/twonorm.stump")
    >>> again, bool((again.decision_function(X) == model.decision_function(X)).all())
    (StumpSVC(), True)
    """
    out = check_output_path(path, overwrite=overwrite)
    files = _files(_check_model(model))
    check_size(files)
    write_atomic(out, lambda temporary: write_archive(temporary, files))


def load(path: str | os.PathLike) -> Any:
    """Load an estimator from a file that `save` wrote.

    Nothing in the file is executed, and nothing is imported by a name in it.  A damaged or
    inconsistent file raises a `ModelFileError`.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    estimator
        The fitted estimator with all its attributes.

    Examples
    --------
    >>> import tempfile, everystump
    >>> model = everystump.DecisionStumpClassifier().fit([[0.0], [1.0]], ["no", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     everystump.save(model, f"{folder}/small.stump")
    ...     everystump.load(f"{folder}/small.stump").predict([[2.0]])
    array(['yes'], dtype='<U3')
    """
    # Any error from here on is caused by the content of the file.
    with _open(path) as file:
        try:
            files = read_archive(file)
            index = _read_index(files.pop(_INDEX))
        except Exception as error:
            raise _damaged(path, error) from error
    version = index["format_version"]
    if version > FORMAT_VERSION:
        raise ModelFileError(
            f"{str(Path(path))!r} was written by a newer everystump (format {version}, this one "
            f"reads up to {FORMAT_VERSION}); upgrade everystump."
        )
    try:
        return _build(index, files)
    except Exception as error:
        raise _damaged(path, error, str(index.get("everystump"))) from error


def _check_model(model: Any) -> Any:
    """Return a fitted estimator of everystump, with the steps of a pipeline folded into it."""
    try:
        model = fold_pipeline(model)
    except NotFittedError:
        raise ModelFileError("model=Pipeline is not fitted; call fit before save.") from None
    except ValueError as error:
        raise ModelFileError(str(error)) from None
    name = type(model).__name__
    if ESTIMATORS.get(name) is not type(model):
        is_search = hasattr(model, "best_estimator_")
        remedy = "pass its best_estimator_" if is_search else "save other estimators with skops"
        raise ModelFileError(f"model={name} is not an estimator of everystump; {remedy}.")
    if not _is_fitted(model):
        raise ModelFileError(f"model={name} is not fitted; call fit before save.")
    return model


def _is_fitted(model: Any) -> bool:
    return hasattr(model, model._fitted_attribute)


def _files(model: Any) -> dict[str, bytes]:
    """Return the names and contents of the files in the archive, the index first."""
    encoder = Encoder()
    node = encoder.encode(model, "")
    arrays = {name: npy_bytes(array) for name, array in encoder.arrays.items()}
    index = {
        "format": FORMAT,
        "format_version": encoder.version,
        "everystump": __version__,
        "versions": {
            "numpy": np.__version__,
            "python": platform.python_version(),
            "scikit-learn": sklearn.__version__,
            "scipy": scipy.__version__,
        },
        "arrays": {name: hashlib.sha256(content).hexdigest() for name, content in arrays.items()},
        "model": node,
    }
    text = json.dumps(index, allow_nan=False, separators=(",", ":")).encode("ascii")
    try:
        check_json(text)
    except ModelFileError as error:
        raise ModelFileError(f"model: {error}; use joblib instead.") from None
    return {_INDEX: text, **arrays}


def _open(path: str | os.PathLike) -> BinaryIO:
    """Open a file that starts as model files do."""
    checked = check_path(path)
    name = repr(str(checked))
    if not os.path.lexists(checked):
        raise FileNotFoundError(f"path={name} does not exist; pass the path of a model file.")
    size = checked.stat().st_size
    if checked.is_dir():
        problem = "is a folder"
    elif size > MAX_BYTES:
        problem = f"has {size / 2**30:.1f} GiB, more than a model file can have"
    elif not checked.is_file():
        problem = "is not a file"
    else:
        file = checked.open("rb")
        start = file.read(_START)
        if start.startswith(_ZIP) and start.endswith(_INDEX.encode()):
            return file
        file.close()
        is_zip = start.startswith(_ZIP)
        problem = "is a zip archive without a model" if is_zip else "is not an everystump model"
        problem = problem if start else "is empty"
    raise ModelFileError(f"{name} {problem}; pass the path of a model file.")


def _read_index(text: bytes) -> dict[str, Any]:
    """Return the JSON of an archive, if it declares itself to be a model."""
    check_json(text)
    index = json.loads(text, parse_constant=_reject_constant)
    version = index["format_version"]
    if index["format"] != FORMAT or type(version) is not int or version < 1:
        raise ValueError(f"its {_INDEX} does not declare it to be a model")
    return index


def _reject_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a JSON number")


def _build(index: dict[str, Any], files: dict[str, bytes]) -> Any:
    """Return the model; raise if arrays are missing, unused or different from their checksums."""
    checksums = index["arrays"]
    if list(checksums) != list(files):
        raise ValueError("its arrays do not match its list of arrays")

    def read(name: str) -> np.ndarray:
        content = files.pop(name)
        if hashlib.sha256(content).hexdigest() != checksums[name]:
            raise ValueError(f"{name} does not match its SHA-256 checksum")
        return read_array(content)

    if index["model"]["type"] not in ESTIMATORS:
        raise ValueError("it does not contain an estimator")
    model = Decoder(read).decode(index["model"])
    if files:
        raise ValueError("it contains arrays that its model does not use")
    if not _is_fitted(model):
        raise ValueError("its model is not fitted")
    return model


def _damaged(path: str | os.PathLike, error: Exception, writer: str = "") -> ModelFileError:
    """Return an error that explains in one sentence why a file cannot be read."""
    reason = " ".join(f"{error}".split()).rstrip(".")[:200] or type(error).__name__
    remedy = "save the model again"
    if writer and writer != __version__:
        remedy = f"it was written by everystump {writer[:20]}, and this is {__version__}: use that"
    return ModelFileError(
        f"{str(Path(path))!r} is damaged or not a model of this everystump version ({reason}); "
        f"{remedy}."
    )
