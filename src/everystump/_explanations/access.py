"""Access to the shape functions, names, densities and certificates of a fitted model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from everystump._core.columns import RowDensity
from everystump._core.shapes import ShapeModel
from everystump._tables.frames import Feature
from everystump._text import suggest_name

# What the curves add up to, by the link of a regressor; None is a classifier.
_SUMS = {None: "score", "identity": "prediction", "log": "logarithm of the prediction"}


def shape_models(estimator: Any, *, include_axes: bool = False) -> list[ShapeModel]:
    """Return the shape models of a fitted estimator: one for two classes, else one per class.

    With ``include_axes``, the shape functions along the axes of a `PerceptronSVC` are accepted.
    """
    if hasattr(estimator, "_fitted_attribute"):
        check_is_fitted(estimator, estimator._fitted_attribute)
    models = getattr(estimator, "shapes_", None)
    if models is None and include_axes:
        models = getattr(estimator, "axis_shapes_", None)
    if models is None:
        raise ValueError(f"{type(estimator).__name__} has no curves; {_remedy(estimator)}.")
    return models if isinstance(models, list) else [models]


def _remedy(estimator: Any) -> str:
    if hasattr(estimator, "best_estimator_"):
        return "pass its best_estimator_"
    if hasattr(estimator, "estimators_"):
        return "combine the scores of stump ensembles that are trained on all features"
    if hasattr(estimator, "include_axes"):
        return "use a stump ensemble such as StumpSVC, or include_axes=True for plots of the axes"
    return "use a stump ensemble such as StumpSVC"


def feature_names(features: Sequence[Feature]) -> list:
    """Return the names of the features; x0, x1 and so on for features without a name."""
    return [f"x{d}" if feature.name is None else feature.name for d, feature in enumerate(features)]


def feature_index(features: Sequence[Feature], feature: Any) -> int:
    """Return the index of a feature that is given by name or by index."""
    names = feature_names(features)
    if feature in names:
        return names.index(feature)
    if isinstance(feature, int | np.integer) and not isinstance(feature, bool):
        if 0 <= feature < len(names):
            return int(feature)
        raise ValueError(
            f"feature={feature}: the model has {len(names)} features; pass a name or an index from "
            f"0 to {len(names) - 1}."
        )
    raise ValueError(
        f"feature={feature!r} is not among the {len(names)} features; "
        f"{suggest_name(feature, names)}."
    )


def class_labels(estimator: Any) -> np.ndarray:
    """Return the classes of a fitted classifier; none for a regressor."""
    return getattr(estimator, "classes_", np.empty(0))


def sum_name(estimator: Any) -> str:
    """Return what the contributions of a fitted model add up to.

    Returns
    -------
    str
        "score", for a regressor "prediction", and with a log link "logarithm of the prediction".
    """
    return _SUMS[getattr(estimator, "link_", None)]


def class_model_indices(classes: np.ndarray, n_models: int, class_label: Any) -> list[int]:
    """Return the indices of the shape models of a class, all of them for None."""
    labels = classes.tolist()[1:] if n_models == 1 else classes.tolist()
    if class_label is None:
        return list(range(n_models))
    if class_label not in labels:
        remedy = f"pass one of {labels}" if labels else "a regressor has no classes: pass None"
        raise ValueError(f"class_label={class_label!r} has no curves; {remedy}.")
    return [labels.index(class_label)]


def training_density(estimator: Any) -> tuple[RowDensity, ...]:
    """Return the density of the training samples in each feature."""
    density = getattr(estimator, "density_", None)
    if density is None:
        raise ValueError(
            f"{type(estimator).__name__} has no density_ of its training samples; pass samples to "
            f"explain_global(X), or fit again."
        )
    return density


def surface_weights(estimator: Any, n_surfaces: int) -> tuple[np.ndarray, ...]:
    """Return the weight of the training samples at each grid point of each surface."""
    weights = getattr(estimator, "surface_density_", ())
    if len(weights) != n_surfaces:
        raise ValueError(
            f"{type(estimator).__name__} has no surface_density_ of its training samples for its "
            f"{n_surfaces} interactions; pass samples to explain_global(X), or fit again."
        )
    return weights


def certificate_and_path(model: Any) -> dict[str, Any]:
    """Return the certificate, the C path, measure and feature weights of a model, if it has them.

    Returns
    -------
    dict
        ``certificate``: that of the class with the largest duality gap, whose label is ``class`` if
        there are several, and ``over``, the kind of model over which it is optimal; ``path``: the
        values of C, the mean and standard deviation of their scores, the name of the score, and
        the chosen C, and whether it ``is_continued``: began at the C of an earlier path;
        ``measure``, if two were compared: the ``chosen`` one, ``instead_of`` which other one, the
        name of the score (``scoring``) and the number of folds (``n_folds``) that decided, whether
        they did so ``with_interactions``, and whether the first measure ``was_exchanged``;
        ``feature_weights``: the weight of each feature by name, unless all are 1.
    """
    record: dict[str, Any] = {}
    certificates: Any = getattr(model, "certificate_", None)
    if certificates is not None:
        certificates = certificates if isinstance(certificates, list) else [certificates]
        weakest = max(certificates, key=lambda certificate: certificate.gap)
        over = getattr(model, "_optimum_over", "other solution")
        if getattr(model, "interactions_", None):
            over += " and products of stumps"
        record["certificate"] = asdict(weakest) | {"over": over}
        if len(certificates) > 1:
            record["certificate"]["class"] = model.classes_.tolist()[certificates.index(weakest)]
    results = getattr(model, "cv_results_", None)
    # A single value of C is not a choice.
    if results is not None and len(results.get("param_C", ())) > 1 and hasattr(model, "C_"):
        record["path"] = _path(model, results, "C", model.C_)
        record["path"]["is_continued"] = _is_continued(model)
    if hasattr(model, "measure_cv_results_"):
        record["measure"] = _measure(model)
    weights = getattr(model, "feature_weights_", None)
    if weights is not None and np.any(weights != 1):
        names = map(str, feature_names(model.feature_info_))
        record["feature_weights"] = dict(zip(names, weights.tolist(), strict=True))
    return record


def _is_continued(model: Any) -> bool:
    """Whether the path of C began at the best value of a path with another measure or weights."""
    has_weights = np.any(getattr(model, "feature_weights_", 1.0) != 1.0)
    results = getattr(model, "measure_cv_results_", None)
    return bool(has_weights or (results is not None and _is_exchange(results)))


def _is_exchange(results: dict[str, Any]) -> bool:
    """Whether the second of two measures was chosen."""
    return bool(results["chosen"] != results["param_measure"][0])


def _measure(model: Any) -> dict[str, Any]:
    """Return the chosen measure, and in which comparison it was better than another one."""
    results = model.measure_cv_results_
    with_interactions = getattr(model, "interaction_measure_cv_results_", results)
    is_changed = _is_exchange(with_interactions)
    decisive = with_interactions if is_changed else results
    (other,) = {*decisive["param_measure"].tolist()} - {decisive["chosen"]}
    return {
        "chosen": decisive["chosen"],
        "instead_of": other,
        "with_interactions": is_changed and with_interactions is not results,
        "was_exchanged": _is_exchange(results) or is_changed,
        "scoring": model.scoring_,
        "n_folds": decisive["n_splits"],
    }


def strength_and_path(model: Any) -> dict[str, Any]:
    """Return the strength of the interactions of a model and its path, if it has them.

    Returns
    -------
    dict
        ``interactions``: the ``strength``, and if it was chosen the ``path``, like that of C, with
        the number of folds, ``n_folds``; ``refined_C``, if C was chosen once more with them;
        ``chosen_from``, how many interactions there were, if fewer were chosen.
    """
    strength = getattr(model, "interaction_strength_", None)
    results = getattr(model, "interaction_cv_results_", None)
    if strength is None or (results is None and not model.interactions_):
        return {}
    record: dict[str, Any] = {"strength": float(strength)}
    if results is not None:
        path = _path(model, results, "interaction_strength", strength)
        record["path"] = {
            "strength": path.pop("interaction_strength"),
            **path,
            "n_folds": int(results["n_splits"]),
        }
    if hasattr(model, "refined_cv_results_"):
        record["refined_C"] = float(model.C_)
    numbers = getattr(model, "number_cv_results_", None)
    if numbers is not None and numbers["chosen"] < numbers["param_n_interactions"].max():
        record["chosen_from"] = int(numbers["param_n_interactions"].max())
    return {"interactions": record}


def _path(model: Any, results: dict[str, Any], name: str, chosen: float) -> dict[str, Any]:
    return {
        name: results[f"param_{name}"].tolist(),
        "mean": results["mean_test_score"].tolist(),
        "std": results["std_test_score"].tolist(),
        "scoring": getattr(model, "scoring_", "accuracy"),  # absent in earlier model files
        # Absent in earlier model files, where the last choice was the only one.
        "chosen": float(results.get("chosen", chosen)),
    }
