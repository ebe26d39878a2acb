"""What training proved of a model, as plain data."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from everystump.estimators._base import as_class_list


def proofs(model: Any) -> dict[str, Any]:
    """Return the certificate and the path of a model, as far as it has them.

    Returns
    -------
    dict
        ``certificate``: that of the class with the largest gap, which is named if there are
        several, and ``over``, what it is the best of; ``path``: the values of C with the mean and
        the spread of their scores, what the scores are, and the chosen one.

    Examples
    --------
    >>> from everystump import StumpSVC
    >>> proofs(StumpSVC().fit([[0], [1], [2], [3]], [0, 0, 1, 1]))["certificate"]["over"]
    'ensemble of stumps'
    """
    told: dict[str, Any] = {}
    given: Any = getattr(model, "certificate_", None)
    if given is not None:
        certificates = list(as_class_list(given))
        worst = max(certificates, key=lambda own: own.gap)
        told["certificate"] = asdict(worst) | {
            "over": getattr(model, "_optimum_over", "other solution")
        }
        if len(certificates) > 1:
            told["certificate"]["class"] = model.classes_.tolist()[certificates.index(worst)]
    results = getattr(model, "cv_results_", None)
    if results is not None and "param_C" in results and hasattr(model, "C_"):
        told["path"] = {
            "C": results["param_C"].tolist(),
            "mean": results["mean_test_score"].tolist(),
            "std": results["std_test_score"].tolist(),
            "scoring": getattr(model, "scoring_", "accuracy"),  # which files of old did not name
            "chosen": float(model.C_),
        }
    return told
