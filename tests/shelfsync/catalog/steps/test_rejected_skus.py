"""Rejections for good and for now: recorded, released when their cause has gone, neither repeated forever nor given up."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa

from shelfsync.catalog.assortment import unknown_skus
from shelfsync.catalog.ledger import observations, rejections, vendors
from shelfsync.catalog.steps import rejected_skus
from shelfsync.errors import DataError

A = {"sku": "a", "barcodes": [], "title": "A", "price": 9.99, "active": True}


def _shelf(world):
    world.platform.put_products("store-001", [A])
    for sku in ("a", "unknown"):
        world.erp.put("store-001", sku, "1.00")
    world.sync("full")


@pytest.fixture
def shelf(world_after):
    """Two SKUs in the ERP, of which the platform knows one."""
    return world_after(_shelf)


def _rejections(world, columns="sku, duration, kind, times"):
    return [tuple(row) for row in world.rows(f"SELECT {columns} FROM warehouse.rejection ORDER BY sku")]


def _is_shown(world, *skus, vendor="store-001"):
    """An export that shows these SKUs, requested after all jobs so far."""
    import pyarrow as pa

    context = world.app.context
    rows = [{"sku": sku, "active": True} for sku in sorted(skus)]
    path = context.lake.write_table("observed", vendor, pa.Table.from_pylist(rows))
    with context.engine.begin() as connection:
        now = connection.execute(sa.text("SELECT now()")).scalar_one()
        last = connection.execute(sa.text("SELECT max(job_id) FROM ledger.job WHERE kind = 'catalog'")).scalar_one()
        observations.record(
            connection, vendor, how="export", path=path, rows=len(rows), observed_at=now, ended_at=now, last_job_id=last
        )


def _time_passes(world, seconds):
    with world.app.context.engine.begin() as connection:
        passed = f"next_try_at - make_interval(secs => {seconds})"
        connection.execute(sa.text(f"UPDATE ledger.rejection SET next_try_at = {passed}"))


@pytest.mark.slow
def test_an_unknown_sku_is_rejected_for_good_and_its_row_has_the_remedy(shelf):
    assert _rejections(shelf) == [("unknown", "permanent", "unknown_sku", 1)]
    ((todo, again),) = _rejections(shelf, "what_to_do, next_try_at")
    assert "created on the platform" in todo
    assert again is None
    assert shelf.sync("delta")["sent"] == 0


@pytest.mark.slow
def test_a_list_has_at_most_so_many_rows_and_counts_the_others(shelf):
    shelf.erp.put("store-001", "unknown too", "1.00")
    shelf.sync("delta")
    context = shelf.app.context
    whole = rejected_skus.listed(context, None)
    assert ([row["sku"] for row in whole["rejections"]], whole["count"]) == (["unknown", "unknown too"], 2)
    some = rejected_skus.listed(context, "store-001", 1)
    assert ([row["sku"] for row in some["rejections"]], some["count"]) == (["unknown"], 2)
    assert some["lines"][0] == "2 SKUs are rejected"
    assert some["lines"][-1] == "1 more: `--limit 0` lists all, `--csv` has them as a file"
    assert rejected_skus.listed(context, "store-009", 1)["lines"] == ["0 SKUs are rejected"]


@pytest.mark.slow
def test_an_unknown_sku_is_sent_again_once_an_export_shows_it(shelf):
    _is_shown(shelf, "a")
    assert shelf.sync("delta")["sent"] == 0
    shelf.platform.put_products("store-001", [A, {**A, "sku": "unknown"}])
    _is_shown(shelf, "a", "unknown")
    assert shelf.sync("delta")["accepted"] == 1
    assert _rejections(shelf) == []


@pytest.mark.slow
def test_an_export_that_lies_costs_one_try_and_not_one_a_run(shelf):
    _is_shown(shelf, "a", "unknown")
    assert shelf.sync("delta")["rejected"] == 1
    assert _rejections(shelf) == [("unknown", "permanent", "unknown_sku", 2)]
    assert [shelf.sync("delta")["sent"] for _ in range(2)] == [0, 0]
    _is_shown(shelf, "a", "unknown")
    assert shelf.sync("delta")["rejected"] == 1


@pytest.mark.slow
def test_an_unknown_sku_is_sent_again_after_the_listing_shows_it(shelf):
    """An order with the SKU makes shelfsync read the listing for it."""
    from shelfsync.orders.steps.store_catalog import products

    assert products(shelf.app.context, "store-001", ["unknown"]) == {}
    assert shelf.sync("delta")["sent"] == 0
    with shelf.app.context.engine.begin() as connection:
        connection.execute(sa.text("DELETE FROM ledger.order_product"))  # what was asked some minutes ago
    shelf.platform.put_products("store-001", [A, {**A, "sku": "unknown"}])
    assert list(products(shelf.app.context, "store-001", ["unknown"])) == ["unknown"]
    assert _rejections(shelf, "sku, released_by") == [("unknown", "listing")]
    assert shelf.sync("delta")["accepted"] == 1
    assert _rejections(shelf) == []


@pytest.mark.slow
def test_an_export_requested_before_the_rejection_proves_nothing(shelf):
    _is_shown(shelf, "a", "unknown")
    shelf.erp.put("store-001", "unknown", "2.00")
    with shelf.app.context.engine.begin() as connection:
        connection.execute(sa.text("UPDATE ledger.observation SET last_job_id = 0"))
    assert shelf.sync("delta")["rejected"] == 1
    assert shelf.sync("delta")["sent"] == 0


_WAITING = "SELECT count(*) FROM pg_locks WHERE NOT granted AND pid <> pg_backend_pid()"


def test_a_release_locks_the_vendor_before_its_rejections_as_every_other_writer_does(shelf):
    """In the other order, a release and a writer that has the vendor wait for each other."""
    _is_shown(shelf, "unknown")
    context = shelf.app.context

    def releases():
        with context.engine.connect() as reading:
            unknown_skus.release_seen(context, reading, "store-001")

    with ThreadPoolExecutor(1) as beside:
        with context.engine.begin() as writer:
            vendors.lock(writer, "store-001")
            release = beside.submit(releases)
            while not (waits := writer.execute(sa.text(_WAITING)).scalar_one()) and not release.done():
                time.sleep(0.01)
            assert waits
            writer.execute(sa.text("SELECT FROM ledger.rejection FOR UPDATE NOWAIT"))
        release.result(60)
    assert _rejections(shelf, "released_by") == [("export",)]


def test_a_rejection_for_now_waits_twice_as_long_each_time_and_is_never_given_up(shelf):
    from shelfsync.settings import RejectionSettings

    waits = []
    job = shelf.rows("SELECT max(job_id) AS j FROM ledger.job WHERE kind = 'catalog'")[0].j
    row = {
        "sku": "a",
        "reason": "internal error",
        "price": 1,
        "quantity": 1,
        "active": True,
        "max_sales_quantity": None,
    }
    for _ in range(12):
        with shelf.app.context.engine.begin() as connection:
            rejected_skus.remember(shelf.app.context, connection, "store-001", job, [row])
            connection.execute(sa.text("UPDATE ledger.rejection SET times = times + 1 WHERE sku = 'a'"))
            wait = sa.text(
                "SELECT extract(epoch FROM next_try_at - ledger.instant()) FROM ledger.rejection WHERE sku = 'a'"
            )
            waits.append(float(connection.execute(wait).scalar_one()))
    first, longest = RejectionSettings().retry_first_s, RejectionSettings().retry_max_s
    doubled = [min(first * 2**number, longest) for number in range(12)]
    assert all(0.75 * most - 1 <= wait <= most for wait, most in zip(waits, doubled, strict=True))
    assert len({wait / most for wait, most in zip(waits, doubled, strict=True)}) > 3  # not all at once


@pytest.mark.slow
def test_a_rejection_for_now_is_retried_after_its_wait_and_not_before(shelf):
    shelf.erp.put("store-001", "late", "1.00")
    shelf.platform.faults()
    shelf.sync("delta")
    with shelf.app.context.engine.begin() as connection:
        connection.execute(
            sa.text(
                "UPDATE ledger.rejection SET kind = 'for_now', next_try_at = now() + interval '1 hour' WHERE sku = 'late'"
            )
        )
    assert shelf.sync("delta")["sent"] == 0
    _time_passes(shelf, 3700)
    shelf.platform.put_products("store-001", [A, {**A, "sku": "late"}])
    assert shelf.sync("delta")["accepted"] == 1
    assert [sku for (sku,) in _rejections(shelf, "sku")] == ["unknown"]


@pytest.mark.slow
def test_a_corrected_barcode_lets_a_sku_go_that_was_unknown_by_the_wrong_one(make_world):
    """Items are sent by barcode: the four values are the same as when the SKU was rejected; its barcode is another."""
    world = make_world(platform={"item_key": "barcode"})
    world.platform.put_products("store-001", [{**A, "barcodes": ["4006381333931"]}])
    world.erp.put("store-001", "a", "2.00")
    world.erp.execute("UPDATE stock SET barcode = '4006381333948'")
    assert world.sync("delta")["rejected"] == 1
    assert world.sync("delta")["sent"] == 0
    world.erp.execute("UPDATE stock SET barcode = '04006381333948'")  # only padded: the same name
    assert world.sync("delta")["sent"] == 0
    world.erp.execute("UPDATE stock SET barcode = '4006381333931'")
    assert world.sync("delta")["accepted"] == 1
    assert _rejections(world) == []
    assert world.sync("delta")["sent"] == 0


def test_an_unknown_sku_stays_rejected_when_its_barcode_changes(shelf):
    shelf.erp.execute("UPDATE stock SET barcode = '4006381333948' WHERE sku = 'unknown'")
    assert shelf.sync("delta")["sent"] == 0


def test_a_rejection_of_a_sku_that_left_the_erp_is_removed(shelf):
    shelf.erp.execute("DELETE FROM stock WHERE sku = 'unknown'")
    shelf.sync("delta")
    assert _rejections(shelf) == []


@pytest.mark.slow
def test_a_repeated_step_of_an_older_run_removes_no_rejection_of_a_newer_one(world):
    world.platform.put_products("store-001", [A])
    world.erp.put("store-001", "a", "1.00")
    old, vendors = world.begin("delta", upto="normalise")
    world.erp.put("store-001", "unknown", "1.00")
    world.sync("full")
    world.app.step("diff", old, vendors)
    assert _rejections(world, "sku") == [("unknown",)]


@pytest.mark.slow
def test_a_person_releases_a_rejected_sku_once(shelf):
    result = shelf.app.release_rejections("store-001", ["unknown"])
    assert result["released"] == 1
    assert shelf.sync("delta")["rejected"] == 1
    assert shelf.sync("delta")["sent"] == 0
    assert _rejections(shelf, "released_by, times") == [(None, 2)]


@pytest.mark.parametrize("vendor", ["store-999", ""])
def test_a_release_for_a_vendor_that_there_is_not_releases_nothing(world, vendor):
    with pytest.raises(DataError, match="no extract had vendor"):
        rejected_skus.release(world.app.context, vendor, ["a"])


def test_the_status_counts_both_kinds(shelf):
    with shelf.app.context.engine.begin() as connection:
        job_id = connection.execute(sa.text("SELECT job_id FROM ledger.rejection")).scalar_one()
        wanted = dict.fromkeys(("barcode", "price", "quantity", "active", "max_sales_quantity"))
        rejected = {**wanted, "sku": "z", "reason": "busy", "kind": "for_now"}
        rejections.remember(connection, "store-001", job_id, [rejected])
    (row,) = shelf.app.status()["vendors"]
    assert (row["rejected"], row["rejected_for_good"], row["rejected_for_now"]) == (2, 1, 1)


@pytest.mark.slow
def test_a_job_that_accepts_and_rejects_counts_its_vendor_once(shelf):
    """A count reads every rejection of the vendor."""
    shelf.platform.put_products("store-001", [A, {**A, "sku": "unknown", "title": "B"}])
    shelf.erp.put("store-001", "third", "1.00")
    counts = []

    def count(_connection, _cursor, statement, *_):
        counts.extend(["counted"] if "INSERT INTO ledger.rejection_count" in statement else [])

    engine = shelf.app.context.engine
    sa.event.listen(engine, "before_cursor_execute", count)
    shelf.sync("full")
    sa.event.remove(engine, "before_cursor_execute", count)
    assert _rejections(shelf) == [("third", "permanent", "unknown_sku", 1)]
    assert counts == ["counted"]
