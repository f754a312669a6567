"""Every view of the warehouse, after a day with faults, against a recomputation from the platform's own memory."""

from __future__ import annotations

import random
import time
from collections import Counter, defaultdict
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from scenarios.day import EDITED, LARGE, ONLY_IN_ERP, ONLY_ON_PLATFORM, SMALL, Day, ScenarioWorld
from scenarios.truth import Truth
from shelfsync.catalog.warehouse.views import CATALOG_VIEWS

pytestmark = pytest.mark.slow

TOLERANCE_S = 0.6
"""A request takes a little time: at most 0.3 s of the virtual clock, and its log too."""


@pytest.fixture(
    scope="module",
    params=[SMALL, pytest.param(LARGE, marks=pytest.mark.proof)],
    ids=["small", "large"],
)
def day(request, postgres, migrated_template, tmp_path_factory):
    name = f"scenario_{request.param.vendors}"
    url = postgres.create_database(name, template=migrated_template)
    began_s = time.monotonic()
    with ScenarioWorld(url, tmp_path_factory.mktemp("scenario")) as world:
        world.open()
        day = Day(world, request.param, random.Random(7))
        day.live()
        print(f"{request.param}: {time.monotonic() - began_s:.0f} s")
        yield day
    postgres.drop_database(name)


@pytest.fixture(scope="module")
def truth(day):
    return Truth(day)


def _sql(day, statement):
    return day.world.rows(statement)


def test_the_export_run_succeeded(day):
    assert (day.summary["state"], day.summary["error"]) == ("succeeded", None)


def test_acceptance(day, truth):
    rows = _sql(
        day, "SELECT vendor, day, sent, accepted, rejected, unaccounted, acceptance_rate FROM warehouse.acceptance"
    )
    assert {(row.vendor, row.day): tuple(row[2:6]) for row in rows} == truth.acceptance()
    assert all(row.acceptance_rate == pytest.approx(row.accepted / row.sent) for row in rows)
    assert sum(row.unaccounted for row in rows) == 1


def test_counts_agree_with_the_ledger(day):
    ledger = "SELECT job_id, sent, accepted, rejected, unaccounted FROM ledger.job WHERE kind = 'catalog' AND state = 'acknowledged' ORDER BY 1"
    warehouse = (
        "SELECT job_id, count(*), count(*) FILTER (WHERE state = 'accepted'), count(*) FILTER (WHERE state = 'rejected'),"
        " count(*) FILTER (WHERE state = 'unaccounted') FROM warehouse.sku_outcome GROUP BY 1 ORDER BY 1"
    )
    assert _sql(day, ledger) == _sql(day, warehouse)


def test_rejections_by_reason(day, truth):
    rows = _sql(day, "SELECT vendor, day, reason, rejections, skus FROM warehouse.rejection_reason")
    assert {
        (row.vendor, row.day, row.reason): (row.rejections, row.skus) for row in rows
    } == truth.rejections_by_reason()
    assert len(rows) >= len(day.vendors)


def _lags(truth, read_of, wanted):
    """(vendor, day) -> seconds from reading the ERP to what `wanted` gives of an item."""
    found = defaultdict(list)
    for item in truth.accepted():
        if (until := wanted(item)) is not None:
            found[item.vendor, item.reported_at.date()].append((until - read_of[item.job]).total_seconds())
    return found


@pytest.fixture(scope="module")
def read_of(day):
    """The platform's job -> when the ERP was first read for it, as the scenario recorded it."""
    runs = _sql(day, "SELECT platform_job_id, run_id, b.vendor FROM ledger.job JOIN ledger.batch AS b USING (batch_id)")
    return {job: day.read_at[run, vendor] for job, run, vendor in runs if job is not None}


def test_one_delta_was_blocked_so_that_its_changes_waited_for_the_next(day, truth, read_of):
    late = [item for item in truth.accepted() if (item.reported_at - read_of[item.job]).total_seconds() >= 900]
    assert {(item.vendor, item.sku) for item in late} >= {(day.vendors[1], "s00000"), (day.vendors[1], "s00005")}
    assert {item.vendor for item in late} == {day.vendors[1]}


def test_freshness(day, truth, read_of):
    rows = {(row.vendor, row.day): row for row in _sql(day, "SELECT * FROM warehouse.freshness")}
    lags = _lags(truth, read_of, lambda item: item.reported_at)
    assert {key: row.changes for key, row in rows.items()} == {key: len(values) for key, values in lags.items()}
    for key, values in lags.items():
        row = rows[key]
        in_view = (row.acknowledged_p50_s, row.acknowledged_p95_s, row.acknowledged_p99_s)
        assert in_view == pytest.approx(np.percentile(values, (50, 95, 99)), abs=TOLERANCE_S)


def test_freshness_by_the_hour_and_the_priority_of_the_job(day, truth, read_of):
    of_job = dict(_sql(day, "SELECT platform_job_id, priority FROM warehouse.catalog_job"))
    lags = defaultdict(list)
    for item in truth.accepted():
        hour = item.reported_at.replace(minute=0, second=0, microsecond=0)
        lags[item.vendor, hour, of_job[item.job]].append((item.reported_at - read_of[item.job]).total_seconds())
    rows = {
        (row.vendor, row.hour_at, row.priority): row for row in _sql(day, "SELECT * FROM warehouse.freshness_hourly")
    }
    assert {key: row.changes for key, row in rows.items()} == {key: len(values) for key, values in lags.items()}
    assert len({priority for _, _, priority in rows}) > 1
    for key, values in lags.items():
        row = rows[key]
        in_view = (row.acknowledged_p50_s, row.acknowledged_p95_s, row.acknowledged_p99_s, row.acknowledged_max_s)
        assert in_view == pytest.approx(np.percentile(values, (50, 95, 99, 100)), abs=TOLERANCE_S)


def test_freshness_to_the_export(day, truth, read_of):
    asked = dict(_sql(day, "SELECT vendor, requested_at FROM ledger.export"))
    rows = {(row.vendor, row.day): row for row in _sql(day, "SELECT * FROM warehouse.freshness")}
    lags = _lags(truth, read_of, lambda item: asked[item.vendor] if truth.is_shown(item) else None)
    assert {key: row.observed for key, row in rows.items() if row.observed} == {
        key: len(values) for key, values in lags.items()
    }
    for key, values in lags.items():
        row = rows[key]
        in_view = (row.observed_p50_s, row.observed_p95_s, row.observed_p99_s)
        assert in_view == pytest.approx(np.percentile(values, (50, 95, 99)), abs=TOLERANCE_S)


def test_time_to_stop_sell(day, truth, read_of):
    rows = {(row.vendor, row.day): row for row in _sql(day, "SELECT * FROM warehouse.stop_sell")}
    stops = truth.stops()
    assert stops < {(item.job, item.vendor, item.sku) for item in truth.accepted() if item.stops_selling}
    lags = _lags(truth, read_of, lambda item: item.reported_at if (item.job, item.vendor, item.sku) in stops else None)
    assert {key: row.stops for key, row in rows.items()} == {key: len(values) for key, values in lags.items()}
    assert rows
    for key, values in lags.items():
        in_view = (rows[key].stop_p50_s, rows[key].stop_p95_s, rows[key].stop_p99_s)
        assert in_view == pytest.approx(np.percentile(values, (50, 95, 99)), abs=TOLERANCE_S)
        assert rows[key].stop_max_s == pytest.approx(max(values), abs=TOLERANCE_S)


def test_the_assortment_by_day_is_what_the_platform_showed(day):
    rows = _sql(day, "SELECT vendor, sku, price, active, max_sales_quantity FROM warehouse.assortment_daily")
    in_view = {(row.vendor, row.sku): (row.price, row.active, row.max_sales_quantity) for row in rows}
    shown = {
        (vendor, sku): (Decimal(str(row["price"])), row["active"], row["max_sales_quantity"])
        for vendor, products in day.shown.items()
        for sku, row in products.items()
    }
    assert in_view == shown


def test_the_gap_between_both_sides(day, truth):
    rows = _sql(day, "SELECT vendor, sku, gap FROM warehouse.assortment_gap")
    assert {tuple(row) for row in rows} == truth.gaps()
    assert {(row.sku, row.gap) for row in rows} == {(ONLY_IN_ERP, "not_on_platform"), (ONLY_ON_PLATFORM, "not_in_erp")}


def test_request_use_by_priority(day, truth):
    rows = _sql(day, "SELECT operation, priority, sum(requests) AS requests FROM warehouse.request_use GROUP BY 1, 2")
    used = defaultdict(int)
    for row in rows:
        used[row.operation] += int(row.requests)
    expected = truth.requests()
    assert {operation: used[operation] for operation in expected} == dict(expected)
    assert {row.priority for row in rows if row.operation == "export"} == {"export"}
    # a job is one request; those that the platform answered with an error made none, and were sent again with the same priority
    jobs = Counter(truth.priorities().values())
    sent = {row.priority: int(row.requests) for row in rows if row.operation == "put_catalog"}
    failed = expected["put_catalog"] - jobs.total()
    assert {priority for priority in jobs if sent.get(priority, 0) < jobs[priority]} == set()
    assert sum(sent.values()) - jobs.total() == failed
    assert jobs["stop_sell"] > 0
    assert jobs["price"] > 0


def test_how_the_end_of_each_job_was_received(day, truth):
    lost, polled = truth.lost_and_polled()
    jobs = {job for (job,) in _sql(day, "SELECT platform_job_id FROM warehouse.catalog_job WHERE ended_at IS NOT NULL")}
    assert len(lost) == 1
    by = dict(
        _sql(
            day, "SELECT platform_job_id, end_reported_by FROM warehouse.catalog_job WHERE platform_job_id IS NOT NULL"
        )
    )
    questions = {job for job, word in by.items() if word == "poll"}
    assert lost <= questions <= polled
    assert {word for job, word in by.items() if job not in polled} == {"webhook"}
    rows = _sql(
        day,
        "SELECT vendor, sum(jobs), sum(by_webhook), sum(by_poll), sum(by_other) FROM warehouse.confirmation GROUP BY 1",
    )
    assert sum(row[1] for row in rows) == len(jobs)
    assert all(row[1] == row[2] + row[3] + row[4] for row in rows)
    assert sum(row[3] for row in rows) == len(questions)


def test_current_rejections(day, truth):
    rows = _sql(day, "SELECT vendor, sku, reason, times, duration FROM warehouse.rejection")
    expected = truth.rejections()
    assert {(row.vendor, row.sku): (row.reason, row.times) for row in rows} == expected
    assert {row.sku for row in rows} == {ONLY_IN_ERP}
    assert {row.duration for row in rows} == {"permanent"}


def test_rejections_counted_by_reason_are_those_of_each_sku(day):
    counted = {
        tuple(row) for row in _sql(day, "SELECT vendor, reason, kind, skus, first_at FROM warehouse.rejection_count")
    }
    each = "SELECT vendor, reason, kind, count(*), min(first_at) FROM warehouse.rejection GROUP BY vendor, reason, kind"
    assert counted == {tuple(row) for row in _sql(day, each)}
    assert counted


def test_every_change_that_was_accepted_has_its_times(day, truth, read_of):
    rows = _sql(
        day,
        "SELECT t.vendor, t.sku, platform_job_id, t.stops_selling, t.read_at, t.acknowledged_at, t.observed_at IS NOT NULL AS seen"
        " FROM warehouse.change_time AS t JOIN warehouse.catalog_job USING (job_id)",
    )
    in_view = {(row.vendor, row.sku, row.platform_job_id): row for row in rows}
    items = {(item.vendor, item.sku, item.job): item for item in truth.accepted()}
    assert len(rows) == len(in_view)
    assert in_view.keys() == items.keys()
    stops = truth.stops()
    for key, item in items.items():
        row = in_view[key]
        assert (row.stops_selling, row.seen) == ((item.job, item.vendor, item.sku) in stops, truth.is_shown(item)), key
        assert abs((row.acknowledged_at - item.reported_at).total_seconds()) <= TOLERANCE_S
        assert abs((row.read_at - read_of[item.job]).total_seconds()) <= TOLERANCE_S


def test_the_life_of_every_sku(day, truth):
    """One event for each item sent, each outcome and each product of the export."""
    rows = _sql(
        day, "SELECT vendor, sku, step, price, active, max_sales_quantity AS sold_at_most FROM warehouse.timeline"
    )
    events = defaultdict(Counter)
    for row in rows:
        events[row.step][row.vendor, row.sku, row.price, row.active, row.sold_at_most] += 1
    sent = Counter((item.vendor, item.sku, item.price, item.active, item.limit) for item in truth.items)
    assert events["deliver"] == sent
    assert events["confirm"] == sent
    assert events["observe"] == Counter(
        (vendor, sku, Decimal(str(row["price"])), row["active"], row["max_sales_quantity"])
        for vendor, shown in day.shown.items()
        for sku, row in shown.items()
    )
    drifted = {(row.vendor, row.sku) for row in _sql(day, "SELECT vendor, sku FROM warehouse.drift")}
    assert drifted <= {key[:2] for key in events["reconcile"]}


def test_values_accepted_and_not_applied_and_values_edited_in_the_portal(day, truth):
    prices = {
        (vendor, sku): Decimal(str(row["price"])) for vendor, shown in day.shown.items() for sku, row in shown.items()
    }
    wrong = {key for key, price in truth.last_prices().items() if prices[key] != price}
    edited = {key for key in wrong if prices[key] == EDITED}
    rows = _sql(day, "SELECT vendor, sku, cause FROM warehouse.drift WHERE field = 'price'")
    assert {(row.vendor, row.sku) for row in rows if row.cause == "changed_on_platform"} == edited
    assert {(row.vendor, row.sku) for row in rows if row.cause == "acknowledged_not_applied"} == wrong - edited
    assert edited
    assert wrong - edited
    view = {row.vendor: row for row in _sql(day, "SELECT * FROM warehouse.not_applied")}
    for vendor in day.vendors:
        late = {sku for name, sku in wrong - edited if name == vendor}
        assert (view[vendor].not_applied, view[vendor].shown) == (len(late), len(day.shown[vendor]))
        assert (view[vendor].oldest_s is None) == (not late)
        if late:
            reported = [item.reported_at for item in truth.accepted() if item.vendor == vendor and item.sku in late]
            newest = {
                sku: max(item.reported_at for item in truth.accepted() if (item.vendor, item.sku) == (vendor, sku))
                for sku in late
            }
            asked = dict(_sql(day, "SELECT vendor, requested_at FROM ledger.export"))[vendor]
            assert reported
            assert view[vendor].oldest_s == pytest.approx(
                (asked - min(newest.values())).total_seconds(), abs=2.0 * day.size.vendors
            )


def test_the_lost_log_line_is_confirmed_by_the_export(day, truth):
    unaccounted = [(item.vendor, item.sku) for item in truth.items if item.state == "unaccounted"]
    assert len(unaccounted) == 1
    assert day.summary["confirmed"] == 1
    vendor, sku = unaccounted[0]
    held = _sql(day, f"SELECT price FROM warehouse.baseline WHERE vendor = '{vendor}' AND sku = '{sku}'")
    assert held == [(day.rows[vendor, sku].price,)]


def test_every_sku_of_the_erp_that_the_platform_knows_is_acknowledged_as_wanted_or_named(day):
    rows = _sql(day, "SELECT vendor, sku, price FROM warehouse.baseline")
    held = {(row.vendor, row.sku): row.price for row in rows}
    named = {tuple(row) for row in _sql(day, "SELECT vendor, sku FROM warehouse.drift")}
    for key, row in day.rows.items():
        assert held.get(key) == row.price or key in named, key


def test_every_view_of_the_catalog_is_looked_at_here():
    here = Path(__file__).read_text("utf-8")
    assert [view.name for view in CATALOG_VIEWS if f"FROM warehouse.{view.name}" not in here] == []
