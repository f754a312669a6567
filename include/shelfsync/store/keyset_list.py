"""A list that a person reads page by page: declared once with its columns, filters and orders, for a page and for a file.

A page begins behind the last row of the one before (its key), so the thousandth page costs as much as the first. A filter that is not
asked for is not in the statement.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sqlalchemy.engine import Connection

Key = tuple[tuple[str, str], ...]
"""Columns with their types. None of them is ever null, and together they name one row."""


@dataclass(frozen=True)
class Order:
    """An order of the rows. `newest_first`: the greatest key comes first.

    `relation`: the rows of the list again, in a form that the database reads along this order; without it that of the list.
    """

    key: Key
    newest_first: bool = False
    relation: str = ""


@dataclass(frozen=True)
class KeysetList:
    """`relation`: a table, view or subquery. `filters`: the condition of each, with its value as `:NAME`.

    `orders`: each by its name; the first is used where none is asked for.
    """

    relation: str
    columns: tuple[str, ...]
    filters: Mapping[str, str]
    orders: Mapping[str, Order]

    def order(self, name: str = "") -> Order:
        """The order of this name, or the first. DataError: the list has no such order."""
        if name and name not in self.orders:
            raise DataError(f"list: it has no order {name!r}. Choose one of {', '.join(self.orders)}")
        return self.orders[name or next(iter(self.orders))]

    def where(self, asked: Mapping[str, str]) -> str:
        """The condition of what is asked for, as SQL."""
        given = [condition for name, condition in self.filters.items() if asked.get(name)]
        return " AND ".join(f"({condition})" for condition in given) or "true"


def page(
    connection: Connection,
    of: KeysetList,
    asked: Mapping[str, str],
    *,
    order: str = "",
    after: Sequence[str] = (),
    most: int,
) -> list[dict[str, Any]]:
    """The next rows behind the one whose key is `after`; from the first one without it. `asked`: a value for each filter.

    DataError: `after` is no key of these rows, or there is no such order.
    """
    chosen = of.order(order)
    if after and len(after) != len(chosen.key):
        raise DataError("list: this address names no row to go on behind. Begin with the first page")
    names = [name for name, _ in chosen.key]
    places = [f"CAST(:after_{place} AS {type_})" for place, (_, type_) in enumerate(chosen.key)]
    sign, way = ("<", " DESC") if chosen.newest_first else (">", "")
    behind = (
        f"AND ({', '.join(names)}) {sign} ({', '.join(places)}) AND {names[0]} {sign}= {places[0]}" if after else ""
    )
    statement = f"""
SELECT {", ".join(of.columns)} FROM {chosen.relation or of.relation}
WHERE {of.where(asked)} {behind} ORDER BY {", ".join(f"{name}{way}" for name in names)} LIMIT :most
"""  # noqa: S608  of constants
    given: dict[str, Any] = {**_values(of, asked), "most": most}
    given |= {f"after_{place}": value for place, value in enumerate(after)}
    return [dict(row) for row in connection.execute(sa.text(statement), given).mappings()]


def key(of: KeysetList, row: Mapping[str, Any], order: str = "") -> list[str]:
    """What `page` goes on behind."""
    return [str(row[name]) for name, _ in of.order(order).key]


def every_page(
    connect: Any, of: KeysetList, asked: Mapping[str, str], *, order: str = "", most: int
) -> Iterator[list[dict[str, Any]]]:
    """All rows, page by page, each in a transaction of its own: a slow reader holds none."""
    after: list[str] = []
    while True:
        with connect() as connection:
            rows = page(connection, of, asked, order=order, after=after, most=most)
        if rows:
            yield rows
        if len(rows) < most:
            return
        after = key(of, rows[-1], order)


def count(connection: Connection, of: KeysetList, asked: Mapping[str, str]) -> int:
    """Number of rows with these filters: it reads them all."""
    statement = f"SELECT count(*) FROM {of.relation} WHERE {of.where(asked)}"  # noqa: S608  of constants
    return int(connection.execute(sa.text(statement), _values(of, asked)).scalar_one())


def groups(
    connection: Connection,
    of: KeysetList,
    asked: Mapping[str, str],
    by: str,
    *,
    rows: str = "count(*)",
    also: Mapping[str, str] | None = None,
    most: int,
) -> list[dict[str, Any]]:
    """The rows by the values of a column: `{by, "rows", …}`, the most frequent first. A filter of the name `by` is left out of account.

    `rows`: the aggregate that counts; over rows that are counts themselves, their sum. `also`: further aggregates by name.
    """
    without = {name: value for name, value in asked.items() if name != by}
    more = "".join(f", {sql} AS {name}" for name, sql in (also or {}).items())
    statement = f"""
SELECT {by}, CAST({rows} AS bigint) AS rows{more} FROM {of.relation} WHERE {of.where(without)} GROUP BY {by} ORDER BY 2 DESC, {by} LIMIT :most
"""  # noqa: S608  of constants
    given = {**_values(of, without), "most": most}
    return [dict(row) for row in connection.execute(sa.text(statement), given).mappings()]


def _values(of: KeysetList, asked: Mapping[str, str]) -> dict[str, str]:
    return {name: asked[name] for name in of.filters if asked.get(name)}
