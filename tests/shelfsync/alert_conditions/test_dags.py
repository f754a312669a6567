"""Alerts `dag_off`, `dag_late` and `dag_failed`: when they open, and which failures of a DAG another condition reports already."""

from __future__ import annotations

import datetime as dt
from types import SimpleNamespace

import pytest
import sqlalchemy as sa

from alert_look import kinds
from shelfsync import outages
from shelfsync.alert_conditions import watch as alert_watch
from shelfsync.alert_conditions.dags import LATE, FailedDag, newest_failure, off_or_late
from shelfsync.alerts.ledger import alerts


def failed_dag(context, **changed):
    """The open alerts after a look that finds a failed DAG: it asks the ERP, fails for a pause, and ended just now."""
    now = dt.datetime.now(dt.UTC)
    times = {"began_at": now - dt.timedelta(minutes=5), "ended_at": now + dt.timedelta(minutes=5)}
    about = {"services": (outages.ERP,), "kinds": ("paused",), "news": (), "run_key": "housekeeping/1"}
    one = FailedDag(line="housekeeping failed", **about | times | changed)
    alert_watch.watch(context, find_dags=lambda: {("dag_failed", "housekeeping"): one})
    with context.engine.connect() as connection:
        return {row["kind"] for row in alerts.open_alerts(connection)}


@pytest.mark.slow
def test_what_a_caller_knows_of_dags_stays_while_another_watch_cannot_ask(context):
    alert_watch.watch(context, find_dags=lambda: {("dag_off", "housekeeping"): "housekeeping is off"})
    assert kinds(context) == {("dag_off", "housekeeping")}
    alert_watch.watch(context, find_dags=dict)
    assert kinds(context) == set()


def test_a_dag_that_failed_while_a_service_was_away_that_it_asks_is_no_alert(context):
    assert failed_dag(context) == {"dag_failed"}
    for service, left in ((outages.PLATFORM, {"dag_failed"}), (outages.ERP, set())):
        outages.failed(context.engine, service, "no answer")
        outages.answered(context.engine, service)
        assert failed_dag(context) == left


def test_a_dag_that_failed_for_a_condition_is_no_alert_of_its_own(world, context):
    world.app.pause("all", None, why="stocktaking", who="ada")
    assert failed_dag(context) == {"paused"}
    world.app.resume("all", None, why="done", who="ada")
    assert failed_dag(context) == set(), "sending was paused while it failed"
    later = dt.datetime.now(dt.UTC) + dt.timedelta(minutes=1)
    assert failed_dag(context, began_at=later) == {"dag_failed"}


def test_an_older_alert_is_no_reason_of_a_dag_that_fails_for_new_ones_alone(context):
    with context.engine.begin() as connection:
        alerts.keep(connection, ("not_taken",), {("not_taken", "store-001"): "3 orders are not taken"})
        connection.execute(sa.text("UPDATE ledger.alert SET opened_at = opened_at - interval '20 days'"))
    assert failed_dag(context, news=("not_taken",)) == {"not_taken", "dag_failed"}
    with context.engine.begin() as connection:
        alerts.keep(connection, ("not_taken",), {("not_taken", "store-002"): "1 order is not taken"})
    assert failed_dag(context, news=("not_taken",)) == {"not_taken"}, "it fails for this one"


@pytest.mark.parametrize(("state", "left"), [("NULL", {"dag_failed"}), ("now()", set())])
def test_an_older_alert_is_the_reason_of_a_sync_that_came_to_its_report(context, state, left):
    with context.engine.begin() as connection:
        alerts.keep(connection, ("columns_changed",), {("columns_changed", ""): "the column price is gone"})
        connection.execute(sa.text("UPDATE ledger.alert SET opened_at = opened_at - interval '20 days'"))
        connection.execute(sa.text(f"UPDATE ledger.run SET run_key = 'housekeeping/1', finished_at = {state}"))
        of_another = alerts.open_alerts(connection)
    assert [row["kind"] for row in of_another] == ["columns_changed"]
    assert failed_dag(context, kinds=(), news=("columns_changed",)) - {"columns_changed", "run_failed"} == left


@pytest.mark.parametrize(
    ("state", "left"), [("failed", {"run_failed"}), ("partly", set()), ("succeeded", {"dag_failed"})]
)
def test_a_dag_whose_run_the_ledger_has_as_failed_is_no_alert(context, state, left):
    with context.engine.begin() as connection:
        connection.execute(
            sa.text("UPDATE ledger.run SET run_key = 'housekeeping/1', state = :state"), {"state": state}
        )
    assert failed_dag(context) == left


NOW = dt.datetime(2031, 3, 1, 12, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("changed", "kind"),
    [
        ({"is_off": True}, "dag_off"),
        ({"due": NOW - LATE}, None),
        ({"due": NOW - LATE - dt.timedelta(seconds=1)}, "dag_late"),
        ({"due": NOW - 2 * LATE, "at_work": True}, None),
        ({}, None),
    ],
)
def test_a_dag_is_off_or_an_hour_late_while_no_run_of_it_is_at_work(changed, kind):
    about = {"is_off": False, "due": None, "at_work": False, "option": "delta_schedule", "now": NOW}
    assert [*off_or_late("delta", **about | changed)] == ([] if kind is None else [(kind, "delta")])


@pytest.mark.parametrize(
    ("runs", "failed"),
    [
        ({}, None),
        ({None: ("success", 3)}, None),
        ({None: ("failed", 3)}, 3),
        ({None: ("running", 3), "failed": ("failed", 2), "success": ("success", 1)}, 2),
        ({None: ("running", 3), "failed": ("failed", 1), "success": ("success", 2)}, None),
        ({None: ("running", 3), "failed": ("failed", 1)}, 1),
    ],
)
def test_a_failure_is_one_until_a_later_run_succeeds(runs, failed):
    known = {
        state: SimpleNamespace(state=ended, logical_date=None, run_after=NOW + dt.timedelta(hours=hour), hour=hour)
        for state, (ended, hour) in runs.items()
    }
    found = newest_failure(known.get)
    assert (found and found.hour) == failed
