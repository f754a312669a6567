"""An urgent run: the named SKUs leave at once, everything else of the vendor stays as it was, and nothing of it is forgotten."""

from __future__ import annotations

import itertools

import pytest

from shelfsync.errors import ConfigurationError

A = {"barcodes": [], "title": "A", "price": 9.99, "active": True}
_keys = itertools.count(1)


def _shop(world):
    for vendor in ("store-001", "store-002"):
        world.platform.put_products(vendor, [{**A, "sku": sku} for sku in ("a", "b", "c")])
        for sku in ("a", "b", "c"):
            world.erp.put(vendor, sku, "1.00", 10, 1, 5)
    world.sync("full")


@pytest.fixture
def shop(world_after):
    return world_after(_shop)


def urgent(world, *skus, vendors=("store-001",), dry_run=False):
    run_id = world.app.open_run("delta", f"urgent/{next(_keys)}", vendors, skus=skus, dry_run=dry_run)
    return world.app.sync(run_id, dry_run=dry_run, progress=lambda *_: None)


def prices(world, vendor="store-001"):
    return {sku: product["price"] for sku, product in world.shown(vendor).items()}


@pytest.mark.slow
def test_only_the_named_skus_leave_and_the_next_delta_sends_the_others(shop):
    for sku in ("a", "b", "c"):
        shop.erp.put("store-001", sku, "1.20", 10, 1, 5)
    shop.erp.put("store-002", "a", "1.20", 10, 1, 5)
    summary = urgent(shop, "a", "b")
    assert prices(shop) == {"a": 1.2, "b": 1.2, "c": 1.0}
    assert prices(shop, "store-002")["a"] == 1.0
    assert (summary["sent"], summary["accepted"]) == (2, 2)
    assert shop.sync("delta")["sent"] == 2
    assert prices(shop) == dict.fromkeys("abc", 1.2)
    assert prices(shop, "store-002")["a"] == 1.2


@pytest.mark.slow
def test_the_report_has_the_outcome_of_each_sku(shop):
    shop.erp.put("store-001", "a", "1.20", 10, 1, 5)
    shop.erp.put("store-001", "unknown", "1.20", 10, 1, 5)
    lines = urgent(shop, "a", "b", "unknown", "mistyped")["lines"]
    outcomes = {
        line.split("'")[1]: line.partition(": ")[2] for line in lines if line.startswith("vendor store-001, SKU")
    }
    assert outcomes["a"] == "accepted"
    assert outcomes["b"].startswith("not sent: it equals the baseline")
    assert outcomes["unknown"].startswith("rejected: ")
    assert outcomes["mistyped"].startswith("not sent, and never acknowledged: check that it is in the ERP")


@pytest.mark.slow
def test_a_change_that_was_left_out_keeps_its_age(shop):
    """The end of an urgent run does not mean that the whole vendor is acknowledged."""
    shop.erp.put("store-001", "a", "1.20", 10, 1, 5)
    shop.erp.put("store-001", "b", "1.20", 10, 1, 5)
    urgent(shop, "a")
    (row,) = [one for one in shop.app.status()["vendors"] if one["vendor"] == "store-001"]
    assert row["oldest_unacknowledged_s"] is not None
    shop.sync("delta")
    first = "SELECT min(read_at) FROM ledger.extract JOIN ledger.run USING (run_id) WHERE skus <> '{}'"
    since = "SELECT wanted_at FROM ledger.batch WHERE vendor = 'store-001' ORDER BY batch_id DESC LIMIT 1"
    assert shop.rows(since) == shop.rows(first)
    (row,) = [one for one in shop.app.status()["vendors"] if one["vendor"] == "store-001"]
    assert row["oldest_unacknowledged_s"] is None


@pytest.mark.slow
def test_a_product_that_left_the_erp_is_switched_off_at_once(shop):
    shop.erp.execute("DELETE FROM stock WHERE vendor = 'store-001' AND sku = 'a'")
    urgent(shop, "a")
    assert {sku: product["active"] for sku, product in shop.shown().items()} == {"a": False, "b": True, "c": True}


@pytest.mark.slow
def test_a_guard_holds_it_all_the_same(shop):
    shop.erp.put("store-001", "a", "100.00", 10, 1, 5)
    summary = urgent(shop, "a")
    assert summary["sent"] == 0
    assert prices(shop)["a"] == 1.0
    assert shop.rows("SELECT count(*) FROM ledger.hold WHERE state = 'open'") == [(1,)]


@pytest.mark.slow
def test_a_guard_judges_a_named_sku_by_its_whole_store(shop):
    """One price of another tax looks like any other: only the rows that were not named show the accident."""
    more = "defghijkl"
    shop.platform.put_products("store-001", [{**A, "sku": sku} for sku in more])
    for sku in more:
        shop.erp.put("store-001", sku, "1.00", 10, 1, 5)
    shop.sync("full")
    for sku in "abc" + more:
        shop.erp.put("store-001", sku, "1.19", 10, 1, 5)
    assert urgent(shop, "a")["sent"] == 0
    assert set(prices(shop).values()) == {1.0}
    assert shop.rows("SELECT rule FROM ledger.hold WHERE state = 'open'") == [("mass_repricing",)]


@pytest.mark.slow
def test_a_second_row_of_the_named_sku_is_found_however_the_erp_spells_it(shop):
    """The two rows are one SKU, so neither is sent; a condition on the name alone would return the first of them."""
    shop.erp.put("store-001", "a", "1.20", 10, 1, 5)
    shop.erp.put("store-001", "a ", "1.30", 10, 1, 5)
    assert urgent(shop, "a")["sent"] == 0
    assert prices(shop)["a"] == 1.0


@pytest.mark.slow
def test_a_quantity_that_leaves_alone_takes_active_along_so_that_it_switches_off(shop):
    shop.platform.control("PUT", "settings", {"single_item_quantity": "ignored"})
    shop.erp.put("store-001", "a", "1.00", 0, 0, 5)
    shop.erp.put("store-001", "b", "1.00", 0, 0, 5)
    urgent(shop, "a")
    assert {sku: product["active"] for sku, product in shop.shown().items()} == {"a": False, "b": True, "c": True}


@pytest.mark.slow
def test_a_plan_of_it_reads_its_vendor_alone_names_the_skus_alone_and_sends_nothing(shop):
    before = len(shop.sent())
    for sku in ("a", "b"):
        shop.erp.put("store-001", sku, "1.20", 10, 1, 5)
    urgent(shop, "a", dry_run=True)
    (path,) = shop.rows("SELECT released_path FROM ledger.vendor_run ORDER BY run_id DESC LIMIT 1")[0]
    assert shop.app.context.lake.read_table(path)["sku"].to_pylist() == ["a"]
    assert shop.rows("SELECT rows, complete FROM ledger.extract ORDER BY extract_id DESC LIMIT 1") == [(3, True)]
    assert len(shop.sent()) == before


@pytest.mark.slow
def test_an_open_job_of_the_vendor_is_waited_for(shop):
    shop.platform.control("PUT", "settings", {"job_seconds": 0.5})
    shop.erp.put("store-001", "b", "1.20", 10, 1, 5)
    shop.begin("delta", "deliver")
    shop.erp.put("store-001", "a", "1.20", 10, 1, 5)
    assert shop.app.clear_the_way(("store-001",)) == []
    assert urgent(shop, "a")["sent"] == 1
    assert prices(shop) == {"a": 1.2, "b": 1.2, "c": 1.0}


@pytest.mark.slow
@pytest.mark.parametrize("lost", ["drop_answer", "refuse_connection"])
def test_a_request_that_a_dead_process_left_unanswered_is_sent_again_to_clear_the_way(shop, monkeypatch, lost):
    """Otherwise only the recovery schedule would do it, while the person waits."""
    from shelfsync.catalog.steps import deliver

    with monkeypatch.context() as patch:
        patch.setattr(deliver, "_give_back", lambda *_: None)  # it died before it could record that nothing was sent
        shop.platform.faults({"at": "put_catalog", "kind": lost, "vendor": "store-001"})
        shop.erp.put("store-001", "b", "1.30", 10, 1, 5)
        shop.sync("delta")
    states = "SELECT state FROM ledger.job WHERE vendor = 'store-001' ORDER BY job_id DESC LIMIT 1"
    assert shop.rows(states)[0].state == "submitting"
    shop.platform.faults()
    assert shop.app.clear_the_way(("store-001",)) == []
    assert shop.rows(states)[0].state == "acknowledged"
    shop.erp.put("store-001", "a", "1.20", 10, 1, 5)
    assert urgent(shop, "a")["accepted"] == 1
    assert prices(shop) == {"a": 1.2, "b": 1.3, "c": 1.0}


@pytest.mark.slow
def test_the_way_is_not_looked_at_without_a_pause_while_nothing_can_be_sent(shop, monkeypatch):
    """Ten checks a second would only load the database."""
    from shelfsync.catalog.steps import deliver, urgent

    shop.platform.faults({"at": "put_catalog", "kind": "refuse_connection", "vendor": "store-001"})
    with monkeypatch.context() as patch:
        patch.setattr(deliver, "_give_back", lambda *_: None)
        shop.erp.put("store-001", "b", "1.30", 10, 1, 5)
        shop.sync("delta")
    looks = []
    monkeypatch.setattr(urgent, "WAIT_S", 1.0)
    monkeypatch.setattr("shelfsync.platform.jobs.wait.GRACE_S", 1.0)
    monkeypatch.setattr("shelfsync.platform.jobs.wait.LOOK_AGAIN_S", 1.5)
    again = urgent._open
    monkeypatch.setattr(urgent, "_open", lambda *given: looks.append(given) or again(*given))
    assert shop.app.clear_the_way(("store-001",)) == ["store-001"]
    assert len(looks) <= 4


def test_an_urgent_run_names_its_vendors_and_is_no_full_sync(world):
    with pytest.raises(ConfigurationError, match="no vendor was named"):
        world.app.open_run("delta", "x", skus=("a",))
    with pytest.raises(ConfigurationError, match="sends every SKU"):
        world.app.open_run("full", "x", ("store-001",), skus=("a",))


def _lines_of(summary):
    return {
        line.split("'")[1]: line.partition(": ")[2]
        for line in summary["lines"]
        if line.startswith("vendor store-001, SKU")
    }


@pytest.mark.slow
@pytest.mark.parametrize("held", [False, True])
def test_the_report_does_not_call_equal_what_is_on_its_way_or_could_not_be_sent(shop, held):
    """A recall: whoever reads "it equals the baseline" believes that the product is off sale."""
    shop.platform.faults({"at": "job", "kind": "stuck"})
    shop.erp.put("store-001", "a", "1.20", 0, 1, 5)
    shop.erp.put("store-001", "b", "100.00" if held else "1.00", 10, 1, 5)
    sent = _lines_of(_until_sent(shop, "a", "b"))
    assert sent["a"] == "sent, without an outcome yet: `shelfsync recover` reads that of job 3"
    assert sent["b"].startswith("not sent: it equals the baseline, or is held")
    shop.erp.put("store-001", "c", "1.10", 10, 1, 5)
    busy = _lines_of(_until_sent(shop, "c"))
    assert busy["c"].startswith("not sent: the vendor is busy: job 3 of run ")


@pytest.mark.slow
def test_the_report_does_not_call_equal_what_a_pause_keeps_from_leaving(shop):
    shop.erp.put("store-001", "a", "1.20", 0, 1, 5)
    shop.app.pause("vendor", "store-001", why="stocktaking", who="ada")
    assert _lines_of(_until_sent(shop, "a")) == {
        "a": "not sent yet: its request is planned, and the next run sends its newest values"
    }


def _until_sent(world, *skus):
    """The report of an urgent run whose wait has ended without an outcome."""
    run_id = world.app.open_run("delta", f"urgent/{next(_keys)}", ("store-001",), skus=skus)
    world.app.extract(run_id)
    for word in ("normalise", "diff", "guard", "batch", "deliver"):
        world.app.step(word, run_id, ["store-001"])
    return world.app.report(run_id)
