"""Files that hold the options of a run."""

import os
import tomllib

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from command import input_error, run, some_rows
from hypothesis import given
from hypothesis import strategies as st

from everystump.cli.config import to_toml
from everystump.cli.main import everystump
from everystump.modelfile import load


def write_table(folder, n=120):
    rng = np.random.default_rng(0)
    frame = some_rows(n, b=rng.normal(size=n).round(3), w=rng.integers(1, 4, n), k=np.arange(n))
    frame.to_csv(folder / "t.csv", index=False)
    return folder / "t.csv"


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_is_written_so_that_it_is_read_again(text):
    assert tomllib.loads(f"key = {to_toml(text)}") == {"key": text}


@given(
    st.lists(
        st.one_of(
            st.booleans(),
            st.integers(-(2**63), 2**63 - 1),
            st.floats(allow_nan=False, allow_infinity=False),
        )
    )
)
def test_other_values_are_written_so_that_they_are_read_again(values):
    assert tomllib.loads(f"key = {to_toml(values)}") == {"key": values}


def test_a_run_is_repeated(tmp_path):
    """The file holds every option that matters, also those with defaults."""
    data, config = write_table(tmp_path), tmp_path / "run.toml"
    options = ("--C", 0.5, "--interactions", "a:b", "--interaction-strength", 0.1, "--drop", "k")
    options += ("--class-weight", "yes=2", "--sample-weight", "w", "--holdout", 0.3, "--seed", 7)
    options += ("--missing", 'x"\\', "--missing", "\t")
    out = tmp_path / "a.stump"
    done = run("fit", data, "--target", "y", *options, "-o", out, "--save-config", config)
    assert done.exit_code == 0, done.output
    stored = tomllib.loads(config.read_text())
    assert stored == {
        "data": str(data),
        "target": "y",
        "out": str(out),
        "task": "auto",
        "C": 0.5,
        "interactions": "a:b",
        "interaction-strength": 0.1,
        "holdout": 0.3,
        "seed": 7,
        "stream": False,
        "drop": ["k"],
        "class-weight": "yes=2",
        "sample-weight": "w",
        "missing": ['x"\\', "\t"],
    }
    other = tmp_path / "b.stump"
    done = run("fit", "--config", config, "-o", other)
    assert done.exit_code == 0, done.output
    first, second = load(out), load(other)
    X = pd.read_csv(data)[["a", "b"]]
    assert np.array_equal(first.decision_function(X), second.decision_function(X))
    assert first.about_ == second.about_
    assert out.read_bytes() == other.read_bytes()
    assert input_error("fit", "--config", config).endswith("pass --force to overwrite it.")


def test_paths_are_relative_to_the_file(tmp_path, monkeypatch):
    (tmp_path / "runs").mkdir()
    write_table(tmp_path)
    monkeypatch.chdir(tmp_path)
    options = ("--target", "y", "--C", 1, "--interactions", 0, "-o", "m.stump")
    assert run("fit", "t.csv", *options, "--save-config", "runs/run.toml").exit_code == 0
    stored = tomllib.loads((tmp_path / "runs" / "run.toml").read_text())
    assert stored["data"] == os.path.join("..", "t.csv")
    monkeypatch.chdir(tmp_path / "runs")
    assert run("fit", "--config", "run.toml", "--force").exit_code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.stump", "runs", "t.csv"]


def test_the_command_line_takes_precedence(tmp_path):
    data, config = write_table(tmp_path), tmp_path / "run.toml"
    config.write_text(
        'data = "nothing.csv"\ntarget = "y"\nC = 1\ninteractions = 0\nholdout = 0.4\nseed = 3\n'
        'drop = "k"\nclass_weight = "balanced"\n'
    )
    out = tmp_path / "m.stump"
    done = run("fit", data, "--config", config, "--cv", 3, "--seed", 5, "-o", out)
    assert done.exit_code == 0, done.output
    model = load(out)
    assert model.about_["origin"]["seed"] == 5 and model.about_["n_held_out"] == 0
    assert model.C == 1.0 and model.class_weight == "balanced"
    assert "3 folds" in model.about_["error"]["how"]
    done = run("fit", data, "--config", config, "-o", out, "--force", "--holdout", 0.2)
    assert load(out).about_["n_held_out"] == 24 and "k" in done.stdout


def test_a_regression_is_repeated(tmp_path):
    frame = pd.DataFrame({"x": np.arange(60.0) % 7, "y": np.arange(60.0) ** 1.5})
    frame.to_csv(tmp_path / "t.csv", index=False)
    out, other, config = (tmp_path / name for name in ("a.stump", "b.stump", "run.toml"))
    options = ("--target", "y", "--C", 1, "--interactions", 0, "-o", out, "--save-config", config)
    assert run("fit", tmp_path / "t.csv", *options).exit_code == 0
    assert run("fit", "--config", config, "-o", other).exit_code == 0
    assert out.read_bytes() == other.read_bytes()


def test_flags_of_a_file_are_switched_off(tmp_path):
    data, config = write_table(tmp_path), tmp_path / "my run.toml"
    options = ("--target", "y", "--C", 1, "--interactions", 0, "--refit", "--bands")
    done = run("fit", data, *options, "-o", tmp_path / "a.stump", "--save-config", config)
    assert done.exit_code == 0, done.output
    text = config.read_text()
    assert tomllib.loads(text)["refit"] is True and "--config 'my run.toml'" in text
    out = tmp_path / "b.stump"
    done = run("fit", "--config", config, "--no-refit", "--no-bands", "-o", out)
    assert done.exit_code == 0, done.output
    assert "refit" not in load(out).about_ and load(tmp_path / "a.stump").about_["refit"]
    assert getattr(load(out), "standard_errors_", None) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sed = 1", "'sed' is not an option of fit; use 'seed'."),
        ("config = 'x'", "'config' is not an option of fit"),
        ("help = true", "'help' is not an option of fit"),
        ("[model]\nC = 1", "model must be text or a number."),
        ("seed = true", "seed must be text or a number."),
        ("refit = 'yes'", "refit must be true or false."),
        ("drop = [['a']]", "drop must be text or a number."),
        ("target = 1979-05-27", "target must be text or a number."),
        ("target = ", "is not a TOML file (Invalid value"),
        ("a = 1\na = 2", "is not a TOML file (Cannot overwrite a value"),
        (b"target = '\xff'", "is not a TOML file ('utf-8' codec"),
    ],
)
def test_invalid_files(tmp_path, text, message):
    data, config, out = write_table(tmp_path), tmp_path / "run.toml", tmp_path / "m.stump"
    config.write_bytes(text if isinstance(text, bytes) else text.encode())
    found = input_error("fit", data, "--config", config, "-o", out)
    assert found.startswith(f"--config {config}") and message in found, found
    assert not out.exists()


@pytest.mark.parametrize("text", ["cv = 2.5", "seed = -1", "holdout = 'much'", "model = 'tree'"])
def test_values_are_checked_as_on_the_command_line(tmp_path, text):
    data, config, out = write_table(tmp_path), tmp_path / "run.toml", tmp_path / "m.stump"
    config.write_text(f"{text}\ntarget = 'y'")
    done = CliRunner().invoke(
        everystump, ["fit", str(data), "--config", str(config), "-o", str(out)]
    )
    assert done.exit_code == 2 and f"--{text.split()[0]}" in done.stderr and not out.exists()


def test_files_that_cannot_be_read_or_written(tmp_path):
    data, out = write_table(tmp_path), tmp_path / "m.stump"
    options = ("--target", "y", "--C", 1, "-o", out)
    message = input_error("fit", data, *options, "--config", tmp_path / "no.toml")
    assert "no.toml: No such file or directory; check the name." in message
    message = input_error("fit", data, *options, "--save-config", tmp_path / "no" / "run.toml")
    assert message.startswith("--save-config ") and "a folder that does not exist" in message
    (tmp_path / "run.toml").write_text("")
    message = input_error("fit", data, *options, "--save-config", tmp_path / "run.toml")
    assert "already exists; pass --force" in message
    for path in (data, out):
        message = input_error("fit", data, *options, "--save-config", path, "--force")
        assert "is also" in message
    assert not out.exists() and data.exists()


def test_a_name_that_is_not_utf8_is_not_saved(tmp_path):
    data, out = tmp_path / "t\udcff.csv", tmp_path / "m.stump"
    data.write_bytes(write_table(tmp_path).read_bytes())
    options = ("--target", "y", "--C", 1, "-o", out, "--save-config", tmp_path / "run.toml")
    assert "is not UTF-8; rename the file" in input_error("fit", data, *options)
    assert not out.exists()
