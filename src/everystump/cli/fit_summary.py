"""The summary that ``everystump fit`` prints."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from everystump._text import format_percents, format_quantities, pluralize
from everystump.cli.console import metrics_text, two_columns, wrap


def summary(model: Any, out: Path, next_command: str) -> str:
    """Return the summary of a fitted model."""
    about = model.about_
    parts = [
        two_columns(
            [
                ("Model", about["model"]),
                *_score(model),
                *_optimization(about),
                *_bands(model),
                *[("Note", note) for note in about["notes"]],
            ]
        ),
        f"{_evaluation(about)}\n\n{metrics_text(about['figures'])}",
        two_columns(
            [
                *_intervals(model),
                *_bounds(about),
                ("Saved", _saved_model(about)),
                ("File", str(out)),
            ]
        ),
        f"Next: {next_command}",
    ]
    return "\n\n".join(parts)


def _score(model: Any) -> list[tuple[str, str]]:
    from everystump._explanations.access import class_labels

    classes = class_labels(model).tolist()
    return [("Score", f"above zero favors “{classes[1]}”")] if len(classes) == 2 else []


def _bands(model: Any) -> list[tuple[str, str]]:
    has_bands = getattr(model, "standard_errors_", None) is not None
    how = "from the curvature of the objective at the optimum; the report draws 95% bands"
    return [("Bands", f"standard errors of all curves {how}")] if has_bands else []


def _optimization(about: dict[str, Any]) -> list[tuple[str, str]]:
    """Return how C was chosen, and the optimality certificate."""
    pairs = []
    if "path" in about:
        path = about["path"]
        how = f"by cross-validated {_score_name(path)}"
        if path.get("is_continued", "feature_weights" in about):  # the path is short
            how = f"chosen {how}"
        else:
            how = f"the best of {len(path['C'])} values {how}"
        pairs.append(("C", f"{path['chosen']:.3g}, {how}{_refined(about)}"))
    if about.get("measure", {}).get("was_exchanged"):
        pairs.append(("Measure", _measure(about)))
    if "feature_weights" in about:
        pairs.append(("Feature weights", _weights(about["feature_weights"])))
    if "interactions" in about:
        pairs.append(("Interactions", _interactions(about["interactions"])))
    certificate = about.get("certificate")
    if certificate:
        primal, dual, gap = (certificate[key] for key in ("primal", "dual", "gap"))
        text = f"objective {primal:.6g}, proven lower bound {dual:.6g} (relative gap {gap:.1e})"
        if "class" in certificate:
            text += f", for class “{certificate['class']}”, which has the largest gap"
        pairs.append(("Certificate", text))
    return pairs


def _measure(about: dict[str, Any]) -> str:
    """Return the measure, and with which one it was compared."""
    record = about["measure"]
    score = _validated_score(record)
    how = " with interactions" if record["with_interactions"] else ""
    return f"{record['chosen']}, which is better than {record['instead_of']} by {score}{how}"


def _weights(weights: dict[str, float]) -> str:
    """Return the range of the weights of features, and which one is the largest."""
    low, largest = min(weights.values()), max(weights, key=weights.__getitem__)
    return (
        f"{low:.2g} to {weights[largest]:.2g} (“{largest}”): features with large curves are "
        f"regularized less"
    )


def _refined(about: dict[str, Any]) -> str:
    """Return the C that was chosen with interactions, if it is another one."""
    refined = about.get("interactions", {}).get("refined_C")
    is_other = refined not in (None, about["path"]["chosen"])
    return f"; {refined:.3g} with interactions" if is_other else ""


def _score_name(path: dict[str, Any]) -> str:
    from everystump._evaluation import scorer_title

    return scorer_title(path["scoring"])


def _validated_score(path: dict[str, Any]) -> str:
    """Return the name of the score of a path, and on which rows it was computed."""
    score = _score_name(path)
    return f"cross-validated {score}" if path["n_folds"] > 1 else f"{score} on a validation split"


def _interactions(record: dict[str, Any]) -> str:
    """Return how many interactions a model has, and how their strength was chosen."""
    path = record.get("path")
    by = _validated_score(path) if path else ""
    if not record["features"]:
        if not path:
            return "none: fewer than two features can interact"
        n_tried = pluralize(len(path["strength"]) - 1, "strength")
        return f"none: they do not clearly improve the {by} ({n_tried} tried)"
    n_features = [len(features) for features in record["features"]]
    counts = [(n_features.count(2), "pair"), (n_features.count(3), "triple")]
    what = " and ".join(pluralize(n, noun) for n, noun in counts if n)
    if not path:
        return f"{what} of features, strength {record['strength']:.3g}"
    chosen, final = path.get("chosen", record["strength"]), record["strength"]
    if "chosen_from" in record:
        return (
            f"{what} of features, chosen from {record['chosen_from']} by {by}; strength {final:.3g}"
        )
    how = f"the best of {len(path['strength']) - 1} strengths by {by}"
    text = f"{what} of features, strength {chosen:.3g}, {how}"
    return text if final == chosen else f"{text}; {final:.3g} at the refined C"


def _evaluation(about: dict[str, Any]) -> str:
    """Return the error or R², how it was estimated, and for which model."""
    text = _error(about["error"]) if "error" in about else _first_metric(about)
    refit = about.get("refit")
    if not refit:
        return wrap(f"{text}:")
    first = f"the model trained on {pluralize(refit['n_rows'], 'row')}, before the refit"
    return wrap(f"{text}. The metrics are those of {first}:")


def _error(error: dict[str, Any]) -> str:
    value, low, high = format_percents(error["value"], error["low"], error["high"])
    rows, _, interval = error["how"].rpartition(", ")
    return f"Error {value} ({interval} {low} to {high}; {rows})"


def _first_metric(about: dict[str, Any]) -> str:
    """Return R², or for a quantile the fraction of rows below it, with its interval."""
    from everystump._evaluation import metric_rows

    rows, _, interval = about["evaluated"].rpartition(", ")
    first = metric_rows(about["figures"])[0]
    limits = f"{interval} {first['interval']}; " if first["interval"] else ""
    return f"{first['name'][0].upper()}{first['name'][1:]} {first['value']} ({limits}{rows})"


def _intervals(model: Any) -> list[tuple[str, str]]:
    """Return the width of the prediction intervals of a regressor."""
    from everystump._workflow.evaluation import interval_of, why_no_interval

    if "baseline" not in model.about_:
        return []
    interval = interval_of(model)
    if interval is None:
        return [("No interval", why_no_interval(model))]
    width, level = format_quantities(interval.half_width)[0], f"{interval.level:.0%}"
    what = f"prediction ± {width} contains the target of {level} of new rows on average"
    return [("Interval", f"{what} (split conformal, {pluralize(interval.n_rows, 'held-out row')})")]


def _bounds(about: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the bounds that apply to the saved model and are not vacuous."""
    pairs = [
        (
            "Bound",
            f"{bound['bounded']} is at most {format_percents(bound['value'])[0]} ({bound['name']})",
        )
        for bound in about["bounds"]
        if bound["holds"] and not bound["vacuous"]
    ]
    if about.get("refit") and "error" in about:
        pairs.append(("No bound", "from held-out rows: the refitted model was trained on all rows"))
    return pairs + [
        ("No bound", f"from held-out rows: {'; '.join(bound['violations'])}")
        for bound in about["bounds"]
        if bound["name"] in ("validation_bound", "interval_bound") and not bound["holds"]
    ]


def _saved_model(about: dict[str, Any]) -> str:
    """Return which rows the saved model was trained on."""
    n_rows = pluralize(about["n_rows"], "row")
    if about.get("refit"):
        same = ["C" if "path" in about else "settings"]
        if "measure" in about:
            same.append("measure")
        if "feature_weights" in about:
            same.append("feature weights")
        if about.get("interactions", {}).get("features"):
            same.append("interactions")
        how = f"with the same {' and '.join(filter(None, [', '.join(same[:-1]), same[-1]]))}"
        return f"a model retrained on all {n_rows} {how}, not evaluated itself"
    if about["n_held_out"]:
        total = f"{about['n_rows'] + about['n_held_out']:,}"
        of = f"{about['n_rows']:,} of {total} rows"
        return f"the evaluated model, trained on {of} (pass --refit to train on all)"
    return f"a model trained on all {n_rows}; the metrics come from cross-validation"


def next_command(model: Any, data: Path | None, out: Path) -> str:
    """Return a command to try next."""
    has_curves = getattr(model, "shapes_", None) is not None
    page = ["-o", f"{out.stem}.html"] if has_curves else []
    command = "report" if has_curves else "predict"
    table = [] if data is None else [str(data)]
    return shlex.join(["everystump", command, str(out), *table, *page])
