"""The watch: one cheap query a look, a delta only if there is something to do."""

from __future__ import annotations

import itertools
from dataclasses import replace
from decimal import Decimal

import pytest

from shelfsync.catalog.ledger import runs
from shelfsync.catalog.steps import watch as watching
from shelfsync.catalog.steps.sync import sync
from shelfsync.errors import ConfigurationError, TryAgainError, UnreachableError
from stamped_erp import TIMES, StampedErp

_keys = itertools.count(1)


@pytest.fixture
def erp(tmp_path):
    return StampedErp(tmp_path / "erp.sqlite")


@pytest.fixture
def world(make_world, platform, erp):
    platform.put_products("store-001", [{"sku": "a", "barcodes": [], "title": "a", "price": 9.99, "active": True}])
    erp.put("store-001", "a")
    return make_world(erp={"url": erp.url, "changes_overlap": 60, **TIMES})


class Pauses:
    """A clock that notes its pauses and takes none."""

    def __init__(self):
        self.taken_s = []

    def sleep(self, seconds):
        self.taken_s.append(seconds)

    def monotonic_s(self):
        return 0.0


def watched(world, looks, ended=lambda _: None, start=None, clock=None):
    """How many runs so many looks made."""
    left = iter(range(looks))
    context = world.app.context
    return watching.watch(
        context if clock is None else replace(context, clock=clock),
        start or world.sync,
        every_s=0.01,
        stopping=lambda: next(left, None) is None,
        ended=ended,
    )


def quiescent(world):
    """A world in which nothing waits."""
    world.sync("full")
    world.sync("delta")
    world.sync("delta")
    return world


@pytest.mark.slow
def test_a_watch_without_changes_starts_nothing_and_writes_nothing(world):
    quiescent(world)
    before = world.rows("SELECT count(*) FROM ledger.run")
    assert watching.news(world.app.context) is None
    assert watched(world, 5) == 0
    assert world.rows("SELECT count(*) FROM ledger.run") == before


@pytest.mark.slow
def test_a_change_is_sent_by_the_next_look_and_one_during_a_run_by_the_one_after(world, erp):
    quiescent(world)
    erp.now += 10
    erp.put("store-001", "a", price="2.00")
    later = iter(["3.00"])

    def start():
        summary = world.sync()
        if price := next(later, None):
            erp.now += 1
            erp.put("store-001", "a", price=price)
        return summary

    reports = []
    assert watched(world, 3, reports.append, start) == 2
    assert [report["sent"] for report in reports] == [1, 1]
    assert Decimal(str(world.shown()["a"]["price"])) == Decimal(3)


@pytest.mark.slow
def test_a_job_that_never_ends_keeps_no_other_vendor_waiting_in_the_watch(world, platform, erp):
    platform.put_products("store-002", [{"sku": "a", "barcodes": [], "title": "a", "price": 9.99, "active": True}])
    erp.put("store-002", "a")
    quiescent(world)
    platform.faults({"at": "job", "kind": "stuck", "vendor": "store-001", "times": 1})

    def change(price):
        erp.now += 10
        for vendor in ("store-001", "store-002"):
            erp.put(vendor, "a", price=price)

    def start():
        run_id = world.app.open_run("delta", f"watch/{next(_keys)}")
        return sync(world.app.context, run_id, dry_run=False, progress=lambda *_: None, wait_s=3)

    reports = []
    change("2.00")
    watched(world, 1, reports.append, start)
    change("3.00")
    watched(world, 1, reports.append, start)
    assert [report["accepted"] for report in reports] == [1, 1]
    assert "1 without an answer yet" in "".join(reports[0]["lines"])
    assert reports[1]["state"] == "partly"
    assert Decimal(str(world.shown("store-002")["a"]["price"])) == Decimal(3)


def test_a_late_commit_within_the_overlap_is_news_although_its_time_is_older(world, erp):
    run_id = world.app.open_run("full", f"watch/{next(_keys)}")
    world.app.extract(run_id)
    mark = world.rows("SELECT mark FROM ledger.position")
    erp.put("store-001", "b", began_s_ago=30)
    context = world.app.context
    (cursor,) = world.rows("SELECT cursor FROM ledger.position")
    assert [(context.open_erp().followed().mark(cursor.cursor),)] != mark
    assert "the ERP has changes since" in watching.news(context)


def test_a_watch_goes_on_after_what_may_pass_and_ends_at_a_wrong_setting(world):
    context = world.app.context
    assert watching.news(context) == "the whole ERP was never read"
    errors = iter(
        [
            TryAgainError("away"),
            UnreachableError("SHELFSYNC_PLATFORM__BASE_URL", "it cannot be reached", "Start it."),
            ConfigurationError("SHELFSYNC_ERP__URL", "it is wrong", "Correct it."),
        ]
    )

    def start():
        raise next(errors)

    pauses = Pauses()
    with pytest.raises(ConfigurationError, match="it is wrong"):
        watched(world, 9, start=start, clock=pauses)
    assert pauses.taken_s == [pytest.approx(30.0, abs=30.0), 0.01, 60.0, 0.01]


@pytest.mark.parametrize(
    ("report", "pauses_s"),
    [
        ({"sent": 3, "state": "succeeded"}, []),
        ({"sent": 0, "state": "succeeded"}, [0.01]),  # a file that is not whole yet
        ({"sent": 0, "state": "partly"}, [0.01]),
        ({"sent": 0, "state": "partly_failed"}, [60.0, 0.01]),  # a vendor whose rows cannot be laid over
    ],
)
def test_a_run_that_sent_nothing_is_not_followed_by_another_at_once(world, report, pauses_s):
    pauses = Pauses()
    assert watched(world, 1, start=lambda: report, clock=pauses) == 1
    assert pauses.taken_s == pauses_s


def test_without_a_query_for_changes_there_is_nothing_to_watch(make_world, erp):
    world = make_world(erp={"url": erp.url, "sql": TIMES["sql"]})
    with pytest.raises(ConfigurationError, match="SHELFSYNC_ERP__CHANGES_SQL"):
        watching.news(world.app.context)


def test_a_run_that_is_alive_is_seen(world):
    engine = world.app.context.engine
    run_id = world.app.open_run("delta", f"watch/{next(_keys)}")
    with runs.at_work(engine, run_id, whole=True):
        assert watching.delta_at_work(world.app.context)
    assert not watching.delta_at_work(world.app.context)
