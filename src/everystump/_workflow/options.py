"""What the user specifies about a file, its columns, the task, and the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from everystump._text import InvalidInputError

CLASSIFICATION, REGRESSION = "classification", "regression"
LOSSES = (
    "squared",
    "huber",
    "absolute",
    "quantile",
    "epsilon_insensitive",
    "poisson",
    "gamma",
)
"""The losses of a regression."""
EPSILON_LOSSES = ("epsilon_insensitive", "huber")
"""Those with a parameter epsilon."""
LOG_LOSSES = ("poisson", "gamma")
"""Those with a log link, whose predictions are positive."""
NUMBER_PATTERN = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
"""A regular expression of finite numbers in options."""


@dataclass(frozen=True)
class Dialect:
    """How a text file is written; options that are not set are detected.

    Attributes
    ----------
    delimiter : str or None
        Separator of cells.
    decimal : str or None
        Decimal separator, a point or a comma.
    encoding : str or None
        Text encoding; UTF-8 by default.
    missing : tuple of str
        Cells that are missing values, in addition to empty ones; common spellings by default.
    usual_decimal : str or None
        Decimal separator of similar files, for a file in which it is ambiguous.
    """

    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    missing: tuple[str, ...] = ()
    usual_decimal: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the options that are set as plain data."""
        return {name: value for name, value in asdict(self).items() if value}

    def with_defaults(self, stored: dict[str, Any]) -> Dialect:
        """Return a copy in which options that are not set have stored values."""
        both = {**stored, **self.as_dict()}
        return Dialect(**{**both, "missing": tuple(both.get("missing", ()))})


@dataclass(frozen=True)
class ColumnOptions:
    """Choices of the user that override the inferred schema.

    Attributes
    ----------
    drop, use : sequence of str
        Columns to drop, and columns to keep that would be dropped automatically.
    categorical, numeric : sequence of str
        Columns to treat as categorical or as numeric.
    positive : str or None
        Label of the positive class.
    task : str or None
        "classification" or "regression"; the target decides if None.
    sample_weight : str or None
        Column with the weights of the rows, which is not a feature.
    """

    drop: Sequence[str] = ()
    use: Sequence[str] = ()
    categorical: Sequence[str] = ()
    positive: str | None = None
    numeric: Sequence[str] = ()
    task: str | None = None
    sample_weight: str | None = None

    def row_columns(self, target: str) -> list[str]:
        """Return the columns that are not features: the target and the weights."""
        return [target] if self.sample_weight is None else [target, self.sample_weight]

    def check(self, target: str) -> None:
        """Raise if a column has two roles."""
        if self.sample_weight is None:
            return
        option = f"--sample-weight {self.sample_weight}"
        if self.sample_weight == target:
            raise InvalidInputError(f"{option} is also the --target; name another column.")
        others = {"drop": self.drop, "use": self.use, "categorical": self.categorical}
        for name, columns in (others | {"numeric": self.numeric}).items():
            if self.sample_weight in columns:
                raise InvalidInputError(f"{option} is also in --{name}; omit one of them.")


def resolve_task(requested: str | None, implied: Mapping[str, str]) -> str | None:
    """Return the task that options ask for, None if they leave it to the target.

    Parameters
    ----------
    requested : str or None
        The value of ``--task``, unless it is "auto".
    implied : mapping of str to str
        Other options, such as ``--loss huber``, and the task that they are for.

    Examples
    --------
    >>> resolve_task(None, {"--loss huber": "regression"})
    'regression'
    """
    tasks = {} if requested is None else {f"--task {requested}": requested}
    tasks |= implied
    first = next(iter(tasks), None)
    if first is None:
        return None
    for option, task in tasks.items():
        if task != tasks[first]:
            raise InvalidInputError(
                f"{option} is for {task}, but {first} is for {tasks[first]}; omit one of them."
            )
    return tasks[first]


@dataclass(frozen=True)
class LossOptions:
    """The loss of a regression; that of the model if None.

    Attributes
    ----------
    loss : str or None
        One of `LOSSES`.
    quantile : float or None
        The quantile to predict, if the loss is "quantile".
    epsilon : float or None
        The width of the loss "epsilon_insensitive" or "huber", in units of the target's scale.
    """

    loss: str | None = None
    quantile: float | None = None
    epsilon: float | None = None

    @classmethod
    def parse(
        cls, loss: str | None, quantile: float | None, epsilon: float | None = None
    ) -> LossOptions:
        """Return the options; a quantile alone implies its loss."""
        if epsilon is not None and loss not in EPSILON_LOSSES:
            other = f", not {loss}" if loss else ""
            raise InvalidInputError(
                f"--epsilon {epsilon:g} needs --loss {' or '.join(EPSILON_LOSSES)}{other}."
            )
        if quantile is not None and loss not in (None, "quantile"):
            raise InvalidInputError(
                f"--quantile {quantile:g} needs --loss quantile, not {loss}; omit one of them."
            )
        if loss == "huber" and epsilon == 0:
            raise InvalidInputError(
                "--epsilon 0: --loss huber would be 0 for every prediction; pass a positive "
                "number, or --loss absolute."
            )
        implied = "quantile" if loss is None and quantile is not None else loss
        return cls(implied, quantile, epsilon)

    def check_target(self, name: str, lowest: float) -> None:
        """Raise if the lowest number of a target is too low for the loss."""
        if self.loss == "poisson" and lowest < 0:
            raise InvalidInputError(
                f"--loss poisson needs numbers that are not negative, but {name!r} has "
                f"{lowest:g}; use --loss squared."
            )
        if self.loss == "gamma" and lowest <= 0:
            other = "poisson" if lowest == 0 else "squared"
            raise InvalidInputError(
                f"--loss gamma needs positive numbers, but {name!r} has {lowest:g}; use --loss "
                f"{other}."
            )

    @property
    def params(self) -> dict[str, Any]:
        """The parameters of the estimator that are set."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True)
class InteractionOptions:
    """The interactions of features that the user asks for.

    Attributes
    ----------
    which : int, "auto" or list of tuple
        As the parameter ``interactions`` of the estimators; pairs are given by column names.
    strength : float or None
        Strength of the interactions; chosen by cross-validation if None.
    """

    which: int | str | list[tuple[Any, ...]] = 0
    strength: float | None = None

    @classmethod
    def parse(cls, text: str, strength: float | None = None) -> InteractionOptions:
        """Return the options of a text: a number, ``auto``, or pairs such as ``a:b,c:d``.

        Examples
        --------
        >>> InteractionOptions.parse("12").which, InteractionOptions.parse("age:job, a:b:c").which
        (12, [('age', 'job'), ('a', 'b', 'c')])
        """
        text = text.strip()
        if text == "auto":
            return cls(text, strength)
        if text.isdecimal():
            return cls(int(text), strength)
        terms = [tuple(name.strip() for name in part.split(":")) for part in text.split(",")]
        for term in terms:
            _check_term(term, text)
        for k, term in enumerate(terms):
            if set(term) in [set(other) for other in terms[:k]]:
                raise InvalidInputError(
                    f"--interactions: {':'.join(term)} is listed twice; remove one of them."
                )
        return cls(terms, strength)

    @property
    def is_none(self) -> bool:
        """Whether there are no interactions."""
        return self.which in (0, [])

    @property
    def names(self) -> list[Any]:
        """The columns of listed interactions."""
        terms = self.which if isinstance(self.which, list) else []
        return [name for term in terms for name in term]


def _check_term(term: tuple[str, ...], text: str) -> None:
    """Raise unless a term has two or three different names."""
    if len(term) == 1 or not all(term):
        raise InvalidInputError(
            f"--interactions {text!r} must be 0, a number of pairs, auto, or pairs of columns such "
            f"as age:income,age:job, whose names have no comma or colon."
        )
    if len(term) > 3:
        raise InvalidInputError(
            f"--interactions: {':'.join(term)} has {len(term)} columns; an interaction has two or "
            f"three."
        )
    if len(set(term)) < len(term):
        raise InvalidInputError(
            f"--interactions: {':'.join(term)} contains a column twice; list different columns."
        )
