"""The warehouse as one DuckDB file, for people without a warehouse server: the same tables, the same views, the same SQL.

Large tables are read from the Parquet files of the lake, a vendor at a time: outcomes, observed and acknowledged states. Small tables
(runs, jobs, drift, orders without personal data) and the pointers to those files come from the ledger's database. The file is replaced
only when it is complete.
"""

from __future__ import annotations

import contextlib
import importlib
import re
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.catalog.baseline import changed_rows
from shelfsync.catalog.ledger import observations, vendors
from shelfsync.catalog.ledger import tables as ledger
from shelfsync.catalog.warehouse import assortment_history
from shelfsync.errors import ConfigurationError, without_stop
from shelfsync.platform.jobs.table import job as job_table
from shelfsync.store.bulk import stamped
from shelfsync.store.named_file import NamedFile
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

OF_LAKE = (
    "warehouse.sku_outcome",
    "warehouse.assortment_history",
    "warehouse.baseline_history",
    "warehouse.baseline",
)
"""Read from the lake's files, as far back as the lake keeps these; two columns of the last table are computed from the one before it."""

_VALUES = ("price", "quantity", "active", "max_sales_quantity")
_ROWS = 20_000
_EXACT = sa.Numeric(38, 9)
_STILL_READING = sa.text("SELECT 1")
"""Between two files of the lake: the server ends a transaction without a statement for a minute (`IDLE_IN_TRANSACTION_S`)."""


def copied() -> dict[str, list[sa.Column[Any]]]:
    """Tables that are read from the database, small or not in the lake, with those of their columns that DuckDB takes."""
    names = [name for name, table in metadata.tables.items() if table.schema == "warehouse"]
    read = {name for view in VIEWS for name in re.findall(r"\b(?:ledger|rate_limit)\.\w+", view.sql)}
    wanted = sorted((set(names) - {*OF_LAKE, *NEVER}) | read)
    return {
        name: [
            column
            for column in metadata.tables[name].columns
            if _type(column) is not None and f"{name}.{column.name}" not in LEFT_OUT
        ]
        for name in wanted
    }


def named(file: Path, *, replace: bool = False) -> NamedFile:
    """The file that a person names for the warehouse. `replace`: also in place of something else."""
    return NamedFile(file, "FILE", "a file of `shelfsync duckdb`", _is_own, replace)


def write(engine: Engine, lake: Lake, file: Path, *, replace: bool = False) -> dict[str, int]:
    """Writes the file that a person named. Returns the rows by table; a ConfigurationError if it cannot be written."""
    duckdb = _duckdb()
    tables = copied()
    try:
        with (
            named(file, replace=replace).writing() as incomplete,
            contextlib.closing(duckdb.connect(str(incomplete))) as duck,
        ):
            _reject_ambiguous(duck, incomplete)
            _make(duck, tables)
            _fill(duck, engine, lake, tables)
            duck.execute(_BASELINE)
            for view in VIEWS:
                duck.execute(f"CREATE VIEW warehouse.{view.name} AS {view.sql}")
            duck.execute("CHECKPOINT")  # on a full disk, closing the file would lose everything without an error
            return {name: duck.execute(f"SELECT count(*) FROM {name}").fetchall()[0][0] for name in (*tables, *OF_LAKE)}
    except (duckdb.IOException, duckdb.TransactionException, duckdb.FatalException) as error:
        raise ConfigurationError(
            "FILE",
            f"{file} cannot be written: {without_stop(error, 200)}",
            "Free space there, or name a file in a folder that you can write to.",
        ) from None


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


def _is_own(file: Path) -> bool:
    """Whether it is a DuckDB database with this command's tables. Opening it changes nothing."""
    duckdb = _duckdb()
    try:
        with contextlib.closing(duckdb.connect(str(file), read_only=True)) as held:
            rows = held.execute(
                "SELECT schema_name || '.' || table_name FROM duckdb_tables() WHERE database_name = current_database()"
            ).fetchall()
    except duckdb.Error:
        return False
    names = {name for (name,) in rows}
    return names.issuperset(OF_LAKE) and all(name.split(".")[0] in SCHEMAS for name in names)


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
    whole = {name: [*metadata.tables[name].columns] for name in OF_LAKE}
    for name, columns in (tables | whole).items():
        duck.register("incoming", _schema(columns).empty_table())
        duck.execute(f"CREATE TABLE {name} AS SELECT * FROM incoming")
        duck.unregister("incoming")


def _fill(duck: duckdb.DuckDBPyConnection, engine: Engine, lake: Lake, tables: dict[str, list[sa.Column[Any]]]) -> None:
    with engine.connect() as connection:
        connection.execution_options(isolation_level="REPEATABLE READ")  # one instant for all tables
        for name, columns in tables.items():
            for rows in _read(connection, columns):
                _insert(duck, name, rows)
        vendors = sa.select(ledger.vendor.c.vendor).order_by(ledger.vendor.c.vendor)
        for vendor in connection.execute(vendors).scalars().all():
            for name, rows in _of_vendor(connection, lake, vendor):
                _insert(duck, name, rows)
                connection.execute(_STILL_READING)


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
    stored = column.type.impl_instance if isinstance(column.type, sa.types.TypeDecorator) else column.type
    return next((types[kind] for kind in type(stored).__mro__ if kind in types), None)


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


def _of_vendor(connection: Connection, lake: Lake, vendor: str) -> Iterator[tuple[str, pa.Table]]:
    """(table, rows of it), a file at a time."""
    for name, part in (
        ("warehouse.sku_outcome", _outcomes),
        ("warehouse.assortment_history", _spans),
        ("warehouse.baseline_history", _acknowledged),
    ):
        for rows in part(connection, lake, vendor):
            yield name, rows
    current = vendors.current_baseline(connection, vendor)
    if current is not None:
        held = lake.read_table(current.path)
        names = ["left_erp" if name == "left" else name for name in held.column_names]
        yield "warehouse.baseline", stamped(held.rename_columns(names), vendor=vendor)


def _outcomes(connection: Connection, lake: Lake, vendor: str) -> Iterator[pa.Table]:
    """One row a SKU and job: the values sent with their outcome."""
    job, batch = job_table.c, ledger.batch.c
    statement = (
        sa.select(job.job_id, batch.items_path, job.outcomes_path, job.ended_at)
        .join(ledger.batch, batch.batch_id == job.batch_id)
        .where(job.vendor == vendor, job.outcomes_path.is_not(None))
        .order_by(job.job_id)
    )
    for row in connection.execute(statement).all():
        items = lake.read_table(row.items_path, columns=["sku", "change", *_VALUES])
        outcomes = lake.read_table(row.outcomes_path, columns=["state", "reason"])
        both = items.append_column("state", outcomes["state"]).append_column("reason", outcomes["reason"])
        yield stamped(both, vendor=vendor, job_id=row.job_id, known_at=row.ended_at)


def _spans(connection: Connection, lake: Lake, vendor: str) -> Iterator[pa.Table]:
    """The observed states, a span at a time: each closed when a later observation ends it, the open ones last."""
    import pyarrow as pa
    import pyarrow.compute as pc

    seen, kept = assortment_history.observation.c, observations.observation.c
    statement = (
        sa.select(kept.path, seen.observed_at)
        .join_from(observations.observation, assortment_history.observation, kept.observation_id == seen.observation_id)
        .where(seen.vendor == vendor, seen.in_history)
        .order_by(seen.observed_at, seen.observation_id)
    )
    before: pa.Table | None = None
    still: pa.Table | None = None
    for row in connection.execute(statement).all():
        shown = lake.read_table(row.path)
        new, changed, gone = assortment_history.compared(shown, before)
        fresh = stamped(pa.concat_tables([new, changed]), vendor=vendor, valid_from=row.observed_at)
        if still is not None:
            ended = pa.concat_arrays(
                [part["sku"].combine_chunks() for part in (changed, gone) if part.num_rows]
                or [pa.array([], pa.string())]
            )
            over = pc.is_in(still["sku"], value_set=ended)
            yield stamped(still.filter(over), valid_to=row.observed_at)
            fresh = pa.concat_tables([still.filter(pc.invert(over)), fresh])
        before, still = shown, fresh
    if still is not None:
        yield still


def _acknowledged(connection: Connection, lake: Lake, vendor: str) -> Iterator[pa.Table]:
    """What each version of the baseline changed."""
    import pyarrow as pa

    columns = ledger.baseline.c
    statement = (
        sa.select(columns.version, columns.path, columns.created_at, columns.job_id, columns.observation_id)
        .where(columns.vendor == vendor)
        .order_by(columns.version)
    )
    before: pa.Table | None = None
    for row in connection.execute(statement).all():
        held = lake.read_table(row.path, columns=["sku", *_VALUES])
        moved = held if before is None else pa.concat_tables([changed_rows(held, before), _off_sale(before, held)])
        by = {"job_id": row.job_id, "observation_id": row.observation_id}
        yield stamped(moved, vendor=vendor, version=row.version, valid_from=row.created_at, **by)
        before = held


def _off_sale(before: pa.Table, held: pa.Table) -> pa.Table:
    """SKUs that left the baseline: their history ends off sale."""
    import pyarrow as pa
    import pyarrow.compute as pc

    left = before["sku"].filter(pc.invert(pc.is_in(before["sku"], value_set=held["sku"].combine_chunks())))
    columns = {name: pa.nulls(len(left), held.schema.field(name).type) for name in _VALUES}
    columns |= {"sku": left, "active": pa.repeat(pa.scalar(value=False), len(left))}
    return pa.table([columns[name] for name in held.schema.names], schema=held.schema)
