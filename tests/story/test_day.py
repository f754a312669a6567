"""Every view of the warehouse, after a day with faults, against a recomputation from the platform's own memory."""

from __future__ import annotations

import random
import time
from collections import Counter, defaultdict
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from shelfsync.warehouse.catalog_views import CATALOG_VIEWS
from story.day import EDITED, LARGE, ORPHAN, SMALL, STRANGER, Day, StoryWorld
from story.truth import Truth

TOLERANCE_S = 0.6
"""A request is a little while on its way: at most 0.3 s of the virtual clock, and its log too."""


@pytest.fixture(scope="module", params=[SMALL, pytest.param(LARGE, marks=pytest.mark.slow)], ids=["small", "large"])
def day(request, postgres, migrated_template, tmp_path_factory):
    name = f"story_{request.param.vendors}"
    url = postgres.create_database(name, template=migrated_template)
    began_s = time.monotonic()
    with StoryWorld(url, tmp_path_factory.mktemp("story")) as world:
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
        day, "SELECT vendor, day, sent, accepted, refused, unaccounted, acceptance_rate FROM warehouse.acceptance"
    )
    assert {(row.vendor, row.day): tuple(row[2:6]) for row in rows} == truth.acceptance()
    assert all(row.acceptance_rate == pytest.approx(row.accepted / row.sent) for row in rows)
    assert sum(row.unaccounted for row in rows) == 1


def test_counts_agree_with_the_ledger(day):
    ledger = (
        "SELECT job_id, sent, accepted, refused, unaccounted FROM ledger.job WHERE state = 'acknowledged' ORDER BY 1"
    )
    warehouse = (
        "SELECT job_id, count(*), count(*) FILTER (WHERE state = 'accepted'), count(*) FILTER (WHERE state = 'refused'),"
        " count(*) FILTER (WHERE state = 'unaccounted') FROM warehouse.sku_outcome GROUP BY 1 ORDER BY 1"
    )
    assert _sql(day, ledger) == _sql(day, warehouse)


def test_refusals(day, truth):
    rows = _sql(day, "SELECT vendor, day, reason, refusals, skus FROM warehouse.refusals")
    assert {(row.vendor, row.day, row.reason): (row.refusals, row.skus) for row in rows} == truth.refusals()
    assert len(rows) >= len(day.vendors)


def _lags(truth, read_of, wanted):
    """(vendor, day) -> seconds from reading the ERP to what `wanted` gives of an item."""
    found = defaultdict(list)
    for item in truth.accepted():
        if (until := wanted(item)) is not None:
            found[item.vendor, item.told_at.date()].append((until - read_of[item.job]).total_seconds())
    return found


@pytest.fixture(scope="module")
def read_of(day):
    """The platform's job -> when the ERP was first read for it, as the story wrote it down."""
    runs = _sql(day, "SELECT platform_job_id, run_id, b.vendor FROM ledger.job JOIN ledger.batch AS b USING (batch_id)")
    return {job: day.read_at[run, vendor] for job, run, vendor in runs if job is not None}


def test_one_delta_was_blocked_so_that_its_changes_waited_for_the_next(day, truth, read_of):
    late = [item for item in truth.accepted() if (item.told_at - read_of[item.job]).total_seconds() >= 900]
    assert {(item.vendor, item.sku) for item in late} >= {(day.vendors[1], "s00000"), (day.vendors[1], "s00005")}
    assert {item.vendor for item in late} == {day.vendors[1]}


def test_freshness(day, truth, read_of):
    rows = {(row.vendor, row.day): row for row in _sql(day, "SELECT * FROM warehouse.freshness")}
    lags = _lags(truth, read_of, lambda item: item.told_at)
    assert {key: row.changes for key, row in rows.items()} == {key: len(values) for key, values in lags.items()}
    for key, values in lags.items():
        row = rows[key]
        said = (row.acknowledged_p50_s, row.acknowledged_p95_s, row.acknowledged_p99_s)
        assert said == pytest.approx(np.percentile(values, (50, 95, 99)), abs=TOLERANCE_S)


def test_freshness_to_the_picture(day, truth, read_of):
    asked = dict(_sql(day, "SELECT vendor, requested_at FROM ledger.export"))
    rows = {(row.vendor, row.day): row for row in _sql(day, "SELECT * FROM warehouse.freshness")}
    lags = _lags(truth, read_of, lambda item: asked[item.vendor] if truth.is_shown(item) else None)
    assert {key: row.observed for key, row in rows.items() if row.observed} == {
        key: len(values) for key, values in lags.items()
    }
    for key, values in lags.items():
        row = rows[key]
        said = (row.observed_p50_s, row.observed_p95_s, row.observed_p99_s)
        assert said == pytest.approx(np.percentile(values, (50, 95, 99)), abs=TOLERANCE_S)


def test_time_to_stop_sell(day, truth, read_of):
    rows = {(row.vendor, row.day): row for row in _sql(day, "SELECT * FROM warehouse.stop_sell")}
    stops = truth.stops()
    assert stops < {(item.job, item.vendor, item.sku) for item in truth.accepted() if item.stops_selling}
    lags = _lags(truth, read_of, lambda item: item.told_at if (item.job, item.vendor, item.sku) in stops else None)
    assert {key: row.stops for key, row in rows.items()} == {key: len(values) for key, values in lags.items()}
    assert rows
    for key, values in lags.items():
        said = (rows[key].stop_p50_s, rows[key].stop_p95_s, rows[key].stop_p99_s)
        assert said == pytest.approx(np.percentile(values, (50, 95, 99)), abs=TOLERANCE_S)
        assert rows[key].stop_max_s == pytest.approx(max(values), abs=TOLERANCE_S)


def test_the_assortment_by_day_is_what_the_platform_showed(day):
    rows = _sql(day, "SELECT vendor, sku, price, active, max_sales_quantity FROM warehouse.assortment_daily")
    told = {(row.vendor, row.sku): (row.price, row.active, row.max_sales_quantity) for row in rows}
    shown = {
        (vendor, sku): (Decimal(str(row["price"])), row["active"], row["max_sales_quantity"])
        for vendor, products in day.shown.items()
        for sku, row in products.items()
    }
    assert told == shown


def test_the_gap_between_both_sides(day, truth):
    rows = _sql(day, "SELECT vendor, sku, gap FROM warehouse.assortment_gap")
    assert {tuple(row) for row in rows} == truth.gaps()
    assert {(row.sku, row.gap) for row in rows} == {(STRANGER, "not_on_platform"), (ORPHAN, "not_in_erp")}


def test_request_use_by_lane(day, truth):
    rows = _sql(day, "SELECT operation, lane, sum(requests) AS requests FROM warehouse.request_use GROUP BY 1, 2")
    told = defaultdict(int)
    for row in rows:
        told[row.operation] += int(row.requests)
    expected = truth.requests()
    assert {word: told[word] for word in expected} == dict(expected)
    assert {row.lane for row in rows if row.operation == "export"} == {"export"}
    # a job is one request; those that the platform answered with an error made none, and were sent again in the same lane
    jobs = Counter(truth.lanes().values())
    sent = {row.lane: int(row.requests) for row in rows if row.operation == "put_catalog"}
    failed = expected["put_catalog"] - jobs.total()
    assert {lane for lane in jobs if sent.get(lane, 0) < jobs[lane]} == set()
    assert sum(sent.values()) - jobs.total() == failed
    assert jobs["stop_sell"] > 0
    assert jobs["price"] > 0


def test_how_the_end_of_jobs_was_heard_of(day, truth):
    lost, asked = truth.heard()
    jobs = {
        job for (job,) in _sql(day, "SELECT platform_job_id FROM warehouse.catalog_job WHERE settled_at IS NOT NULL")
    }
    assert len(lost) == 1
    by = dict(
        _sql(day, "SELECT platform_job_id, heard_by FROM warehouse.catalog_job WHERE platform_job_id IS NOT NULL")
    )
    questions = {job for job, word in by.items() if word == "question"}
    assert lost <= questions <= asked
    assert {word for job, word in by.items() if job not in asked} == {"webhook"}
    rows = _sql(
        day,
        "SELECT vendor, sum(jobs), sum(by_webhook), sum(by_question), sum(untold) FROM warehouse.confirmation GROUP BY 1",
    )
    assert sum(row[1] for row in rows) == len(jobs)
    assert all(row[1] == row[2] + row[3] + row[4] for row in rows)
    assert sum(row[3] for row in rows) == len(questions)


def test_what_is_refused_now(day, truth):
    rows = _sql(day, "SELECT vendor, sku, reason, times, refused FROM warehouse.rejection")
    expected = truth.rejections()
    assert {(row.vendor, row.sku): (row.reason, row.times) for row in rows} == expected
    assert {row.sku for row in rows} == {STRANGER}
    assert {row.refused for row in rows} == {"for good"}


def test_every_change_that_was_accepted_has_its_times(day, truth, read_of):
    rows = _sql(
        day,
        "SELECT t.vendor, t.sku, platform_job_id, t.stops_selling, t.read_at, t.acknowledged_at, t.observed_at IS NOT NULL AS seen"
        " FROM warehouse.change_time AS t JOIN warehouse.catalog_job USING (job_id)",
    )
    said = {(row.vendor, row.sku, row.platform_job_id): row for row in rows}
    items = {(item.vendor, item.sku, item.job): item for item in truth.accepted()}
    assert len(rows) == len(said)
    assert said.keys() == items.keys()
    stops = truth.stops()
    for key, item in items.items():
        row = said[key]
        assert (row.stops_selling, row.seen) == ((item.job, item.vendor, item.sku) in stops, truth.is_shown(item)), key
        assert abs((row.acknowledged_at - item.told_at).total_seconds()) <= TOLERANCE_S
        assert abs((row.read_at - read_of[item.job]).total_seconds()) <= TOLERANCE_S


def test_the_life_of_every_sku(day, truth):
    """Each item that left, what was said to it, and what was shown then: no event more, none less."""
    rows = _sql(
        day, "SELECT vendor, sku, step, price, active, max_sales_quantity AS sold_at_most FROM warehouse.timeline"
    )
    told = defaultdict(Counter)
    for row in rows:
        told[row.step][row.vendor, row.sku, row.price, row.active, row.sold_at_most] += 1
    sent = Counter((item.vendor, item.sku, item.price, item.active, item.limit) for item in truth.items)
    assert told["deliver"] == sent
    assert told["confirm"] == sent
    assert told["observe"] == Counter(
        (vendor, sku, Decimal(str(row["price"])), row["active"], row["max_sales_quantity"])
        for vendor, shown in day.shown.items()
        for sku, row in shown.items()
    )
    drifted = {(row.vendor, row.sku) for row in _sql(day, "SELECT vendor, sku FROM warehouse.drift")}
    assert drifted <= {key[:2] for key in told["reconcile"]}


def test_what_was_accepted_and_not_done_and_what_somebody_edited(day, truth):
    prices = {
        (vendor, sku): Decimal(str(row["price"])) for vendor, shown in day.shown.items() for sku, row in shown.items()
    }
    wrong = {key for key, price in truth.last_said().items() if prices[key] != price}
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
            told = [item.told_at for item in truth.accepted() if item.vendor == vendor and item.sku in late]
            newest = {
                sku: max(item.told_at for item in truth.accepted() if (item.vendor, item.sku) == (vendor, sku))
                for sku in late
            }
            asked = dict(_sql(day, "SELECT vendor, requested_at FROM ledger.export"))[vendor]
            assert told
            assert view[vendor].oldest_s == pytest.approx(
                (asked - min(newest.values())).total_seconds(), abs=2.0 * day.size.vendors
            )


def test_the_lost_log_line_is_settled_by_the_picture(day, truth):
    silent = [(item.vendor, item.sku) for item in truth.items if item.state == "unaccounted"]
    assert len(silent) == 1
    assert day.summary["settled"] == 1
    vendor, sku = silent[0]
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
