"""Stop-sells leave first, prices next, the rest last, all of them in flight at once; the report has each one's time."""

from __future__ import annotations

import pytest

A = {"barcodes": [], "title": "A", "price": 9.99, "active": True, "sales_buffer": 1}
VENDOR = "store-001"
BATCHES = "SELECT priority, item_count, urgent_count, state FROM ledger.batch WHERE run_id = :run ORDER BY sequence"


@pytest.fixture
def shop(make_world):
    world = make_world(sync={"priority_split_skus": 2, "poll_first_s": 0.05, "poll_max_s": 0.2, "job_deadline_s": 30})
    for vendor in (VENDOR, "store-002"):
        world.platform.put_products(vendor, [{**A, "sku": sku} for sku in "abcdefgh"])
        for sku in "abcdefgh":
            world.erp.put(vendor, sku, "1.00", 10, 1, 5)
    world.sync("full")
    return world


def busy_day(shop, vendor=VENDOR):
    """Two stop-sells, two prices, four of the rest."""
    shop.erp.put(vendor, "g", "1.00", 0, 1, 5)
    shop.erp.put(vendor, "h", "1.00", 10, 0, 5)
    for sku in "ef":
        shop.erp.put(vendor, sku, "2.00", 10, 1, 5)
    for sku in "abcd":
        shop.erp.put(vendor, sku, "1.00", 10, 1, 9)


def rows(shop, statement, **values):
    return [tuple(row) for row in shop.rows(statement.replace(":run", str(values["run"])))]


@pytest.mark.slow
def test_one_run_sends_the_priorities_one_after_the_other_and_brings_all_home(shop):
    before = len(shop.sent())
    busy_day(shop)
    summary = shop.sync("delta")
    assert summary["accepted"] == 8
    assert len(shop.sent()) - before == 3
    assert rows(shop, BATCHES, run=summary["run"]) == [
        ("stop_sell", 2, 2, "done"), ("price", 2, 2, "done"), ("catalog", 4, 4, "done"),
    ]  # fmt: skip
    jobs = "SELECT priority, sent, urgent FROM warehouse.catalog_job WHERE run_id = :run ORDER BY sent_at"
    assert rows(shop, jobs, run=summary["run"]) == [("stop_sell", 2, 2), ("price", 2, 2), ("catalog", 4, 4)]
    assert shop.sync("delta")["sent"] == 0


@pytest.mark.slow
def test_a_small_delta_is_one_request_in_the_priority_of_its_most_urgent_sku(make_world, shop):
    small = make_world()
    busy_day(small)
    summary = small.sync("delta")
    assert rows(small, BATCHES, run=summary["run"]) == [("stop_sell", 8, 2, "done")]


@pytest.mark.slow
def test_vendors_with_stop_sells_are_sent_before_the_others(shop):
    shop.erp.put(VENDOR, "a", "1.00", 10, 1, 9)
    shop.erp.put("store-002", "a", "1.00", 10, 0, 5)
    before = len(shop.sent())
    shop.sync("delta")
    assert [entry["route"].split("/")[5] for entry in shop.sent()[before:]] == ["store-002", VENDOR]


@pytest.mark.slow
def test_every_request_of_a_stop_sell_goes_through_its_priority_of_the_rate_limit(shop):
    last = shop.rows("SELECT max(permit_id) FROM rate_limit.permit")[0][0]
    shop.erp.put(VENDOR, "a", "1.00", 0, 1, 5)
    shop.sync("delta")
    used = shop.rows(f"SELECT DISTINCT operation, priority FROM rate_limit.permit WHERE permit_id > {last}")
    priorities = {
        operation: priority for operation, priority in used if operation in {"put_catalog", "job_status", "log"}
    }
    assert priorities["put_catalog"] == "stop_sell"
    assert set(priorities.values()) == {"stop_sell"}
    assert len(priorities) >= 2


@pytest.mark.slow
def test_the_report_and_the_status_list_stop_sells_separately(shop):
    busy_day(shop)
    summary = shop.sync("delta")
    by_priority = {row["priority"]: row for row in summary["freshness"]}
    assert list(by_priority) == ["stop_sell", "price", "catalog"]
    assert by_priority["stop_sell"]["skus"] == 2
    assert 0 < by_priority["stop_sell"]["seconds_max"] < by_priority["catalog"]["seconds_max"]
    assert any(line.startswith("stop-sells: 2 SKUs in 1 jobs acknowledged") for line in summary["lines"])
    status = shop.app.status()
    assert status["freshness"][0]["priority"] == "stop_sell"
    used = shop.rows("SELECT operation, sum(requests)::bigint FROM warehouse.request_use GROUP BY 1")
    assert status["requests"]["by"] == {row[0]: row[1] for row in used}
    assert status["requests"]["polls_share"] == status["requests"]["by"].get("job_status", 0) / sum(
        row[1] for row in used
    )


@pytest.mark.slow
def test_the_report_compares_its_time_with_what_the_request_limit_makes_necessary(shop):
    busy_day(shop)
    summary = shop.sync("delta")
    limit = shop.app.context.settings.rate_limit.requests_per_minute
    assert (summary["bound"]["requests"], summary["bound"]["bound_s"]) == (6, 6 * 60 / limit)
    assert summary["bound"]["took_s"] > 0
    assert any(line.startswith("6 requests take at least") for line in summary["lines"])
    assert shop.sync("delta")["bound"] is None


@pytest.mark.slow
def test_the_time_counts_from_the_first_reading_that_saw_the_change(shop):
    """A run that could not send has read the ERP; the run that can must not look faster for it."""
    shop.platform.faults({"at": "put_catalog", "kind": "status_404", "times": 1})
    shop.erp.put(VENDOR, "a", "1.00", 0, 1, 5)
    failed = shop.sync("delta", VENDOR)
    assert failed["state"] == "failed"
    summary = shop.sync("delta", VENDOR)
    wanted = shop.rows(
        "SELECT b.wanted_at = e.read_at FROM ledger.batch b, ledger.extract e"
        f" WHERE b.run_id = {summary['run']} AND e.run_id = {failed['run']}"
    )
    assert wanted == [(True,)]


@pytest.mark.slow
@pytest.mark.parametrize("blocked", ["paused", "rejected"])
def test_an_outage_counts_in_the_freshness_of_what_waited_through_it(shop, blocked):
    """Two hours in which nothing could leave; the delta that gets through reads the ERP again a moment before it sends."""
    shop.erp.put(VENDOR, "a", "1.00", 0, 1, 5)
    if blocked == "paused":
        shop.app.pause("vendor", VENDOR, why="an outage", who="ada", anyway=True)
    else:
        shop.platform.faults({"at": "put_catalog", "kind": "status_404", "times": 2})
    runs = [shop.sync("delta", VENDOR)["run"] for _ in range(2)]
    with shop.app.context.engine.begin() as connection:
        connection.exec_driver_sql(
            f"UPDATE ledger.extract SET read_at = read_at - interval '2 hours' WHERE run_id IN ({runs[0]}, {runs[1]})"
        )
    before = shop.rows("SELECT count(*) FROM warehouse.change_time")
    if blocked == "paused":
        shop.app.resume("vendor", VENDOR, why="over", who="ada")
    assert shop.sync("delta", VENDOR)["accepted"] == 1
    assert shop.rows("SELECT count(*) - 1 FROM warehouse.change_time") == before
    newest = f"SELECT max(stop_max_s) FROM warehouse.stop_sell WHERE vendor = '{VENDOR}'"
    assert shop.rows(newest)[0][0] >= 7200
    assert shop.rows(f"SELECT max(acknowledged_p99_s) FROM warehouse.freshness WHERE vendor = '{VENDOR}'")[0][0] >= 6000


@pytest.mark.slow
def test_what_was_off_sale_already_is_no_stop_sell(shop):
    """A quantity is sent with `active` false while the product should be off; a full sync sends all fields."""
    stops = f"SELECT sku FROM warehouse.change_time WHERE stops_selling AND vendor = '{VENDOR}' ORDER BY 1"
    shop.erp.put(VENDOR, "a", "1.00", 5, 0, 5)
    shop.erp.put(VENDOR, "b", "1.00", 0, 1, 5)
    assert shop.sync("delta", VENDOR)["accepted"] == 2
    assert shop.rows(stops) == [("a",), ("b",)]
    shop.platform.put_products(VENDOR, [{**A, "sku": sku} for sku in "abcdefghi"])
    shop.erp.put(VENDOR, "i", "1.00", 5, 0, 5)  # begins off sale
    shop.erp.put(VENDOR, "a", "1.00", 4, 0, 5)
    shop.erp.put(VENDOR, "b", "1.00", 0, 0, 5)
    assert shop.sync("delta", VENDOR)["accepted"] == 3
    shop.erp.put(VENDOR, "a", "2.00", 3, 0, 5)
    shop.sync("full")
    assert shop.rows(stops) == [("a",), ("b",)]
    shop.erp.put(VENDOR, "a", "2.00", 3, 1, 5)
    shop.sync("delta", VENDOR)
    shop.erp.put(VENDOR, "a", "2.00", 3, 0, 5)
    shop.sync("delta", VENDOR)
    assert shop.rows(stops) == [("a",), ("a",), ("b",)]
    assert shop.rows("SELECT sum(stops) FROM warehouse.stop_sell") == [(3,)]


@pytest.mark.slow
def test_a_change_whose_earlier_state_is_unknown_is_no_stop_sell(shop):
    """History goes by the month, outcomes with it; a DuckDB file knows the states of the last days alone."""
    shop.erp.put(VENDOR, "a", "1.00", 0, 1, 5)
    with shop.app.context.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM warehouse.baseline_history")
    shop.sync("delta", VENDOR)
    assert shop.rows("SELECT sku FROM warehouse.change_time WHERE stops_selling IS NULL") == [("a",)]
    assert shop.rows("SELECT * FROM warehouse.stop_sell") == []


@pytest.mark.slow
def test_the_halves_of_a_rejected_stop_sell_are_sent_before_the_rest(shop):
    shop.platform.faults({"at": "put_catalog", "kind": "status_400", "times": 1})
    busy_day(shop)
    summary = shop.sync("delta")
    assert summary["state"] == "succeeded"
    jobs = "SELECT priority, sent, state FROM warehouse.catalog_job WHERE run_id = :run ORDER BY sent_at"
    assert [row[:2] for row in rows(shop, jobs, run=summary["run"])] == [
        ("stop_sell", 2), ("stop_sell", 1), ("stop_sell", 1), ("price", 2), ("catalog", 4),
    ]  # fmt: skip


@pytest.mark.slow
def test_all_bodies_of_a_delta_are_with_the_platform_at_once_and_share_no_sku(shop):
    busy_day(shop)
    run_id, vendors = shop.begin("delta", upto="deliver")
    with_platform = shop.rows(
        "SELECT b.priority, b.items_path FROM ledger.job j JOIN ledger.batch b USING (batch_id) WHERE j.state = 'open' ORDER BY j.job_id"
    )
    assert [priority for priority, _ in with_platform] == ["stop_sell", "price", "catalog"]
    skus = [sku for _, path in with_platform for sku in shop.app.context.lake.read_table(path)["sku"].to_pylist()]
    assert sorted(skus) == list("abcdefgh")
    shop.app.wait(run_id, vendors)
    for word in ("confirm", "acknowledge"):
        assert shop.app.step(word, run_id, vendors)["done"] == 1
    assert shop.app.report(run_id)["accepted"] == 8
    assert shop.sync("delta")["sent"] == 0


@pytest.mark.slow
def test_stop_sells_of_every_vendor_leave_before_a_price_of_any(shop):
    before = len(shop.sent())
    for vendor in (VENDOR, "store-002"):
        busy_day(shop, vendor)
    shop.begin("delta", upto="deliver")
    sent_to = [entry["route"].split("/")[5] for entry in shop.sent()[before:]]
    assert sent_to == [VENDOR, "store-002"] * 3


@pytest.mark.slow
def test_a_run_in_one_process_sends_the_stop_sells_of_all_shards_first_and_reads_their_logs_first(make_world, shop):
    # one file at a time: of files that come side by side, the one that is there first is read first
    sync = {"vendors_per_shard": 1, "poll_first_s": 0.05, "poll_max_s": 0.2, "downloads_at_once": 1}
    sharded = make_world(sync=sync)
    shop.erp.put(VENDOR, "a", "1.00", 10, 1, 9)
    shop.erp.put("store-002", "a", "1.00", 10, 0, 5)
    assert sharded.sync("delta")["accepted"] == 2
    sent = [entry["route"].split("/")[5] for entry in shop.sent()[-2:]]
    assert sent == ["store-002", VENDOR]
    order = "SELECT vendor FROM ledger.job JOIN warehouse.sku_outcome o USING (job_id, vendor) WHERE o.sku = 'a' ORDER BY o.known_at DESC LIMIT 2"
    assert [row.vendor for row in shop.rows(order)] == [VENDOR, "store-002"]


@pytest.mark.slow
def test_what_waited_longer_is_sent_before_younger_changes_of_its_priority(shop):
    """The second store's change waits since a run that the platform rejected; the first store's is new. By name it would be first."""
    shop.platform.faults({"at": "put_catalog", "kind": "status_404", "times": 1})
    shop.erp.put("store-002", "a", "2.00", 10, 1, 5)
    assert shop.sync("delta")["state"] == "partly_failed"
    shop.erp.put(VENDOR, "a", "2.00", 10, 1, 5)
    shop.sync("delta")
    assert [entry["route"].split("/")[5] for entry in shop.sent()[-2:]] == ["store-002", VENDOR]


@pytest.mark.slow
def test_changes_of_a_vendor_that_wait_are_one_body_with_the_newest_values(shop):
    """The platform rejects two runs; the third sends what all three found, in one update with one log."""
    shop.platform.faults({"at": "put_catalog", "kind": "status_404", "times": 2})
    for price, sku in (("2.00", "a"), ("3.00", "b"), ("4.00", "a")):
        shop.erp.put(VENDOR, sku, price, 10, 1, 5)
        last = shop.rows("SELECT coalesce(max(permit_id), 0) FROM rate_limit.permit")[0][0]
        before = len(shop.sent())
        summary = shop.sync("delta", VENDOR)
    assert (summary["accepted"], len(shop.sent()) - before) == (2, 1)
    assert {sku: f"{shop.shown()[sku]['price']:.2f}" for sku in "ab"} == {"a": "4.00", "b": "3.00"}
    used = shop.rows(f"SELECT operation FROM rate_limit.permit WHERE permit_id > {last} ORDER BY 1")
    assert [row.operation for row in used if row.operation not in {"job_status", "token"}] == [
        "download",
        "put_catalog",
    ]


@pytest.mark.slow
def test_a_body_whose_job_fails_keeps_no_other_of_its_generation_from_its_end(shop):
    busy_day(shop)
    shop.platform.faults({"at": "job", "kind": "failed", "times": 1})
    summary = shop.sync("delta")
    states = rows(
        shop,
        "SELECT job.state FROM ledger.job JOIN ledger.batch USING (batch_id) WHERE run_id = :run",
        run=summary["run"],
    )
    assert sorted(states) == [("acknowledged",), ("acknowledged",), ("unconfirmed",)]
    assert summary["accepted"] in {4, 6}
    assert shop.sync("delta")["accepted"] == 8 - summary["accepted"]
