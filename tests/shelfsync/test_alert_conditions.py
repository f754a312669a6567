"""The watch finds each condition, closes it when it is over, and one that cannot be looked at hides no other."""

from __future__ import annotations

import dataclasses
import datetime as dt

import pytest
import sqlalchemy as sa

from message_services import Chat
from shelfsync import alert_conditions, check, outages
from shelfsync.alerts import heartbeat
from shelfsync.alerts.kind import KINDS
from shelfsync.alerts.ledger import alerts
from shelfsync.catalog.ledger import source_columns
from shelfsync.cli import inspect
from shelfsync.orders.steps import watch as orders_watch
from shelfsync.settings import AlertRoute
from shelfsync.settings.section import ServiceAddress

PRODUCT = {"sku": "a", "barcodes": [], "title": "A", "price": 9.99, "active": True}


def kinds(context):
    alert_conditions.watch(context)
    with context.engine.connect() as connection:
        return {(row["kind"], row["subject"]) for row in alerts.open_alerts(connection)}


def revision(context, kind):
    with context.engine.connect() as connection:
        [row] = [row for row in alerts.open_alerts(connection) if row["kind"] == kind]
    return row["revision"]


def having(context, section, **settings):
    """The same with other settings of a section."""
    changed = getattr(context.settings, section).model_copy(update=settings)
    return dataclasses.replace(context, settings=context.settings.model_copy(update={section: changed}))


def with_alerts(context, **settings):
    return having(context, "alerts", **settings)


def older(context, table, column, minutes):
    with context.engine.begin() as connection:
        connection.execute(
            sa.text(f"UPDATE {table} SET {column} = {column} - make_interval(mins => :m)"), {"m": minutes}
        )


def _one_product(world):
    world.platform.put_products("store-001", [PRODUCT])
    world.erp.put("store-001", "a", "1.00")
    world.sync("full")


@pytest.fixture
def world(world_after):
    """After a full sync of one product."""
    return world_after(_one_product)


@pytest.fixture
def context(world):
    return world.app.context


@pytest.mark.slow
def test_where_all_is_well_nothing_opens(context):
    assert kinds(context) == set()


def test_an_installation_without_a_run_has_no_alert(make_world):
    assert kinds(make_world().app.context) == set()


def test_an_outage_of_the_erp_opens_once_it_lasts_and_closes_with_the_next_answer(context):
    outages.failed(context.engine, outages.ERP, "no connection")
    assert kinds(context) == set(), "a repeat of the reading may heal it"
    older(context, "ledger.outage", "began_at", 2)
    assert kinds(context) == {("erp_away", "")}
    outages.answered(context.engine, outages.ERP)
    assert kinds(context) == set()


@pytest.mark.slow
def test_what_fails_while_the_platform_is_away_is_one_alert_from_begin_to_end(world, context):
    world.erp.put("store-001", "a", "1.02")
    places = ("put_catalog", "token", "job_status", "list_catalog")
    world.platform.faults(*({"at": place, "kind": "status_503", "probability": 1} for place in places))
    assert world.sync("delta")["state"] == "failed"
    older(context, "ledger.outage", "began_at", 2)
    assert kinds(context) == {("platform_away", "")}
    world.platform.faults()
    world.sync("delta")
    assert kinds(context) == set()


@pytest.mark.slow
@pytest.mark.parametrize("state", ["failed", "partly_failed"])
def test_a_run_that_failed_at_every_store_is_one_alert_and_an_older_outage_hides_nothing(world, context, state):
    outages.failed(context.engine, outages.PLATFORM, "503")
    outages.answered(context.engine, outages.PLATFORM)
    for column in ("began_at", "failed_at", "ended_at"):
        older(context, "ledger.outage", column, 60)
    with context.engine.begin() as connection:
        connection.execute(
            sa.text("UPDATE ledger.vendor_run SET state = 'failed', failed_step = 'diff', error = 'a bug'")
        )
        connection.execute(sa.text("UPDATE ledger.run SET state = :state, error = 'a bug'"), {"state": state})
    assert kinds(context) == {("run_failed", "full") if state == "failed" else ("store_failed", "store-001")}


def test_a_disk_that_is_nearly_full_is_one_alert_whatever_lies_on_it(context):
    context.settings.home.mkdir(exist_ok=True)
    nearly_full = with_alerts(context, disk_free_share=0.9999)
    [(kind, subject)] = kinds(nearly_full)
    assert (kind, subject.partition(" on ")[0]) == ("disk", str(context.settings.home)), (
        "the lake lies on the same disk"
    )
    assert kinds(context) == set()


def test_each_machine_closes_the_alerts_of_its_own_disks_alone(context, tmp_path, monkeypatch):
    context.settings.home.mkdir(exist_ok=True)
    nearly_full, machine = with_alerts(context, disk_free_share=0.9999), tmp_path / "boot_id"
    monkeypatch.setattr(alert_conditions, "BOOT_ID", machine)
    for number in (1, 2):
        machine.write_text(f"{number * 11111111}-fa2e-4f77-8d21-fae0082cc3b0\n")
        kinds(nearly_full)
    first, second = (("disk", f"{context.settings.home} on {number * 11111111}") for number in (1, 2))
    assert kinds(context) == {first}
    assert kinds(nearly_full) == {first, second}
    older(context, "ledger.alert", "seen_at", 23 * 60)
    assert kinds(nearly_full) == {first, second}
    older(context, "ledger.alert", "seen_at", 61)
    assert kinds(nearly_full) == {second}, "the other machine is gone"


def test_a_watch_closes_not_watched_of_those_kinds_alone_that_it_looks_at(context, monkeypatch):
    def broken(*_: object) -> None:
        raise LookupError("a bug")

    with monkeypatch.context() as patch:
        patch.setitem(alert_conditions._FINDERS, ("disk",), broken)
        alert_conditions.watch(context, find_dags=broken)
    blind = {("not_watched", kind) for kind in alert_conditions.DAG_KINDS}
    assert kinds(context) == blind, "only a watch in Airflow can ask it for its DAGs"
    alert_conditions.watch(context, find_dags=dict)
    assert kinds(context) == set()


def test_no_reading_for_long_is_an_alert_whatever_the_cause(context):
    older(context, "ledger.extract", "read_at", 61)
    assert ("not_read", "") in kinds(context)


@pytest.mark.slow
def test_an_erp_without_any_change_stands_still_in_opening_hours_alone(world, context):
    older(context, "ledger.extract", "read_at", 50)
    older(context, "ledger.feed", "read_at", 50)
    world.erp.put("store-001", "a", "1.02")
    world.sync("delta")
    older(context, "ledger.feed", "read_at", 50)
    world.sync("delta")
    assert kinds(context) == set(), "no limit is set"
    limited = with_alerts(context, unchanged_minutes=45)
    assert kinds(limited) == {("erp_still", "")}
    now = dt.datetime.now(dt.UTC)
    soon, later = ((now + dt.timedelta(minutes=minutes)).time().replace(second=0) for minutes in (60, 120))
    closed = with_alerts(context, unchanged_minutes=45, open_from=soon, open_to=later)
    assert kinds(closed) == set()
    world.erp.put("store-001", "a", "90.00")
    world.sync("delta")
    assert {kind for kind, _ in kinds(limited)} == {"hold_waits"}, "the ERP has changed, whatever becomes of it"
    older(context, "ledger.feed", "read_at", 50)
    world.sync("delta")
    assert {kind for kind, _ in kinds(limited)} == {"erp_still", "hold_waits"}, "a held change comes with each reading"


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


def test_check_names_an_erp_whose_standing_still_no_alert_reports(context):
    platform = context.settings.platform.model_copy(update={"base_url": "https://platform.example"})
    elsewhere = dataclasses.replace(context, settings=context.settings.model_copy(update={"platform": platform}))

    def named(context):
        return any("SHELFSYNC_ALERTS__UNCHANGED_MINUTES is not set" in line for line in check.warnings(context))

    assert [named(one) for one in (elsewhere, with_alerts(elsewhere, unchanged_minutes=45), context)] == [
        True,
        False,
        False,
    ]


def lines(context):
    with context.engine.connect() as connection:
        return {row["kind"]: row["message"] for row in alerts.open_alerts(connection)}


def acknowledged(context):
    with context.engine.connect() as connection:
        return {row["kind"]: row["acknowledged_by"] for row in alerts.open_alerts(connection)}


def take_on(context):
    with context.engine.begin() as connection:
        alerts.acknowledge(connection, [row["alert_id"] for row in alerts.open_alerts(connection)], who="ada")


HELD = {("hold_waits", "catalog shifted_decimal")}
EXPIRES = HELD | {("hold_expires", "catalog shifted_decimal")}


def test_a_held_price_waits_until_a_person_decides_also_after_its_time(world, context):
    world.erp.put("store-001", "a", "90.00")
    world.sync("delta")
    assert kinds(context) == HELD
    take_on(context)
    older(context, "ledger.hold", "expires_at", 60 * 23)
    assert kinds(context) == EXPIRES
    assert "the first until " in lines(context)["hold_expires"]
    assert acknowledged(context) == {"hold_waits": "ada", "hold_expires": None}, "it is no news that it waits"
    older(context, "ledger.hold", "expires_at", 60 * 24 * 30)
    assert kinds(context) == EXPIRES
    assert "the time of the first ended at " in lines(context)["hold_expires"], "no run has expired it"
    world.sync("delta")
    assert kinds(context) == EXPIRES
    for line in lines(context).values():
        assert "1 changes of 1 stores have expired without a decision, the last at " in line
    with context.engine.connect() as connection:
        assert [row for row in alerts.newest(connection) if row["closed_at"] is not None] == [], "none was over"
    hold = world.app.holds.listed()[0]["hold_id"]
    world.app.holds.reopen(hold, who="ada", why="asked")
    assert kinds(context) == HELD
    world.app.holds.decide(hold, approve=False, who="ada", why="wrong")
    assert kinds(context) == set()


@pytest.mark.slow
def test_an_expired_hold_that_another_waits_beside_is_named_and_ends_with_its_rows(world, context):
    world.erp.put("store-001", "a", "90.00")
    world.sync("delta")
    older(context, "ledger.hold", "expires_at", 60 * 24 * 30)
    world.sync("delta")
    insert = "INSERT INTO ledger.hold (subject, vendor, first_run_id, run_id, generation, rule, message, thresholds, rows_path, rows, held_at, expires_at)"
    with context.engine.begin() as connection:
        connection.execute(
            sa.text(f"""{insert} SELECT subject, 'store-002', first_run_id, run_id, generation, rule, message, thresholds, rows_path,
                7, held_at, now() + interval '1 day' FROM ledger.hold""")
        )
    assert kinds(context) == EXPIRES
    assert "7 changes of 1 stores wait for a decision" in lines(context)["hold_waits"]
    assert "Besides, 1 changes of 1 stores have expired" in lines(context)["hold_waits"]
    world.erp.put("store-001", "a", "1.00")
    world.sync("delta")
    assert kinds(context) == HELD


@pytest.mark.slow
def test_a_further_hold_is_reported_again_unless_it_takes_the_place_of_one(world, context):
    world.platform.put_products("store-001", [PRODUCT | {"sku": sku} for sku in ("a", "b")])
    world.erp.put("store-001", "b", "1.00")
    world.sync("full")
    world.erp.put("store-001", "a", "90.00")
    world.sync("delta")
    assert kinds(context) == HELD
    take_on(context)
    first = revision(context, "hold_waits")
    world.erp.put("store-001", "a", "95.00")
    world.sync("delta")
    assert kinds(context) == HELD
    assert (acknowledged(context)["hold_waits"], revision(context, "hold_waits")) == ("ada", first), "the same question"
    world.erp.put("store-001", "b", "95.00")
    world.sync("delta")
    assert kinds(context) == HELD
    assert acknowledged(context)["hold_waits"] is None, "twice as many rows"
    assert revision(context, "hold_waits") > first


def test_a_pause_is_an_alert_and_hides_that_the_store_is_late(world, context):
    world.app.pause("vendor", "store-001", why="stocktaking", who="ada")
    assert kinds(context) == {("paused", "vendor store-001")}


@pytest.mark.slow
def test_a_change_that_waits_too_long_makes_its_store_late_until_it_is_acknowledged(world, context):
    world.erp.put("store-001", "a", "1.05")
    world.begin("delta", upto="batch")
    older(context, "ledger.batch", "wanted_at", 29)
    assert kinds(context) == set()
    older(context, "ledger.batch", "wanted_at", 2)
    assert kinds(context) == {("store_late", "store-001")}
    assert "waits for 31 minutes" in lines(context)["store_late"]
    world.sync("delta")
    assert kinds(context) == set()


@pytest.mark.slow
def test_skus_without_an_outcome_are_an_alert_until_a_delta_has_one(world, context):
    world.platform.faults({"at": "log", "kind": "missing_sku", "times": 1})
    world.erp.put("store-001", "a", "1.05")
    world.sync("delta")
    assert kinds(context) == {("unaccounted", "store-001"), ("run_failed", "delta")}, "its only store failed"
    world.sync("delta")
    assert kinds(context) == set()


@pytest.mark.slow
def test_a_failed_store_is_an_alert_until_a_run_has_taken_it(world, context):
    with context.engine.begin() as connection:
        connection.execute(
            sa.text("UPDATE ledger.vendor_run SET state = 'failed', failed_step = 'diff', error = 'a bug'")
        )
    assert kinds(context) == {("store_failed", "store-001")}
    world.erp.put("store-001", "a", "1.05")
    world.sync("delta")
    assert kinds(context) == set()


@pytest.mark.slow
def test_products_that_the_platform_rejects_are_reported_again_with_each_new_one(world, context):
    world.erp.put("store-001", "unknown-1", "2.00")
    world.sync("delta")
    assert kinds(context) == {("rejected", "")}
    first = revision(context, "rejected")
    world.erp.put("store-001", "unknown-1", "2.00", quantity=3)
    world.sync("delta")
    world.sync("full")
    kinds(context)
    assert revision(context, "rejected") == first, "the same product was sent again and rejected again"
    world.erp.put("store-001", "unknown-2", "2.00")
    world.sync("delta")
    kinds(context)
    assert revision(context, "rejected") > first
    world.erp.execute("DELETE FROM stock WHERE sku <> 'a'")
    world.sync("full")
    assert kinds(context) == set()


@pytest.mark.slow
def test_values_that_the_platform_does_not_keep_are_a_condition_of_their_own(world, context):
    world.erp.put("store-001", "unknown-1", "2.00")
    world.sync("delta")
    with context.engine.begin() as connection:
        connection.execute(sa.text("UPDATE ledger.rejection SET kind = 'drifted'"))
    assert kinds(context) == {("drift_returns", "")}


def test_changed_columns_are_an_alert_for_a_day_and_each_change_is_reported(context):
    revisions = []
    for columns in ({"sku": "text"}, {"sku": "text", "shelf": "text"}, {"sku": "text", "shelf": "number"}):
        with context.engine.begin() as connection:
            source_columns.note(connection, 1, {None: columns}, dry_run=False)
        if kinds(context):
            revisions.append(revision(context, "columns_changed"))
    assert revisions == sorted(set(revisions))
    assert len(revisions) >= 2
    assert kinds(context) == {("columns_changed", "")}
    older(context, "ledger.source_columns", "seen_at", 60 * 24)
    assert kinds(context) == set()


@pytest.mark.slow
def test_stops_in_a_row_are_an_alert_until_a_good_answer(world, context):
    limited = sa.text("UPDATE rate_limit.allowance SET strikes = :n, paused_until = now(), pause_reason = 'status 429'")
    for strikes, expected in ((1, set()), (2, {"rate_limited"}), (3, {"rate_limited"})):
        with context.engine.begin() as connection:
            assert connection.execute(limited, {"n": strikes}).rowcount
        assert {kind for kind, _ in kinds(context)} == expected
    other = "INSERT INTO rate_limit.allowance (key, strikes, paused_until) VALUES ('of a token before', 9, now())"
    world.erp.put("store-001", "a", "1.05")
    world.sync("delta")
    with context.engine.begin() as connection:
        connection.execute(sa.text(other))
    assert kinds(context) == set(), "a good answer came, and the other key is not in use any more"


@pytest.mark.slow
def test_a_webhook_that_falls_silent_is_an_alert_until_its_next_event(world, context):
    event = "INSERT INTO inbox.event (kind, identity, platform_job_id, body, received_at) VALUES ('job', :job, :job, '', now() - :ago)"
    for cents in range(alert_conditions.POLLED):
        world.erp.put("store-001", "a", f"1.0{cents + 1}")
        world.sync("delta")
    assert kinds(context) == set(), "this installation has no webhook"
    for job, ago, expected in (
        ("of a job before", dt.timedelta(days=8), set()),  # switched off long ago
        ("of a later job", dt.timedelta(hours=2), {("no_webhook", "")}),
        ("of the newest job", dt.timedelta(), set()),
    ):
        with context.engine.begin() as connection:
            connection.execute(sa.text(event), {"job": job, "ago": ago})
        assert kinds(context) == expected


@pytest.mark.slow
def test_jobs_that_ended_before_the_last_event_are_no_sign_of_a_silent_webhook(world, context):
    for cents in range(alert_conditions.POLLED):
        world.erp.put("store-001", "a", f"1.0{cents + 1}")
        world.sync("delta")
    older(context, "ledger.job", "ended_at", 180)
    event = "INSERT INTO inbox.event (kind, identity, platform_job_id, body, received_at) VALUES ('job', 'x', 'x', '', now() - interval '2 hours')"
    with context.engine.begin() as connection:
        connection.execute(sa.text(event))
    assert kinds(context) == set()


@pytest.mark.parametrize("state", ["failed", "partly_failed"])
def test_a_failed_run_of_campaigns_is_an_alert_until_one_succeeds(context, state):
    run = "INSERT INTO ledger.promotion_run (run_key, state, error, finished_at) VALUES (:key, :state, :error, now())"
    offers = having(context, "promotions", sql="SELECT 1")
    with context.engine.begin() as connection:
        connection.execute(sa.text(run), {"key": "1", "state": state, "error": "no rows"})
    assert kinds(offers) == {("campaigns_failed", "")}
    assert kinds(context) == set(), "without promotions in the settings none is sent"
    assert kinds(offers) == {("campaigns_failed", "")}
    with context.engine.begin() as connection:
        connection.execute(sa.text(run), {"key": "2", "state": "succeeded", "error": None})
    assert kinds(offers) == set()


def test_a_source_of_promotions_that_the_settings_name_no_more_is_away_no_more(context):
    offers = having(context, "promotions", sql="SELECT 1")
    outages.failed(context.engine, outages.PROMOTIONS, "no connection")
    older(context, "ledger.outage", "began_at", 2)
    assert kinds(offers) == {("erp_away", outages.PROMOTIONS)}
    assert kinds(context) == set()
    with context.engine.connect() as connection:
        assert [row["ended_at"] is None for row in outages.lately(connection)] == [False], "the status has its end too"


def test_held_promotions_wait_for_nobody_once_the_settings_have_none(world, context):
    world.erp.put("store-001", "a", "90.00")
    world.sync("delta")
    with context.engine.begin() as connection:
        connection.execute(sa.text("UPDATE ledger.hold SET subject = 'promotions', rule = 'deep_discount'"))
    assert kinds(having(context, "promotions", sql="SELECT 1")) == {("hold_waits", "promotions deep_discount")}
    assert kinds(context) == set()


def test_a_store_that_the_settings_leave_out_is_no_alert(context):
    with context.engine.begin() as connection:
        failed = "UPDATE ledger.vendor_run SET state = 'failed', failed_step = 'diff', error = 'a bug'"
        connection.execute(sa.text(failed))
    assert kinds(context) == {("store_failed", "store-001")}
    assert kinds(having(context, "sync", vendors=("store-002",))) == set()


def test_alerts_of_orders_end_a_day_after_their_steps_were_switched_off(context):
    with context.engine.begin() as connection:
        found = {("overdue", "store-001"): "late", ("history", "store-001"): "behind"}
        alerts.keep(connection, ("overdue", "history"), found)

    def left(watched=context, **off):
        alert_conditions.watch(watched, **off)
        with context.engine.connect() as connection:
            return {row["kind"] for row in alerts.open_alerts(connection)}

    elsewhere = having(context, "orders", hand_over="none")
    assert left(elsewhere, off=["history"]) == {"overdue", "history"}, "another scheduler may go on with the steps"
    older(context, "ledger.alert", "seen_at", 60 * 24)
    assert left(having(context, "orders", hand_over="files")) == {"overdue", "history"}, "they are on, and stand still"
    assert left(elsewhere) == {"history"}
    assert left(elsewhere, off=["history"]) == set()


def test_a_condition_that_cannot_be_looked_at_hides_no_other(context, monkeypatch):
    outages.failed(context.engine, outages.ERP, "no answer")
    older(context, "ledger.outage", "began_at", 2)

    def broken(*_: object) -> None:
        raise LookupError("a bug")

    monkeypatch.setitem(alert_conditions._FINDERS, ("disk",), broken)
    assert kinds(context) == {("erp_away", ""), ("not_watched", "disk")}
    monkeypatch.undo()
    assert kinds(context) == {("erp_away", "")}


def refused(context, endpoint, minutes):
    row = "INSERT INTO inbox.refusal (endpoint, calls, refused_at) VALUES (:endpoint, 3, now() - make_interval(mins => :m))"
    with context.engine.begin() as connection:
        connection.execute(sa.text(row), {"endpoint": endpoint, "m": minutes})


@pytest.mark.slow
def test_calls_with_a_wrong_secret_are_an_alert_once_events_are_missing_until_the_platform_has_it(world, context):
    older(context, "ledger.job", "ended_at", 30)
    for minutes in range(9, 3, -1):
        refused(context, "inbox", minutes)
    assert kinds(context) == set(), "strangers called, and no event of the platform is missing"
    world.erp.put("store-001", "a", "1.05")
    world.sync("delta")
    assert kinds(context) == {("secret_refused", "events")}, "a job ended, and its event did not come"
    event = "INSERT INTO inbox.event (kind, identity, body) VALUES ('unknown', 'x', '')"
    with context.engine.begin() as connection:
        connection.execute(sa.text(event))
    assert kinds(context) == set()


def test_calls_of_stores_with_a_wrong_secret_are_an_alert_once_they_go_on(context):
    for minutes in range(9, 5, -1):
        refused(context, "picking", minutes)
    assert kinds(context) == set(), "two strangers tried twice"
    refused(context, "picking", 1)
    event = "INSERT INTO inbox.event (kind, identity, body) VALUES ('unknown', 'x', '')"
    with context.engine.begin() as connection:
        connection.execute(sa.text(event))
    assert kinds(context) == {("secret_refused", "picking results")}, "an event of the platform says nothing of a store"
    older(context, "inbox.refusal", "refused_at", 60)
    assert kinds(context) == set()


@pytest.mark.slow
def test_a_store_whose_skus_are_mostly_rejected_is_an_alert_until_they_are_accepted(world, context):
    known = [f"new-{number}" for number in range(alert_conditions.JUDGED_SKUS)]
    for sku in known:
        world.erp.put("store-001", sku, "2.00")
    world.sync("delta")
    assert kinds(context) == {("rejected", "")}, "new products that the platform does not have yet"
    world.platform.put_products("store-001", [PRODUCT | {"sku": sku} for sku in ("a", *known)])
    world.sync("full")
    assert kinds(context) == set()
    older(context, "ledger.job", "ended_at", 60)
    world.platform.reset()
    for sku in known:
        world.erp.put("store-001", sku, "2.00", 7)
    world.sync("delta")
    assert ("few_accepted", "store-001") in kinds(context), "the platform had them"
    assert ("few_accepted", "store-001") not in kinds(with_alerts(context, accepted_share=0))
    world.platform.put_products("store-001", [PRODUCT | {"sku": sku} for sku in ("a", *known)])
    world.sync("full")
    assert kinds(context) == set()


@pytest.mark.slow
def test_a_store_of_whose_rows_too_many_cannot_be_sent_is_an_alert_until_they_can(world, context):
    known = [f"sku-{number}" for number in range(alert_conditions.JUDGED_SKUS)]
    world.platform.put_products("store-001", [PRODUCT | {"sku": sku} for sku in ("a", *known)])
    for sku in known:
        world.erp.put("store-001", sku, "2.00")
    world.sync("full")
    assert kinds(context) == set()
    for sku in known[:2]:
        world.erp.put("store-001", sku, "EUR 2.00")
    assert world.sync("delta")["state"] == "succeeded"
    assert kinds(context) == set(), "a tenth of the rows may be faulty"
    world.erp.put("store-001", known[2], "EUR 2.00")
    assert world.sync("delta")["state"] == "succeeded", "nothing else reports it"
    assert kinds(context) == {("rows_quarantined", "store-001")}
    assert kinds(with_alerts(context, quarantined_share=1)) == set()
    for sku in known[:2]:
        world.erp.put("store-001", sku, "2.00")
    world.sync("delta")
    assert kinds(context) == set()


@pytest.mark.slow
def test_faulty_rows_around_the_share_open_and_close_nothing_and_a_store_that_has_none_left_is_one_alert(
    world, context
):
    known = [f"sku-{number}" for number in range(29)]
    world.platform.put_products("store-001", [PRODUCT | {"sku": sku} for sku in ("a", *known)])
    for sku in known:
        world.erp.put("store-001", sku, "2.00")
    for sku in known[:4]:
        world.erp.put("store-001", sku, "EUR 2.00")
    world.sync("full")
    assert kinds(context) == {("rows_quarantined", "store-001")}
    world.erp.put("store-001", known[0], "2.00")
    world.sync("delta")
    assert kinds(context) == {("rows_quarantined", "store-001")}, "a tenth of the rows, which would not open it"
    world.erp.execute("UPDATE stock SET price = 'EUR 2.00'")
    world.sync("delta")
    assert {kind for kind, _ in kinds(context)} <= {"store_failed", "run_failed"}, "every row is faulty"
    world.erp.execute("DELETE FROM stock")
    world.erp.put("store-002", "a", "2.00")
    world.sync("full")
    assert ("store_failed", "store-001") in kinds(context), "the store left the ERP"
    assert ("rows_quarantined", "store-001") not in kinds(context)


def test_the_monitor_gets_a_heartbeat_with_each_look_unless_messages_do_not_arrive(context):
    chat = Chat()
    try:
        watched = with_alerts(context, heartbeat=ServiceAddress(f"http://{chat.host}/beat-canary"))
        assert alert_conditions.watch(watched)["refused"] == {}
        assert chat.beats == 1
        chat.refuses = True
        assert alert_conditions.watch(watched)["refused"] == {heartbeat.SETTING: "status 503"}
        route = AlertRoute(name="chat", address=chat.address)
        outages.failed(context.engine, outages.ERP, "no connection")
        older(context, "ledger.outage", "began_at", 2)
        assert set(alert_conditions.watch(with_alerts(watched, routes=(route,)))["refused"]) == {"chat"}
        assert alert_conditions.watch(with_alerts(watched, routes=(route,)))["refused"] == {}, (
            "it is not tried again yet"
        )
        assert chat.beats == 2, "an alert does not arrive, and the monitor has to report that"
    finally:
        chat.close()
    refused = alert_conditions.watch(watched)["refused"][heartbeat.SETTING]
    assert "beat-canary" not in refused


@pytest.mark.slow
def test_what_a_caller_knows_of_dags_stays_while_another_watch_cannot_ask(context):
    alert_conditions.watch(context, find_dags=lambda: {("dag_off", "housekeeping"): "housekeeping is off"})
    assert kinds(context) == {("dag_off", "housekeeping")}
    alert_conditions.watch(context, find_dags=dict)
    assert kinds(context) == set()


def failed_dag(context, **changed):
    """The open alerts after a look that finds a failed DAG: it asks the ERP, fails for a pause, and ended just now."""
    now = dt.datetime.now(dt.UTC)
    times = {"began_at": now - dt.timedelta(minutes=5), "ended_at": now + dt.timedelta(minutes=5)}
    about = {"services": (outages.ERP,), "kinds": ("paused",), "run_key": "housekeeping/1"}
    one = alert_conditions.FailedDag(line="housekeeping failed", **about | times | changed)
    alert_conditions.watch(context, find_dags=lambda: {("dag_failed", "housekeeping"): one})
    with context.engine.connect() as connection:
        return {row["kind"] for row in alerts.open_alerts(connection)}


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


@pytest.mark.parametrize(
    ("state", "left"), [("failed", {"run_failed"}), ("partly", set()), ("succeeded", {"dag_failed"})]
)
def test_a_dag_whose_run_the_ledger_has_as_failed_is_no_alert(context, state, left):
    with context.engine.begin() as connection:
        connection.execute(
            sa.text("UPDATE ledger.run SET run_key = 'housekeeping/1', state = :state"), {"state": state}
        )
    assert failed_dag(context) == left


def test_what_failed_in_a_short_outage_is_reported_if_nothing_has_repeated_it(context):
    outages.failed(context.engine, outages.ERP, "no connection")
    with context.engine.begin() as connection:
        connection.execute(sa.text("UPDATE ledger.run SET state = 'failed', error = 'no connection'"))
        connection.execute(sa.text("UPDATE ledger.run SET finished_at = clock_timestamp()"))
    outages.answered(context.engine, outages.ERP)
    assert kinds(context) == set(), "the next run of an hour's schedule will repeat it"
    for column in ("began_at", "failed_at", "ended_at"):
        older(context, "ledger.outage", column, 121)
    for column in ("started_at", "finished_at"):
        older(context, "ledger.run", column, 121)
    assert kinds(context) == {("run_failed", "full")}


def test_every_kind_has_one_that_finds_it():
    found = [kind for looked in alert_conditions._FINDERS for kind in looked]
    assert sorted([*found, *alert_conditions.DAG_KINDS, *orders_watch.KINDS, "not_watched", "route_away"]) == sorted(
        KINDS
    )
