"""`make bench-pages`: how long each page takes on a chain of so many rows with a year of history, its size, and the slowest statements.

The database is an empty one of shelfsync's own, filled with generated rows: a store has 10,000 products, of which 5 % are rejected, 5 %
differ and 1 % are quarantined; a year has a run an hour, of which each store sent something a day.
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import tempfile
import time
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import sqlalchemy as sa
from fastapi import Request  # noqa: TC002  FastAPI reads annotations at run time
from fastapi.testclient import TestClient

from benchmarks.stage import forget_settings
from shelfsync.app import open_app
from shelfsync.catalog.ledger import rejections
from shelfsync.catalog.steps.counts import counts
from shelfsync.catalog.warehouse import drift
from shelfsync.pages.app import create_app
from shelfsync.pages.rights import Viewer
from shelfsync.schemas import BASELINE, SNAPSHOT
from shelfsync.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shelfsync.context import Context

PRODUCTS = 10_000
"""Of a store."""
LIMIT_MS, LIMIT_BYTES = 150.0, 100_000
SLOWEST = 5
"""Statements whose plans are shown."""

PAGES = (
    *(
        "/",
        "/?state=failing",
        "/store?vendor=store-1",
        "/store/restore?vendor=store-1",
        "/products",
        "/products?state=rejected",
        "/products?vendor=store-1",
    ),
    *(
        "/products?sku=sku-0777",
        "/search?q=sku-0777",
        "/search?q=sku-0777&vendor=store-1",
        "/search/suggestions?q=sku-0777",
        "/search/stores?sku=sku-0777",
    ),
    *("/alerts", "/holds", "/rejections", "/rejections?vendor=store-1", "/rejections?sku=sku-0777"),
    *("/rejections?reason=product+not+found", "/rejections?order=last", "/rejections?order=times"),
    *("/quarantine", "/quarantine?vendor=store-1", "/drift", "/drift?cause=held", "/drift?sku=sku-0777"),
    *("/drift?order=newest+export", "/inbox", "/inbox?kind=job", "/runs", "/runs?state=failed", "/runs/1", "/switches"),
    "/from-airflow?dag_id=catalog_full_sync&run_id=1",
    *("/explain?vendor=store-1&sku=sku-000777", "/promotions", "/orders"),
)

_FILL = (
    "INSERT INTO ledger.vendor (vendor, baseline_version) SELECT 'store-' || n, 1 FROM generate_series(1, {stores}) AS n",
    "INSERT INTO warehouse.vendor (vendor, first_seen_at) SELECT vendor, now() FROM ledger.vendor",
    """
INSERT INTO ledger.run (run_key, kind, state, started_at, finished_at)
SELECT 'old/' || n, CASE WHEN mod(n, 24) = 0 THEN 'full' ELSE 'delta' END, 'succeeded', at, at + interval '5 minutes'
FROM (SELECT n, now() - (8761 - n) * interval '1 hour' AS at FROM generate_series(1, 8760) AS n) AS hours""",
    "INSERT INTO ledger.extract (run_id, rows, proof, complete, read_at) SELECT run_id, {rows}, 'counted', true, started_at FROM ledger.run",
    """
INSERT INTO ledger.vendor_run (run_id, vendor, extract_id, generation, state, snapshot_path, rows_snapshot, rows_quarantined, batched_at, updated_at)
SELECT e.run_id, v.vendor, e.extract_id, e.run_id, 'acknowledged', '{snapshot}', {products}, 0, e.read_at, e.read_at
FROM ledger.extract AS e CROSS JOIN ledger.vendor AS v WHERE mod(e.run_id, 24) = 0""",
    """
INSERT INTO ledger.batch (run_id, vendor, generation, base_version, sequence, items_path, snapshot_path, item_count, body_bytes, state, wanted_at)
SELECT run_id, vendor, generation, 0, 1, 'x', 'x', 100, 9999, 'done', updated_at FROM ledger.vendor_run""",
    """
INSERT INTO ledger.job (kind, batch_id, vendor, plan, platform_job_id, state, sent, accepted, rejected, unaccounted, attempts, created_at,
    answered_at, deadline_at, ended_at)
SELECT 'catalog', batch_id, vendor, plan, 'old-' || batch_id, 'acknowledged', 100, 99, 1, 0, 1, wanted_at, wanted_at, wanted_at, wanted_at
FROM ledger.batch""",
    """
INSERT INTO ledger.baseline (vendor, version, path, rows, generation, job_id, created_at)
SELECT vendor, 1, '{baseline}', {products}, 1, max(job_id), now() FROM ledger.job GROUP BY vendor""",
    """
INSERT INTO warehouse.sync_run (run_id, run_key, kind, dry_run, state, started_at, finished_at)
SELECT run_id, run_key, kind, dry_run, state, started_at, finished_at FROM ledger.run""",
    """
INSERT INTO warehouse.catalog_job (job_id, run_id, vendor, state, generation, body_bytes, sent, accepted, rejected, unaccounted, sent_at,
    ended_at, repeats_removed)
SELECT job_id, run_id, j.vendor, j.state, generation, body_bytes, 100, 99, 1, 0, j.created_at, j.ended_at, 0
FROM ledger.job AS j JOIN ledger.batch USING (batch_id)""",
    """
INSERT INTO inbox.event (kind, identity, platform_job_id, vendor, body, received_at, processed_at)
SELECT 'job', 'old-' || job_id, platform_job_id, vendor, 'x', created_at, created_at FROM ledger.job""",
    """
INSERT INTO ledger.rejection (vendor, sku, reason, kind, job_id, price, quantity, active, first_at, last_at)
SELECT vendor, 'sku-' || lpad((n * 20 + mod(job_id, 20))::text, 6, '0'), reason, kind, job_id, 1.5, 3, true, created_at, created_at
FROM (SELECT vendor, max(job_id) AS job_id, max(created_at) AS created_at FROM ledger.job GROUP BY vendor) AS last,
    generate_series(0, {products} / 20 - 1) AS n,
    LATERAL (SELECT (ARRAY['product not found', 'invalid price', 'try again'])[1 + mod(n, 3)] AS reason,
        (ARRAY['unknown_sku', 'invalid_value', 'for_now'])[1 + mod(n, 3)] AS kind) AS why""",
    """
INSERT INTO warehouse.observation (observation_id, vendor, how, path, in_history, observed_at, loaded_at)
SELECT row_number() OVER (), vendor, 'export', 'x', true, at, at
FROM ledger.vendor, (SELECT now() - n * interval '1 day' AS at FROM generate_series(0, 364) AS n) AS days""",
    """
INSERT INTO warehouse.drift (observation_id, sku, field, vendor, cause, action, desired, acknowledged, observed, message, observed_at)
SELECT observation_id, 'sku-' || lpad((n * 20)::text, 6, '0'), 'price', vendor, (ARRAY['held', 'rejected', 'changed_on_platform'])[1 + mod(n, 3)],
    'report', '1', '1', '2', 'm', observed_at
FROM (SELECT o.*, row_number() OVER (PARTITION BY vendor ORDER BY observed_at DESC) AS age FROM warehouse.observation AS o) AS o,
    generate_series(0, {products} / 20 - 1) AS n WHERE age = 1 OR mod(n, 100) = 0""",
    """
INSERT INTO warehouse.product (vendor, sku, barcode, in_erp, on_platform, active_wanted, active_shown, first_seen_at, seen_at)
SELECT vendor, 'sku-' || lpad(n::text, 6, '0'), (4000000 + n)::text, true, true, true, true, now(), now()
FROM ledger.vendor, generate_series(0, {products} - 1) AS n""",
    """
INSERT INTO warehouse.quarantine (run_id, vendor, row_number, sku, field, reason, message, raw, row_sent)
SELECT last.run_id, last.vendor, n, 'q-' || n, 'price', (ARRAY['price_missing', 'price_unreadable'])[1 + mod(n, 2)], 'no price', '{{}}', false
FROM (SELECT vendor, max(run_id) AS run_id FROM ledger.vendor_run GROUP BY vendor) AS last, generate_series(1, {products} / 100) AS n""",
    """
INSERT INTO ledger.customer_order (order_id, vendor, status, placed_at, updated_at, first_seen_at)
SELECT 'old-' || n, 'store-' || 1 + mod(n, {stores}), 'DELIVERED', at, at, at
FROM (SELECT n, now() - n * interval '1 year' / {orders} AS at FROM generate_series(1, {orders}) AS n) AS n""",
    """
INSERT INTO warehouse.customer_order (order_id, vendor, status, placed_at, updated_at)
SELECT order_id, vendor, status, placed_at, updated_at FROM ledger.customer_order""",
    """
INSERT INTO ledger.alert (kind, subject, message, opened_at, closed_at)
SELECT 'database', 'x' || n, 'm', now() - n * interval '1 hour', now() - n * interval '1 hour' FROM generate_series(1, 8760) AS n""",
)


def main() -> None:
    """Fills a database, calls every page, prints."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--rows", type=int, default=200_000, help="products of all stores together")
    asked.add_argument("--calls", type=int, default=20, help="of each page")
    given = asked.parse_args()
    forget_settings()
    with tempfile.TemporaryDirectory(prefix="shelfsync-pages-") as home:
        settings = Settings(home=Path(home))
        with open_app(settings, begins=True) as context:
            began = time.perf_counter()
            fill(context, given.rows)
            print(f"{given.rows:,} rows in {time.perf_counter() - began:.0f} s; load average {os.getloadavg()[0]:.1f}")
            measure(context, given.calls)


def fill(context: Context, rows: int) -> None:
    """Generated rows in every table that a page reads."""
    stores = max(1, rows // PRODUCTS)
    snapshot, baseline = _files(context)
    given = {
        "rows": rows,
        "stores": stores,
        "products": PRODUCTS,
        "snapshot": snapshot,
        "baseline": baseline,
        "orders": max(stores, rows // 10),
    }
    with context.engine.begin() as connection:
        connection.exec_driver_sql("SET LOCAL session_replication_role = replica")
        for statement in _FILL:
            connection.exec_driver_sql(statement.format(**given))
        names = connection.execute(sa.text("SELECT vendor FROM ledger.vendor")).scalars().all()
        for name in names:
            connection.execute(sa.text(rejections.COUNT), {"vendor": name})
        for number in connection.execute(sa.text("SELECT observation_id FROM warehouse.observation")).scalars().all():
            connection.execute(sa.text(drift.COUNT), {"observation_id": number})
    with context.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql("VACUUM ANALYZE")
    counts(context)


def _files(context: Context) -> tuple[str, str]:
    """One snapshot and one baseline for all stores: a store reads its own, however many there are."""
    skus = [f"sku-{number:06}" for number in range(PRODUCTS)]
    values = {"sku": skus, "barcode": [str(4_000_000 + number) for number in range(PRODUCTS)]}
    columns: dict[str, Any] = {"price": Decimal("1.500"), "quantity": 3, "active": True}
    paths = []
    for kind, schema in (("snapshot", SNAPSHOT), ("baseline", BASELINE)):
        of = {name: [columns.get(name)] * PRODUCTS for name in schema.names if name not in values}
        table = pa.table(
            {name: pa.array((values | of)[name], schema.field(name).type) for name in schema.names}, schema
        )
        paths.append(context.lake.write_table(kind, "store-1", table))
    return paths[0], paths[1]


def measure(context: Context, calls: int) -> None:
    """Calls each page so often; prints p50, p95, the CPU of this process and bytes, and the plans of the slowest statements."""

    def guard(request: Request) -> None:
        request.state.viewer = Viewer("bench", may_decide=True, may_stop=True)

    client = TestClient(create_app(lambda: context, guard), headers={"sec-fetch-site": "same-origin"})
    slow: dict[str, tuple[float, Any, str]] = {}
    page = [""]
    _listen(context.engine, slow, page)
    client.get("/switches")
    gc.collect()
    gc.freeze()  # as the API server does with the first page
    print(f"{'page':<45} {'p50 ms':>8} {'p95 ms':>8} {'CPU ms':>8} {'bytes':>9}")
    for path in PAGES:
        page[0] = path
        took, size, cpu = [], 0, time.process_time()
        for _ in range(calls):
            began = time.perf_counter()
            answer = client.get(path)
            took.append((time.perf_counter() - began) * 1_000)
            size = len(answer.content) - sum(len(part) for part in _charts(answer.text))
            if answer.status_code != 200:
                raise SystemExit(f"{path}: {answer.status_code}: {answer.text[-500:]}")
        cpu = (time.process_time() - cpu) / calls * 1_000
        p50, p95 = statistics.median(took), sorted(took)[max(0, -(-len(took) * 95 // 100) - 1)]
        misses = [word for word, over in (("SLOW", p95 > LIMIT_MS), ("LARGE", size > LIMIT_BYTES)) if over]
        print(f"{path:<45} {p50:>8.0f} {p95:>8.0f} {cpu:>8.0f} {size:>9,} {' '.join(misses)}", flush=True)
    for statement, (seconds, parameters, path) in sorted(slow.items(), key=lambda one: -one[1][0])[:SLOWEST]:
        print(f"\n{seconds * 1_000:.0f} ms on {path}: {' '.join(statement.split())}")
        with context.engine.connect() as connection:
            for row in connection.exec_driver_sql(f"EXPLAIN (ANALYZE, BUFFERS) {statement}", parameters):
                print(f"    {row[0]}")


def _listen(engine: sa.Engine, slow: dict[str, tuple[float, Any, str]], page: list[str]) -> None:
    """Keeps of each SELECT the longest time, with its parameters and the page."""

    @sa.event.listens_for(engine, "before_cursor_execute")
    def _begin(connection: Any, *_: Any) -> None:
        connection.info["bench_began"] = time.perf_counter()

    @sa.event.listens_for(engine, "after_cursor_execute")
    def _end(connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        took = time.perf_counter() - connection.info["bench_began"]
        if statement.lstrip().startswith(("SELECT", "WITH")) and took > slow.get(statement, (0.0,))[0]:
            slow[statement] = took, parameters, page[0]


def _charts(html: str) -> Iterator[str]:
    """The pictures of charts in a page."""
    for part in html.split("<svg")[1:]:
        yield "<svg" + part.partition("</svg>")[0] + "</svg>"


if __name__ == "__main__":
    main()
