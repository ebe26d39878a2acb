"""The sentences of the report page."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from everystump._evaluation import baseline_answer, interval_title, metric_rows
from everystump._evaluation.formatting import IN_UNITS
from everystump._text import format_number, format_percent, format_percents, pluralize
from everystump.report._key_figures import headline, key_figures


def paragraphs(
    about: Mapping[str, Any], model: Mapping[str, Any], quality: Mapping[str, Any] | None = None
) -> list[str]:
    """Return sentences on the training and the error of a model.

    ``model`` has ``estimator``, ``features``, ``classes``, and ``interactions``, the number of
    features of each; ``quality`` is that on ``X``.
    """
    kind = f"one of {len(model['classes'])} classes"
    sentences = training_sentences(about, model, kind)
    error = about.get("error")
    has_error = isinstance(error, Mapping) and error.get("value") is not None
    if isinstance(error, Mapping) and has_error:
        sentences.append(_error(error, about.get("refit")))
    if quality is not None and not (has_error and about.get("rows") == "held-out"):
        rows = pluralize(quality["n"], f"{about.get('rows') or ''} row".strip())
        percent = format_percent(quality["n_wrong"] / quality["n"])
        sentences.append(
            f"Of the {rows} in this report, it misclassifies "
            f"{format_number(quality['n_wrong'])} ({percent})."
        )
    rule = _decision_rule(model["classes"], bool(model["interactions"]))
    return [*sentences, *closing_sentences(about, model, rule)]


def training_sentences(
    about: Mapping[str, Any], model: Mapping[str, Any], predicted: str
) -> list[str]:
    """Return sentences on the training of a model, and on its interactions.

    ``predicted`` is the kind of its predictions, in case the target is unknown.
    """
    return [_training(about, model, predicted), *_interactions(model["interactions"])]


def closing_sentences(about: Mapping[str, Any], model: Mapping[str, Any], rule: str) -> list[str]:
    """Return a warning if training rows leaked, the rule of prediction, and the kind of model."""
    warning = about.get("leakage_warning")
    kind = f"Model: {about.get('model') or model['estimator']}."
    return [*([f"Warning: {warning}"] if warning else []), rule, kind]


def _training(about: Mapping[str, Any], model: Mapping[str, Any], predicted: str) -> str:
    features = pluralize(model["features"], "feature")
    if about.get("target") is not None:
        text = f"The model predicts “{about['target']}” from {features}."
    else:
        text = f"The model predicts {predicted} from {features}."
    rows = about.get("n_rows")
    source = [f"{format_number(rows)} rows"] if rows is not None else []
    source += [str(about["data"])] if about.get("data") is not None else []
    held_out = about.get("n_held_out")
    more = f"; {format_number(held_out)} more rows were held out for testing" if held_out else ""
    return f"{text} It was trained on {' of '.join(source)}{more}." if source else text


def _interactions(orders: list[int]) -> list[str]:
    """Return a sentence on interactions, given the number of features of each.

    Examples
    --------
    >>> _interactions([2, 2, 3])
    ['It has 2 interactions of two features and 1 interaction of three features: what features
    contribute together, beyond their own curves.']
    """
    counts = [(orders.count(2), "two"), (orders.count(3), "three")]
    kinds = [f"{pluralize(n, 'interaction')} of {words} features" for n, words in counts if n]
    meaning = "what features contribute together, beyond their own curves"
    return [f"It has {' and '.join(kinds)}: {meaning}."] if kinds else []


def _decision_rule(labels: list[str], has_interactions: bool) -> str:
    if len(labels) == 2:
        subject = "Each feature and each interaction" if has_interactions else "Each feature"
        return (
            f"{subject} adds to the score or subtracts from it. A score above zero favors "
            f"“{labels[1]}”, and a score below zero favors “{labels[0]}”."
        )
    parts = "features and interactions" if has_interactions else "features"
    return (
        f"Each of the {len(labels)} classes has a score, the sum of an intercept and the "
        f"contributions of the {parts}; the class with the largest score is predicted."
    )


def _error(error: Mapping[str, Any], refit: Mapping[str, Any] | None) -> str:
    start, rows = "It misclassifies", "rows it was not trained on"
    if error.get("approximate"):
        start = "In cross-validation, models trained the same way misclassify"
        rows = "rows in the held-out folds"
    elif refit:
        n_rows = pluralize(refit["n_rows"], "row")
        start = (
            f"It was trained on all rows after a first model, trained on {n_rows}, had been "
            f"evaluated on the others; error, metrics and C path are those of the first model, "
            f"which misclassifies"
        )
    value, *limits = _error_percents(error)
    how = str(error.get("how") or "")
    head, _, name = how.rpartition(", ")
    evaluated, name = (head, name) if name.endswith("interval") else (how, "95% interval")
    text = f"{start} {value} of the {rows}{f' ({evaluated})' if evaluated else ''}"
    if limits:
        text += f"; the {name} of the error on new rows is {limits[0]} to {limits[1]}"
    return f"{text}."


def _error_percents(error: Mapping[str, Any]) -> list[str]:
    """Return an error in percent, followed by the ends of its interval if it has one."""
    low, high = error.get("low"), error.get("high")
    return format_percents(error["value"], *(() if low is None or high is None else (low, high)))


def metrics_table(
    about: Mapping[str, Any], quality: Mapping[str, Any] | None
) -> dict[str, Any] | None:
    """Return the table of metrics; see `select_metrics`.

    Returns
    -------
    dict or None
        ``title``: the rows it was evaluated on; ``always``: the prediction of the baseline;
        ``interval``: the title of the intervals; ``rows``: see
        `everystump._evaluation.metric_rows`; ``key``: the most important ones, see `key_figures`;
        ``headline``: see `headline`.
    """
    found, title = select_metrics(about, (quality or {}).get("metrics"))
    if found is None:
        return None
    interval, unit = interval_title(found), about.get("unit")
    rows = _add_unit(metric_rows(found), found, unit)
    return {
        "title": title,
        "always": f"always {baseline_answer(found)}",
        "interval": interval,
        "rows": list(rows.values()),
        "key": key_figures(rows, interval),
        "headline": headline(found, unit),
    }


def _add_unit(
    rows: list[dict[str, str]], found: Mapping[str, Any], unit: Any
) -> dict[str, dict[str, str]]:
    """Return rows by metric, with the unit of the target in the names of metrics that have it."""
    in_unit = "" if unit is None else f" ({unit})"
    return {
        name: row | {"name": row["name"] + (in_unit if name in IN_UNITS else "")}
        for name, row in zip(found["figures"], rows, strict=True)
    }


def select_metrics(
    about: Mapping[str, Any], found: Mapping[str, Any] | None
) -> tuple[Mapping[str, Any] | None, str]:
    """Return the metrics to show, None if there are none, and the rows they were evaluated on.

    These are the metrics on the rows of ``X``, unless those are training rows and the model stores
    metrics on held-out rows.
    """
    is_training, stored = about.get("rows") == "training", about.get("figures")
    if stored and (found is None or is_training):
        return stored, _fit_evaluation(about)
    if not found:
        return None, ""
    rows = pluralize(found["n_rows"], f"{about.get('rows') or ''} row".strip())
    title = f"Evaluated on {rows}"
    if is_training:
        title += " (optimistic)"
    elif about.get("leakage_warning"):
        title += " (possibly optimistic)"
    return found, title


def _fit_evaluation(about: Mapping[str, Any]) -> str:
    """Return the rows that the metrics of the fit were evaluated on."""
    n_rows, refit = about["figures"]["n_rows"], about.get("refit")
    is_weighted = about["figures"].get("weighted")
    weights = f", weighted by {about.get('sample_weight')}" if is_weighted else ""
    if refit:
        rows, held_out = pluralize(refit["n_rows"], "row"), pluralize(n_rows, "held-out row")
        return f"First model, trained on {rows}, evaluated on {held_out}{weights}"
    if about.get("n_held_out"):
        return f"Evaluated on {pluralize(n_rows, 'held-out row')}{weights}"
    return f"Evaluated by cross-validation on {pluralize(n_rows, 'row')}{weights}"


def certificate_sentence(certificate: Mapping[str, Any]) -> str:
    """Return the meaning of an optimality certificate.

    Examples
    --------
    >>> certificate = {"primal": 0.57561, "dual": 0.57532, "gap": 0.0005, "converged": True}
    >>> certificate_sentence(certificate)
    'No ensemble of stumps can have an objective below 0.57532 (proven lower bound); this one has
    0.57561, so it is within 0.05% of the optimum.'
    """
    primal, dual, gap = (certificate.get(key) for key in ("primal", "dual", "gap"))
    if primal is None or dual is None or gap is None:
        return "The training has no optimality certificate."
    digits = _shown_digits(primal, dual)
    whose = f" (class “{certificate['class']}”)" if certificate.get("class") is not None else ""
    over = certificate.get("over") or "ensemble of stumps"
    text = (
        f"No {over} can have an objective below {format_number(dual, digits)} (proven lower "
        f"bound); this one has {format_number(primal, digits)}{whose}, so it is within "
        f"{format_percent(gap)} of the optimum."
    )
    if certificate.get("converged") is False:
        text += " The training stopped before it reached the requested tolerance."
    return text


def _shown_digits(primal: float, dual: float) -> int:
    """Return how many digits show the difference of two numbers to about a tenth of it."""
    if primal == dual or primal == 0.0:
        return 4
    return min(12, max(4, 2 + math.floor(math.log10(abs(primal / (primal - dual))))))


def bound_sentence(bound: Mapping[str, Any]) -> str:
    """Return the meaning of a bound on the error.

    Examples
    --------
    >>> bound_sentence({"name": "loo_bound", "value": 0.31, "holds": True, "vacuous": False})
    'Leave-one-out bound: the error is at most 31.0%.'
    """
    name = str(bound.get("name") or "bound").replace("_", " ").replace("loo", "leave-one-out")
    name = name[:1].upper() + name[1:]
    if bound.get("value") is None:
        return f"{name}: no value."
    what = bound.get("bounded") or "the error"
    value = format_percents(max(0.0, bound["value"]))[0]
    if bound.get("holds") is False:
        why = "; ".join(str(violation) for violation in bound.get("violations") or [])
        text = f"{name}: {what} is at most {value} (assumptions violated: an estimate, not a bound"
        return f"{text}; {why})." if why else f"{text})."
    text = f"{name}: {what} is at most {value}"
    if bound.get("vacuous"):
        return f"{text}, which is vacuous: no error is larger than 100%."
    return f"{text}."
