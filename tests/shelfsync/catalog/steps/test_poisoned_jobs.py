"""Whatever an event, a link, a log or an answer holds, it ends nothing but itself: other jobs go on, and the deadline ends each job."""

from __future__ import annotations

import itertools
import time

import httpx
import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from fuzz_minute import for_a_minute
from shelfsync.catalog.ledger import jobs as catalog_jobs
from shelfsync.inbox.event_body import UnreadableEventError
from shelfsync.platform.jobs import job as job_row
from shelfsync.platform.jobs import poll as polling
from waiting_events import arrive

A = {"sku": "a", "barcodes": [], "title": "A", "price": 9.99, "active": True}
STORES = ("store-001", "store-002")
NASTY_LINKS = [
    "http\u017f://x/",
    "HTTP\u017f://x/\u212a",
    "http://\u0130/",
    "http://[::1",
    "http://x:99999999999999999999/",
    "https://xn--a-\u212a.example/",
    "\x00",
    "\ud800",
    "x" * 9000,
    "http://" + "a." * 120 + "/",
    "https://platform.example/v2/chains/demo-chain/orders/1",
    "file:///etc/passwd",
]
POLLING = {"poll_first_s": 0.05, "poll_max_s": 0.2, "job_deadline_s": 30}
NEVER_POLLED = {"poll_first_s": 3600, "poll_max_s": 3600, "job_deadline_s": 60}


@pytest.fixture
def poll(make_world):
    """Two stores whose jobs are polled; the receiver gets no event from the platform."""
    return _stocked(make_world(sync=POLLING))


def _stocked(world):
    world.platform.put_webhook(catalog_url="http://127.0.0.1:1/nowhere", secret="canary-webhook-1")
    for store in STORES:
        world.platform.put_products(store, [A])
        world.erp.put(store, "a", "2.00")
    return world


def _numbers(world) -> dict[str, str]:
    return dict(world.rows("SELECT vendor, platform_job_id FROM ledger.job ORDER BY job_id"))


def _quarantine_reasons(world) -> list[str]:
    return [
        row[0] for row in world.rows("SELECT quarantine_reason FROM inbox.event WHERE quarantine_reason IS NOT NULL")
    ]


def _finish(world, run_id, vendors) -> None:
    world.app.wait(run_id, vendors)
    for word in ("confirm", "acknowledge"):
        world.app.step(word, run_id, vendors)


@pytest.mark.slow
@pytest.mark.parametrize("link", NASTY_LINKS[:4], ids=ascii)
def test_a_poisoned_link_stops_no_job_and_the_poll_decides(poll, link):
    run_id, vendors = poll.begin("full", upto="deliver")
    arrive(poll, {"job_id": _numbers(poll)["store-001"], "job_status": "COMPLETED", "download_url": link})
    _finish(poll, run_id, vendors)
    assert poll.rows("SELECT state, accepted FROM ledger.job") == [("acknowledged", 1)] * 2
    (reason,) = _quarantine_reasons(poll)
    assert reason.startswith("download: the link")
    (listed,) = poll.app.inbox.listed(only_quarantined=True)
    assert listed["quarantine_reason"] == reason
    line = poll.app.report(run_id)["alarms"]
    assert line == poll.app.status()["alarms"]
    assert line[0].startswith(f"1 job events were quarantined, the last because {reason}")


@pytest.mark.slow
def test_a_spell_of_poisoned_events_raises_one_alarm_and_status_shows_it_all_day(poll):
    alarms_of_runs = []
    for price in ("2.00", "3.00"):
        poll.erp.put("store-001", "a", price)
        run_id, vendors = poll.begin("full", upto="deliver")
        arrive(poll, {"job_id": _numbers(poll)["store-001"], "job_status": "COMPLETED", "download_url": "file:///x"})
        _finish(poll, run_id, vendors)
        alarms_of_runs.append(poll.app.report(run_id)["alarms"])
    assert [len(alarms) for alarms in alarms_of_runs] == [1, 0]
    assert poll.app.status()["alarms"][0].startswith("2 job events were quarantined")


@pytest.mark.slow
def test_events_sent_in_advance_for_numbers_to_come_change_nothing(poll):
    """The test knows the job numbers. An attacker can guess them if they are consecutive integers."""
    run_id, vendors = poll.begin("full", upto="deliver")
    numbers = _numbers(poll)
    ends = [{"job_status": "FAILED"}, {"job_status": "COMPLETED", "download_url": "http\u017f://x/"}]
    arrive(poll, *({"job_id": number, **end} for number in numbers.values() for end in ends))
    with poll.app.context.engine.begin() as connection:  # as if they had come before the requests
        connection.exec_driver_sql("UPDATE ledger.job SET after_event = (SELECT max(event_id) FROM inbox.event)")
    _finish(poll, run_id, vendors)
    assert poll.rows("SELECT state, accepted FROM ledger.job") == [("acknowledged", 1)] * 2
    assert _quarantine_reasons(poll) == ["it came before the request that its job belongs to was sent"] * 4


@pytest.mark.slow
def test_a_request_knows_the_events_that_came_before_it(poll):
    arrive(poll, *({"job_id": number, "job_status": "FAILED"} for number in range(1, 36)))
    poll.begin("full", upto="deliver")
    newest = poll.rows("SELECT max(event_id) FROM inbox.event")[0][0]
    assert poll.rows("SELECT after_event FROM ledger.job") == [(newest,)] * 2
    poll.app.plan_exports("advance", STORES[:1])
    poll.app.export_step("export", "advance", STORES[:1])
    assert poll.rows("SELECT after_event FROM ledger.job WHERE kind = 'export'") == [(newest,)]


@pytest.mark.slow
def test_a_good_event_after_a_bad_one_ends_the_job_without_a_question(make_world, receiver):
    world = _stocked(make_world(sync=NEVER_POLLED, platform={"job_status_path": ""}))
    run_id, vendors = world.begin("full", upto="deliver")
    numbers = _numbers(world)
    arrive(world, {"job_id": numbers["store-001"], "job_status": "COMPLETED", "download_url": "http\u017f://x/"})
    world.platform.until_quiescent()
    with world.platform.partner() as partner:
        status = "/v2/chains/demo-chain/catalog/jobs/"
        links = {number: partner.get(status + number).json()["download_url"] for number in numbers.values()}
    for number in numbers.values():
        body = {"job_id": number, "job_status": "COMPLETED", "download_url": links[number]}
        assert httpx.post(receiver.url, json=body, headers={"Authorization": "canary-webhook-1"}).status_code == 200
    _finish(world, run_id, vendors)
    assert world.rows("SELECT state, accepted FROM ledger.job") == [("acknowledged", 1)] * 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "error",
    [KeyError("x"), MemoryError(), RecursionError(), OverflowError("\x00\x1b")],
    ids=lambda error: type(error).__name__,
)
def test_the_deadline_ends_a_job_whatever_is_raised(poll, monkeypatch, error):
    run_id, vendors = poll.begin("full", upto="deliver")

    def raises(*_args, **_kwargs):
        raise error

    monkeypatch.setattr("shelfsync.catalog.steps.confirm.known", raises)
    monkeypatch.setattr(type(poll.app.context.open_platform()), "list_catalog", raises)
    report = poll.app.step("confirm", run_id, vendors)
    assert set(report["failed"]) == set(STORES), "each for itself"
    with poll.app.context.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE ledger.job SET deadline_at = now() - interval '1 second'")
    report = poll.app.step("confirm", run_id, vendors)
    assert poll.rows("SELECT state, unaccounted FROM ledger.job") == [("unconfirmed", 1)] * 2
    assert all(type(error).__name__ in line for line in report["failed"].values())


@pytest.mark.slow
def test_a_wait_ends_though_a_question_raises_anything(poll, monkeypatch):
    run_id, vendors = poll.begin("full", upto="deliver")
    asked = []

    def raises(_context, job, **_known):
        asked.append(job.vendor)
        raise KeyError("http\u017f")

    monkeypatch.setattr("shelfsync.platform.jobs.wait.poll", raises)
    with poll.app.context.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE ledger.job SET deadline_at = now() + interval '1.5 seconds'")
    began = time.monotonic()
    assert poll.app.wait(run_id, vendors)["left"] == 0
    assert time.monotonic() - began < 20
    assert set(asked) == set(STORES)


@pytest.mark.slow
@pytest.mark.parametrize(
    "log", [b"sku,state,errors," + b"x" * 60_000 + b"\na,success,,\n", b"sku,state\x00\n"], ids=["wide", "odd"]
)
def test_a_log_that_was_kept_and_cannot_be_held_is_fetched_again(poll, log):
    run_id, vendors = poll.begin("full", upto="deliver")
    poll.platform.until_quiescent()
    context = poll.app.context
    with context.lake.staged("log", "store-001", ".csv") as staged:
        staged.file.write(log)
    with context.engine.begin() as connection:
        connection.execute(
            sa.text("UPDATE ledger.job SET result_path = :path WHERE vendor = 'store-001'"), {"path": staged.path}
        )
    _finish(poll, run_id, vendors)
    assert poll.rows("SELECT state, accepted FROM ledger.job") == [("acknowledged", 1)] * 2
    assert poll.rows("SELECT count(*) FROM ledger.job WHERE result_path = '" + staged.path + "'") == [(0,)]


@pytest.mark.slow
def test_an_export_whose_event_leads_nowhere_is_ended_by_the_poll(poll):
    poll.sync("full")
    poll.app.plan_exports("poisoned", STORES)
    poll.app.export_step("export", "poisoned", list(STORES))
    numbers = [row[0] for row in poll.rows("SELECT platform_job_id FROM ledger.job WHERE kind = 'export'")]
    arrive(
        poll, *({"job_id": number, "job_status": "COMPLETED", "downloadURL": "http\u017f://x/"} for number in numbers)
    )
    poll.app.wait_exports("poisoned", list(STORES))
    assert poll.app.export_step("observe", "poisoned", list(STORES))["failed"] == {}
    assert poll.rows("SELECT state FROM ledger.job WHERE kind = 'export'") == [("confirmed",)] * 2
    assert len(_quarantine_reasons(poll)) == 2


def test_a_number_that_no_index_holds_is_no_number_of_a_job():
    from partner_api.jobs import Job

    for number in ("x" * 10_000, "a\x00b", "\ud800", "..", "a\nb"):
        assert Job.read({"job_id": number}).job_id is None
    assert Job.read({"job_id": 17}).job_id == "17"


def test_any_response_of_a_status_call_is_stored(poll):
    from decimal import Decimal

    poll.begin("full", upto="deliver")
    context = poll.app.context
    body = {"sku": "a\x00\ud800", "n": Decimal("1.5"), "\x00": [None, True, 10**40, {"deep": "x" * 100_000}]}
    kept = polling.storable([body])
    with context.engine.begin() as connection:
        found = catalog_jobs.open_jobs(connection)[0]
        status = polling.storable("\ud800\x00")
        job_row.reported(connection, found.job_id, platform_status=status, feedback=kept, poll_after_s=1)
    assert poll.rows("SELECT count(*) FROM ledger.job WHERE feedback IS NOT NULL") == [(1,)]


class _DriverError(Exception):
    sqlstate = "54000"


def test_a_value_that_the_database_rejects_does_not_mean_that_it_is_unavailable():
    assert not job_row.database_is_away(sa.exc.OperationalError("INSERT", {"name": "secret"}, _DriverError("secret")))
    away = sa.exc.OperationalError("INSERT", {"name": "secret"}, Exception("secret"))
    assert job_row.database_is_away(away)
    assert "secret" not in job_row.reason_of(away)


BODIES = st.fixed_dictionaries(
    {"job_status": st.sampled_from(["COMPLETED", "FAILED", "QUEUED", "", "\u017f", "x" * 300])},
    optional={
        "download_url": st.one_of(st.sampled_from(NASTY_LINKS), st.text(max_size=30), st.none(), st.integers()),
        "vendor_id": st.one_of(st.sampled_from(STORES), st.text(max_size=10), st.integers()),
        "result": st.one_of(st.none(), st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=2)),
    },
)
_tries = itertools.count()


def _send_readable(world, number: str, *bodies: dict) -> None:
    """The links that the receiver accepts, each as a separate event."""
    for body in bodies:
        try:
            arrive(world, {"job_id": number, "try": next(_tries), **body})
        except UnreadableEventError:
            continue


def _poisoned(world, first: dict, second: dict) -> None:
    run_id, vendors = world.begin("full", upto="deliver")
    jobs = world.rows("SELECT job_id, vendor, platform_job_id FROM ledger.job WHERE state = 'open' ORDER BY vendor")
    _send_readable(world, jobs[0].platform_job_id, first, second)
    _finish(world, run_id, vendors)
    with world.app.context.engine.begin() as connection:
        connection.exec_driver_sql(
            "UPDATE ledger.job SET deadline_at = now() - interval '1 second' WHERE state = 'open'"
        )
    world.app.recover()
    states = dict(world.rows(f"SELECT vendor, state FROM ledger.job WHERE job_id >= {jobs[0].job_id}"))
    assert states["store-002"] == "acknowledged", "what is behind goes on"
    assert states["store-001"] in {"acknowledged", "unconfirmed"}, "the job has ended"


FUZZ = {"deadline": None, "suppress_health_check": [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]}


@pytest.mark.slow
@settings(max_examples=6, **FUZZ)
@example({"job_status": "COMPLETED", "download_url": "http\u017f://x/"}, {"job_status": "FAILED"})
@given(BODIES, BODIES)
def test_no_event_stops_the_job_of_another_store(poll, first, second):
    _poisoned(poll, first, second)


@pytest.mark.proof
@pytest.mark.slow
def test_no_event_stops_the_job_of_another_store_for_a_minute(poll):
    assert for_a_minute(test_no_event_stops_the_job_of_another_store, poll) > 0


def _poisoned_export(world, first: dict, second: dict) -> None:
    run = f"export-{next(_tries)}"
    world.app.plan_exports(run, STORES)
    world.app.export_step("export", run, list(STORES))
    number = world.rows(
        f"SELECT platform_job_id FROM ledger.job JOIN ledger.export e USING (export_id) WHERE run_key = '{run}' AND e.vendor = 'store-001'"
    )
    _send_readable(world, number[0].platform_job_id, first, second)
    world.app.wait_exports(run, list(STORES))
    report = world.app.export_step("observe", run, list(STORES))
    states = dict(
        world.rows(
            f"SELECT e.vendor, state FROM ledger.job JOIN ledger.export e USING (export_id) WHERE run_key = '{run}'"
        )
    )
    assert states["store-002"] == "confirmed", "what is behind goes on"
    assert states["store-001"] == ("failed" if report["failed"] else "confirmed")


@pytest.mark.slow
@settings(max_examples=4, **FUZZ)
@example({"job_status": "COMPLETED", "download_url": "http\u017f://x/"}, {"job_status": "FAILED"})
@given(BODIES, BODIES)
def test_no_event_stops_the_export_of_another_store(poll, first, second):
    _poisoned_export(poll, first, second)


@pytest.mark.proof
@pytest.mark.slow
def test_no_event_stops_the_export_of_another_store_for_a_minute(poll):
    assert for_a_minute(test_no_event_stops_the_export_of_another_store, poll) > 0
