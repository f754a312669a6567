"""Many rows at once: as one JSON text in a statement, or from Arrow by COPY."""

from __future__ import annotations

import datetime as dt
import io
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, dialect, insert

from shelfsync.storable import REPLACEMENT, json_text

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import pyarrow as pa
    from sqlalchemy.dialects.postgresql import Insert
    from sqlalchemy.engine import Connection
    from sqlalchemy.sql.selectable import TableValuedAlias

_DIALECT: sa.Dialect = dialect()  # type: ignore[no-untyped-call]  # SQLAlchemy leaves it untyped


def coming(table: sa.Table, names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> TableValuedAlias:
    """The rows as a table of the columns that are named, in their order. A column of an own kind writes them as in any statement."""
    own = {name: kind for name in names if isinstance(kind := table.c[name].type, sa.types.TypeDecorator)}
    given = [
        {name: row[name] for name in names}
        | {name: kind.process_bind_param(row[name], _DIALECT) for name, kind in own.items()}
        for row in rows
    ]
    text = json_text(given, _as_text)
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
    """Whether the column has one of these values; they are sent as one array, so that any number of them is the same statement."""
    return column == sa.any_(sa.bindparam(None, list(values), type_=ARRAY(column.type)))


def any_row(table: sa.FromClause, *where: sa.ColumnElement[bool]) -> sa.ColumnElement[bool]:
    """Whether the table has such a row, within a query about something else: asked of an index, once for each row of that query.

    PostgreSQL may turn an EXISTS into a join and read the whole table for it; what years of history fill is asked this way.
    """
    return sa.select(sa.true()).select_from(table).where(*where).limit(1).scalar_subquery().is_not(None)


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


_COPY_BYTES = 1 << 20


def stamped(rows: pa.Table, **same: str | int | dt.datetime | None) -> pa.Table:
    """The rows with these further columns, each of one value: a text, a time, or a whole number that may be None."""
    import pyarrow as pa

    kinds = {str: pa.string(), dt.datetime: pa.timestamp("us", tz="UTC")}
    for name, value in same.items():
        scalar = pa.scalar(value, kinds.get(type(value), pa.int64()))
        rows = rows.append_column(name, pa.repeat(scalar, rows.num_rows))
    return rows


def copy_into(connection: Connection, table: str, rows: pa.Table, **same: str | int | dt.datetime) -> int:
    """COPY of all columns of `rows`, and of `same` (columns of one value), into the columns of the same names.

    A null stays a null, an empty text an empty text.
    """
    from pyarrow import csv

    sink = io.BytesIO()
    if rows.num_rows == 0:
        return 0
    rows = _times_as_text(stamped(rows, **same))
    rows = rows.combine_chunks()  # for a chunk without rows pyarrow writes arbitrary bytes of its buffer
    csv.write_csv(rows, sink, csv.WriteOptions(include_header=False))
    columns = ", ".join(f'"{name}"' for name in rows.column_names)
    cursor = connection.connection.cursor()
    view = sink.getbuffer()
    with cursor.copy(f"COPY {table} ({columns}) FROM STDIN (FORMAT csv)") as copy:
        for start in range(0, len(view), _COPY_BYTES):
            copy.write(bytes(view[start : start + _COPY_BYTES]).replace(b"\x00", REPLACEMENT.encode()))
    cursor.close()
    return int(rows.num_rows)


def _times_as_text(rows: pa.Table) -> pa.Table:
    """Each distinct time written once: pyarrow asks the time zone for every row, which costs more than all other columns together."""
    import pyarrow as pa

    for place, field in enumerate(rows.schema):
        if pa.types.is_timestamp(field.type):
            known = rows[field.name].combine_chunks().dictionary_encode()
            texts = known.dictionary.cast(pa.string()).take(known.indices)
            rows = rows.set_column(place, field.name, texts)
    return rows
