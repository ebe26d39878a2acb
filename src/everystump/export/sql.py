"""A model as one SELECT that SQLite and DuckDB both run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from everystump.export import sqltext
from everystump.export.readable import readable
from everystump.export.record import Model, holds_text
from everystump.export.sqlterms import Lookup, Table, Terms, winner


def to_sql(
    model: Any,
    table: str | Sequence[str] = "data",
    *,
    keep: Sequence[str] | None = None,
    probability: bool = False,
) -> str:
    """Return a fitted model as one SELECT over a table with its features as columns.

    It runs in SQLite and in DuckDB, and gives the scores of Python to some 1e-9.  NULL is missing,
    and so are NaN and, in a column of numbers, text that is no number.  The columns of the answer
    are those of ``keep``, then ``score`` (for several classes ``score_`` and the class), ``label``
    and, if asked for, ``probability``.

    Parameters
    ----------
    model : estimator or Pipeline
        A fitted estimator of this package, or a pipeline that scales, fills or selects columns and
        ends in an additive one.
    table : str or sequence of str, default="data"
        The table's name; a schema and a name as two strings.
    keep : list of str, optional
        Columns of the table to pass through, such as a key: rows come in no particular order.
    probability : bool, default=False
        Whether to add the chance of ``classes_[1]``, for several classes that of each.

    Returns
    -------
    str
        The statement, without a semicolon.

    Examples
    --------
    >>> import sqlite3
    >>> from everystump import DecisionStumpClassifier
    >>> stump = DecisionStumpClassifier().fit([[0], [1], [4], [5]], ["no", "no", "yes", "yes"])
    >>> base = sqlite3.connect(":memory:")
    >>> _ = base.execute("CREATE TABLE data (id, x0)")
    >>> _ = base.execute("INSERT INTO data VALUES (7, 2.5), (8, NULL)")
    >>> base.execute(to_sql(stump, keep=["id"])).fetchall()
    [(7, 1.0, 'yes'), (8, 0.0, 'no')]
    """
    if not isinstance(probability, bool):
        raise ValueError(f"probability={probability!r} must be True or False.")
    return _Query(readable(model), _table_names(table), _kept_names(keep), probability).text()


def _table_names(table: Any) -> list[str]:
    """Return the schema and name of a table, or say what is wrong with them."""
    names = [table] if isinstance(table, str) else table
    _refuse_zeros("table", names)
    if not _is_list(names) or not 1 <= len(names) <= 2 or not _all_names(names):
        raise ValueError(
            f"table={table!r} must be the name of a table, or the names of a schema and a table; "
            f"pass 'customers' or ('main', 'customers')."
        )
    return list(names)


def _kept_names(keep: Any) -> list[str]:
    """Return the columns to pass through, or say what is wrong with them."""
    if keep is None:
        return []
    _refuse_zeros("keep", keep)
    if not _is_list(keep) or not _all_names(keep):
        raise ValueError(f"keep={keep!r} must be a list of names of columns; pass ['id'].")
    seen: set[str] = set()
    for column in keep:
        if column.lower() in seen:
            raise ValueError(
                f"keep={keep!r} names {column!r} twice, large and small letters being one to SQL; "
                f"name each column once."
            )
        seen.add(column.lower())
    return list(keep)


def _all_names(names: Sequence[Any]) -> bool:
    return all(isinstance(name, str) and name for name in names)


def _refuse_zeros(argument: str, names: Any) -> None:
    odd = [n for n in names if isinstance(n, str) and "\0" in n] if _is_list(names) else []
    if odd:
        raise ValueError(
            f"{argument} holds {odd[0]!r}, and SQL knows no zero character; remove it from the "
            f"name."
        )


def _is_list(names: Any) -> bool:
    return isinstance(names, list | tuple)


def _other_than(names: Sequence[str], start: str) -> str:
    """Return how names start that are none of the given ones."""
    while any(name.lower().startswith(start) for name in names):
        start += "_"
    return start


class _Query:
    """One SELECT after another, each adding columns to those of the one before."""

    def __init__(
        self,
        model: Model,
        table: list[str],
        keep: list[str],
        probability: bool,
    ) -> None:
        self._model = model
        self._table = table
        self._keep = keep
        self._probability = probability
        self._refuse_twins()
        self._titles = self._titles_of_scores()
        self._check_answer()

    def _refuse_twins(self) -> None:
        """Raise if SQL, to which large and small letters are one, would mix up two features."""
        seen: dict[str, str] = {}
        for feature in self._model.names:
            other = seen.setdefault(feature.lower(), feature)
            if other != feature:
                raise ValueError(
                    f"model: the features {other!r} and {feature!r} are one column to SQL; rename "
                    f"one of them and fit again."
                )

    def _titles_of_scores(self) -> list[str]:
        if self._model.body.n_scores == 1:
            return ["score"]
        titles = [f"score_{label}" for label in self._model.classes]
        if len({title.lower() for title in titles}) < len(titles):
            titles = [f"score_{k}" for k in range(len(titles))]
        return titles

    def _check_answer(self) -> None:
        """Raise if the columns that are asked for cannot be."""
        if self._probability and self._model.log_odds is None:
            raise ValueError(
                f"probability=True: {self._model.estimator} has no predict_proba; use "
                f"StumpLogisticRegression, or probability=False."
            )
        own = {title.lower() for title in [*self._titles, "label", *self._chances()]}
        for column in self._keep:
            if column.lower() in own:
                raise ValueError(
                    f"keep holds {column!r}, which the answer has as a column of its own; rename "
                    f"it in the table, or leave it out."
                )

    def _chances(self) -> list[str]:
        """Return the titles of the columns of probabilities."""
        if not self._probability:
            return []
        return [title.replace("score", "probability", 1) for title in self._titles]

    def text(self) -> str:
        """Return the whole statement."""
        names = self._table
        terms = Terms(self._model, _other_than(names, "support"), _other_than(names, "levels"))
        stage = _other_than(names, "stage")
        scores = terms.scores(self._model.body).scores
        given = [f"{self._refusing(score)} AS s{k}" for k, score in enumerate(scores)]
        stages = [
            _select(self._cast(), self._source()),
            _select(self._clean(), f"{stage}0"),
        ]
        if terms.lookups:
            stages.append(_joined(terms.lookups, f"{stage}1"))
        for columns in [
            *[["r.*", *columns] for columns in terms.stages],
            [*self._passed(), *given],
            *([["r.*", *self._log_chances(len(scores))]] if self._scaled() else []),
        ]:
            stages.append(_select(columns, f"{stage}{len(stages) - 1}"))
        tables = [*terms.tables, *(lookup.table for lookup in terms.lookups)]
        parts = [_values(table) for table in tables]
        for k, query in enumerate(stages):
            # What is looked at more than once is computed once.
            once = " MATERIALIZED" if k > 0 else ""
            parts.append(f"{stage}{k} AS{once} (\n{query}\n)")
        return "WITH " + ",\n".join(parts) + "\n" + _select(self._answer(), f"{stage}{k}")

    def _source(self) -> str:
        return ".".join(sqltext.name(part) for part in self._table)

    def _used(self) -> list[int]:
        """Return the features that the model looks at."""
        if not self._model.takes_missing:
            return list(range(len(self._model.features)))
        return sorted(self._model.body.features())

    def _passed(self) -> list[str]:
        return [f"r.k{k}" for k in range(len(self._keep))]

    def _cast(self) -> list[str]:
        """Return the columns of the table as text or numbers of double precision."""
        kept = [f"r.{sqltext.name(column)} AS k{k}" for k, column in enumerate(self._keep)]
        used = []
        for d in self._used():
            column = f"r.{sqltext.name(self._model.names[d])}"
            if holds_text(self._model.features[d]):
                # Joined to nothing it no longer has the column's rules of comparison.
                used.append(f"CAST({column} AS VARCHAR) || '' AS x{d}")
            else:
                used.append(f"{sqltext.as_double(column)} AS x{d}")
        return [*kept, *used]

    def _clean(self) -> list[str]:
        """Return the columns with NULL for what is no finite number."""
        used = [
            f"r.x{d}"
            if holds_text(self._model.features[d])
            else f"CASE WHEN r.x{d} - r.x{d} = 0e0 THEN r.x{d} END AS x{d}"
            for d in self._used()
        ]
        return [*self._passed(), *used]

    def _refusing(self, score: str) -> str:
        """Return a score that is NULL if a value is missing and none may be."""
        if self._model.takes_missing:
            return score
        there = sqltext.plus([f"r.x{d}" for d in self._used()])
        return f"CASE WHEN {there} IS NOT NULL THEN {score} END"

    def _answer(self) -> list[str]:
        """Return the columns of the answer: what is kept, scores, label and probability."""
        scores = [f"r.s{k}" for k in range(len(self._titles))]
        labels = [sqltext.label(value) for value in self._model.classes]
        return [
            *[f"r.k{k} AS {sqltext.name(column)}" for k, column in enumerate(self._keep)],
            *[f"r.s{k} AS {sqltext.name(title)}" for k, title in enumerate(self._titles)],
            f"{winner(scores, labels)} AS label",
            *[
                f"{chance} AS {sqltext.name(title)}"
                for chance, title in zip(self._probabilities(), self._chances(), strict=True)
            ],
        ]

    def _scaled(self) -> bool:
        """Tell whether probabilities of several classes are asked for, which must sum to 1."""
        return self._probability and len(self._titles) > 1

    def _log_chances(self, n_scores: int) -> list[str]:
        """Return the logarithm of the chance of each class against the rest."""
        found = []
        for k in range(n_scores):
            odds = f"{sqltext.number(self._model.log_odds or 1.0)} * r.s{k}"
            safe = f"CASE WHEN {odds} < -40e0 THEN {odds} ELSE -LN(1e0 + EXP(-({odds}))) END"
            found.append(f"{safe} AS l{k}")
        return found

    def _probabilities(self) -> list[str]:
        if not self._probability:
            return []
        if not self._scaled():
            odds = f"{sqltext.number(self._model.log_odds or 1.0)} * r.s0"
            return [f"1e0 / (1e0 + EXP(-({odds})))"]
        every = range(len(self._titles))
        return [f"1e0 / {sqltext.plus([f'EXP(r.l{j} - r.l{k})' for j in every])}" for k in every]


def _values(table: Table) -> str:
    rows = ",\n".join(f"  ({', '.join(row)})" for row in table.rows)
    return f"{table.name}({', '.join(table.columns)}) AS (VALUES\n{rows}\n)"


def _select(columns: Sequence[str], source: str) -> str:
    listed = ",\n  ".join(columns or ["1 AS one"])
    return f"SELECT\n  {listed}\nFROM {source} AS r"


def _joined(lookups: Sequence[Lookup], source: str) -> str:
    """Return the rows with what the levels of their categories add, NULL for unknown ones."""
    columns = ["r.*", *[f"l{k}.value AS u{k}" for k in range(len(lookups))]]
    joins = [
        f"\nLEFT JOIN {lookup.table.name} AS l{k} ON l{k}.level = {lookup.column}"
        for k, lookup in enumerate(lookups)
    ]
    return _select(columns, source) + "".join(joins)
