"""Many rows in one statement: they travel as one JSON text, which costs a tenth of one parameter a value."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, insert

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from sqlalchemy.dialects.postgresql import Insert
    from sqlalchemy.sql.selectable import TableValuedAlias


def coming(table: sa.Table, names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> TableValuedAlias:
    """The rows as a table of the columns that are named, in their order."""
    text = json.dumps([{name: row[name] for name in names} for row in rows], default=_as_text)
    shape = [sa.column(name, table.c[name].type) for name in names]
    sent = sa.cast(sa.bindparam(None, text, type_=sa.Text), sa.JSON)
    return sa.func.json_to_recordset(sent).table_valued(*shape).render_derived(with_types=True)


def insertion(table: sa.Table, rows: Sequence[Mapping[str, Any]]) -> Insert:
    """INSERT of these rows, all with the same names, in their order; at least one."""
    names = list(rows[0])
    new = coming(table, names, rows)
    return insert(table).from_select(names, sa.select(*(new.c[name] for name in names)))


def update(table: sa.Table, key: str, rows: Sequence[Mapping[str, Any]]) -> sa.Update:
    """UPDATE of the rows with these keys; at least one."""
    names = list(rows[0])
    new = coming(table, names, rows)
    values = {name: new.c[name] for name in names if name != key}
    return table.update().where(table.c[key] == new.c[key]).values(values)


def among(column: sa.ColumnElement[Any], values: Collection[Any]) -> sa.ColumnElement[bool]:
    """Whether the column has one of these values; they travel as one array, so that any number of them is the same statement."""
    return column == sa.any_(sa.bindparam(None, list(values), type_=ARRAY(column.type)))


def _as_text(value: object) -> str:
    """A value that JSON does not know, as PostgreSQL reads it."""
    match value:
        case Decimal():
            return str(value)
        case dt.datetime():
            return value.isoformat()
        case bytes():
            return f"\\x{value.hex()}"
        case _:
            raise TypeError(type(value).__name__)
