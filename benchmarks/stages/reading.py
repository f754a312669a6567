"""extract: the rows of an ERP in PostgreSQL to tables of texts, as the lake takes them."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from benchmarks.chain import VENDOR_ROWS
from benchmarks.server import cpu_of_process, cpu_of_server, database
from benchmarks.stage import Stage, Target, Way, peers_on_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from benchmarks.chain import Chain
    from benchmarks.stage import Answer, Meter

SELECT = "SELECT vendor, sku, price, quantity, active FROM stock"
_MADE = (
    "CREATE TABLE stock AS SELECT 'store-' || lpad((i / {each})::text, 4, '0') AS vendor, lpad(mod(i, {each})::text, 8, '0') AS sku,"
    " (mod(i, 9973) + 1)::numeric(10, 2) / 100 AS price, mod(i, 97) AS quantity, mod(i, 11) > 0 AS active FROM generate_series(0, {last}) AS i"
)


def ours(chain: Chain, meter: Meter) -> Answer:
    """The whole extract: columns by COPY, their texts, row numbers, and the second count that proves them whole."""
    return _extracted(chain, meter)


def cursor(chain: Chain, meter: Meter) -> Answer:
    """The same as every other database is read: the driver's cursor, a tuple a row."""
    from shelfsync.erp import columnar

    columnar.gives_columns = lambda _: False
    return _extracted(chain, meter)


def plain_copy(chain: Chain, meter: Meter, rows_each: int = VENDOR_ROWS) -> Answer:
    """COPY TO STDOUT, read to its end and thrown away."""
    import psycopg

    size = 0
    with erp(chain, rows_each) as address, psycopg.connect(address) as connection:
        meter.others = cpu_of_process(connection.info.backend_pid)
        with meter, connection.cursor().copy(f"COPY ({SELECT}) TO STDOUT") as copy:
            for line in copy:
                size += len(line)
    return {"rows": chain.rows, "bytes": size}


def adbc(chain: Chain, meter: Meter) -> Answer:
    """ADBC's columns of PostgreSQL, as it types them; no second count."""
    peers_on_path()
    from adbc_driver_postgresql import dbapi

    rows = 0
    with erp(chain) as address, dbapi.connect(address) as connection, connection.cursor() as found:
        found.execute("SELECT pg_backend_pid()")
        meter.others = cpu_of_process(found.fetchone()[0])
        with meter:
            found.execute(SELECT)
            for batch in found.fetch_record_batch():
                rows += batch.num_rows
    return {"rows": rows}


def pandas(chain: Chain, meter: Meter) -> Answer:
    """pandas.read_sql, 50,000 rows at a time."""
    import pandas as pd
    import sqlalchemy as sa

    rows = 0
    with erp(chain) as address:
        engine = sa.create_engine(address.replace("postgresql://", "postgresql+psycopg://"), poolclass=sa.NullPool)
        with engine.connect().execution_options(stream_results=True) as connection:
            meter.others = cpu_of_process(connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one())
            with meter:
                for frame in pd.read_sql(sa.text(SELECT), connection, chunksize=50_000):
                    rows += len(frame)
    return {"rows": rows}


def _extracted(chain: Chain, meter: Meter) -> Answer:
    from shelfsync.erp.open import open_source
    from shelfsync.settings import ErpSettings

    rows, sample = 0, ""
    with erp(chain) as address:
        source = open_source(ErpSettings(url=address, sql=SELECT))
        meter.others = cpu_of_server(chain.folder)
        with meter, source.read() as extract:
            for table in extract:
                rows += table.num_rows
                sample = sample or _sample(table)
            assert extract.proof().complete
    return {"rows": rows, "sample": sample}


def _sample(table: pa.Table) -> str:
    return str(table.slice(0, 3).to_pylist())


@contextlib.contextmanager
def erp(chain: Chain, rows_each: int = VENDOR_ROWS) -> Iterator[str]:
    """The address of a database with as many rows as the chain has, so many of each vendor."""
    with database(chain.folder) as engine:
        with engine.begin() as connection:
            connection.exec_driver_sql(_MADE.format(each=rows_each, last=chain.rows - 1))
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql("VACUUM ANALYZE stock")
        engine.dispose()
        yield engine.url.set(drivername="postgresql").render_as_string(hide_password=False)


STAGE = Stage(
    name="reading",
    title="extract: rows of an ERP in PostgreSQL to tables of texts; CPU of client and server together",
    ways=(
        Way("ours", "ours", "shelfsync: columns by COPY, counted twice", ours),
        Way("cursor", "ours", "shelfsync as on other databases: cursor, tuples", cursor),
        Way("plain_copy", "bound", "a plain COPY TO STDOUT read to its end", plain_copy),
        Way("adbc", "peer", "ADBC, not counted", adbc, rounds_max=1),
        Way("pandas", "usual", "pandas.read_sql, 50,000 rows at a time", pandas, rounds_max=1),
    ),
    targets=(
        Target.ratio(
            "reading PostgreSQL: CPU against a plain COPY read to its end",
            "ours",
            "plain_copy",
            at_most=2.0,
            from_rows=1_000_000,
        ),
    ),
    same={"rows": "the numbers of rows", "sample": "the first rows"},
)
