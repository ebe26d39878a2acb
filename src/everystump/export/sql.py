"""A fitted model as one SELECT statement for SQLite and DuckDB."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from everystump.export import _sql_text as sql
from everystump.export._reader import read_model
from everystump.export._record import ModelRecord, is_text
from everystump.export._sql_surfaces import Table
from everystump.export._sql_terms import Lookup, SqlTerms, by_class

# Tables are written in parts of at least this many rows: SQLite takes the number of rows of VALUES
# for the logarithm of a number, and if it is large, finds no good plan.  A UNION is limited, too.
_MIN_PART, _MAX_PARTS = 1000, 400
# What a prediction is of a score, by the link of a regressor.
_INVERSE_LINKS = {"identity": "{}", "log": "EXP({})"}


def to_sql(
    model: Any,
    table: str | Sequence[str] = "data",
    *,
    keep: Sequence[str] | None = None,
    probability: bool = False,
) -> str:
    """Return a fitted model as one SELECT over a table with its features as columns.

    It runs in SQLite and in DuckDB, and its scores agree with those in Python to about 1e-9.
    NULL and NaN are missing values, and so is text that is not a number in a numeric column.
    The result has the columns of ``keep``, then ``score`` (for several classes one column per
    class, ``score_`` and the class), ``label`` and, if requested, ``probability``.  For a
    regressor, it has ``score`` and ``prediction``, which differ if there is a log link.

    Parameters
    ----------
    model : estimator or Pipeline
        A fitted estimator of this package, or a pipeline of scalers, imputers and column selections
        that ends in an additive one.
    table : str or sequence of str, default="data"
        The name of the table, or the names of a schema and a table.
    keep : list of str, optional
        Columns of the table to pass through, such as a key: SQL returns rows in any order.
    probability : bool, default=False
        Whether to add the probability of ``classes_[1]``, or of each class if there are several;
        not for regressors.

    Returns
    -------
    str
        The statement, without a semicolon.

    Examples
    --------
    >>> import sqlite3
    >>> from everystump import DecisionStumpClassifier
    >>> stump = DecisionStumpClassifier().fit([[0], [1], [4], [5]], ["no", "no", "yes", "yes"])
    >>> database = sqlite3.connect(":memory:")
    >>> _ = database.execute("CREATE TABLE data (id, x0)")
    >>> _ = database.execute("INSERT INTO data VALUES (7, 2.5), (8, NULL)")
    >>> database.execute(to_sql(stump, keep=["id"])).fetchall()
    [(7, 1.0, 'yes'), (8, 0.0, 'no')]
    """
    if not isinstance(probability, bool):
        raise ValueError(f"probability={probability!r} must be True or False.")
    return _Query(read_model(model), _check_table(table), _check_keep(keep), probability).text()


def _check_table(table: Any) -> list[str]:
    """Return the name of a table, preceded by that of its schema if there is one."""
    names = [table] if isinstance(table, str) else table
    _check_no_nul("table", names)
    if not _is_list(names) or not 1 <= len(names) <= 2 or not _all_names(names):
        raise ValueError(
            f"table={table!r} must be the name of a table, or the names of a schema and a table; "
            f"pass 'customers' or ('main', 'customers')."
        )
    return list(names)


def _check_keep(keep: Any) -> list[str]:
    """Return the columns to pass through."""
    if keep is None:
        return []
    _check_no_nul("keep", keep)
    if not _is_list(keep) or not _all_names(keep):
        raise ValueError(f"keep={keep!r} must be a list of column names; pass ['id'].")
    names: set[str] = set()
    for column in keep:
        if column.lower() in names:
            raise ValueError(
                f"keep={keep!r} contains {column!r} twice, because SQL ignores case; name each "
                f"column once."
            )
        names.add(column.lower())
    return list(keep)


def _all_names(names: Sequence[Any]) -> bool:
    return all(isinstance(name, str) and name for name in names)


def _check_no_nul(argument: str, names: Any) -> None:
    invalid = [n for n in names if isinstance(n, str) and "\0" in n] if _is_list(names) else []
    if invalid:
        raise ValueError(
            f"{argument}: the name {invalid[0]!r} contains a NUL character, which SQL does not "
            f"allow; remove it."
        )


def _is_list(names: Any) -> bool:
    return isinstance(names, list | tuple)


def _unused_prefix(names: Sequence[str], prefix: str) -> str:
    """Return a prefix that no name starts with."""
    while any(name.lower().startswith(prefix) for name in names):
        prefix += "_"
    return prefix


class _Query:
    """A chain of SELECTs, each of which adds columns to the previous one."""

    def __init__(
        self, record: ModelRecord, table: list[str], keep: list[str], probability: bool
    ) -> None:
        self._record = record
        self._table = table
        self._keep = keep
        self._probability = probability
        self._check_feature_names()
        self._titles = self._score_titles()
        self._check_result_columns()

    def _check_feature_names(self) -> None:
        """Check that no two features have names that differ by case alone, which SQL ignores."""
        by_lower: dict[str, str] = {}
        for name in self._record.names:
            other = by_lower.setdefault(name.lower(), name)
            if other != name:
                raise ValueError(
                    f"model: the features {other!r} and {name!r} are the same column in SQL, which "
                    f"ignores case; rename one of them and fit again."
                )

    def _score_titles(self) -> list[str]:
        if self._record.terms.n_scores == 1:
            return ["score"]
        titles = [f"score_{label}" for label in self._record.classes]
        if len({title.lower() for title in titles}) < len(titles):
            titles = [f"score_{k}" for k in range(len(titles))]
        return titles

    def _check_result_columns(self) -> None:
        """Check that probabilities exist if requested, and that column names are unique."""
        if self._probability:
            self._record.check_probability()
        predicted = "prediction" if self._is_regressor else "label"
        taken = {title.lower() for title in [*self._titles, predicted, *self._probability_titles()]}
        for column in self._keep:
            if column.lower() in taken:
                raise ValueError(
                    f"keep contains {column!r}, which is already a column of the result; rename "
                    f"it in the table, or drop it from keep."
                )

    @property
    def _is_regressor(self) -> bool:
        return self._record.link is not None

    def _probability_titles(self) -> list[str]:
        if not self._probability:
            return []
        return [title.replace("score", "probability", 1) for title in self._titles]

    def text(self) -> str:
        """Return the whole statement."""
        names = self._table
        terms = SqlTerms(self._record, partial(_unused_prefix, names))
        stage = _unused_prefix(names, "stage")
        scores = terms.scores(self._record.terms).scores
        columns = [f"{self._null_if_missing(score)} AS s{k}" for k, score in enumerate(scores)]
        stages = [
            _select(self._cast(), ".".join(sql.identifier(part) for part in names)),
            _select(self._clean(), f"{stage}0"),
        ]
        positions = terms.surfaces.positions()
        if terms.lookups:
            stages.append(_join(terms.lookups, f"{stage}1"))
        for added in positions:
            stages.append(_select(["r.*", *added], f"{stage}{len(stages) - 1}"))
        if positions:
            stages.append(terms.surfaces.joined(f"{stage}{len(stages) - 1}"))
        for added in [
            *[["r.*", *columns] for columns in terms.stages],
            [*self._kept_columns(), *columns],
            *([["r.*", *self._log_probabilities()]] if self._is_normalized() else []),
        ]:
            stages.append(_select(added, f"{stage}{len(stages) - 1}"))
        lookups = [lookup.table for lookup in terms.lookups]
        parts = [_values(t) for t in [*terms.tables, *lookups, *terms.surfaces.tables()]]
        for k, query in enumerate(stages):
            # Materialized, so that a column that is used several times is computed once.
            once = " MATERIALIZED" if k > 0 else ""
            parts.append(f"{stage}{k} AS{once} (\n{query}\n)")
        return "WITH " + ",\n".join(parts) + "\n" + _select(self._result(), f"{stage}{k}")

    def _used(self) -> list[int]:
        """Return the features to read: all of them if any missing value makes the score NULL."""
        if not self._record.takes_missing:
            return list(range(len(self._record.features)))
        return sorted(self._record.terms.used_features())

    def _kept_columns(self) -> list[str]:
        return [f"r.k{k}" for k in range(len(self._keep))]

    def _cast(self) -> list[str]:
        """Return the columns of the table as text or in double precision."""
        passed = [f"r.{sql.identifier(column)} AS k{k}" for k, column in enumerate(self._keep)]
        used = []
        for d in self._used():
            column = f"r.{sql.identifier(self._record.names[d])}"
            if is_text(self._record.features[d]):
                # Concatenation drops the collation of the column.
                used.append(f"CAST({column} AS VARCHAR) || '' AS x{d}")
            else:
                used.append(f"{sql.as_double(column)} AS x{d}")
        return [*passed, *used]

    def _clean(self) -> list[str]:
        """Return the columns with NULL for numbers that are not finite."""
        used = [
            f"r.x{d}"
            if is_text(self._record.features[d])
            else f"CASE WHEN r.x{d} - r.x{d} = 0e0 THEN r.x{d} END AS x{d}"
            for d in self._used()
        ]
        return [*self._kept_columns(), *used]

    def _null_if_missing(self, score: str) -> str:
        """Return a score that is NULL if a value is missing and the model does not accept that."""
        if self._record.takes_missing:
            return score
        total = sql.add([f"r.x{d}" for d in self._used()])
        return f"CASE WHEN {total} IS NOT NULL THEN {score} END"

    def _result(self) -> list[str]:
        """Return the columns of the result: kept columns, scores, and what they predict."""
        pairs = zip(self._probabilities(), self._probability_titles(), strict=True)
        return [
            *[f"r.k{k} AS {sql.identifier(column)}" for k, column in enumerate(self._keep)],
            *[f"r.s{k} AS {sql.identifier(title)}" for k, title in enumerate(self._titles)],
            self._prediction(),
            *[f"{expression} AS {sql.identifier(title)}" for expression, title in pairs],
        ]

    def _prediction(self) -> str:
        """Return the column of the predicted number or class."""
        if self._record.link is not None:
            return f"{_INVERSE_LINKS[self._record.link].format('r.s0')} AS prediction"
        scores = [f"r.s{k}" for k in range(len(self._titles))]
        labels = [sql.label(value) for value in self._record.classes]
        return f"{by_class(scores, labels)} AS label"

    def _is_normalized(self) -> bool:
        """Whether probabilities of several classes are requested, which must sum to 1."""
        return self._probability and len(self._titles) > 1

    def _log_odds(self, k: int) -> str:
        return f"{sql.number(self._record.log_odds or 1.0)} * r.s{k}"

    def _log_probabilities(self) -> list[str]:
        """Return the log-probability of each class against the rest, or its log-odds."""
        columns = []
        for k in range(len(self._titles)):
            odds = self._log_odds(k)
            if self._record.softmax:
                columns.append(f"{odds} AS l{k}")
                continue
            safe = f"CASE WHEN {odds} < -40e0 THEN {odds} ELSE -LN(1e0 + EXP(-({odds}))) END"
            columns.append(f"{safe} AS l{k}")
        return columns

    def _probabilities(self) -> list[str]:
        if not self._probability:
            return []
        if not self._is_normalized():
            return [f"1e0 / (1e0 + EXP(-({self._log_odds(0)})))"]
        indices = range(len(self._titles))
        return [f"1e0 / {sql.add([f'EXP(r.l{j} - r.l{k})' for j in indices])}" for k in indices]


def _values(table: Table) -> str:
    size = max(_MIN_PART, -(-len(table.rows) // _MAX_PARTS))
    parts = [table.rows[k : k + size] for k in range(0, len(table.rows), size)]
    texts = [",\n".join(f"  ({', '.join(row)})" for row in part) for part in parts]
    union = "\nUNION ALL\n".join(f"SELECT * FROM (VALUES\n{text}\n)" for text in texts)
    return f"{table.name}({', '.join(table.columns)}) AS (\n{union}\n)"


def _select(columns: Sequence[str], source: str) -> str:
    joined = ",\n  ".join(columns or ["1 AS one"])
    return f"SELECT\n  {joined}\nFROM {source} AS r"


def _join(lookups: Sequence[Lookup], source: str) -> str:
    """Return the rows with the contributions of their levels, NULL for unknown levels."""
    columns = ["r.*", *[f"l{k}.value AS u{k}" for k in range(len(lookups))]]
    joins = [
        f"\nLEFT JOIN {lookup.table.name} AS l{k} ON l{k}.level = {lookup.column}"
        for k, lookup in enumerate(lookups)
    ]
    return _select(columns, source) + "".join(joins)
