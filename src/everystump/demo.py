"""The main job on data that comes with the package: ``python -m everystump.demo``.

Trains the vote of every stump on the heart data, with C chosen on the path, beside AdaBoost and a
Gaussian SVM on the same split; shows the certificate and draws the learned curves.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import AdaBoostClassifier
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

from everystump.datasets import load_dataset
from everystump.estimators.svc import StumpSVCCV
from everystump.files import write_whole


def main() -> None:
    """Run the demo."""
    parser = argparse.ArgumentParser(prog="everystump.demo", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("everystump-demo.png"))
    out = parser.parse_args().out
    if not out.parent.is_dir():
        sys.exit(f"--out {out}: the folder {out.parent} does not exist; create it first.")
    if not os.access(out.parent, os.W_OK):
        sys.exit(f"--out {out}: the folder {out.parent} cannot be written to; name another.")
    if out.is_dir():
        sys.exit(f"--out {out} is a folder; name a file in it.")
    heart = load_dataset("heart")
    X, X_test, y, y_test = train_test_split(
        heart.data, heart.target, test_size=0.4, stratify=heart.target, random_state=0
    )
    start = time.perf_counter()
    StumpSVCCV(Cs=[0.1], cv=2).fit(X[:40], y[:40])
    print(f"Loading compiled code: {time.perf_counter() - start:.1f} s (longer on the first run)\n")
    print(f"heart: {len(X)} rows to learn from, {len(X_test)} held out, {X.shape[1]} features\n")
    print("model                                    held-out error   training time")
    stumps = _compare("every stump (StumpSVCCV)", StumpSVCCV(), X, y, X_test, y_test)
    _compare(
        "AdaBoost, 100 stumps",
        AdaBoostClassifier(n_estimators=100, random_state=0),
        X,
        y,
        X_test,
        y_test,
    )
    _compare("Gaussian SVM, C and gamma by 5 folds", _gaussian_svm(), X, y, X_test, y_test)
    proof = stumps.certificate_
    print(
        f"\nC = {stumps.C_:.3g} by 5 folds.  Certificate: objective {proof.primal:.4f}, and no "
        f"ensemble of stumps can do better than {proof.dual:.4f} (gap {proof.gap:.1e})."
    )
    _draw(stumps, X, heart.feature_names, out)
    print(f"The learned curves: {out}")


def _gaussian_svm() -> GridSearchCV:
    grid = {"svc__C": 2.0 ** np.arange(-5, 16, 2), "svc__gamma": 2.0 ** np.arange(-15, 4, 2)}
    return GridSearchCV(make_pipeline(MinMaxScaler((-1, 1)), SVC()), grid)


def _compare(
    name: str, model: Any, X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray
) -> Any:
    """Fit a model, print its error on held-out rows with a standard error, and return it."""
    start = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - start
    error = 1 - model.score(X_test, y_test)
    spread = np.sqrt(error * (1 - error) / len(y_test))
    print(f"{name:<40} {100 * error:5.1f} +- {100 * spread:3.1f} %   {seconds:9.2f} s")
    return model


def _draw(model: StumpSVCCV, X: np.ndarray, names: list[str], out: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from everystump.explain import CurvesDisplay

    figure = CurvesDisplay.from_estimator(model, X, feature_names=names).figure_
    figure.suptitle("heart: what each feature adds to the score", fontsize=12)
    write_whole(out, lambda path: figure.savefig(path, dpi=130, format="png"))


if __name__ == "__main__":
    main()
