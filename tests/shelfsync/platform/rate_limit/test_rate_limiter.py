"""The gate as clients use it: real time, real database, real outages."""

from __future__ import annotations

import contextlib
import datetime as dt
import itertools
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa
from pydantic import SecretStr

from partner_api import ClientCredentials, PartnerClient
from partner_api.errors import ThrottledError
from partner_api.session import SystemClock
from shelfsync.errors import ConfigurationError, TryAgainError
from shelfsync.local.postgres import EmbeddedPostgres
from shelfsync.platform.rate_limit import tables
from shelfsync.platform.rate_limit.pauses import Answer
from shelfsync.platform.rate_limit.rate_limiter import RateLimiter
from shelfsync.platform.rate_limit.sliding_window import Rate
from shelfsync.platform.shared_token import SharedTokens
from shelfsync.settings import RateLimitSettings
from shelfsync.store.engine import create_engine

FAST = Rate(100, window_s=2.0, jitter_s=0.5)


class LostClock(SystemClock):
    """A worker's wall clock that jumps whenever it is read; what only grows still only grows."""

    def __init__(self):
        self._chance = random.Random(1)

    def now(self):
        return dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(days=self._chance.uniform(0, 25_000))


def _limiter(engine, *, rate=FAST, clock=None, **choices):
    settings = RateLimitSettings(
        **{name: choices.pop(name) for name in list(choices) if name in RateLimitSettings.model_fields}
    )
    return RateLimiter(engine, settings, clock or SystemClock(), rate=rate, chance=random.Random(1), **choices)


@contextlib.contextmanager
def _takes_s(least, most):
    began_s = time.monotonic()
    yield
    assert least <= time.monotonic() - began_s <= most


def _client(sandbox, gate):
    credentials = ClientCredentials("demo-client", SecretStr("demo-secret"))
    return PartnerClient(sandbox.base_url, "demo-chain", credentials, gate=gate, attempts_max=1)


def test_every_request_of_the_client_passes_the_gate_and_is_counted(engine, sandbox):
    limiter = _limiter(engine)
    with _client(sandbox, limiter) as client:
        client.list_catalog("store-001")
        client.list_catalog("store-002", priority="price")
    with engine.connect() as connection:
        permits = connection.execute(
            sa.select(tables.permit.c.operation, tables.permit.c.priority).order_by(tables.permit.c.permit_id)
        ).all()
        answers = connection.execute(sa.select(sa.func.sum(tables.usage.c.answers))).scalar_one()
    assert [tuple(row) for row in permits] == [
        ("token", "catalog"),
        ("list_catalog", "catalog"),
        ("list_catalog", "price"),
    ]
    assert answers == sandbox.journal()["requests"] == 3


@pytest.mark.parametrize("used", [True, False])
def test_a_leave_that_is_through_without_an_answer_counts_no_longer_than_now(engine, used):
    limiter = _limiter(engine)
    limiter.admit("download", "catalog", ())
    limiter.done("download", "catalog", used)
    with engine.connect() as connection:
        permits = connection.execute(sa.select(tables.permit)).all()
        usage = connection.execute(
            sa.select(sa.func.sum(tables.usage.c.forfeited), sa.func.sum(tables.usage.c.answers))
        ).one()
        now = connection.execute(sa.select(sa.func.clock_timestamp())).scalar_one()
    assert all(permit.arrived_by is not None and permit.arrived_by < now for permit in permits)
    too_late = len(permits) - 1  # slots that a busy machine missed
    assert tuple(usage) == (too_late + int(not used), 0)


@pytest.mark.slow
def test_workers_that_find_the_token_when_they_come_through_the_gate_give_their_leave_back(
    engine, database_url, sandbox
):
    """Four of them, each with a separate limiter on one allowance, want a token at the same moment."""

    def work(_number):
        mine = create_engine(database_url)
        credentials = ClientCredentials("demo-client", SecretStr("demo-secret"))
        store = SharedTokens(
            mine,
            SystemClock(),
            base_url=sandbox.base_url,
            chain="demo-chain",
            client_id="demo-client",
            client_secret=SecretStr("demo-secret"),
        )
        with PartnerClient(
            sandbox.base_url, "demo-chain", credentials, gate=_limiter(mine), token_store=store
        ) as client:
            client.list_catalog("store-001")
        mine.dispose()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    with engine.connect() as connection:
        of_token = connection.execute(
            sa.select(
                sa.func.sum(tables.usage.c.permits),
                sa.func.sum(tables.usage.c.forfeited),
                sa.func.sum(tables.usage.c.answers),
            ).where(tables.usage.c.operation == "token")
        ).one()
    permits, forfeited, answers = of_token
    assert answers == 1
    assert permits - forfeited == 1


def test_a_429_of_the_platform_pauses_the_installation(engine, sandbox):
    limiter = _limiter(engine)
    sandbox.faults({"at": "list_catalog", "kind": "status_429", "times": 1})
    with _client(sandbox, limiter) as client, pytest.raises(ThrottledError):
        client.list_catalog("store-001")
    status = limiter.status()
    assert status.strikes == 1
    assert status.paused_s > 0


def test_the_first_request_leaves_at_once(engine):
    """Its slot is now, although the pace is one a minute; a machine that wakes up too late for it waits for the next."""
    with engine.begin() as connection:
        began_at = connection.execute(sa.select(sa.func.clock_timestamp())).scalar_one()
    _limiter(engine, rate=Rate(1)).admit("token", "catalog", ())
    with engine.connect() as connection:
        first_slot_at = connection.execute(sa.select(sa.func.min(tables.permit.c.slot_at))).scalar_one()
    assert first_slot_at - began_at < dt.timedelta(seconds=30)


def test_threads_and_worker_clocks_that_jump_share_one_pace(engine):
    limiters = [_limiter(engine, clock=LostClock()) for _ in range(2)]
    began_s = time.monotonic()

    def work(limiter):
        for _ in range(10):
            limiter.admit("job_status", "catalog", ())

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(work, limiter) for limiter in limiters * 2]:
            done.result(timeout=30)
    assert time.monotonic() - began_s >= 39 * FAST.spacing.total_seconds() - FAST.late_s_max
    with engine.connect() as connection:
        slots = connection.execute(sa.select(tables.permit.c.slot_at).order_by(tables.permit.c.slot_at)).scalars().all()
    assert len(slots) >= 40
    assert all(later - earlier >= FAST.spacing for earlier, later in itertools.pairwise(slots))


def test_a_429_stops_every_process_for_as_long_as_it_asks(engine, database_url):
    other_engine = create_engine(database_url)
    one, other = _limiter(engine), _limiter(other_engine)
    one.admit("put_catalog", "catalog", ())
    one.report("put_catalog", 429, 2.0, False)
    try:
        with _takes_s(1.9, 20):
            other.admit("job_status", "order", ())
    finally:
        other_engine.dispose()


def test_a_long_pause_gives_the_request_back_with_the_reason_and_the_time(engine):
    limiter = _limiter(engine, wait_max_s=30.0)
    limiter.report("list_catalog", 403, None, True)
    with (
        _takes_s(0, 20),
        pytest.raises(TryAgainError, match=r"edge blocks this address \(403 on list_catalog\)") as reported,
    ):
        limiter.admit("put_catalog", "order", ())
    assert 55 < reported.value.after_s < 70


def test_answers_that_were_on_their_way_are_no_new_strikes(engine):
    limiter = _limiter(engine)
    for _ in range(10):
        limiter.report("job_status", 429, None, False)
    status = limiter.status()
    assert status.strikes == 1
    assert 10 < status.paused_s < 20
    assert status.pause_reason == "the platform counts too many requests (429 on job_status)"


def _end_the_pause(engine):
    with engine.begin() as connection:
        connection.execute(sa.update(tables.allowance).values(paused_until=sa.func.clock_timestamp()))


def test_stops_in_a_row_pause_longer_and_a_good_answer_ends_the_row(engine):
    limiter = _limiter(engine)
    lengths = []
    for _ in range(3):
        limiter.report("job_status", 429, None, False)
        lengths.append(limiter.status().paused_s)
        _end_the_pause(engine)
    assert lengths[1] > 1.7 * lengths[0]
    assert lengths[2] > 1.7 * lengths[1]
    limiter.report("job_status", 200, None, False)
    assert limiter.status().strikes == 0
    limiter.report("job_status", 429, None, False)
    assert limiter.status().paused_s < lengths[1]
    with engine.connect() as connection:
        pauses = connection.execute(sa.select(tables.pause).order_by(tables.pause.c.pause_id)).all()
    assert [row.strikes for row in pauses] == [1, 2, 3, 1]


def test_a_good_answer_that_was_on_its_way_does_not_end_a_pause(engine):
    limiter = _limiter(engine)
    limiter.report("put_catalog", 429, 600.0, False)
    limiter.report("job_status", 200, None, False)
    status = limiter.status()
    assert status.paused_s > 500
    assert status.strikes == 1


@pytest.mark.parametrize("retry_after_s", [1e9, float("inf"), float("nan"), -5.0, 0.0])
def test_an_absurd_retry_after_pauses_for_an_hour_at_most(engine, retry_after_s):
    limiter = _limiter(engine)
    limiter.report("put_catalog", 429, retry_after_s, False)
    assert 0.5 < limiter.status().paused_s <= 3600


def test_answers_are_counted(engine):
    limiter = _limiter(engine)
    for status in (200, 202, 429, 503, 500):
        limiter.report("put_catalog", status, None, False)
    with engine.connect() as connection:
        row = connection.execute(sa.select(tables.usage)).one()
    assert (row.operation, row.answers, row.stops, row.failures) == ("put_catalog", 5, 1, 2)


def test_a_forecast_counts_the_pause_and_those_who_wait(engine):
    limiter = _limiter(engine, rate=Rate(60))
    limiter.report("put_catalog", 429, 120.0, False)
    reported = limiter.forecast(60, every_s=170)
    assert reported.minutes == pytest.approx((60 * 1.02 + 130) / 60, abs=0.3)
    assert reported.in_time is False


@pytest.mark.slow
def test_nothing_leaves_while_the_database_is_away_and_all_goes_on_when_it_is_back(reachable_folder):
    server = EmbeddedPostgres(reachable_folder / "away", fsync=False)
    from shelfsync.migrations.upgrade import upgrade

    engine = create_engine(server.ensure_started())
    try:
        upgrade(engine)
        limiter = _limiter(engine, outage_s=0.5)
        limiter.admit("token", "catalog", ())
        server.stop()
        with _takes_s(0.4, 20), pytest.raises(TryAgainError, match="no request is sent while the database"):
            limiter.admit("put_catalog", "order", ())
        limiter.report("job_status", 429, 3.0, False)  # an answer is never lost for it
        server.ensure_started()
        with _takes_s(2.5, 20):  # the late answer counts too
            limiter.admit("put_catalog", "order", ())
    finally:
        engine.dispose()
        server.stop()


@pytest.mark.slow
def test_a_short_outage_is_borne(reachable_folder):
    server = EmbeddedPostgres(reachable_folder / "short", fsync=False)
    from shelfsync.migrations.upgrade import upgrade

    engine = create_engine(server.ensure_started())
    try:
        upgrade(engine)
        limiter = _limiter(engine, outage_s=20.0)
        server.stop()
        back = threading.Timer(0.7, server.ensure_started)
        back.start()
        with _takes_s(0.6, 20):
            limiter.admit("put_catalog", "catalog", ())
        back.join()
    finally:
        engine.dispose()
        server.stop()


@pytest.mark.slow
def test_processes_that_freeze_in_the_middle_are_cut_off(engine, database_url):
    """One process freezes while it holds the lock, another while it records a stop; other callers wait only briefly."""
    frozen_engine = create_engine(database_url)
    admission = _limiter(frozen_engine)._admission
    answer = Answer("put_catalog", 429, None, False)
    frozen = []
    for step in (admission.allowance.lock, lambda connection: admission._record_stop(connection, answer, "a caller")):
        frozen.append(frozen_engine.connect())
        frozen[-1].begin()
        step(frozen[-1])
    limiter = _limiter(engine)
    try:
        with _takes_s(1, 30):
            limiter.admit("put_catalog", "catalog", ())
        with _takes_s(0, 30):
            limiter.report("put_catalog", 202, None, False)
    finally:
        for connection in frozen:
            connection.invalidate()
            connection.close()
        frozen_engine.dispose()
    with engine.connect() as connection:
        assert connection.execute(sa.select(sa.func.sum(tables.usage.c.answers))).scalar_one() == 1


@pytest.mark.slow
def test_an_answer_does_not_wait_long_for_the_rows_of_a_frozen_session(engine, database_url):
    """The server ends a session of shelfsync that freezes in a transaction after a minute, and one of another program never."""
    limiter = _limiter(engine)
    limiter.report("put_catalog", 202, None, False)
    other = create_engine(database_url)
    try:
        for table, struck in ((tables.usage, 0), (tables.allowance, 1)):
            with engine.begin() as connection:
                limiter._admission.allowance.lock(connection)
                connection.execute(sa.update(tables.allowance).values(strikes=struck))
            with other.begin() as frozen:
                frozen.execute(sa.select(table).with_for_update())
                with _takes_s(4, 30):
                    limiter.report("put_catalog", 202, None, False)
    finally:
        other.dispose()
    limiter.report("put_catalog", 202, None, False)
    with engine.connect() as connection:
        assert connection.execute(sa.select(sa.func.sum(tables.usage.c.answers))).scalar_one() == 3


def test_a_database_without_our_tables_is_a_configuration_error(empty_database_url):
    engine = create_engine(empty_database_url)
    with pytest.raises(ConfigurationError, match=r"SHELFSYNC_DATABASE_URL: the tables of the rate limit"):
        _limiter(engine).admit("token", "catalog", ())
    engine.dispose()


def test_answers_and_late_wakers_never_lock_each_other_out(engine):
    """A forfeited slot and a look take the allowance's row first, and an answer writes rows that neither of them writes."""
    limiters = [RateLimiter(engine, RateLimitSettings(), SystemClock(), rate=FAST) for _ in range(4)]
    failures = []

    def work(limiter, number):
        try:
            for _ in range(8):
                limiter.admit(f"operation-{number % 2}", "catalog", ())
                limiter.report(f"operation-{number % 2}", 200, None, False)
        except (sa.exc.SQLAlchemyError, TryAgainError) as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(limiter, number)) for number, limiter in enumerate(limiters)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failures == []
    with engine.connect() as connection:
        deadlocks = connection.execute(
            sa.text("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
        ).scalar_one()
    assert deadlocks == 0


def test_an_abandoned_wait_delays_no_other_caller(engine):
    class Interrupted(SystemClock):
        interrupted = False

        def sleep(self, seconds):
            if self.interrupted:
                raise KeyboardInterrupt
            super().sleep(seconds)

    clock, rate = Interrupted(), Rate(60, jitter_s=5)
    limiter = _limiter(engine, rate=rate, clock=clock)
    limiter.admit("job_status", "order", ())
    limiter.admit("job_status", "order", ())
    clock.interrupted = True
    with pytest.raises(KeyboardInterrupt):
        limiter.admit("job_status", "order", ())
    with _takes_s(0, 20):
        _limiter(engine, rate=rate).admit("job_status", "history", ())
