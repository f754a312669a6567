from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa

from shelfsync.vendors.lease import LeaseLostError, lease, leased

VENDOR = "store-001"
LONG_S = 600.0


def _expire(engine):
    with engine.begin() as connection:
        connection.execute(lease.update().values(until_at=sa.text("ledger.instant() - interval '1 second'")))


def _write_under(engine, held):
    with engine.begin() as connection:
        connection.execute(sa.text("INSERT INTO ledger.vendor (vendor) VALUES ('written late')"))
        held.hold(connection)


def _held(engine):
    with engine.connect() as connection:
        statement = sa.select(lease.c.vendor, lease.c.number).where(lease.c.until_at > sa.text("ledger.instant()"))
        return [tuple(row) for row in connection.execute(statement)]


def test_two_processes_never_hold_one_vendor_at_once(engine):
    with leased(engine, VENDOR, LONG_S) as first:
        with leased(engine, VENDOR, LONG_S) as second, leased(engine, "store-002", LONG_S) as other:
            assert (first is None, second is None, other is None) == (False, True, False)
        assert _held(engine) == [(VENDOR, first.number)]
    with leased(engine, VENDOR, LONG_S) as again:
        assert again.number > first.number
    assert _held(engine) == []


def test_of_eight_that_want_a_vendor_at_once_one_gets_it(engine):
    everybody = threading.Barrier(8, timeout=30)

    def want(_):
        with leased(engine, VENDOR, LONG_S) as mine:
            everybody.wait()
            return mine is not None

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(want, range(8))) == 1


def test_a_lease_that_ran_out_is_taken_over_from_a_living_session_and_its_holder_writes_nothing(engine):
    with leased(engine, VENDOR, LONG_S) as slow:
        _expire(engine)
        with leased(engine, VENDOR, LONG_S) as swift:
            assert swift.number > slow.number
            with pytest.raises(LeaseLostError, match="taken over"):
                _write_under(engine, slow)
            with engine.begin() as connection:
                swift.hold(connection)
    with engine.connect() as connection:
        assert connection.execute(sa.text("SELECT count(*) FROM ledger.vendor")).scalar_one() == 0


def test_an_expired_lease_without_a_new_holder_is_still_the_holders(engine):
    with leased(engine, VENDOR, LONG_S) as mine:
        _expire(engine)
        mine.renew(engine)
        with leased(engine, VENDOR, LONG_S) as other:
            assert other is None


def test_the_vendor_of_a_dead_process_is_free_at_once(engine):
    """Its lease is valid for ten more minutes, and its session has ended."""
    with leased(engine, VENDOR, LONG_S) as dead:
        with engine.connect() as connection:
            here = "database = (SELECT oid FROM pg_database WHERE datname = current_database())"
            kill = f"SELECT pg_terminate_backend(pid, 10000) FROM pg_locks WHERE locktype = 'advisory' AND granted AND {here}"
            assert connection.execute(sa.text(kill)).scalars().all() == [True]
        with leased(engine, VENDOR, LONG_S) as heir:
            assert heir.number > dead.number
            with pytest.raises(LeaseLostError):
                dead.renew(engine)


def test_while_a_frozen_session_keeps_its_lock_others_work_one_at_a_time(engine):
    """Its lock claims for ever that a process works; after the first takeover no process waits for it again."""
    with leased(engine, VENDOR, LONG_S):
        _expire(engine)
        for _ in range(3):
            with leased(engine, VENDOR, LONG_S) as heir, leased(engine, VENDOR, LONG_S) as other:
                assert (heir is None, other is None) == (False, True)


def test_a_session_lock_that_came_free_takes_no_lease_from_a_living_heir(engine):
    frozen = leased(engine, VENDOR, LONG_S)
    frozen.__enter__()
    _expire(engine)
    with leased(engine, VENDOR, LONG_S) as heir:
        frozen.__exit__(None, None, None)
        with leased(engine, VENDOR, LONG_S) as third:
            assert third is None
        heir.renew(engine)


def test_who_lost_a_lease_does_not_give_back_the_one_of_the_next(engine):
    slow = leased(engine, VENDOR, LONG_S)
    slow.__enter__()
    _expire(engine)
    with leased(engine, VENDOR, LONG_S) as swift:
        slow.__exit__(None, None, None)
        assert _held(engine) == [(VENDOR, swift.number)]
        swift.renew(engine)


def test_a_takeover_waits_until_the_holders_transaction_has_ended(engine):
    """Between the check and the commit no other process can take the lease."""
    order = []

    def take_over():
        with leased(engine, VENDOR, LONG_S) as theirs:
            order.append("passed by" if theirs is None else "taken over")

    with leased(engine, VENDOR, LONG_S) as mine:
        _expire(engine)
        with engine.begin() as connection:
            mine.hold(connection)
            thread = threading.Thread(target=take_over)
            thread.start()
            thread.join(0.3)
            order.append("written")
        thread.join(10)
    assert order == ["written", "passed by"]  # the write renewed it


def test_a_session_that_freezes_in_a_transaction_does_not_keep_its_rows_for_ever(engine):
    with engine.connect() as connection:
        assert connection.execute(sa.text("SHOW idle_in_transaction_session_timeout")).scalar_one() == "1min"
