"""Columns that are not read as they look: codes with leading zeros, and booleans."""

import numpy as np
import pandas as pd
import pytest
from command import fitted, input_error, run, some_rows

import everystump as package
from everystump._workflow.reading.files import read_file

ZEROS = {
    "plain": ("a,b\n00018,1\n10018,20\n", {"a": ["00018", "10018"], "b": [1, 20]}),
    "short": ("a,b\n007,0\n8,0.5\n", {"a": ["007", "8"], "b": [0.0, 0.5]}),
    "negative": ("a;b\n-05;-5\n5;0\n", {"a": ["-05", "5"], "b": [-5, 0]}),
    "quoted": ('a,b\n"05",1\n6,2\n', {"a": ["05", "6"], "b": [1, 2]}),
    "after a space": ("a,b\n1, 02\n3, 4\n", {"a": [1, 3], "b": ["02", "4"]}),
    "in a single column": ("a\n01\n2\n", {"a": ["01", "2"]}),
    "with fractions": ("a,b\n05.0,00.5\n3,1e05\n", {"a": [5.0, 3.0], "b": [0.5, 1e5]}),
    "after a blank line": ("a,b\n1,2\n\n1,03\n", {"a": [1, 1], "b": ["2", "03"]}),
    "in a late row": ("a,b\n" + "1,2\n" * 30_000 + "1,02\n", None),
}


@pytest.mark.parametrize(("text", "columns"), ZEROS.values(), ids=ZEROS)
def test_integers_with_leading_zeros_are_text(text, columns, tmp_path):
    (tmp_path / "t.csv").write_text(text)
    frame, _ = read_file(tmp_path / "t.csv")
    if columns is None:
        assert frame["a"].dtype.kind == "i" and frame["b"].tolist()[-2:] == ["2", "02"]
    else:
        assert frame.to_dict("list") == columns


def test_models_follow_their_own_schema_for_leading_zeros(tmp_path):
    """A code is a level; a number may have zeros in another file."""
    code = [f"{k % 4:03d}" for k in range(80)]
    data, out = fitted(tmp_path, some_rows(80, code=code, year=np.arange(80) % 5))
    model = package.load(out)
    assert model.feature_info_[1].levels.tolist() == ["000", "001", "002", "003"]
    assert any("because of leading zeros: code;" in text for text in model.about_["schema"])
    frame = pd.read_csv(data, dtype=str)
    plain = run("predict", out, data).stdout
    frame["year"] = "0" + frame["year"]
    frame.to_csv(data, index=False)
    assert run("predict", out, data).stdout == plain
    frame.iloc[20:, :].to_csv(data, index=False)
    fit_again = run("fit", data, "--target", "y", "-o", out, "--force", "--numeric", "code")
    assert "Categorical, because of leading zeros: year;" in fit_again.stdout
    assert package.load(out).feature_info_[1].levels is None


def test_booleans_are_announced(tmp_path):
    complete, some = [True, False] * 40, ["True", "", "False", "True"] * 20
    _, out = fitted(tmp_path, some_rows(80, b=complete, c=some))
    assert "Booleans converted to 1 and 0: b, c." in package.load(out).about_["schema"]


def test_many_missing_columns(tmp_path):
    columns = {f"x{k}": np.random.default_rng(k).normal(size=80) for k in range(5)}
    data, out = fitted(tmp_path, some_rows(80, **columns))
    data.write_text("a,y\n1,no\n2,yes\n")
    expected = "The data lack 5 columns that the model needs: 'x0', 'x1', 'x2' and 2 more; add"
    assert input_error("predict", out, data).startswith(expected)
