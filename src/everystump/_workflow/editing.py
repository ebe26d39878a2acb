"""Edits of the curves of a stored model, written as text such as ``age:30..40``."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from everystump._explanations.access import feature_names, shape_models
from everystump._explanations.terms import TIMES
from everystump._text import InvalidInputError, suggest_name
from everystump._workflow.errors import input_errors
from everystump._workflow.options import NUMBER_PATTERN

_RANGE = re.compile(
    rf"(?P<name>.+):(?P<low>{NUMBER_PATTERN})?\.\.(?P<high>{NUMBER_PATTERN})?", re.DOTALL
)
_MAX_FEATURES = 3  # of an interaction
# What a model knows about rows, but which was determined before its edits.
_OUTDATED = ("error", "evaluated", "figures", "importances", "bounds", "interval", "certificate")


def _arguments(low: str, high: str) -> Callable[[float | None, float | None], dict[str, Any]]:
    return lambda bottom, top: {low: bottom, high: top}


@dataclass(frozen=True)
class EditKind:
    """A kind of edit.

    Attributes
    ----------
    method : str
        The method of the estimators that returns an edited copy.
    range : {"none", "optional", "required"}
        Whether it has a range ``low..high``.
    arguments : callable
        Returns the arguments of the method for the ends of a range.
    example : str
        How it is written.
    needs_order : bool
        Whether the range is one of values of the feature, not of contributions.
    """

    method: str
    range: str
    arguments: Callable[[float | None, float | None], dict[str, Any]]
    example: str
    needs_order: bool = True


KINDS = {
    "flatten": EditKind("flatten_curve", "optional", _arguments("low", "high"), "age:30..40"),
    "remove": EditKind("remove_feature", "none", lambda low, high: {}, "age"),
    "cap": EditKind(
        "cap_curve", "required", _arguments("lowest", "highest"), "age:-0.5..0.5", needs_order=False
    ),
    "freeze": EditKind("freeze_curve", "required", _arguments("low", "high"), "age:..70"),
}
"""The kinds of edits by the names of their options."""


@dataclass(frozen=True)
class Edit:
    """An edit of a curve or a surface."""

    kind: str
    text: str

    @property
    def option(self) -> str:
        """The option as the user wrote it."""
        return f"--{self.kind} {self.text}"

    def check(self) -> None:
        """Raise if the text is invalid, whatever the model."""
        kind = KINDS[self.kind]
        found = _RANGE.fullmatch(self.text)
        ends = [] if found is None else [end for end in found.group("low", "high") if end]
        if not self.text.strip():
            raise InvalidInputError(f"--{self.kind}: name a column, such as {kind.example}.")
        if (kind.range == "required" and not ends) or (found is not None and not ends):
            raise InvalidInputError(
                f"{self.option}: add a range of numbers, such as {kind.example}; one of its ends "
                f"may be omitted."
            )
        for end in ends:
            if not math.isfinite(float(end)):
                raise InvalidInputError(f"{self.option}: {end} is too large; omit this end.")
        if len(ends) == 2 and float(ends[0]) > float(ends[1]):
            raise InvalidInputError(
                f"{self.option}: the range starts at {ends[0]} and ends at {ends[1]}; swap them."
            )

    def apply(self, model: Any) -> tuple[Any, tuple[str, ...]]:
        """Return an edited copy of a model, and the names of the features of the edited term."""
        kind, terms = KINDS[self.kind], _terms(model)
        name, low, high = self.text, None, None
        found = _RANGE.fullmatch(self.text)
        if found is not None and _find_term(self.text, terms) is None:
            if kind.range == "none":
                raise InvalidInputError(
                    f"{self.option}: a feature is removed as a whole; omit the range, or pass "
                    f"--flatten."
                )
            name = found["name"]
            low, high = (None if end is None else float(end) for end in found.group("low", "high"))
        term = _find_term(name, terms)
        if term is None:
            known = [TIMES.join(own) for own in terms]
            raise InvalidInputError(
                f"{self.option}: the model has no feature or interaction {name!r}; "
                f"{suggest_name(name, known)}."
            )
        has_range = low is not None or high is not None
        if len(term) > 1 and (has_range or kind.range == "required"):
            raise InvalidInputError(
                f"{self.option}: an interaction is flattened or removed as a whole; omit the "
                f"range, or name a single column."
            )
        if has_range and kind.needs_order and _is_category(model, term[0]):
            raise InvalidInputError(
                f"{self.option}: {term[0]!r} is a category, whose levels have no order; pass "
                f"--flatten {term[0]}, --cap or --remove."
            )
        target = term if len(term) > 1 else term[0]
        try:
            with input_errors():
                return getattr(model, kind.method)(target, **kind.arguments(low, high)), term
        except InvalidInputError as error:
            text = str(error).removeprefix("feature=").replace(", or use set_curve", "")
            raise InvalidInputError(f"{self.option}: {text}") from error


@dataclass(frozen=True)
class Change:
    """What an edit did: its description, and the range of contributions before and after it."""

    edit: str
    before: tuple[float, float]
    after: tuple[float, float]

    def as_dict(self) -> dict[str, Any]:
        """Return the change as plain data."""
        return {"edit": self.edit, "before": list(self.before), "after": list(self.after)}


def edit_model(model: Any, edits: Sequence[Edit]) -> tuple[Any, list[Change]]:
    """Return an edited copy of a model, and what each edit changed, in the given order.

    What is stored about the model is kept, except for results that its edits invalidate.
    """
    edited, changes = model, []
    for edit in edits:
        before = edited
        edited, term = edit.apply(before)
        changes.append(Change(edited.edits_[-1], _range(before, term), _range(edited, term)))
    about = getattr(model, "about_", None)
    if about is not None:
        edited.about_ = {key: value for key, value in about.items() if key not in _OUTDATED}
        if "interactions" in about:
            names = [str(name) for name in feature_names(edited.feature_info_)]
            left = [[names[d] for d in term] for term in edited.interactions_]
            edited.about_["interactions"] = about["interactions"] | {"features": left}
    return edited, changes


def _terms(model: Any) -> list[tuple[str, ...]]:
    """Return the names of the features of each term of a model."""
    names = [str(name) for name in feature_names(model.feature_info_)]
    return [tuple(names[d] for d in term) for term in shape_models(model)[0].terms]


def _is_category(model: Any, name: str) -> bool:
    features = model.feature_info_
    return features[list(map(str, feature_names(features))).index(name)].levels is not None


def _find_term(text: str, terms: Sequence[tuple[str, ...]]) -> tuple[str, ...] | None:
    """Return the term that a text names: a feature, ``a:b``, or ``a × b``; None if there is none.

    Examples
    --------
    >>> _find_term("b:a", [("a",), ("b",), ("a", "b")]), _find_term("a:b", [("a:b",)])
    (('a', 'b'), ('a:b',))
    """
    by_name = {frozenset(term): term for term in terms}
    for parts in [(text,), *_splits(text, TIMES), *_splits(text, ":")]:
        term = by_name.get(frozenset(part.strip() for part in parts))
        if term is not None and len(term) == len(parts):
            return term
    return None


def _splits(text: str, separator: str, n_parts: int = _MAX_FEATURES) -> Iterator[tuple[str, ...]]:
    """Yield the ways to split a text into two or more parts, which may contain the separator."""
    pieces = text.split(separator)
    for k in range(1, len(pieces)):
        first, rest = separator.join(pieces[:k]), separator.join(pieces[k:])
        yield first, rest
        if n_parts > 2:
            yield from ((first, *others) for others in _splits(rest, separator, n_parts - 1))


def _range(model: Any, term: tuple[str, ...]) -> tuple[float, float]:
    """Return the smallest and the largest contribution of a term; 0 if it was removed."""
    terms, values = _terms(model), [0.0]
    if term in terms:
        t, values = terms.index(term), []
        for own in shape_models(model):
            part = own[t] if t < len(own) else own.surfaces[t - len(own)]
            values += part.values.ravel().tolist()
            missing = getattr(part, "missing", None)
            values += [] if missing is None else [float(missing)]
    return min(values), max(values)
