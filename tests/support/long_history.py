"""The history of a chain that has run for years, as generated rows, and what a day makes the database read of it."""

from __future__ import annotations

import json
import time
from typing import Any

import sqlalchemy as sa

VENDORS = 200
_DONE = "now() - interval '10 days' - n * interval '1 minute'"

HISTORY = {
    "ledger.vendor": """
        (vendor, fence)
        SELECT 'old-' || n, 1
        FROM generate_series(1, {vendors}) AS n
    """,
    "ledger.run": """
        (run_key, kind, state, started_at, finished_at)
        SELECT 'old/' || n, CASE WHEN mod(n, 50) = 0 THEN 'full' ELSE 'delta' END, 'succeeded', {done}, {done}
        FROM generate_series(1, {rows} / {vendors}) AS n
    """,
    "ledger.extract": """
        (run_id, rows, proof, complete, read_at)
        SELECT run_id, 9, 'counted', true, started_at
        FROM ledger.run
    """,
    "ledger.vendor_run": """
        (run_id, vendor, extract_id, generation, state, snapshot_path, released_path, batched_at, updated_at)
        SELECT e.run_id, v.vendor, e.extract_id, e.run_id, 'acknowledged', 'x', 'x', e.read_at, e.read_at
        FROM ledger.extract AS e CROSS JOIN ledger.vendor AS v
    """,
    "ledger.batch": """
        (run_id, vendor, generation, base_version, sequence, items_path, snapshot_path, item_count, body_bytes, state, wanted_at)
        SELECT run_id, vendor, generation, 0, 1, 'x', 'x', 9, 99, 'done', updated_at
        FROM ledger.vendor_run
    """,
    "ledger.job": """
        (kind, batch_id, vendor, plan, platform_job_id, state, sent, accepted, rejected, unaccounted, attempts, created_at, answered_at,
        deadline_at, ended_at, outcomes_path)
        SELECT 'catalog', batch_id, vendor, plan, 'old-' || batch_id, 'acknowledged', 9, 9, 0, 0, 1, wanted_at, wanted_at, wanted_at, wanted_at, 'x'
        FROM ledger.batch
    """,
    "ledger.baseline": """
        (vendor, version, path, rows, generation, job_id, created_at)
        SELECT vendor, job_id, 'x', 9, 1, job_id, created_at
        FROM ledger.job
    """,
    "ledger.feed": """
        (vendor, generation, run_id, snapshot_path, rows, trusted, read_at)
        SELECT vendor, generation, run_id, 'x' || run_id, 9, true, updated_at
        FROM ledger.vendor_run
    """,
    "ledger.hold": """
        (subject, vendor, first_run_id, run_id, generation, rule, message, thresholds, rows_path, rows, state, held_at, expires_at, decided_at)
        SELECT 'catalog', vendor, run_id, run_id, generation, 'price_move', 'm', '{{}}', 'x', 9, 'superseded', updated_at, updated_at, updated_at
        FROM ledger.vendor_run
    """,
    "ledger.observation": """
        (vendor, how, path, rows, observed_at, ended_at)
        SELECT vendor, 'export', 'x', 9, updated_at, updated_at
        FROM ledger.vendor_run
    """,
    "ledger.export": """
        (run_key, vendor, observation_id, requested_at)
        SELECT 'old/' || observation_id, vendor, observation_id, observed_at
        FROM ledger.observation
    """,
    "ledger.job /* exports */": """
        (kind, export_id, platform_job_id, state, attempts, created_at, answered_at, deadline_at, ended_at)
        SELECT 'export', export_id, 'old-e-' || export_id, 'acknowledged', 1, requested_at, requested_at, requested_at, requested_at
        FROM ledger.export
    """,
    "ledger.rejection": """
        (vendor, sku, reason, kind, job_id, first_at, last_at)
        SELECT vendor, 'sku-' || job_id, 'no such sku', 'unknown_sku', job_id, created_at, created_at
        FROM ledger.job WHERE kind = 'catalog'
    """,
    "inbox.event": """
        (kind, identity, platform_job_id, vendor, body, received_at, processed_at)
        SELECT 'job', 'old-' || job_id, platform_job_id, vendor, 'x', created_at, created_at
        FROM ledger.job WHERE kind = 'catalog'
    """,
    "warehouse.sync_run": """
        (run_id, run_key, kind, dry_run, state, started_at, finished_at)
        SELECT run_id, run_key, kind, dry_run, state, started_at, finished_at
        FROM ledger.run
    """,
    "warehouse.catalog_job": """
        (job_id, run_id, vendor, state, generation, body_bytes, sent, accepted, sent_at, ended_at, repeats_removed)
        SELECT job_id, run_id, j.vendor, j.state, generation, body_bytes, 9, 9, j.created_at, j.ended_at, 0
        FROM ledger.job AS j JOIN ledger.batch USING (batch_id)
    """,
    "ledger.customer_order": """
        (order_id, vendor, status, placed_at, updated_at, first_seen_at)
        SELECT 'old-' || n, 'old-' || mod(n, {vendors}), CASE WHEN mod(n, 3) = 0 THEN 'CANCELLED' ELSE 'DELIVERED' END, {done},
        {done}, {done}
        FROM generate_series(1, {rows}) AS n
    """,
    "ledger.order_version": """
        (order_id, source, digest, status, updated_at, body, seen_at)
        SELECT order_id, 'event', 'd', status, updated_at, '{{}}', first_seen_at
        FROM ledger.customer_order
    """,
    "ledger.hand_over": """
        (order_id, kind, state, attempts, created_at, written_at, taken_at)
        SELECT order_id, kind, 'taken', 1, placed_at, placed_at, placed_at
        FROM ledger.customer_order, unnest(CASE WHEN status = 'CANCELLED' THEN '{{new,cancelled}}' ELSE '{{new}}' END::text[]) AS kind
    """,
    "ledger.order_day": """
        (vendor, day, in_history, in_inbox, counted_at)
        SELECT vendor, current_date - n::integer, 9, 9, now()
        FROM ledger.vendor, generate_series(2, {rows} / {vendors}) AS n
    """,
    "ledger.picking_result": """
        (order_id, result_id, source, digest, body, action, state, received_at, ended_at)
        SELECT order_id, 'r', 'http', 'd', '{{}}', 'fulfil', 'done', placed_at, placed_at
        FROM ledger.customer_order
    """,
    "ledger.promotion_run": """
        (run_key, state, planned_at, started_at, finished_at)
        SELECT 'old/' || n, 'succeeded', {done}, {done}, {done}
        FROM generate_series(1, {rows}) AS n
    """,
    "ledger.promotion": """
        (identity, campaign, header, vendors, start_time, end_time, state, version, created_at, confirmed_at)
        SELECT run_key, run_key, '{{}}', '{{a}}', started_at - interval '9 days', started_at, 'sent', 1, started_at, started_at
        FROM ledger.promotion_run
    """,
    "ledger.promotion_request": """
        (promotion_id, run_id, action, piece, pieces, header, body_path, body_bytes, skus, vendors)
        SELECT promotion_id, run_id, 'create', 1, 1, '{{}}', 'x', 9, 9, 1
        FROM ledger.promotion JOIN ledger.promotion_run ON run_key = identity
    """,
    "ledger.job /* promotions */": """
        (kind, request_id, platform_job_id, state, attempts, sent, created_at, answered_at, deadline_at, ended_at)
        SELECT 'promotion', request_id, 'old-p-' || request_id, 'acknowledged', 1, 9, created_at, created_at, created_at, created_at
        FROM ledger.promotion_request JOIN ledger.promotion USING (promotion_id)
    """,
    "rate_limit.permit": """
        (key, priority, operation, asked_at, slot_at, arrived_by)
        SELECT 'default', 'catalog', 'put_catalog', at, at, at
        FROM (SELECT now() - interval '2 minutes' - n * interval '1 second' AS at FROM generate_series(1, {rows}) AS n) AS given
    """,
}
"""Table and what to insert, parents before children; all of it ended well, days ago."""


def fill(engine: sa.Engine, rows: int) -> dict[str, int]:
    """Puts about so many rows into every table of the history and analyses them: table -> rows."""
    with engine.begin() as connection:
        connection.exec_driver_sql(
            "SET LOCAL session_replication_role = replica"
        )  # it all fits: nothing is checked row by row
        counts = {
            table: connection.exec_driver_sql(
                f"INSERT INTO {table} {what.format(rows=rows, vendors=VENDORS, done=_DONE)}"
            ).rowcount
            for table, what in HISTORY.items()
        }
    _analyse(engine)
    return counts


def _analyse(engine: sa.Engine) -> None:
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql("ANALYZE")


class Planner:
    """Asks the database, before each statement of an engine, how it is going to find what it is asked for."""

    def __init__(self, engine: sa.Engine, counts: dict[str, int]) -> None:
        self.big = {table for table, count in counts.items() if count >= max(counts.values()) / 4}
        with engine.connect() as connection:
            self.small = set(
                connection.exec_driver_sql(_SMALL_INDEXES.format(rows=max(counts.values()) / 20)).scalars()
            )
        self.whole: set[str] = set()
        self.asked: set[str] = set()
        sa.event.listen(engine, "before_cursor_execute", self._on_execute)

    def _on_execute(self, connection, _cursor, statement, parameters, _context, executemany):
        word = statement.lstrip("( \n").split(None, 1)[0].upper()
        if executemany or word not in {"SELECT", "INSERT", "UPDATE", "DELETE", "WITH"} or statement in self.asked:
            return
        self.asked.add(statement)
        with connection.connection.driver_connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN (FORMAT JSON, VERBOSE) {statement}", parameters)
            plan = cursor.fetchone()[0]
        for table in _read_whole(json.loads(plan) if isinstance(plan, str) else plan, self.small):
            if table in self.big:
                self.whole.add(f"{table}: {' '.join(statement.split())}")


_SMALL_INDEXES = "SELECT relname FROM pg_class WHERE relkind = 'i' AND reltuples < {rows}"
"""Those of what is open alone may be read whole."""


def _read_whole(plan: list[dict[str, Any]], small: set[str]) -> set[str]:
    """The tables that a plan reads from end to end, or along an index until something fits."""
    whole, nodes = set(), [each["Plan"] for each in plan]
    while nodes:
        node = nodes.pop()
        nodes.extend(node.get("Plans", ()))
        along = node["Node Type"].startswith("Index") and node["Index Name"] not in small
        if node["Node Type"] == "Seq Scan" or (along and "Index Cond" not in node and "Filter" in node):
            whole.add(f"{node['Schema']}.{node['Relation Name']}")
    return whole


OF_A_VENDOR = {
    "ledger.run": """
        (run_id, run_key, kind, state, started_at, finished_at) OVERRIDING SYSTEM VALUE
        SELECT -n, 'month/' || n, 'delta', 'succeeded', at, at
        FROM generate_series(1, :runs) AS n, LATERAL (SELECT now() - interval '1 day' - n * interval '10 minutes' AS at) AS t
    """,
    "ledger.vendor_run": """
        (run_id, vendor, extract_id, generation, state, raw_path, snapshot_path, updated_at)
        SELECT run.run_id, last.vendor, last.extract_id, run.run_id, 'acknowledged', last.raw_path, last.snapshot_path, run.finished_at
        FROM ledger.run, (SELECT * FROM ledger.vendor_run WHERE vendor = :vendor ORDER BY generation DESC LIMIT 1) AS last
        WHERE run.run_id < 0
    """,
    "ledger.batch": """
        (batch_id, run_id, vendor, generation, base_version, sequence, items_path, snapshot_path, item_count, body_bytes, state, wanted_at) OVERRIDING SYSTEM VALUE
        SELECT run_id, run_id, vendor, generation, 0, 1, raw_path, snapshot_path, 9, 99, 'done', updated_at
        FROM ledger.vendor_run WHERE run_id < 0
    """,
    "ledger.job": """
        (job_id, kind, batch_id, vendor, plan, platform_job_id, state, sent, accepted, rejected, unaccounted, attempts, created_at, answered_at,
        deadline_at, ended_at) OVERRIDING SYSTEM VALUE
        SELECT batch_id, 'catalog', batch_id, vendor, plan, 'month-' || batch_id, 'acknowledged', 9, 9, 0, 0, 1, wanted_at, wanted_at, wanted_at,
        wanted_at
        FROM ledger.batch WHERE run_id < 0
    """,
    "ledger.baseline": """
        (vendor, version, path, rows, generation, job_id, created_at)
        SELECT job.vendor, job.job_id, last.path, 9, job.job_id, job.job_id, job.created_at
        FROM ledger.job, (SELECT path FROM ledger.baseline WHERE vendor = :vendor ORDER BY version DESC LIMIT 1) AS last WHERE job.job_id < 0
    """,
    "ledger.feed": """
        (vendor, generation, run_id, snapshot_path, rows, trusted, read_at)
        SELECT vendor, generation, run_id, snapshot_path, 1, true, updated_at
        FROM ledger.vendor_run WHERE run_id < 0
    """,
    "ledger.hold": """
        (subject, vendor, first_run_id, run_id, generation, rule, message, thresholds, rows_path, rows, state, held_at, expires_at, decided_at)
        SELECT 'catalog', vendor, run_id, run_id, generation, 'price_move', 'm', '{}', snapshot_path, 9, 'superseded', updated_at, updated_at, updated_at
        FROM ledger.vendor_run WHERE run_id < 0
    """,
    "ledger.observation": """
        (observation_id, vendor, how, path, rows, observed_at, ended_at) OVERRIDING SYSTEM VALUE
        SELECT run_id, vendor, 'export', snapshot_path, 9, updated_at, updated_at
        FROM ledger.vendor_run WHERE run_id < 0
    """,
    "ledger.export": """
        (export_id, run_key, vendor, observation_id, requested_at) OVERRIDING SYSTEM VALUE
        SELECT observation_id, 'month/' || observation_id, vendor, observation_id, observed_at
        FROM ledger.observation WHERE observation_id < 0
    """,
    "inbox.event": """
        (kind, identity, platform_job_id, vendor, body, received_at, processed_at)
        SELECT 'job', platform_job_id, platform_job_id, vendor, 'x', created_at, created_at
        FROM ledger.job WHERE job_id < 0
    """,
    "warehouse.sync_run": """
        (run_id, run_key, kind, dry_run, state, started_at, finished_at)
        SELECT run_id, run_key, kind, dry_run, state, started_at, finished_at
        FROM ledger.run WHERE run_id < 0
    """,
    "warehouse.catalog_job": """
        (job_id, run_id, vendor, state, generation, body_bytes, sent, accepted, sent_at, ended_at, repeats_removed)
        SELECT job_id, run_id, j.vendor, j.state, generation, body_bytes, 9, 9, j.created_at, j.ended_at, 0
        FROM ledger.job AS j JOIN ledger.batch USING (batch_id) WHERE job_id < 0
    """,
}
"""What older delta runs of one vendor, ten minutes apart, have left; they keep the names of its files."""


def fill_vendor(engine: sa.Engine, vendor: str, runs: int) -> list[str]:
    """Puts so many older runs of one vendor into the tables, and analyses them: the tables that have a row of each run and vendor."""
    with engine.begin() as connection:
        for table, what in OF_A_VENDOR.items():
            connection.execute(sa.text(f"INSERT INTO {table} {what}"), {"runs": runs, "vendor": vendor})
    _analyse(engine)
    return [table for table in OF_A_VENDOR if table not in {"ledger.run", "warehouse.sync_run"}]


def rows_read(engine: sa.Engine) -> dict[str, int]:
    """Table -> how many of its rows have been read so far. Ends all connections: a session reports what it read at its end."""
    others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    found = "SELECT schemaname || '.' || relname, seq_tup_read + coalesce(idx_tup_fetch, 0) FROM pg_stat_user_tables"
    engine.dispose()
    alone = sa.create_engine(engine.url, poolclass=sa.NullPool, isolation_level="AUTOCOMMIT")
    with alone.connect() as connection:
        until = time.monotonic() + 30
        while connection.exec_driver_sql(others).scalar_one():
            assert time.monotonic() < until, "something besides this engine is connected"
            time.sleep(0.01)
    with alone.connect() as connection:
        return {table: int(rows) for table, rows in connection.exec_driver_sql(found)}
