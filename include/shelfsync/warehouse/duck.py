"""The warehouse as one DuckDB file, for people without a warehouse server: the same tables, the same views, the same SQL.

Large tables are read from the Parquet files of the lake, a vendor at a time: outcomes, observed and acknowledged states. Small tables
(runs, jobs, drift, orders without personal data) and the pointers to those files come from the ledger's database. The file is replaced
only when it is complete.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import re
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.catalog.ledger import tables as ledger
from shelfsync.catalog.warehouse import lake_rows
from shelfsync.errors import ConfigurationError
from shelfsync.warehouse.every_table import metadata
from shelfsync.warehouse.views import VIEWS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import duckdb
    import pyarrow as pa
    from sqlalchemy.engine import Connection, Engine

    from shelfsync.store.lake import Lake

NEVER = ("warehouse.order_customer",)
"""Personal data stays in the database, where it is encrypted and removed in time."""

LEFT_OUT = ("ledger.order_version.body",)
"""Large, and no view reads it."""

SCHEMAS = ("warehouse", "ledger", "rate_limit")
"""Of the file. DuckDB names a database after its file, and takes `warehouse.job` of a file warehouse.duckdb for either of the two."""

_ROWS = 20_000
_EXACT = sa.Numeric(38, 9)


def copied() -> dict[str, list[sa.Column[Any]]]:
    """Tables that are read from the database, small or not in the lake, with those of their columns that DuckDB takes."""
    names = [name for name, table in metadata.tables.items() if table.schema == "warehouse"]
    read = {name for view in VIEWS for name in re.findall(r"\b(?:ledger|rate_limit)\.\w+", view.sql)}
    wanted = sorted((set(names) - {*lake_rows.TABLES, *NEVER}) | read)
    return {
        name: [
            column
            for column in metadata.tables[name].columns
            if _type(column) is not None and f"{name}.{column.name}" not in LEFT_OUT
        ]
        for name in wanted
    }


def write(engine: Engine, lake: Lake, file: Path) -> dict[str, int]:
    """Writes the file, in place of an existing one. Returns the rows by table. ConfigurationError if it cannot be written."""
    duckdb = _duckdb()
    tables = copied()
    temporary = file.parent / f".{file.name}.{os.getpid()}"
    try:
        with contextlib.closing(duckdb.connect(str(temporary))) as duck, engine.connect() as connection:
            _reject_ambiguous(duck, file)
            connection.execution_options(isolation_level="REPEATABLE READ")  # one instant for all tables
            _make(duck, tables)
            for name, columns in tables.items():
                for rows in _read(connection, columns):
                    _insert(duck, name, rows)
            vendors = sa.select(ledger.vendor.c.vendor).order_by(ledger.vendor.c.vendor)
            for vendor in connection.execute(vendors).scalars().all():
                for name, rows in lake_rows.of_vendor(connection, lake, vendor):
                    _insert(duck, name, rows)
            duck.execute(_BASELINE)
            for view in VIEWS:
                duck.execute(f"CREATE VIEW warehouse.{view.name} AS {view.sql}")
            counts = {
                name: duck.execute(f"SELECT count(*) FROM {name}").fetchall()[0][0]
                for name in (*tables, *lake_rows.TABLES)
            }
        temporary.replace(file)
    except (OSError, duckdb.IOException) as error:
        raise ConfigurationError(
            "FILE", f"{file} cannot be written: {error}", "Name a file in a folder that you may write to."
        ) from None
    finally:
        temporary.unlink(missing_ok=True)
    return counts


def _duckdb() -> Any:
    """The module. No step uses it, so it need not be installed where only Airflow runs."""
    try:
        return importlib.import_module("duckdb")
    except ModuleNotFoundError:
        raise ConfigurationError(
            "duckdb",
            "is not installed here",
            "pip install duckdb, or run this where `make setup` made the environment.",
        ) from None


def _reject_ambiguous(duck: duckdb.DuckDBPyConnection, file: Path) -> None:
    database = duck.execute("SELECT lower(current_database())").fetchall()[0][0]
    if database in SCHEMAS:
        raise ConfigurationError(
            "FILE",
            f"{file.name} gives the database the name of its schema {database}, so that a query could mean either",
            "Choose another name, such as today.duckdb.",
        )


def _make(duck: duckdb.DuckDBPyConnection, tables: dict[str, list[sa.Column[Any]]]) -> None:
    duck.execute("SET TimeZone = 'UTC'")
    for schema in SCHEMAS:
        duck.execute(f"CREATE SCHEMA {schema}")
    whole = {name: [*metadata.tables[name].columns] for name in lake_rows.TABLES}
    for name, columns in (tables | whole).items():
        duck.register("incoming", _schema(columns).empty_table())
        duck.execute(f"CREATE TABLE {name} AS SELECT * FROM incoming")
        duck.unregister("incoming")


def _insert(duck: duckdb.DuckDBPyConnection, name: str, rows: pa.Table) -> None:
    if rows.num_rows:
        duck.register("incoming", rows)
        duck.execute(f"INSERT INTO {name} BY NAME SELECT * FROM incoming")
        duck.unregister("incoming")


def _read(connection: Connection, columns: list[sa.Column[Any]]) -> Iterator[pa.Table]:
    import pyarrow as pa

    schema = _schema(columns)
    chosen = [sa.cast(column, _EXACT).label(column.name) if _is_open(column) else column for column in columns]
    with connection.execute(sa.select(*chosen), execution_options={"stream_results": True}) as rows:
        for part in rows.mappings().partitions(_ROWS):
            yield pa.Table.from_pylist([dict(row) for row in part], schema=schema)


def _is_open(column: sa.Column[Any]) -> bool:
    """A number without a scale, as orders have; DuckDB needs one."""
    return isinstance(column.type, sa.Numeric) and not isinstance(column.type, sa.Double) and column.type.scale is None


def _type(column: sa.Column[Any]) -> pa.DataType | None:
    """None: documents, bytes and lists, which no view reads."""
    import pyarrow as pa

    if isinstance(column.type, sa.Numeric) and not isinstance(column.type, sa.Double):
        wide = _EXACT if _is_open(column) else column.type
        return pa.decimal128(wide.precision, wide.scale)
    types = {
        sa.BigInteger: pa.int64(),
        sa.Integer: pa.int32(),
        sa.Text: pa.string(),
        sa.Boolean: pa.bool_(),
        sa.Date: pa.date32(),
        sa.DateTime: pa.timestamp("us", tz="UTC"),
        sa.Double: pa.float64(),
    }
    return next((types[kind] for kind in type(column.type).__mro__ if kind in types), None)


def _schema(columns: list[sa.Column[Any]]) -> pa.Schema:
    import pyarrow as pa

    return pa.schema([pa.field(column.name, _type(column)) for column in columns])


_BASELINE = """
UPDATE warehouse.baseline AS held SET
    job_id = moved.job_id,
    acknowledged_at = moved.acknowledged_at
FROM (
    SELECT vendor, sku, max(job_id) AS job_id, max(valid_from) FILTER (WHERE job_id IS NOT NULL) AS acknowledged_at
    FROM warehouse.baseline_history GROUP BY vendor, sku
) AS moved
WHERE moved.vendor = held.vendor AND moved.sku = held.sku
"""
