"""A sent value without a confirmation is unknown, neither the old nor the new one, and no run waits for it forever (I7, I15)."""

from __future__ import annotations

from decimal import Decimal

import pytest
import sqlalchemy as sa

from shelfsync.catalog.ledger import vendor_runs

pytestmark = pytest.mark.slow

A = {"sku": "a", "barcodes": [], "title": "A", "price": 9.99, "active": True}
SHORT = {"poll_first_s": 0.05, "poll_max_s": 0.1, "job_deadline_s": 1.5, "readback_requests_max": 0}


def _shelf(world):
    world.platform.put_products("store-001", [{**A, "sku": sku} for sku in ("a", "b")])
    for sku in ("a", "b"):
        world.erp.put("store-001", sku, "1.00")
    assert world.sync("full")["accepted"] == 2


@pytest.fixture
def shelf(world_after):
    """Two products whose first values are acknowledged."""
    return world_after(_shelf, sync=SHORT)


def _price(world, sku="a"):
    return Decimal(str(world.shown()[sku]["price"]))


def _state(world):
    return world.rows("SELECT state FROM ledger.job WHERE kind = 'catalog' ORDER BY job_id DESC LIMIT 1")[0].state


def test_a_value_taken_back_while_its_confirmation_was_lost_is_taken_back_on_the_platform(shelf):
    """The ERP equals the baseline again, so no delta would differ. The platform has applied the unconfirmed value."""
    shelf.platform.faults({"at": "log", "kind": "status_404"}, {"at": "job_status", "kind": "status_404"})
    shelf.erp.put("store-001", "a", "2.00")
    shelf.sync("delta")
    assert (_state(shelf), _price(shelf)) == ("unconfirmed", 2)
    shelf.platform.faults()
    shelf.erp.put("store-001", "a", "1.00")
    assert shelf.sync("delta")["accepted"] == 1
    assert _price(shelf) == 1
    assert shelf.sync("delta")["sent"] == 0


def test_a_sku_that_the_log_omits_is_unknown_and_sent_again(shelf):
    shelf.platform.faults({"at": "log", "kind": "truncated", "bytes": 40})
    for sku in ("a", "b"):
        shelf.erp.put("store-001", sku, "2.00")
    assert shelf.sync("delta")["unaccounted"] > 0
    shelf.platform.faults()
    for sku in ("a", "b"):
        shelf.erp.put("store-001", sku, "1.00")
    shelf.sync("delta")
    assert (_price(shelf, "a"), _price(shelf, "b")) == (1, 1)


def test_a_request_whose_answer_names_the_job_of_another_leaves_its_skus_unknown(shelf):
    shelf.platform.faults({"at": "put_catalog", "kind": "job_id_of_another", "times": 1})
    shelf.erp.put("store-001", "a", "2.00")
    shelf.sync("delta")
    shelf.platform.until_quiescent()
    assert shelf.rows("SELECT price FROM warehouse.baseline WHERE sku = 'a'") == [(None,)]
    assert shelf.rows("SELECT state, reason IS NOT NULL FROM warehouse.sku_outcome ORDER BY job_id DESC LIMIT 1") == [
        ("unaccounted", True)
    ]
    shelf.erp.put("store-001", "a", "1.00")
    shelf.sync("delta")
    assert _price(shelf) == 1


def test_an_unknown_sku_that_left_the_erp_is_switched_off(make_world):
    """It was never acknowledged, and may be on sale all the same."""
    world = make_world(sync=SHORT)
    world.platform.put_products("store-001", [{**A, "sku": sku} for sku in ("a", "b")])
    for sku in ("a", "b"):
        world.erp.put("store-001", sku, "1.00")
    world.platform.faults({"at": "log", "kind": "truncated", "bytes": 5}, {"at": "job_status", "kind": "status_404"})
    world.sync("full")
    assert _state(world) in {"unconfirmed", "acknowledged"}
    assert world.rows("SELECT sum(unaccounted) FROM ledger.job") == [(2,)]
    world.platform.faults()
    world.erp.execute("DELETE FROM stock WHERE sku = 'b'")
    world.sync("delta")
    assert {sku: row["active"] for sku, row in world.shown().items()} == {"a": True, "b": False}


@pytest.mark.parametrize(
    "rule", [{"at": "log", "kind": "expired"}, {"at": "job", "kind": "foreign_link"}], ids=["expired", "foreign"]
)
def test_a_log_that_never_can_be_read_blocks_the_vendor_no_longer_than_the_deadline(make_world, receiver, rule):
    """The event reports the job's end, and the platform has no call for another link.

    An expired link ends the job at once. An event with a forbidden link is quarantined, so the run waits for another event.
    """
    world = make_world(sync={"job_deadline_s": 4}, platform={"job_status_path": ""})
    world.platform.put_webhook(catalog_url=receiver.url, secret="canary-webhook-1")
    world.platform.faults(rule)
    world.platform.put_products("store-001", [A])
    world.erp.put("store-001", "a", "2.00")
    world.sync("full")
    assert _state(world) == "unconfirmed"
    world.platform.faults()
    world.erp.put("store-001", "a", "3.00")
    world.sync("delta")
    assert _price(world) == 3


def test_a_vendor_whose_confirmation_was_done_by_a_process_that_then_died_is_not_stuck(shelf):
    """It had failed at confirm before, and no step was left to clear the failure."""
    shelf.erp.put("store-001", "a", "2.00")
    run_id, vendors = shelf.begin("delta", upto="deliver")
    shelf.app.wait(run_id, vendors)
    assert shelf.app.step("confirm", run_id, vendors)["done"] == 1
    with shelf.app.context.engine.begin() as connection:
        vendor_runs.write(connection, run_id, vendors[0], state="failed", failed_step="confirm", error="as before")
    shelf.app.recover()
    assert _state(shelf) == "acknowledged"
    assert shelf.app.report(run_id)["state"] == "succeeded"


@pytest.fixture
def partly_rejected(make_world):
    """A world whose status call lists the one rejected SKU alone, as the sandbox does, and three accepted ones."""
    world = make_world(sync={"poll_first_s": 0.05, "poll_max_s": 0.1, "readback_requests_max": 0})
    world.platform.put_products("store-001", [{**A, "sku": sku} for sku in ("a", "b", "c")])
    for sku in ("a", "b", "c", "unknown"):
        world.erp.put("store-001", sku, "2.00")
    return world


_COUNTS = "SELECT accepted, rejected, unaccounted FROM ledger.job ORDER BY job_id"


def test_a_log_that_cannot_be_fetched_for_a_moment_is_fetched_later_though_the_rejections_are_known(partly_rejected):
    world = partly_rejected
    world.platform.faults({"at": "log", "kind": "status_503"})
    assert world.sync("full")["state"] != "succeeded"
    assert (_state(world), world.rows(_COUNTS)) == ("open", [(None, None, None)])
    world.platform.faults()
    world.app.recover()
    assert (_state(world), world.rows(_COUNTS)) == ("acknowledged", [(3, 1, 0)])


@pytest.mark.parametrize("final", ["expired", "overdue"])
def test_a_log_that_never_comes_leaves_the_rejections_that_the_status_lists(partly_rejected, final):
    world = partly_rejected
    world.platform.faults({"at": "log", "kind": "expired" if final == "expired" else "status_503"})
    lines = world.sync("full")["lines"]
    if final == "overdue":
        with world.app.context.engine.begin() as connection:
            connection.execute(sa.text("UPDATE ledger.job SET deadline_at = created_at"))
        lines = world.app.recover()["failed"].values()
    assert (_state(world), world.rows(_COUNTS)) == ("acknowledged", [(0, 1, 3)])
    assert [line for line in lines if "no log came, and the platform reported no result for 3 of 4 SKUs" in line]
