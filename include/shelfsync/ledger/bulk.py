"""Many rows in one statement: each column travels as one array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, insert

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from sqlalchemy.dialects.postgresql import Insert
    from sqlalchemy.sql.selectable import TableValuedAlias


def arrays(table: sa.Table, names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> TableValuedAlias:
    """The rows as a table of the columns that are named, in their order."""
    columns = [sa.bindparam(None, [row[name] for row in rows], type_=ARRAY(table.c[name].type)) for name in names]
    shape = [sa.column(name, table.c[name].type) for name in names]
    return sa.func.unnest(*columns).table_valued(*shape).render_derived()


def insertion(table: sa.Table, rows: Sequence[Mapping[str, Any]]) -> Insert:
    """INSERT of these rows, all with the same names, in their order; at least one."""
    names = list(rows[0])
    coming = arrays(table, names, rows)
    return insert(table).from_select(names, sa.select(*(coming.c[name] for name in names)))


def update(table: sa.Table, key: str, rows: Sequence[Mapping[str, Any]]) -> sa.Update:
    """UPDATE of the rows with these keys; at least one."""
    names = list(rows[0])
    coming = arrays(table, names, rows)
    values = {name: coming.c[name] for name in names if name != key}
    return table.update().where(table.c[key] == coming.c[key]).values(values)


def among(column: sa.ColumnElement[Any], values: Collection[Any]) -> sa.ColumnElement[bool]:
    """Whether the column has one of these values; they travel as one array, so that any number of them is the same statement."""
    return column == sa.any_(sa.bindparam(None, list(values), type_=ARRAY(column.type)))
