"""The optimality certificate and the C path of a fitted model, as plain data."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from everystump.estimators._base import as_class_list


def certificate_and_path(model: Any) -> dict[str, Any]:
    """Return the certificate and the C path of a model, if it has them.

    Returns
    -------
    dict
        ``certificate``: that of the class with the largest duality gap, whose label is ``class`` if
        there are several, and ``over``, the set of models whose optimum it certifies; ``path``: the
        values of C, the mean and standard deviation of their scores, the name of the score, and
        the chosen C.
    """
    found: dict[str, Any] = {}
    given: Any = getattr(model, "certificate_", None)
    if given is not None:
        certificates = list(as_class_list(given))
        weakest = max(certificates, key=lambda own: own.gap)
        over = getattr(model, "_optimum_over", "other solution")
        found["certificate"] = asdict(weakest) | {"over": over}
        if len(certificates) > 1:
            found["certificate"]["class"] = model.classes_.tolist()[certificates.index(weakest)]
    results = getattr(model, "cv_results_", None)
    if results is not None and "param_C" in results and hasattr(model, "C_"):
        found["path"] = {
            "C": results["param_C"].tolist(),
            "mean": results["mean_test_score"].tolist(),
            "std": results["std_test_score"].tolist(),
            "scoring": getattr(model, "scoring_", "accuracy"),  # absent in earlier model files
            "chosen": float(model.C_),
        }
    return found
