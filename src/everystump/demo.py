"""The main job on data that comes with the package: ``python -m everystump.demo``.

Trains the vote of every stump on the heart data, with C chosen on the path, beside AdaBoost and a
Gaussian SVM on the same split; shows the certificate, and writes the model, its report page, its
SQL and a plot of its curves.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import AdaBoostClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

from everystump._files import write_atomic, write_text
from everystump._text import format_percent
from everystump._workflow.fitting import fit_model
from everystump._workflow.guesses import ColumnOptions, prepare_training_data
from everystump._workflow.plan import Plan, split_rows
from everystump.datasets import load_dataset
from everystump.estimators.svc import StumpSVCCV
from everystump.export import write
from everystump.modelfile import save
from everystump.report import write_report

TARGET = "disease"
HELD_OUT = 0.4


def main() -> None:
    """Run the demo."""
    parser = argparse.ArgumentParser(prog="everystump.demo", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("everystump-demo"))
    out = parser.parse_args().out
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        sys.exit(f"--out {out} cannot be a folder ({error.strerror}); name another.")
    frame = _heart()
    task = prepare_training_data(frame, TARGET, ColumnOptions())
    train, test = split_rows(task.y, HELD_OUT, seed=0)
    split = task.X.iloc[train], task.y[train], task.X.iloc[test], task.y[test]
    start = time.perf_counter()
    _warm_up(task)
    print(f"Loading compiled code: {time.perf_counter() - start:.1f} s (longer on the first run)\n")
    n_features = task.X.shape[1]
    print(f"heart: {len(train)} rows to learn from, {len(test)} held out, {n_features} features\n")
    print("model                                    held-out error   training time")
    start = time.perf_counter()
    model = fit_model(task, Plan(holdout=HELD_OUT, seed=0), data="the heart data")
    seconds = time.perf_counter() - start
    _tell("every stump (StumpLogisticRegressionCV)", model.about_["error"]["value"], test, seconds)
    _compare("every stump (StumpSVCCV)", StumpSVCCV(), *split)
    boosting = AdaBoostClassifier(n_estimators=100, random_state=0)
    _compare("AdaBoost, 100 stumps", boosting, *split)
    _compare("Gaussian SVM, C and gamma by 5 folds", _gaussian_svm(), *split)
    proof = model.certificate_
    print(
        f"\nC = {model.C_:.3g} by the log-loss in 5 folds.  Certificate: objective "
        f"{proof.primal:.4f}, proven lower bound {proof.dual:.4f} "
        f"(gap {proof.gap:.1e})."
    )
    bound = model.about_["bounds"][0]
    print(f"Bound: {bound['bounded']} is at most {format_percent(bound['value'])}.\n")
    write_text(out / "heart.csv", frame.to_csv(index=False))
    for what, path in _write(model, split[2], split[3], out).items():
        print(f"{what:<22} {path}")
    print(f"The data as a CSV:     {out / 'heart.csv'}")


def _heart() -> Any:
    heart = load_dataset("heart", as_frame=True)
    return heart.data.assign(**{TARGET: np.where(heart.target == 1, "yes", "no")})


def _warm_up(task: Any) -> None:
    """Do all that is timed later once before, so that no time is one of compiling."""
    fit_model(task, Plan(holdout=HELD_OUT, seed=0), data="the heart data")
    StumpSVCCV().fit(task.X, task.y)


def _write(model: Any, X: Any, y: Any, out: Path) -> dict[str, Path]:
    """Write everything that can be done with a model; return where it is."""
    places = {
        "The page to play with:": out / "heart.html",
        "The learned curves:": out / "heart.png",
        "The model in SQL:": out / "heart.sql",
        "The model file:": out / "heart.stump",
    }
    page, plot, query, file = places.values()
    write_report(model, page, X, y, about={"rows": "held-out"})
    _draw(model, plot)
    write(model, query)
    save(model, file)
    return places


def _gaussian_svm() -> GridSearchCV:
    grid = {"svc__C": 2.0 ** np.arange(-5, 16, 2), "svc__gamma": 2.0 ** np.arange(-15, 4, 2)}
    return GridSearchCV(make_pipeline(MinMaxScaler((-1, 1)), SVC()), grid)


def _compare(name: str, model: Any, X: Any, y: Any, X_test: Any, y_test: Any) -> None:
    """Fit a model, and print its error on held-out rows with a standard error."""
    start = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - start
    _tell(name, 1 - model.score(X_test, y_test), y_test, seconds)


def _tell(name: str, error: float, tested: np.ndarray, seconds: float) -> None:
    spread = np.sqrt(error * (1 - error) / len(tested))
    print(f"{name:<40} {100 * error:5.1f} +- {100 * spread:3.1f} %   {seconds:9.2f} s")


def _draw(model: Any, out: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from everystump.explain import CurvesDisplay

    figure = CurvesDisplay.from_estimator(model).figure_
    figure.suptitle("heart: what each feature adds to the score", fontsize=12)
    write_atomic(out, lambda path: figure.savefig(path, dpi=130, format="png"))


if __name__ == "__main__":
    main()
