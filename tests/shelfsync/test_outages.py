"""After a recovery everybody sees from when to when the platform or the ERP was away, and how it showed."""

from __future__ import annotations

import threading

import pytest
import sqlalchemy as sa

from partner_api.session import OpenGate, SystemClock
from shelfsync import outages
from shelfsync.errors import BrokenOffError, ConfigurationError, DataError, TryAgainError, UnreachableError
from shelfsync.platform.gate import OutageGate
from shelfsync.store.engine import create_engine

A = {"sku": "a", "barcodes": [], "title": "A", "price": 9.99, "active": True}


def _pass(engine, seconds):
    """So many seconds pass: all that is stored is as much older."""
    with engine.begin() as connection:
        columns = ", ".join(
            f"{name} = {name} - make_interval(secs => :s)" for name in ("began_at", "failed_at", "ended_at")
        )
        connection.execute(sa.text(f"UPDATE ledger.outage SET {columns}"), {"s": seconds})


def _kept(engine):
    with engine.connect() as connection:
        rows = connection.execute(sa.select(outages.outage).order_by(outages.outage.c.outage_id)).all()
    return [(row.service, row.failures, row.ended_at is not None) for row in rows]


def _lines(engine):
    with engine.connect() as connection:
        return outages.lines(outages.lately(connection))


def test_an_outage_is_one_row_from_its_first_failure_to_the_next_answer(engine):
    outages.answered(engine, "platform")
    outages.failed(engine, "platform", "503")
    _pass(engine, 300)
    outages.failed(engine, "platform", "no answer.")
    (line,) = _lines(engine)
    assert line.startswith("the platform is away since 20")
    assert "2 requests had no answer" in line
    assert line.endswith("no answer). Each run tries again by itself")
    outages.answered(engine, "platform")
    outages.answered(engine, "platform")
    (line,) = _lines(engine)
    assert line.startswith("the platform was away from 20")
    assert _kept(engine) == [("platform", 2, True)]


def test_a_service_that_comes_and_goes_has_one_outage_and_a_later_one_is_another(engine):
    for _ in range(3):
        outages.failed(engine, "platform", "503")
        outages.answered(engine, "platform")
        _pass(engine, outages.SAME_S / 2)
    assert _kept(engine) == [("platform", 3, True)]
    _pass(engine, outages.SAME_S * 2)
    outages.failed(engine, "platform", "503")
    outages.failed(engine, "ERP", "refused")
    assert _kept(engine) == [("platform", 3, True), ("platform", 1, False), ("ERP", 1, False)]


def test_an_outage_that_a_repeat_healed_is_kept_and_named_by_no_report(engine):
    outages.failed(engine, "platform", "503")
    assert len(_lines(engine)) == 1, "it goes on"
    outages.answered(engine, "platform")
    assert _lines(engine) == []
    assert _kept(engine) == [("platform", 1, True)]


def test_an_outage_of_days_ago_is_named_no_more_unless_it_goes_on(engine):
    outages.failed(engine, "ERP", "refused")
    _pass(engine, 3 * 86_400)
    assert len(_lines(engine)) == 1
    outages.answered(engine, "ERP")
    _pass(engine, 2 * 86_400)
    assert _lines(engine) == []


def test_processes_that_meet_an_outage_together_store_one(engine):
    together = threading.Barrier(6)

    def meet():
        together.wait()
        outages.failed(engine, "platform", "503")

    threads = [threading.Thread(target=meet) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert _kept(engine) == [("platform", 6, False)]


def test_a_database_that_is_away_too_loses_neither_the_answer_nor_the_error():
    away = create_engine("postgresql+psycopg://nobody@127.0.0.1:1/none")
    outages.answered(away, "platform")
    with pytest.raises(UnreachableError, match="the ERP does not answer"), outages.erp_asked(away):
        raise UnreachableError("SHELFSYNC_ERP__URL", "the ERP does not answer", "Start it.")


@pytest.mark.parametrize(
    ("error", "left"),
    [
        (UnreachableError("SHELFSYNC_ERP__URL", "no answer", "Start it."), [("ERP", 2, False)]),
        (BrokenOffError("the connection was lost"), [("ERP", 2, False)]),
        (DataError("a count differs"), [("ERP", 1, True)]),
        (ConfigurationError("SHELFSYNC_ERP__SQL", "a wrong column", "Correct it."), [("ERP", 1, False)]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_erp_whose_data_are_wrong_has_answered_and_a_wrong_setting_tells_nothing(engine, error, left):
    outages.failed(engine, "ERP", "refused")
    with pytest.raises(type(error)), outages.erp_asked(engine):
        raise error
    assert _kept(engine) == left


@pytest.mark.parametrize(
    ("status", "blocked", "left"),
    [
        (200, False, [("platform", 1, True)]),
        (404, False, [("platform", 1, True)]),
        (429, False, [("platform", 1, True)]),
        (501, False, [("platform", 1, True)]),
        (403, True, [("platform", 1, False)]),
        (500, False, [("platform", 2, False)]),
        (503, False, [("platform", 2, False)]),
    ],
)
def test_an_answer_of_the_platform_ends_its_outage_and_a_5xx_is_none(engine, status, blocked, left):
    gate = OutageGate(OpenGate(), engine, SystemClock())
    gate.unanswered("put_catalog", "ConnectError")
    gate.report("put_catalog", status, None, blocked)
    assert _kept(engine) == left


def test_a_process_that_is_answered_ends_its_own_outage_at_once_and_that_of_another_in_a_second(engine):
    class Clock(SystemClock):
        now_s = 0.0

        def monotonic_s(self):
            return self.now_s

    clock = Clock()
    answered, away = (OutageGate(OpenGate(), engine, clock) for _ in range(2))
    answered.report("put_catalog", 200, None, False)
    away.unanswered("put_catalog", "ConnectError")
    answered.report("put_catalog", 200, None, False)
    assert _kept(engine) == [("platform", 1, False)]
    clock.now_s = 1.0
    answered.report("put_catalog", 200, None, False)
    assert _kept(engine) == [("platform", 1, True)]
    answered.unanswered("put_catalog", "ConnectError")
    answered.report("put_catalog", 200, None, False)
    assert _kept(engine) == [("platform", 2, True)]


def test_a_failure_between_an_answer_and_its_note_is_ended_by_the_next_answer(engine, monkeypatch):
    gate = OutageGate(OpenGate(), engine, SystemClock())
    answered = outages.answered

    def then_another_thread_fails(*which):
        stored = answered(*which)
        monkeypatch.setattr(outages, "answered", answered)
        gate.unanswered("put_catalog", "ConnectError")
        return stored

    monkeypatch.setattr(outages, "answered", then_another_thread_fails)
    gate.report("put_catalog", 200, None, False)
    assert _kept(engine) == [("platform", 1, False)]
    gate.report("put_catalog", 200, None, False)
    assert _kept(engine) == [("platform", 1, True)]


def test_an_answer_that_the_database_did_not_store_is_stored_with_the_next(engine):
    gate, other = (OutageGate(OpenGate(), engine, SystemClock()) for _ in range(2))
    other.unanswered("put_catalog", "ConnectError")

    @sa.event.listens_for(engine, "before_cursor_execute")
    def away(_connection, _cursor, statement, *_):
        if "UPDATE ledger.outage" in statement:
            raise sa.exc.OperationalError(statement, None, Exception("the server closed the connection"))

    gate.report("put_catalog", 200, None, False)
    sa.event.remove(engine, "before_cursor_execute", away)
    assert _kept(engine) == [("platform", 1, False)]
    gate.report("put_catalog", 200, None, False)
    assert _kept(engine) == [("platform", 1, True)]


@pytest.mark.slow
def test_status_runs_and_explain_tell_from_when_to_when_the_platform_was_away(make_world):
    away, world = make_world(platform={"base_url": "http://127.0.0.1:1"}), make_world()
    world.platform.put_products("store-001", [A])
    world.erp.put("store-001", "a", "1", 10, 1, 5)
    with pytest.raises(UnreachableError):
        away.sync("full")
    (row,) = world.app.status()["outages"]
    assert (row["service"], row["ended_at"]) == ("platform", None)
    assert "ConnectError" in row["error"]
    _pass(world.app.context.engine, 600)
    world.sync("full")
    (row,) = world.app.status()["outages"]
    assert row["lasted_s"] >= 600
    assert row["ended_at"] is not None
    told = [event.message for event in world.app.explain("store-001", "a").events if event.step == "outage"]
    assert told == outages.lines([row])


@pytest.mark.slow
def test_an_erp_that_is_away_is_told_until_it_is_read_again(make_world):
    away = make_world(erp={"url": "postgresql+psycopg://nobody@127.0.0.1:1/none"})
    with pytest.raises(TryAgainError):
        away.sync("full")
    world = make_world()
    world.platform.put_products("store-001", [A])
    world.erp.put("store-001", "a", "1", 10, 1, 5)
    (row,) = world.app.status()["outages"]
    assert (row["service"], row["ended_at"]) == ("ERP", None)
    world.sync("full")
    assert world.app.status()["outages"] == [], "a minute did not pass"
