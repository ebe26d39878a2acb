"""What the page says in sentences, from what is known about a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from everystump._evaluation import baseline_warning, interval_title, metric_rows
from everystump._text import format_number, format_percent, format_percents, pluralize


def paragraphs(
    about: Mapping[str, Any], model: Mapping[str, Any], quality: Mapping[str, Any] | None = None
) -> list[str]:
    """Return what was trained on what, and what is known of its error, in sentences.

    Parameters
    ----------
    about : dict
        See `everystump.report.summarize`, as plain data.
    model : dict
        ``estimator``, ``features`` and ``classes`` of the model.
    quality : dict, optional
        ``n`` and ``n_wrong`` of given rows.

    Examples
    --------
    >>> about = {"data": "loans.csv", "target": "paid", "n_rows": 900}
    >>> model = {"estimator": "StumpSVC", "features": 20, "classes": ["no", "yes"]}
    >>> paragraphs(about, model)[0]
    'The model predicts “paid” from 20 features. It was trained on 900 rows of loans.csv.'
    """
    sentences = [_trained(about, model)]
    error = about.get("error")
    is_measured = isinstance(error, Mapping) and error.get("value") is not None
    if isinstance(error, Mapping) and is_measured:
        sentences.append(_error(error, about.get("refit")))
    if quality is not None and not (is_measured and about.get("rows") == "held-out"):
        rows = pluralize(quality["n"], f"{about.get('rows') or ''} row".strip())
        sentences.append(
            f"Of the {rows} that this page was given, it predicts the wrong class for "
            f"{format_number(quality['n_wrong'])}, which is "
            f"{format_percent(quality['n_wrong'] / quality['n'])}."
        )
    if about.get("leakage_warning"):
        sentences.append(f"Beware: {about['leakage_warning']}")
    return [*sentences, _decides(model["classes"]), _kind(about, model["estimator"])]


def _trained(about: Mapping[str, Any], model: Mapping[str, Any]) -> str:
    n = model["features"]
    by = f"{n} feature{'s' if n != 1 else ''}"
    if about.get("target") is not None:
        text = f"The model predicts “{about['target']}” from {by}."
    else:
        text = f"The model tells {len(model['classes'])} classes apart by {by}."
    rows = about.get("n_rows")
    given = [f"{format_number(rows)} rows"] if rows is not None else []
    given += [str(about["data"])] if about.get("data") is not None else []
    held_out = about.get("n_held_out")
    more = f"; {format_number(held_out)} more rows were held out to test it" if held_out else ""
    return f"{text} It was trained on {' of '.join(given)}{more}." if given else text


def _decides(labels: list[str]) -> str:
    if len(labels) == 2:
        return (
            f"Each feature adds a number to the score or takes one away. A score above zero "
            f"favors “{labels[1]}”, one below zero “{labels[0]}”."
        )
    return (
        f"Each of the {len(labels)} classes has a score, to which each feature adds a number or "
        f"takes one away; the class with the largest score is predicted."
    )


def _kind(about: Mapping[str, Any], estimator: str) -> str:
    return f"Kind of model: {about.get('model') or estimator}."


def _error(error: Mapping[str, Any], refit: Mapping[str, Any] | None) -> str:
    who = "It predicts the wrong class for"
    if refit:
        n_rows = pluralize(refit["n_rows"], "row")
        who = (
            f"It was trained on all rows after a first model, of {n_rows}, had been measured on "
            f"the others; error, figures and path of C are those of the first model, which "
            f"predicts the wrong class for"
        )
    value, *interval = _error_shares(error)
    text = f"{who} {value} of the rows it was not trained on"
    if interval:
        text += f"; on new rows, this is likely between {interval[0]} and {interval[1]}"
    return f"{text} ({error['how']})." if error.get("how") else f"{text}."


def _error_shares(error: Mapping[str, Any]) -> list[str]:
    """Return an error in text, then the ends of its interval, if it has one."""
    low, high = error.get("low"), error.get("high")
    return format_percents(error["value"], *(() if low is None or high is None else (low, high)))


def measured(about: Mapping[str, Any], quality: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the table of figures: those of given rows, unless the model learned from these.

    Returns
    -------
    dict or None
        ``title``: what they were measured on; ``always``: the answer of the baseline;
        ``interval``: the title of the intervals; ``rows``: see
        `everystump._evaluation.metric_rows`; ``verdict``: a sentence if the baseline is not beaten,
        else None.

    Examples
    --------
    >>> accuracy = {"value": 0.9, "low": 0.8, "high": 0.95, "baseline": 0.6}
    >>> found = {"figures": {"accuracy": accuracy}, "baseline": {"answer": "no"}}
    >>> found |= {"better": True, "positive": "yes", "n_rows": 80}
    >>> measured({"figures": found, "n_held_out": 80}, None)["title"]
    'Measured on 80 held-out rows'
    """
    found, title = select_metrics(about, (quality or {}).get("figures"))
    if found is None:
        return None
    return {
        "title": title,
        "always": f"always “{found['baseline']['answer']}”",
        "interval": interval_title(found),
        "rows": metric_rows(found),
        "verdict": baseline_warning(found),
    }


def select_metrics(
    about: Mapping[str, Any], found: Mapping[str, Any] | None
) -> tuple[Mapping[str, Any] | None, str]:
    """Return the figures to show, and what they were measured on.

    These are the ones found on given rows, unless the model learned from the rows and knows better
    ones; None if there are none.

    Examples
    --------
    >>> select_metrics({"rows": "held-out"}, {"n_rows": 80})
    ({'n_rows': 80}, 'Measured on 80 held-out rows')
    """
    is_training, known = about.get("rows") == "training", about.get("figures")
    if known and (found is None or is_training):
        return known, _measured_by(about)
    if not found:
        return None, ""
    rows = pluralize(found["n_rows"], f"{about.get('rows') or 'given'} row")
    title = f"Measured on {rows}"
    if is_training or about.get("leakage_warning"):
        title += f", which {'flatters' if is_training else 'may flatter'} the model"
    return found, title


def _measured_by(about: Mapping[str, Any]) -> str:
    """Return which rows the figures of the fit were measured on, and whose they are."""
    n_rows, refit = about["figures"]["n_rows"], about.get("refit")
    if refit:
        which = f"the first model, of {pluralize(refit['n_rows'], 'row')}"
        return f"Measured on {pluralize(n_rows, 'held-out row')}, with {which}"
    if about.get("n_held_out"):
        return f"Measured on {pluralize(n_rows, 'held-out row')}"
    return f"Measured by cross-validation on {pluralize(n_rows, 'row')}"


def certified(certificate: Mapping[str, Any]) -> str:
    """Return what a certificate proves.

    Examples
    --------
    >>> certified({"primal": 0.57561, "dual": 0.57532, "gap": 0.0005, "converged": True})
    'No ensemble of stumps can have an objective below 0.5753; this one has 0.5756: it is within
    0.05% of the optimum.'
    """
    primal, dual, gap = (certificate.get(key) for key in ("primal", "dual", "gap"))
    if primal is None or dual is None or gap is None:
        return "The training proved nothing of how good its solution is."
    digits = next(
        (n for n in range(4, 12) if format_number(primal, n) != format_number(dual, n)), 4
    )
    whose = f" (class “{certificate['class']}”)" if certificate.get("class") is not None else ""
    over = certificate.get("over") or "ensemble of stumps"
    text = (
        f"No {over} can have an objective below {format_number(dual, digits)}; this one has "
        f"{format_number(primal, digits)}{whose}: it is within {format_percent(gap)} of the "
        f"optimum."
    )
    if certificate.get("converged") is False:
        text += " That is less than was asked for: the training stopped early."
    return text


def bounded(bound: Mapping[str, Any]) -> str:
    """Return what a bound on the error says.

    Examples
    --------
    >>> bounded({"name": "loo_bound", "value": 0.31, "holds": True, "vacuous": False})
    'Loo bound: the error is at most 31.0%.'
    """
    name = str(bound.get("name") or "bound").replace("_", " ")
    name = name[:1].upper() + name[1:]
    if bound.get("value") is None:
        return f"{name}: no number."
    what = bound.get("bounded") or "the error"
    value = format_percents(max(0.0, bound["value"]))[0]
    if bound.get("holds") is False:
        why = "; ".join(str(one) for one in bound.get("violations") or [])
        text = f"{name}, an estimate as assumptions are violated: {what} would be at most {value}"
        return f"{text}{why and f' ({why})'}."
    text = f"{name}: {what} is at most {value}"
    if bound.get("vacuous"):
        return f"{text}, which is vacuous: no error is larger than 100%."
    return f"{text}."


def tiles(about: Mapping[str, Any]) -> dict[str, str]:
    """Return the shares that stand out on the page, in the same words as in its sentences."""
    error, certificate = about.get("error"), about.get("certificate")
    shares = {}
    if isinstance(error, Mapping) and error.get("value") is not None:
        shares["error"], *interval = _error_shares(error)
        if interval:
            likely = "likely about" if error.get("approximate") else "likely"
            shares["range"] = f"{likely} {interval[0]} to {interval[1]}"
    if isinstance(certificate, Mapping) and certificate.get("gap") is not None:
        shares["gap"] = format_percent(certificate["gap"])
    return shares
