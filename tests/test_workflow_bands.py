"""``everystump fit --bands``: standard errors of the training rows, in the file and on the page."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from command import ADDITIVE, input_error, run

from everystump import load
from everystump.estimators._base import as_class_list


def write_table(path, n=200, seed=0):
    """Write numbers, text and missing values, with targets of two and three classes and a number.

    The positive class, the rarer one, is the first in the alphabet.
    """
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": rng.normal(size=n), "job": rng.choice(["clerk", "nurse"], n)})
    f = frame["x"] + (frame["job"] == "nurse")
    noisy = f + rng.normal(size=n)
    frame["risk"] = np.where(noisy > 1, "bad", "good")
    frame["grade"] = np.digitize(noisy, [-0.3, 1.0])
    frame["price"] = (100 + 20 * noisy).round(2)
    frame.loc[rng.random(n) < 0.1, "x"] = np.nan
    frame.to_csv(path, index=False)
    return frame


def fit(tmp_path, target, *options):
    """Fit a model with bands; return it, and the standard output."""
    data, out = tmp_path / "t.csv", tmp_path / "m.stump"
    write_table(data)
    others = {"risk", "grade", "price"} - {target}
    drop = [option for name in sorted(others) for option in ("--drop", name)]
    args = ("--target", target, "--C", 1, *ADDITIVE, "-o", out, "--force", "--bands", *drop)
    done = run("fit", data, *args, *options)
    assert done.exit_code == 0, done.output
    return load(out), done.stdout


@pytest.mark.parametrize("target", ["risk", "grade", "price"])
@pytest.mark.parametrize("options", [(), ("--refit",), ("--cv", 3)])
def test_bands_are_those_of_the_training_rows(target, options, tmp_path):
    model, text = fit(tmp_path, target, *options)
    assert re.search(r"^Bands +standard errors of all curves", text, re.M)
    assert model.about_["bands"] is True
    stored = as_class_list(model.standard_errors_)
    assert len(stored) == (3 if target == "grade" else 1)
    frame = pd.read_csv(tmp_path / "t.csv")
    X = frame[["x", "job"]].astype({"job": "category"})
    if not options:  # only held-out rows differ
        with pytest.raises(ValueError, match="not the training samples"):
            model.compute_bands(X, frame[target])
        return
    again = as_class_list(model.compute_bands(X, frame[target]).standard_errors_)
    for one, other in zip(stored, again, strict=True):
        for shape, own in zip(one, other, strict=True):
            np.testing.assert_allclose(shape.values, own.values, rtol=1e-6)
            assert shape.values.max() > 0


def test_the_report_and_the_next_commands_use_them(tmp_path):
    model, _ = fit(tmp_path, "grade")
    out, data, page = tmp_path / "m.stump", tmp_path / "t.csv", tmp_path / "page.html"
    assert run("report", out, data, "-o", page).exit_code == 0
    text = page.read_text(encoding="utf-8")
    found = json.loads(re.search(r'type="application/json">(.*?)</script>', text, re.S)[1])
    assert len(found["bands"]["scores"]) == 3
    assert run("predict", out, data, "-o", tmp_path / "p.csv").exit_code == 0
    assert run("explain", out, data).exit_code == 0
    assert len(model.classes_) == 3


def test_losses_without_curvature_are_noted(tmp_path):
    model, text = fit(tmp_path, "risk", "--model", "stump-svm")
    assert not hasattr(model, "standard_errors_")
    assert model.about_["bands"] is False
    assert "piecewise linear loss" in text and "No bands" in text
    _, text = fit(tmp_path, "price", "--loss", "absolute")
    assert "No bands" in text


def test_models_without_bands(tmp_path):
    data = tmp_path / "t.csv"
    write_table(data)
    args = ("fit", data, "--target", "risk", "-o", tmp_path / "m.stump", "--bands")
    why = input_error(*args, "--model", "boost")
    assert why == "--bands: boost has no bands; omit the option, or use --model stump-logistic."
