"""The watch keeps alerts by one look; a condition that cannot be looked at hides no other."""

from __future__ import annotations

import contextlib
import dataclasses

import pytest

from alert_look import kinds, older, with_alerts
from message_services import Chat
from shelfsync import check, outages
from shelfsync.alert_conditions import watch as alert_watch
from shelfsync.alert_conditions.dags import DAG_KINDS
from shelfsync.alerts import heartbeat
from shelfsync.alerts.kind import KINDS
from shelfsync.alerts.ledger import alerts
from shelfsync.alerts.steps import send_due
from shelfsync.cli import inspect
from shelfsync.orders.steps import watch as orders_watch
from shelfsync.settings import AlertRoute
from shelfsync.settings.section import ServiceAddress
from shelfsync.store.session_lock import alone


@pytest.mark.slow
def test_where_all_is_well_nothing_opens(context):
    assert kinds(context) == set()


def test_an_installation_without_a_run_has_no_alert(make_world):
    assert kinds(make_world().app.context) == set()


def test_a_watch_closes_not_watched_of_those_kinds_alone_that_it_looks_at(context, monkeypatch):
    def broken(*_: object) -> None:
        raise LookupError("a bug")

    with monkeypatch.context() as patch:
        patch.setitem(alert_watch._FINDERS, ("disk",), broken)
        alert_watch.watch(context, find_dags=broken)
    blind = {("not_watched", kind) for kind in DAG_KINDS}
    assert kinds(context) == blind, "only a watch in Airflow can ask it for its DAGs"
    alert_watch.watch(context, find_dags=dict)
    assert kinds(context) == set()


def test_a_condition_that_cannot_be_looked_at_hides_no_other(context, monkeypatch):
    outages.failed(context.engine, outages.ERP, "no answer")
    older(context, "ledger.outage", "began_at", 2)

    def broken(*_: object) -> None:
        raise LookupError("a bug")

    monkeypatch.setitem(alert_watch._FINDERS, ("disk",), broken)
    assert kinds(context) == {("erp_away", ""), ("not_watched", "disk")}
    monkeypatch.undo()
    assert kinds(context) == {("erp_away", "")}


def test_the_monitor_gets_no_heartbeat_while_the_process_that_sends_hangs(context):
    with contextlib.closing(Chat()) as chat:
        routes = (AlertRoute(name="ops", address=chat.address),)
        watched = with_alerts(context, heartbeat=ServiceAddress(f"http://{chat.host}/beat"), routes=routes)
        with alone(context.engine, kind=send_due.LOCK) as hangs:
            assert hangs
            with context.engine.begin() as connection:
                alerts.keep(connection, ("overdue",), {("overdue", "store-001"): "late"})
            alert_watch.watch(watched)
            assert chat.beats == 1
            older(context, "ledger.alert_message", "due_at", 11)
            alert_watch.watch(watched)
            assert (chat.beats, chat.taken) == (1, [])


def test_the_monitor_gets_a_heartbeat_with_each_look_unless_messages_do_not_arrive(context):
    chat = Chat()
    try:
        watched = with_alerts(context, heartbeat=ServiceAddress(f"http://{chat.host}/beat-canary"))
        assert alert_watch.watch(watched)["refused"] == {}
        assert chat.beats == 1
        chat.refuses = True
        assert alert_watch.watch(watched)["refused"] == {heartbeat.SETTING: "status 503"}
        route = AlertRoute(name="chat", address=chat.address)
        outages.failed(context.engine, outages.ERP, "no connection")
        older(context, "ledger.outage", "began_at", 2)
        assert set(alert_watch.watch(with_alerts(watched, routes=(route,)))["refused"]) == {"chat"}
        assert alert_watch.watch(with_alerts(watched, routes=(route,)))["refused"] == {}, "it is not tried again yet"
        assert chat.beats == 2, "an alert does not arrive, and the monitor has to report that"
    finally:
        chat.close()
    refused = alert_watch.watch(watched)["refused"][heartbeat.SETTING]
    assert "beat-canary" not in refused


def test_every_kind_has_one_that_finds_it():
    found = [kind for looked in alert_watch._FINDERS for kind in looked]
    assert sorted([*found, *DAG_KINDS, *orders_watch.KINDS, "not_watched", "route_away"]) == sorted(KINDS)


def test_check_and_status_name_a_chain_in_operation_whose_alerts_reach_no_person(context):
    platform = context.settings.platform.model_copy(update={"base_url": "https://platform.example"})
    elsewhere = dataclasses.replace(context, settings=context.settings.model_copy(update={"platform": platform}))
    route = AlertRoute(name="chat", address=ServiceAddress("json://localhost"))

    def named(context):
        lines = (check.warnings(context), inspect.status_lines(inspect.read_status(context)))
        return [any("SHELFSYNC_ALERTS__ROUTES names no route" in str(line) for line in found) for found in lines]

    assert named(elsewhere) == [True, True]
    assert named(with_alerts(elsewhere, routes=(route,))) == [False, False]
    assert named(context) == [False, False], "a platform on this machine is a trial"
