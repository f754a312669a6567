"""The same question put to tools that people reach for: a full join in PostgreSQL, dlt's merge into DuckDB. On 100,000 rows."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from benchmarks.server import cpu_of, database
from benchmarks.stage import Stage, Way, agree_on, peers_on_path
from benchmarks.stages.diff import DIFFERS, FIELDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.chain import Chain
    from benchmarks.stage import Answer, Meter

VENDORS = 2
COLUMNS = ["sku", *FIELDS]


def ours(chain: Chain, meter: Meter) -> Answer:
    """Both files to the changes, as in the stage `diff`; once before it counts, as the others have loaded their tables by then."""
    from shelfsync.catalog.diff import diff

    for _, snapshot, baseline in chain.tables():
        diff(snapshot, baseline, full=False)
    changes = 0
    with meter:
        for _, snapshot, baseline in chain.tables():
            changes += diff(snapshot, baseline, full=False).num_rows
    return {"rows": chain.rows, "changes": changes}


def postgres(chain: Chain, meter: Meter) -> Answer:
    """Both tables loaded and analysed before; the join alone is measured, in one process of the server."""
    from shelfsync.store.bulk import copy_into

    query = (
        "SELECT vendor, sku, n.price, n.quantity, n.active, n.max_sales_quantity FROM n FULL JOIN b USING (vendor, sku)"
        f" WHERE CASE WHEN n.here IS NULL THEN coalesce(b.active, true) ELSE {DIFFERS} END"
    )
    with database(chain.folder) as engine, engine.connect() as connection:
        types = "vendor text, sku text, price numeric(20, 3), quantity bigint, active boolean, max_sales_quantity bigint, here boolean DEFAULT true"
        for name, kind in (("n", "snapshot"), ("b", "baseline")):
            connection.exec_driver_sql(f"CREATE TABLE {name} ({types}, PRIMARY KEY (vendor, sku))")
            copy_into(connection, name, chain.whole(kind, COLUMNS).select(["vendor", *COLUMNS]))
        connection.commit()
        connection.execution_options(isolation_level="AUTOCOMMIT").exec_driver_sql("VACUUM ANALYZE n, b")
        # one process, so that its CPU is all of it
        connection.exec_driver_sql("SET max_parallel_workers_per_gather = 0")
        meter.others = cpu_of(connection)
        with meter:
            changes = len(connection.exec_driver_sql(query).all())
    return {"rows": chain.rows, "changes": changes}


def dlt(chain: Chain, meter: Meter) -> Answer:
    """The baseline is in DuckDB; the snapshot is merged by key. It ends with an equal table and does not list the changes."""
    peers_on_path()
    folder = Path(mkdtemp(dir=chain.folder))
    os.environ |= {"DLT_DATA_DIR": str(folder), "RUNTIME__DLTHUB_TELEMETRY": "false", "RUNTIME__LOG_LEVEL": "ERROR"}
    try:
        import dlt as tool

        target = tool.destinations.duckdb(str(folder / "target.duckdb"))
        pipeline = tool.pipeline("bench", destination=target, dataset_name="shelf", pipelines_dir=str(folder))
        hints = {"table_name": "item", "write_disposition": "merge", "primary_key": ["vendor", "sku"]}
        pipeline.run(chain.whole("baseline", COLUMNS), **hints)
        now = chain.whole("snapshot", COLUMNS)
        with meter:
            pipeline.run(now, **hints)
        with pipeline.sql_client() as client:
            ((rows,),) = client.execute_sql("SELECT count(*) FROM item")
        # both name the same number of SKUs, and each has some that the other has not: the table holds the union
        assert rows == now.num_rows + _only_before(chain), rows
    finally:
        shutil.rmtree(folder)
    return {"rows": chain.rows}


def _only_before(chain: Chain) -> int:
    return sum(len(set(old["sku"].to_pylist()) - set(new["sku"].to_pylist())) for _, new, old in chain.tables())


def _agree(answers: Mapping[str, Answer]) -> None:
    agree_on(answers, "changes", "the numbers of changes")


STAGE = Stage(
    name="tools",
    title="what changed in 100,000 rows, by tools that people reach for",
    ways=(
        Way("ours", "ours", "shelfsync: both files to what changed", ours, vendors_max=VENDORS),
        Way(
            "postgres",
            "peer",
            "full join in PostgreSQL, tables loaded before",
            postgres,
            vendors_max=VENDORS,
            rounds_max=1,
        ),
        Way("dlt", "peer", "dlt, merge into DuckDB, baseline loaded before", dlt, vendors_max=VENDORS, rounds_max=1),
    ),
    targets=(),
    agree=_agree,
)
