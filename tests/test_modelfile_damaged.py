"""Damaged and hostile files raise an error of one sentence and do no harm."""

import io
import json
import os
import pickle
import tracemalloc
import zipfile
from dataclasses import fields
from functools import cache

import numpy as np
import pytest
from stored_models import fitted, table

import everystump
from everystump.bounds._bound import Bound
from everystump.modelfile import ModelFileError, container, load, save, store


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.stump"


def error_message(path):
    with pytest.raises(ModelFileError) as caught:
        load(path)
    text = str(caught.value)
    assert text.startswith(repr(str(path)))
    assert "\n" not in text
    assert text.endswith(".")
    return text


NO_MODELS = {
    "pickle": (
        pickle.dumps({"a": 1}),
        "is not an everystump model; pass the path of a model file",
    ),
    "onnx": (b"\x08\x07\x12\x0bskl2onnx" + bytes(200), "is not an everystump model"),
    "text": (b"a,b\n1,2\n", "is not an everystump model"),
    "empty": (b"", "is empty"),
    "two letters": (b"PK", "is not an everystump model"),
}


@pytest.mark.parametrize("kind", NO_MODELS)
def test_other_files(kind, path):
    content, message = NO_MODELS[kind]
    path.write_bytes(content)
    assert message in error_message(path)


def test_missing_files_and_folders(path, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"model\.stump"):
        load(path)
    assert "is a folder" in error_message(tmp_path)
    os.mkfifo(path)
    assert "is not a file" in error_message(path)


def test_other_archives(path):
    np.savez(path.with_suffix(".npz"), a=np.zeros(3))
    assert "zip archive without a model" in error_message(path.with_suffix(".npz"))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model.json", "{}")
    assert "is damaged or not a model" in error_message(path)


def test_a_file_too_large_for_any_model(path):
    with path.open("wb") as file:
        file.truncate(5 * 2**30)
    assert "has 5.0 GiB, more than a model file can have" in error_message(path)


def contents(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewrite(path, edit, files_edit=lambda files: files):
    """Change the JSON of a file or its other files, with correct checksums."""
    files = files_edit(contents(path))
    index = json.loads(files["model.json"])
    edit(index)
    files["model.json"] = json.dumps(index).encode()
    container.write_archive(path, files)


def replace_array(path, name, content):
    """Replace the bytes of an array, with a correct SHA-256."""
    rewrite(
        path,
        lambda index: index["arrays"].update({name: store.hashlib.sha256(content).hexdigest()}),
        lambda files: files | {name: content},
    )


def holds(index):
    return index["model"]["holds"]


def shape_of(index):
    return holds(index)["shapes_"]["with"]["shapes"]["items"][0]


def number_again(index):
    index["model"]["with"]["tol"] = {"type": "again", "number": 0}


def deep(index):
    node = 1
    for _ in range(100):
        node = [node]
    index["model"]["with"]["tol"] = node


def put(value):
    return lambda index: index["model"]["with"].update(tol=value)


HOSTILE = {
    "another class": (lambda i: i["model"].update(type="Popen"), "does not contain an estimator"),
    "no estimator": (lambda i: i["model"].update(type="Shape"), "does not contain an estimator"),
    "unknown type inside": (lambda i: shape_of(i).update(type="os.system"), "type 'os.system'"),
    "no type": (put({"items": []}), "unknown type 'None'"),
    "keys of one hash": (
        put({"type": "dict", "items": [[k * (2**61 - 1), 0] for k in range(1, 100)]}),
        "more than 64 keys with the same hash",
    ),
    "tuples of one hash": (
        put(
            {
                "type": "dict",
                "items": [
                    [{"type": "tuple", "items": [k * (2**61 - 1)]}, 0] for k in range(1, 100)
                ],
            }
        ),
        "more than 64 keys with the same hash",
    ),
    "levels of one hash": (
        put({"type": "objects", "shape": [99], "items": [k * (2**61 - 1) for k in range(1, 100)]}),
        "more than 64 keys with the same hash",
    ),
    "type is a list": (put({"type": []}), "unhashable"),
    "unknown parameter": (lambda i: i["model"]["with"].update(zzz=1), "zzz"),
    "unknown field": (lambda i: shape_of(i)["with"].update(zzz=1), "zzz"),
    "missing field": (lambda i: shape_of(i)["with"].pop("values"), "values"),
    "unknown entry": (lambda i: i["model"].update(more=1), "unknown entry 'more'"),
    "record that holds": (lambda i: shape_of(i).update(holds={"a": 1}), "besides its fields"),
    "hidden method": (lambda i: holds(i).update(predict=1), "'predict' is not an attr"),
    "hidden class": (lambda i: holds(i).update(__class__=1), "'__class__' is not an attr"),
    "not fitted": (lambda i: holds(i).update(old=holds(i).pop("shapes_")), "not fitted"),
    "values are words": (
        lambda i: shape_of(i)["with"].update(values="abc"),
        "arrays of 64-bit floats",
    ),
    "shapes are none": (lambda i: holds(i)["shapes_"]["with"].update(shapes=3), "ShapeModel"),
    "unused array": (lambda i: holds(i).pop("dual_coef_"), "does not use"),
    "unknown array": (lambda i: holds(i)["dual_coef_"].update(file="model.json"), "model.json"),
    "wrong checksum": (lambda i: i["arrays"].update({"arrays/0.npy": "0" * 64}), "SHA-256"),
    "unlisted array": (
        lambda i: i["arrays"].pop("arrays/0.npy"),
        "do not match its list of arrays",
    ),
    "again": (number_again, "refers to object 0"),
    "deep": (deep, "nested more than 60 levels deep"),
    "float": (put({"type": "float", "value": "1e5"}), "1e5"),
    "scalar": (put({"type": "scalar", "dtype": "O", "value": 1}), "values of type O"),
    "objects": (put({"type": "objects", "shape": [10**12], "items": []}), "has 0 items"),
    "pairs": (put({"type": "dict", "items": [[1, 2, 3]]}), "length 3"),
    "keys": (put({"type": "dict", "items": [[[], 2]]}), "unhashable"),
    "function": (put({"type": "function", "name": "system"}), "system"),
    "partial": (put({"type": "partial", "name": "eval", "keywords": {}}), "eval"),
    "other format": (lambda i: i.update(format="other"), "does not declare it to be a model"),
    "version 0": (lambda i: i.update(format_version=0), "does not declare it to be a model"),
    "version in words": (lambda i: i.update(format_version="1"), "does not declare it"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_json(kind, path):
    edit, message = HOSTILE[kind]
    save(fitted("StumpSVC"), path)
    rewrite(path, lambda index: None)
    assert repr(load(path)) == "StumpSVC()"
    rewrite(path, edit)
    assert message in error_message(path)


def test_a_newer_format(path):
    save(fitted("StumpSVC"), path)
    rewrite(path, lambda index: index.update(format_version=3, everystump="9.0"))
    assert (
        "was written by a newer everystump (format 3, this one reads up to 2); upgrade everystump."
    ) in error_message(path)


def test_a_field_of_another_version(path):
    save(fitted("StumpSVC"), path)
    rewrite(path, lambda i: (i.update(everystump="9.0"), shape_of(i)["with"].update(later=1)))
    assert error_message(path).endswith(
        f"it was written by everystump 9.0, and this is {everystump.__version__}: use that."
    )


def test_a_missing_field_gets_its_default(path):
    assert fields(Bound)[-2].default is None
    save(fitted("LooBoundSearch"), path)
    rewrite(path, lambda i: holds(i)["best_bound_"]["with"].pop("observed"))
    assert load(path).best_bound_ == fitted("LooBoundSearch").best_bound_


@pytest.mark.parametrize(
    "text", [b"", b"{", b"[]", b'{"format": NaN}', b"[" * 100_000, b"1" * 5000, b"\xff"]
)
def test_invalid_json(text, path):
    save(fitted("StumpSVC"), path)
    container.write_archive(path, contents(path) | {"model.json": text})
    assert "is damaged or not a model" in error_message(path)


def npy(array, **header):
    """An array's file, with another header if wanted."""
    content = container.npy_bytes(array)
    if not header:
        return content
    text = {"descr": array.dtype.str, "fortran_order": False, "shape": array.shape} | header
    padded = str(text).encode().ljust(117) + b"\n"
    return content[:8] + len(padded).to_bytes(2, "little") + padded + array.tobytes()


class Bomb:
    def __reduce__(self):
        return os.mkdir, ("executed",)


def pickled():
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.array([Bomb()], dtype=object), allow_pickle=True)
    return buffer.getvalue()


BAD_ARRAYS = {
    "larger than it is": npy(np.zeros(120), shape=(10**12,)),
    "overflowing": npy(np.zeros(0), shape=(0, 10**30)),
    "negative": npy(np.zeros(120), shape=(-1, -120)),
    "of words": npy(np.zeros(120), shape=("a",)),
    "python 2": npy(np.zeros(120), shape="__").replace(b"'__'", b"120L"),
    "pickle": pickled(),
    "structured": npy(np.zeros(3, "f8,f8")),
    "times": npy(np.zeros(3, "M8[s]")),
    "longer": npy(np.zeros(120)) + b"x",
    "other version": npy(np.zeros(120)).replace(b"NUMPY\x01", b"NUMPY\x02"),
    "long header": npy(np.zeros(1)).replace(b"\x76\x00{", b"\xff\xff{"),
    "empty": b"",
}


@pytest.mark.parametrize("kind", BAD_ARRAYS)
def test_hostile_arrays(kind, path, monkeypatch):
    monkeypatch.chdir(path.parent)
    model = fitted("StumpSVC")
    save(model, path)
    name = holds(json.loads(contents(path)["model.json"]))["classes_"]["file"]
    replace_array(path, name, npy(model.classes_))
    assert repr(load(path)) == "StumpSVC()"
    replace_array(path, name, BAD_ARRAYS[kind])
    assert "is damaged or not a model" in error_message(path)
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(
    ("knots", "message"),
    [
        (np.arange(120.0)[::-1], "must be in ascending order"),
        (np.full(120, np.nan), "must be in ascending order"),
        (np.arange(120.0).reshape(2, 60), "one value for each"),
        (np.arange(119.0), "one value for each"),
        (np.arange(120), "arrays of 64-bit floats"),
    ],
)
def test_invalid_curves(knots, message, path):
    save(fitted("StumpSVC"), path)
    index = json.loads(contents(path)["model.json"])
    name = shape_of(index)["with"]["knots"]["file"]
    replace_array(path, name, npy(np.sort(fitted("StumpSVC").shapes_[0].knots)))
    assert load(path).predict(table(2)[0]).shape == (120,)
    replace_array(path, name, npy(knots))
    assert message in error_message(path)


def archive_of(path, files, **options):
    with zipfile.ZipFile(path, "w", **options) as archive:
        for name, content in files:
            archive.writestr(zipfile.ZipInfo(name), content, archive.compression)


def test_hostile_archives(path):
    save(fitted("DecisionStumpClassifier"), path)
    files, content = contents(path), path.read_bytes()
    archive_of(path, files.items())
    assert repr(load(path)) == "DecisionStumpClassifier()"
    archive_of(path, files.items(), compression=zipfile.ZIP_DEFLATED)
    assert "is compressed" in error_message(path)
    container.write_archive(path, files | {"more.npy": b""})
    assert "do not match its list of arrays" in error_message(path)
    container.write_archive(path, dict(list(files.items())[:-1]))
    assert "do not match its list of arrays" in error_message(path)
    with pytest.warns(UserWarning, match="Duplicate"):
        archive_of(path, [*files.items(), ("model.json", b"{}")])
    assert "twice" in error_message(path)
    for changed in (content + b"x", content[:-2] + b"\1\0x", b"x" + content, content + content):
        path.write_bytes(changed)
        error_message(path)
    with (
        zipfile.ZipFile(path, "w") as archive,
        archive.open("model.json", "w", force_zip64=True) as file,
    ):
        file.write(files["model.json"])
    error_message(path)


def test_a_zip_bomb_takes_no_memory(path):
    archive_of(path, [("model.json", bytes(10**8))], compression=zipfile.ZIP_DEFLATED)
    tracemalloc.start()
    assert "is compressed" in error_message(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5e6


def test_a_list_of_files_that_is_too_long(path):
    archive_of(path, [("model.json", b"{}"), ("x" * 500, b"")])
    assert "its list of files is too long" in error_message(path)


def test_json_that_is_too_large(path):
    container.write_archive(path, {"model.json": bytes(2**24 + 1)})
    assert "besides its arrays it takes 16.0 MiB" in error_message(path)


@cache
def small_file():
    model = everystump.KernelSVC("linear").fit([[0.0], [1.0], [2.0]], [0, 0, 1])
    return model, np.linspace(-1, 3, 9)[:, None]


def raises_or_is_unchanged(path, content):
    """Load a changed file; return whether it raised an error."""
    model, X = small_file()
    path.write_bytes(content)
    try:
        again = load(path)
    except ModelFileError:
        return True
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert repr(again) == repr(model)
    return False


def test_flipped_bits(path):
    save(small_file()[0], path)
    content, rng = path.read_bytes(), np.random.default_rng(0)
    listed_from = content.index(b"PK\1\2")
    accepted = []
    inside = rng.permutation(listed_from)[:700].tolist()
    for position in [*inside, *range(listed_from, len(content))]:
        changed = bytearray(content)
        changed[position] ^= 1 << int(rng.integers(8))
        if not raises_or_is_unchanged(path, bytes(changed)):
            accepted.append(position)
    # Only metadata in the list of files, such as the operating system, may differ.
    assert all(position >= listed_from for position in accepted)
    assert len(accepted) < len(content) / 20


def test_truncated_files(path):
    save(small_file()[0], path)
    content = path.read_bytes()
    for length in {*range(0, len(content), 7), *range(len(content) - 100, len(content))}:
        assert raises_or_is_unchanged(path, content[:length])


def test_random_damage(path):
    save(small_file()[0], path)
    content, rng = path.read_bytes(), np.random.default_rng(1)
    for _ in range(300):
        first, last = np.sort(rng.integers(len(content), size=2))
        noise = rng.bytes(int(rng.integers(0, 40)))
        damaged = content[:first] + noise + content[last:]
        assert raises_or_is_unchanged(path, damaged) or damaged == content
