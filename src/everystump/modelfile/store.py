"""Save a fitted estimator and load it again."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import scipy
import sklearn
from sklearn.exceptions import NotFittedError

from everystump import __version__
from everystump._files import check_output_path, check_path, write_atomic
from everystump._pipelines.folding import fold_pipeline
from everystump.modelfile.container import (
    MAX_BYTES,
    check_json,
    check_size,
    npy_bytes,
    read_archive,
    read_array,
    write_archive,
)
from everystump.modelfile.decode import Decoder
from everystump.modelfile.encode import Encoder
from everystump.modelfile.errors import ModelFileError
from everystump.modelfile.registry import ESTIMATORS

FORMAT, FORMAT_VERSION = "everystump model", 1
_INDEX = "model.json"
_ZIP = b"PK\x03\x04"
_HEAD = 30 + len(_INDEX)  # bytes up to the name of the first file in a zip, and the name


def save(model: Any, path: str | os.PathLike, *, overwrite: bool = True) -> None:
    """Write a fitted estimator of everystump into a file, whole or not at all.

    The file is a zip of a JSON text and arrays, without code: see ``docs/model_files.md``.  Equal
    fits make equal bytes: the columns of times in ``cv_results_`` are left out.

    Parameters
    ----------
    model : estimator or Pipeline
        A fitted estimator of everystump, or a pipeline of scikit-learn that ends in an additive one
        after steps that scale, fill or select columns, which is stored as one model of the columns
        that it takes.  All parameters must be plain values, arrays or records of everystump;
        functions and estimators of others are refused.
    path : str or path
        Where to write; of a link, what it points to is written.
    overwrite : bool, default=True
        Whether to replace a file that is there.

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
    model = _as_one_model(model)
    files = _files(model)
    check_size(files)
    write_atomic(out, lambda place: write_archive(place, files))


def load(path: str | os.PathLike) -> Any:
    """Return the estimator in a file that `save` wrote.

    Nothing in the file is run, and nothing is imported by a name in it.  A damaged file ends in a
    `ModelFileError`, and so does one whose parts contradict each other.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    estimator
        The fitted estimator, with all that it had.

    Examples
    --------
    >>> import tempfile, everystump
    >>> model = everystump.DecisionStumpClassifier().fit([[0.0], [1.0]], ["no", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     everystump.save(model, f"{folder}/small.stump")
    ...     everystump.load(f"{folder}/small.stump").predict([[2.0]])
    array(['yes'], dtype='<U3')
    """
    content = _read(path)
    # Whatever a file provokes is the fault of the file, and has one name.
    try:
        files = read_archive(content)
    except Exception as error:
        _refuse_damaged(path, error)
    index = _read_index(path, files)
    try:
        return _build(index, files)
    except Exception as error:
        _refuse_damaged(path, error, str(index.get("everystump")))


def _as_one_model(model: Any) -> Any:
    """Return a fitted estimator of ours, or say that a model is none."""
    try:
        model = fold_pipeline(model)
    except NotFittedError:
        raise ModelFileError("model=Pipeline is not fitted; call fit before save.") from None
    except ValueError as error:
        raise ModelFileError(str(error)) from None
    if ESTIMATORS.get(type(model).__name__) is not type(model):
        raise ModelFileError(
            f"model={type(model).__name__} is not an estimator of everystump; {_remedy(model)}."
        )
    if not _is_fitted(model):
        raise ModelFileError(f"model={type(model).__name__} is not fitted; call fit before save.")
    return model


def _remedy(model: Any) -> str:
    if hasattr(model, "best_estimator_"):
        return "pass its best_estimator_"
    return "keep estimators of others with skops"


def _is_fitted(model: Any) -> bool:
    return hasattr(model, model._fitted_attribute)


def _files(model: Any) -> dict[str, bytes]:
    """Return the names and contents of the files in the archive, the index first."""
    encoder = Encoder()
    node = encoder.encode(model, "")
    arrays = {name: npy_bytes(array) for name, array in encoder.arrays.items()}
    index = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
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
        raise ModelFileError(f"model: {error}; keep it with joblib.") from None
    return {_INDEX: text, **arrays}


def _read(path: str | os.PathLike) -> bytes:
    """Return the content of a file that looks like ours from outside."""
    place = check_path(path)
    name = repr(str(place))
    if not os.path.lexists(place):
        raise FileNotFoundError(f"path={name} does not exist; pass the path of a model file.")
    if place.is_dir():
        raise ModelFileError(f"{name} is a folder; pass the path of a model file.")
    size = place.stat().st_size
    if size > MAX_BYTES:
        raise ModelFileError(
            f"{name} is larger than any model file, with {size / 2**30:.1f} GiB; pass one that "
            f"everystump.save wrote."
        )
    if not place.is_file():
        raise ModelFileError(f"{name} is not a file; pass the path of a model file.")
    with place.open("rb") as file:
        head = file.read(_HEAD)
        if head.startswith(_ZIP) and head.endswith(_INDEX.encode()):
            return head + file.read()
    what = (
        "is a zip archive without a model"
        if head.startswith(_ZIP)
        else "is not an everystump model"
    )
    if not head:
        what = "is empty"
    raise ModelFileError(f"{name} {what}; pass a file that everystump.save wrote.")


def _read_index(path: str | os.PathLike, files: dict[str, memoryview]) -> dict[str, Any]:
    """Return the JSON of the archive, after a look at its version."""
    name = repr(str(Path(path)))
    try:
        check_json(files[_INDEX])
        index = json.loads(bytes(files[_INDEX]), parse_constant=_refuse_constant)
        version = index["format_version"]
        if index["format"] != FORMAT or type(version) is not int or version < 1:
            raise ValueError(f"its {_INDEX} does not say that it is a model")
    except Exception as error:
        _refuse_damaged(path, error)
    if version > FORMAT_VERSION:
        raise ModelFileError(
            f"{name} was written by a newer everystump (format {version}, this one reads up to "
            f"{FORMAT_VERSION}); upgrade everystump."
        )
    return index


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number of JSON")


def _build(index: dict[str, Any], files: dict[str, memoryview]) -> Any:
    """Return the model; raises if anything is too much, missing or other than it should be."""
    digests = index["arrays"]
    if [_INDEX, *digests] != list(files):
        raise ValueError("its arrays are not those that it lists")

    def read(file: str) -> np.ndarray:
        content = files[file]
        if hashlib.sha256(content).hexdigest() != digests[file]:
            raise ValueError(f"{file} has another SHA-256 than it should")
        return read_array(content)

    if index["model"]["type"] not in ESTIMATORS:
        raise ValueError("it holds no estimator")
    decoder = Decoder(read)
    model = decoder.decode(index["model"])
    if decoder.used != set(digests):
        raise ValueError("it holds arrays that its model does not use")
    if not _is_fitted(model):
        raise ValueError("its model is not fitted")
    return model


def _refuse_damaged(path: str | os.PathLike, error: Exception, writer: str = "") -> NoReturn:
    """Say in one sentence why a file cannot be read."""
    why = " ".join(f"{error}".split()).rstrip(".")[:200] or type(error).__name__
    other = writer and writer != __version__
    remedy = (
        f"it was written by everystump {writer[:20]} and this is {__version__}: use that version"
        if other
        else "save the model again"
    )
    raise ModelFileError(
        f"{str(Path(path))!r} is damaged or no model of this everystump ({why}); {remedy}."
    ) from error
