"""The rows of a PostgreSQL as columns: COPY hands over text, Arrow separates it, and no row becomes a Python tuple.

The texts are those of `shelfsync.erp.text`, to the last sign. Most types of a catalog have the same text in PostgreSQL. A column of any
other type goes through the driver's own loader, value by value, as in a result by cursor.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import sqlalchemy as sa

from shelfsync.erp.text import CHARACTERS_MAX, texts

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence
    from contextlib import AbstractContextManager

    import psycopg
    from psycopg.pq.abc import PGconn
    from psycopg.waiting import Ready, Wait

PART_BYTES = 32 * 2**20
"""A part with long texts ends before its number of rows."""

_TRUTH, _NUMERIC = 16, 1700
_TEXTS = {18, 19, 25, 1042, 1043}
_SAME_TEXT = {18, 19, 20, 21, 23, 25, 26, 1042, 1043, 2950}
"""PostgreSQL's types char, name, bigint, smallint, integer, text, oid, character(n), varchar, uuid."""


def gives_columns(connection: sa.Connection) -> bool:
    """Whether this connection hands over text in UTF-8 by COPY: psycopg on a PostgreSQL."""
    if (connection.dialect.name, connection.dialect.driver) != ("postgresql", "psycopg"):
        return False
    return bool(_driver(connection).info.encoding == "utf-8")


def is_text(connection: sa.Connection, oid: int) -> bool:
    """Whether values of this type are texts to the driver: those of a type that it does not know (money, an enum) are."""
    from psycopg import pq

    return oid in _TEXTS or _driver(connection).adapters.get_loader(oid, pq.Format.TEXT) is None


def type_name(connection: sa.Connection, oid: int) -> str:
    """PostgreSQL's word for a type; `text` for each kind of text."""
    if is_text(connection, oid):
        return "text"
    found = _driver(connection).adapters.types.get(oid)
    return "a value" if found is None else found.regtype


class Copy:
    """The rows of a SELECT by COPY. `types` are PostgreSQL's numbers; a column that is not `wanted` comes as nulls."""

    def __init__(self, connection: sa.Connection, sql: str, types: Sequence[int], wanted: Sequence[bool]) -> None:
        self._connection = connection
        self._statement = f"COPY (\n{sql}\n) TO STDOUT (FORMAT csv)"
        self._readers = [
            _reader(connection, oid) if needed else None for oid, needed in zip(types, wanted, strict=True)
        ]

    def parts(
        self, rows: int, time_limit: Callable[[], AbstractContextManager[None]]
    ) -> Iterator[tuple[list[pa.Array], int]]:
        """Up to `rows` rows at a time: their columns as texts, and how many they are. `time_limit` is for each part.

        Raises what a cursor raises: sqlalchemy.exc.DBAPIError, and ValueError for what cannot be separated.
        """
        with _errors(self._connection), contextlib.ExitStack() as stack:
            driver, ended = _driver(self._connection), False
            with time_limit():
                stack.enter_context(driver.cursor().copy(self._statement))
            while not ended:
                with time_limit():
                    lines, ended = driver.wait(_lines(driver.pgconn, rows))
                if lines:
                    yield _separated(lines, self._readers), len(lines)


def _driver(connection: sa.Connection) -> psycopg.Connection[Any]:
    driver: psycopg.Connection[Any] = connection.connection.driver_connection  # type: ignore[assignment]
    return driver


def _lines(pgconn: PGconn, rows: int) -> Generator[Wait, Ready | int, tuple[list[bytes], bool]]:
    """The next rows, and whether they are the last. PostgreSQL sends each as a message of its own.

    The driver's own iterator costs more than the row: it begins to wait for each message, also for those that are here already.
    """
    lines: list[bytes] = []
    size = 0
    while len(lines) < rows and size <= PART_BYTES:
        length, message = pgconn.get_copy_data(1)
        if length > 0:
            lines.append(bytes(message))
            size += length
        elif length == 0:
            yield from _more(pgconn)
        else:
            yield from _end(pgconn)
            return lines, True
    return lines, False


def _end(pgconn: PGconn) -> Generator[Wait, Ready | int, None]:
    """Takes the server's last word on a COPY; raises the driver's error if it failed."""
    from psycopg import pq
    from psycopg.errors import error_from_result

    failed = None
    while True:
        while pgconn.is_busy():
            yield from _more(pgconn)
        result = pgconn.get_result()
        if result is None:
            break
        if result.status != pq.ExecStatus.COMMAND_OK:
            failed = result
    if failed is not None:
        raise error_from_result(failed, encoding="utf-8")


def _more(pgconn: PGconn) -> Generator[Wait, Ready | int, None]:
    from psycopg.waiting import Wait

    while not (yield Wait.R):
        pass
    pgconn.consume_input()


def _separated(lines: list[bytes], readers: Sequence[Callable[[pa.Array], pa.Array] | None]) -> list[pa.Array]:
    from pyarrow import csv

    data = b"".join(lines)
    kept = [f"f{place}" for place, reader in enumerate(readers) if reader is not None]
    table = csv.read_csv(
        pa.BufferReader(data),
        read_options=csv.ReadOptions(use_threads=False, block_size=len(data) + 1, autogenerate_column_names=True),
        parse_options=csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        convert_options=csv.ConvertOptions(
            column_types=dict.fromkeys(kept, pa.string()),
            include_columns=kept,
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            null_values=[""],
        ),
    )
    if table.num_rows != len(lines):
        raise ValueError(f"COPY sent {len(lines)} rows that separate into {table.num_rows}")
    nulls = pa.nulls(len(lines), pa.string())
    return [
        nulls if reader is None else reader(table[f"f{place}"].combine_chunks()) for place, reader in enumerate(readers)
    ]


def _reader(connection: sa.Connection, oid: int) -> Callable[[pa.Array], pa.Array]:
    """From PostgreSQL's text of one type to the exact text of its value."""
    import pyarrow.compute as pc
    from psycopg import pq

    driver = _driver(connection)
    found = driver.adapters.get_loader(oid, pq.Format.TEXT)
    if found is None or oid in _SAME_TEXT:  # a type that the driver does not know is text to it
        return lambda column: column
    loader = found(oid, driver)

    def loaded(column: pa.Array) -> pa.Array:
        values = [None if value is None else loader.load(value.encode()) for value in column.to_pylist()]
        return texts(values)

    if oid == _TRUTH:
        return lambda column: pc.equal(column, "t").cast(pa.string())
    if oid == _NUMERIC:  # a number of so many digits is written with its exponent
        return lambda column: (
            loaded(column) if (pc.max(pc.binary_length(column)).as_py() or 0) > CHARACTERS_MAX else column
        )
    return loaded


@contextlib.contextmanager
def _errors(connection: sa.Connection) -> Iterator[None]:
    """The driver's errors as SQLAlchemy gives those of a cursor."""
    dialect = connection.dialect
    base: Any = dialect.loaded_dbapi.Error
    try:
        yield
    except base as error:
        lost = dialect.is_disconnect(error, None, None)
        raise sa.exc.DBAPIError.instance(
            None, None, error, base, hide_parameters=True, connection_invalidated=lost, dialect=dialect
        ) from None
