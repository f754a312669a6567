"""Queries of the path: their number per vendor grows neither with its SKUs nor with the number of vendors."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
import sqlalchemy as sa

from shelfsync.catalog.ledger import batches
from shelfsync.vendors.shards import shards

_keys = itertools.count(1)
STEPS = ("normalise", "diff", "guard", "batch", "deliver")
STATEMENTS_MAX = 60
"""In one step for one vendor; what is measured is between 5 and 42."""

SLACK = 6
"""Statements that depend on time, not on rows: a renewed lease, another status call."""


@pytest.fixture
def counted(world):
    """Counts the statements of each step over so many vendors with so many SKUs."""
    counts: Counter[str] = Counter()
    step = ["setup"]

    @sa.event.listens_for(world.app.context.engine, "before_cursor_execute")
    def _count(*_):
        counts[step[0]] += 1

    def run(*names: str, skus: int) -> Counter[str]:
        for name in names:
            products = [
                {"sku": f"{sku:04}", "barcodes": [], "title": "A", "price": 9.99, "active": True} for sku in range(skus)
            ]
            world.platform.put_products(name, products)
            for sku in range(skus):
                world.erp.put(name, f"{sku:04}", f"{next(_keys)}.25", 10, 1, 5)
        run_id = world.app.open_run("full", f"queries/{next(_keys)}", names)
        world.app.extract(run_id)
        counts.clear()
        for word in STEPS:
            step[0] = word
            report = world.app.step(word, run_id, list(names))
            assert report["done"] == len(names), report
        step[0] = "between"
        world.app.wait(run_id, list(names))
        for word in ("confirm", "acknowledge"):
            step[0] = word
            report = world.app.step(word, run_id, list(names))
            assert report["done"] == len(names), report
        step[0] = "between"
        world.app.report(run_id)
        return Counter({word: count for word, count in counts.items() if word != "between"})

    return run


@pytest.mark.slow
def test_a_step_asks_the_ledger_as_much_for_many_skus_as_for_few(counted):
    few, many = counted("store-001", skus=3), counted("store-002", skus=300)
    print(dict(few), dict(many))
    for word in (*STEPS, "confirm", "acknowledge"):
        assert 0 < many[word] <= min(few[word] + SLACK, STATEMENTS_MAX)


@pytest.mark.slow
def test_each_vendor_asks_the_same_once_more(counted):
    one, three = counted("store-001", skus=3), counted("store-002", "store-003", "store-004", skus=3)
    print(dict(one), dict(three))
    for word in (*STEPS, "confirm", "acknowledge"):
        assert three[word] <= 3 * one[word] + SLACK


A_MONTH = (
    "INSERT INTO ledger.vendor (vendor) SELECT 'store-' || n FROM generate_series(0, 49) AS n",
    "INSERT INTO ledger.run (run_key, kind) VALUES ('month', 'full')",
    "INSERT INTO ledger.vendor_run (run_id, vendor, generation) SELECT run_id, vendor, 1 FROM ledger.run, ledger.vendor",
    """
    INSERT INTO ledger.batch
    (run_id, vendor, generation, base_version, sequence, items_path, snapshot_path, item_count, body_bytes, state)
    SELECT run_id, 'store-' || mod(n, 50), 1, 0, n, '', '', 1, 1, CASE WHEN n < 3 THEN 'planned' ELSE 'done' END
    FROM ledger.run, generate_series(0, 19999) AS n
    """,
    "ANALYZE ledger.batch",
)
"""Twenty thousand bodies of fifty vendors that have left, and three that are planned."""

ABOUT_PLANNED = {
    "plan": lambda connection: batches.plan(
        connection, run_id=1, vendor="store-1", generation=2, base_version=0, snapshot_path="", pieces=[]
    ),
    "next": lambda connection: batches.planned(connection, "store-1", 1),
    "priorities": lambda connection: batches.waiting(connection, 1),
    "supersede": lambda connection: batches.supersede_generation(connection, "store-1", 1),
    "resume a vendor": lambda connection: batches.supersede_waiting(connection, "store-1"),
    "resume all": lambda connection: batches.supersede_waiting(connection, None),
    "count": batches.count_planned,
    "vendors": batches.vendors_with_planned,
}


def test_what_is_planned_is_found_without_reading_what_has_left(engine):
    """Some of these run while the vendor's row is locked, and all of them run often."""
    with engine.begin() as connection:
        for statement in A_MONTH:
            connection.exec_driver_sql(statement)
    for name, question in ABOUT_PLANNED.items():
        plan_lines = _explained(engine, question)
        assert any("ix_batch_planned" in line for line in plan_lines), (name, plan_lines)
        assert not any("Seq Scan on batch" in line for line in plan_lines), (name, plan_lines)


def _explained(engine, question) -> list[str]:
    """How the database would answer each statement that the question puts."""
    asked = []
    with engine.connect() as connection:

        @sa.event.listens_for(connection, "before_cursor_execute")
        def _collect(_connection, _cursor, statement, parameters, *_):
            if not statement.startswith("EXPLAIN"):
                asked.append((statement, parameters))

        question(connection)
        return [
            line
            for statement, parameters in asked
            for (line,) in connection.exec_driver_sql(f"EXPLAIN {statement}", parameters)
        ]


@pytest.mark.parametrize("vendors", [1, 40, 41, 200, 1000, 5000])
def test_the_tasks_of_a_run_are_bounded_by_shards_however_many_vendors_there_are(vendors):
    names = [f"store-{number:04}" for number in range(vendors)]
    groups = shards(names, 1, 5, 40)
    assert len(groups) <= 40
    assert [name for group in groups for name in group["vendors"]] == names
