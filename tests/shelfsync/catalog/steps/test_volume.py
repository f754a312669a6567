"""Years of history in every table: every daily query uses an index, so that it is as fast in the tenth year as on the first day."""

from __future__ import annotations

import collections
import itertools

import pytest

from long_history import Planner, fill, fill_vendor, rows_read

_keys = itertools.count(1)
pytestmark = pytest.mark.slow
ROWS = 50_000
RUNS = 2_000
"""Of one vendor; `status` reads some five rows of each of the 200 vendors, and may."""
_REJECTED_NOW = "FROM warehouse.rejection WHERE"
"""What is rejected now is counted for the overview; it is no history, and nothing of years."""
A = {"sku": "a", "barcodes": [], "title": "A", "price": 9.99, "active": True}


def test_a_day_of_the_catalog_reads_no_table_of_years_from_end_to_end(world):
    planner = Planner(world.app.context.engine, fill(world.app.context.engine, ROWS))
    skus = [f"{number:03}" for number in range(20)]
    world.platform.put_products("store-001", [{**A, "sku": sku} for sku in skus])
    for sku in skus:
        world.erp.put("store-001", sku, "1", 10, 1, 5)
    world.sync("full")
    world.erp.put("store-001", "003", "1.10", 10, 1, 5)
    world.erp.put("store-001", "004", "9.10", 10, 1, 5)
    world.sync("delta")
    for hold in world.app.holds.listed():
        world.app.holds.decide(hold["hold_id"], approve=True, who="me", why="it is so")
    world.sync("delta")
    world.app.recover()
    for _ in range(2):
        world.app.export(f"export/{next(_keys)}", ("store-001",), progress=lambda *_: None)
    world.app.pause("vendor", "store-001", why="a look", who="me")
    world.app.resume("vendor", "store-001", why="seen", who="me")
    world.app.explain("store-001", "003")
    world.app.status()
    world.app.rejections("store-001")
    world.app.switches()
    history = {each for each in planner.whole if _REJECTED_NOW not in each}
    assert sorted(history) == []


def test_a_day_of_promotions_reads_no_table_of_years_from_end_to_end(world, make_shop):
    counts = fill(world.app.context.engine, ROWS)
    shop = make_shop()
    planner = Planner(shop.world.app.context.engine, counts)
    shop.erp.put("july", "a", "8.00")
    shop.sync()
    shop.erp.put("july", "a", "7.50")
    shop.sync()
    shop.world.app.promotions.recover()
    shop.world.app.promotions.status()
    assert sorted(planner.whole) == []


def test_what_a_vendor_did_in_a_month_is_read_by_housekeeping_alone_and_only_a_few_times(world):
    engine = world.app.context.engine
    rows: collections.Counter[str] = collections.Counter()
    for name, count in fill(engine, ROWS).items():
        rows[name.split()[0]] += count
    world.platform.put_products("store-001", [{**A, "sku": "001"}])
    world.erp.put("store-001", "001", "1", 10, 1, 5)
    world.sync("full")
    left = fill_vendor(engine, "store-001", RUNS)
    world.erp.put("store-001", "001", "9.10", 10, 1, 5)
    steps = {
        "delta, held": lambda: world.sync("delta"),
        "status": world.app.status,
        "explain": lambda: world.app.explain("store-001", "001"),
        "holds": world.app.holds.listed,
        "ask": lambda: world.app.holds.ask("month/ask"),
        "approve": lambda: world.app.holds.decide(
            world.app.holds.listed()[0]["hold_id"], approve=True, who="me", why="it is so"
        ),
        "delta, sent": lambda: world.sync("delta"),
        "delta, unchanged": lambda: world.sync("delta"),
        "full": lambda: world.sync("full"),
        "recover": world.app.recover,
        "export": lambda: world.app.export(f"export/{next(_keys)}", ("store-001",), progress=lambda *_: None),
        "housekeeping": world.app.remove_expired,
    }
    much, before = [], rows_read(engine)
    for name, step in steps.items():
        step()
        after = rows_read(engine)
        for table in left:
            read = after[table] - before[table]
            if read > (20 * (rows[table] + RUNS) if name == "housekeeping" else 0.8 * RUNS):
                much.append(f"{name}: {table}: {read} rows")
        before = after
    assert much == []
