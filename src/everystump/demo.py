"""A demonstration on packaged data: ``python -m everystump.demo``.

Trains infinite ensembles of stumps on the heart data, with C chosen by cross-validation, AdaBoost
and a Gaussian SVM on the same split; prints the certificate, and writes the model file, a report
page, an SQL query and a plot of the curves.
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
from everystump._workflow.options import ColumnOptions
from everystump._workflow.plan import Plan
from everystump._workflow.schema.training_data import prepare_training_data
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
        sys.exit(f"--out {out} cannot be created ({error.strerror}); name another folder.")
    frame = _heart()
    data = prepare_training_data(frame, TARGET, ColumnOptions())
    train, test = data.target.split(HELD_OUT, seed=0)
    split = data.X.iloc[train], data.y[train], data.X.iloc[test], data.y[test]
    print("Loading compiled code: ", end="", flush=True)
    start = time.perf_counter()
    _warm_up(data)
    print(f"{time.perf_counter() - start:.1f} s (longer on the first run)\n", flush=True)
    n_features = data.X.shape[1]
    print(f"heart: {len(train)} training rows, {len(test)} held-out rows, {n_features} features\n")
    print("model                                    held-out error   training time")
    start = time.perf_counter()
    model = fit_model(data, Plan(holdout=HELD_OUT, seed=0), source="the heart data")
    seconds = time.perf_counter() - start
    _print_row("StumpLogisticRegressionCV", model.about_["error"]["value"], test, seconds)
    _compare("StumpSVCCV", StumpSVCCV(), *split)
    boosting = AdaBoostClassifier(n_estimators=100, random_state=0)
    _compare("AdaBoost, 100 stumps", boosting, *split)
    _compare("Gaussian SVM, tuned by 5-fold CV", _gaussian_svm(), *split)
    certificate = model.certificate_
    print(
        f"\nC = {model.C_:.3g}, chosen by log loss in 5-fold CV.  Certificate: objective "
        f"{certificate.primal:.4f}, proven lower bound {certificate.dual:.4f} "
        f"(relative gap {certificate.gap:.1e})."
    )
    bound = model.about_["bounds"][0]
    print(f"Bound: {bound['bounded']} is at most {format_percent(bound['value'])}.\n")
    write_text(out / "heart.csv", frame.to_csv(index=False))
    for what, path in _write(model, split[2], split[3], out).items():
        print(f"{what:<22} {path}")
    print(f"{'Data as CSV:':<22} {out / 'heart.csv'}")


def _heart() -> Any:
    heart = load_dataset("heart", as_frame=True)
    return heart.data.assign(**{TARGET: np.where(heart.target == 1, "yes", "no")})


def _warm_up(data: Any) -> None:
    """Run everything that is timed later, so that times do not include compilation."""
    fit_model(data, Plan(holdout=HELD_OUT, seed=0))
    StumpSVCCV().fit(data.X, data.y)


def _write(model: Any, X: Any, y: Any, out: Path) -> dict[str, Path]:
    """Write the report, the plot, the query and the model file; return their paths."""
    paths = {
        "Interactive report:": out / "heart.html",
        "Plot of the curves:": out / "heart.png",
        "Model in SQL:": out / "heart.sql",
        "Model file:": out / "heart.stump",
    }
    page, plot, query, file = paths.values()
    write_report(model, page, X, y, about={"rows": "held-out"})
    _draw(model, plot)
    write(model, query)
    save(model, file)
    return paths


def _gaussian_svm() -> GridSearchCV:
    grid = {"svc__C": 2.0 ** np.arange(-5, 16, 2), "svc__gamma": 2.0 ** np.arange(-15, 4, 2)}
    return GridSearchCV(make_pipeline(MinMaxScaler((-1, 1)), SVC()), grid)


def _compare(name: str, model: Any, X: Any, y: Any, X_test: Any, y_test: Any) -> None:
    """Fit a model, and print its error on the held-out rows with its standard error."""
    start = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - start
    _print_row(name, 1 - model.score(X_test, y_test), y_test, seconds)


def _print_row(name: str, error: float, tested: np.ndarray, seconds: float) -> None:
    standard_error = np.sqrt(error * (1 - error) / len(tested))
    print(f"{name:<40} {100 * error:5.1f} +- {100 * standard_error:3.1f}%   {seconds:9.2f} s")


def _draw(model: Any, out: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from everystump.explain import CurvesDisplay

    figure = CurvesDisplay.from_estimator(model).figure_
    figure.suptitle("heart: contribution of each feature to the score", fontsize=12)
    write_atomic(out, lambda path: figure.savefig(path, dpi=130, format="png"))


if __name__ == "__main__":
    main()
