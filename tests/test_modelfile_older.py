"""Model files that earlier versions wrote still load, with the same scores.

The files in ``older_model_files`` were written before records and attributes were renamed.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from stored_models import table
from test_modelfile_damaged import holds, rewrite

import everystump
from everystump._core.measures import Mixed

FOLDER = Path(__file__).parent / "older_model_files"
KNOWN = json.loads((FOLDER / "scores.json").read_text(encoding="utf-8"))
X = np.array(KNOWN["X"])
WITH_NAN = X.copy()
WITH_NAN[tuple(KNOWN["missing"])] = np.nan
ROWS = {
    "stump_svc": pd.DataFrame({"size": X[:, 0], "kind": np.where(WITH_NAN[:, 1] > 0, "a", "b")}),
    "stump_logistic_cv": WITH_NAN,
    "boosting": WITH_NAN,
    "kernel_precomputed": X @ X.T,
}


@pytest.mark.parametrize("name", KNOWN["scores"])
def test_older_files_load(name, tmp_path):
    model, rows = everystump.load(FOLDER / f"{name}.stump"), ROWS.get(name, X)
    np.testing.assert_allclose(model.decision_function(rows), KNOWN["scores"][name], rtol=1e-12)
    assert not {"features_", "_lost"} & vars(model).keys()
    y = np.where(X[:, 0] + 0.3 * X[:, 1] > 0, "yes", "no")
    assert model.training_overlap(rows, y).same_table
    everystump.save(model, tmp_path / "again.stump")
    again = everystump.load(tmp_path / "again.stump")
    np.testing.assert_array_equal(again.decision_function(rows), model.decision_function(rows))


def test_an_edited_model_stays_edited():
    model = everystump.load(FOLDER / "stump_svc.stump")
    assert len(model.feature_info_) == 2 and model.edits_
    with pytest.raises(ValueError, match="was edited"):
        _ = model.dual_coef_


def test_models_of_files_without_feature_weights_have_equal_ones():
    model = everystump.load(FOLDER / "stump_logistic_cv.stump")
    assert model.feature_weights == "equal"


def test_bands_are_not_computed_with_other_masses_than_the_model_has(tmp_path, monkeypatch):
    """As for models of categories from before levels had half the mass of an indicator."""
    X, y = table(2)
    X = pd.DataFrame(X[:, :2], columns=["a", "b"]).assign(kind=np.where(X[:, 2] > 0, "s", "t"))
    with monkeypatch.context() as earlier:
        earlier.setattr(Mixed, "level_mass", None)
        model = everystump.StumpLogisticRegression().fit(X, y)
    everystump.save(model, tmp_path / "model.stump")
    again = everystump.load(tmp_path / "model.stump")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    with pytest.raises(ValueError, match="other masses of stumps than those of measure='mixed'"):
        again.compute_bands(X, y)
    again.fit(X, y).compute_bands(X, y)


def test_every_older_file_is_tested():
    assert {path.stem for path in FOLDER.glob("*.stump")} == set(KNOWN["scores"])


def test_perceptrons_of_files_without_scale_are_not_scaled(tmp_path):
    X, y = table(2)
    path = tmp_path / "model.stump"
    model = everystump.PerceptronSVC(scale=False).fit(X, y)
    everystump.save(model, path)

    def without_scale(index):
        del index["model"]["with"]["scale"], holds(index)["scale_"]

    rewrite(path, without_scale)
    again = everystump.load(path)
    assert again.scale is False
    assert again.scale_ is None
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_logistic_models_of_files_without_multi_class_are_one_vs_rest(tmp_path):
    X, y = table(3)
    path = tmp_path / "model.stump"
    model = everystump.StumpLogisticRegression(multi_class="ovr").fit(X, y)
    everystump.save(model, path)

    def without_multi_class(index):
        del index["model"]["with"]["multi_class"], holds(index)["multi_class_"]

    rewrite(path, without_multi_class)
    again = everystump.load(path)
    assert again.multi_class == again.multi_class_ == "ovr"
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
