"""The watch's own question: an outage is known and over without any work, and costs no request where a run has just asked."""

from __future__ import annotations

import dataclasses

import pytest
import sqlalchemy as sa

from partner_api.session import SystemClock
from shelfsync import outages
from shelfsync.alert_conditions import watch as alert_watch
from shelfsync.alerts.ledger import alerts
from shelfsync.errors import ConfigurationError
from shelfsync.platform import ping
from shelfsync.platform.rate_limit.scope import counted

AWAY = ({"at": "list_catalog", "kind": "status_503", "probability": 1},)


class PassingClock(SystemClock):
    """Waits by moving into the past what was stored; `meanwhile` happens during the wait."""

    def __init__(self, engine, meanwhile=lambda: None):
        self.engine, self.meanwhile, self.waited_s = engine, meanwhile, 0.0

    def sleep(self, seconds):
        self.waited_s += seconds
        move_back(self.engine, seconds)
        self.meanwhile()


def move_back(engine, seconds):
    """Lets this time pass for outages and permits."""
    with engine.begin() as connection:
        for column in ("began_at", "failed_at"):
            connection.execute(
                sa.text(f"UPDATE ledger.outage SET {column} = {column} - make_interval(secs => :s)"), {"s": seconds}
            )
        for column in ("slot_at", "arrived_by"):
            connection.execute(
                sa.text(f"UPDATE rate_limit.permit SET {column} = {column} - make_interval(secs => :s)"), {"s": seconds}
            )


def with_clock(context, meanwhile=lambda: None):
    return dataclasses.replace(context, clock=PassingClock(context.engine, meanwhile))


def asked(platform):
    return sum(entry["operation"] == "list_catalog" for entry in platform.journal()["entries"])


def open_alerts(context):
    alert_watch.watch(context)
    with context.engine.connect() as connection:
        return {row["kind"] for row in alerts.open_alerts(connection)}


def _synced(world):
    world.platform.put_products(
        "store-001", [{"sku": "a", "barcodes": [], "title": "A", "price": 9.99, "active": True}]
    )
    world.erp.put("store-001", "a", "1.00")
    world.sync("full")


@pytest.fixture
def world(world_after):
    """After a sync that was a minute ago."""
    world = world_after(_synced)
    move_back(world.app.context.engine, 60)
    return world


def test_a_platform_that_is_away_is_reported_by_one_look_without_any_work_and_its_return_by_the_next(world):
    context = with_clock(world.app.context)
    assert open_alerts(context) == set()
    assert asked(world.platform) == 1
    move_back(context.engine, 30)
    world.platform.faults(*AWAY)
    assert open_alerts(context) == {"platform_away"}
    assert asked(world.platform) == 3, "once more after a failure"
    assert context.clock.waited_s == pytest.approx(outages.SHOWN_FROM_S, abs=1)
    move_back(context.engine, 30)
    assert open_alerts(context) == {"platform_away"}
    assert asked(world.platform) == 4, "it is known to last"
    world.platform.faults()
    assert open_alerts(context) == set()


def test_what_a_repeat_heals_is_no_alert(world):
    world.platform.faults(*AWAY)
    assert open_alerts(with_clock(world.app.context, world.platform.faults)) == set()


def test_nothing_is_asked_after_a_request_of_a_run(world, monkeypatch):
    monkeypatch.setattr(ping, "HEARD_S", 3600.0)
    assert open_alerts(world.app.context) == set()
    assert asked(world.platform) == 0


def test_nothing_is_asked_while_the_limit_is_paused(world):
    context = world.app.context
    with context.engine.begin() as connection:
        pause = "UPDATE rate_limit.allowance SET paused_until = now() + interval '1 hour' WHERE key = :key"
        assert connection.execute(sa.text(pause), {"key": counted(context.settings).scope}).rowcount == 1
    ping.ask(context, "store-001")
    assert asked(world.platform) == 0


def test_nothing_is_asked_before_the_first_store_is_known(make_world, platform):
    assert open_alerts(make_world().app.context) == set()
    assert asked(platform) == 0


@pytest.mark.parametrize("status", [401, 403, 404, 429])
def test_a_rejection_is_an_answer(world, status):
    context = with_clock(world.app.context)
    world.platform.faults({"at": "list_catalog", "kind": f"status_{status}", "probability": 1})
    ping.ask(context, "store-001")
    assert asked(world.platform) >= 1
    assert outages.going_on(context.engine, outages.PLATFORM) is None


@pytest.mark.parametrize(
    "error", [ConfigurationError("SHELFSYNC_PLATFORM__CHAIN", "the chain is not set", "Set it."), ValueError("a bug")]
)
def test_a_question_that_cannot_be_asked_hides_no_condition(world, error):
    def cannot():
        raise error

    context = dataclasses.replace(world.app.context, open_platform=cannot)
    outages.failed(context.engine, outages.ERP, "no connection")
    with context.engine.begin() as connection:
        connection.execute(sa.text("UPDATE ledger.outage SET began_at = began_at - interval '2 minutes'"))
    assert open_alerts(context) == {"erp_away"}
