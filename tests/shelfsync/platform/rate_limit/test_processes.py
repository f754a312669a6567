"""Real processes, real kills, real time: what arrives is counted where it arrives."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import sqlalchemy as sa

from sandbox_fixture import LiveSandbox
from shelfsync.platform.rate_limit import tables
from shelfsync.platform.rate_limit.sliding_window import Rate
from shelfsync.store.engine import create_engine

if TYPE_CHECKING:
    import datetime as dt

pytestmark = pytest.mark.slow

TESTS = Path(__file__).parents[3]


class Listener:
    """Notes when each request arrived."""

    def __init__(self):
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = self._socket.getsockname()[1]
        self.arrivals_s = []
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._socket.accept()
                self.arrivals_s.append(time.monotonic())
                connection.close()

    def until(self, count, deadline_s=30):
        end = time.monotonic() + deadline_s
        while len(self.arrivals_s) < count:
            assert time.monotonic() < end, f"{len(self.arrivals_s)} of {count} requests arrived"
            time.sleep(0.02)

    def close(self):
        self._socket.close()


def most_in_a_window(arrivals_s, window_s):
    most = start = 0
    for end, arrived_s in enumerate(arrivals_s):
        while arrived_s - arrivals_s[start] >= window_s:
            start += 1
        most = max(most, end - start + 1)
    return most


@contextlib.contextmanager
def _workers():
    running = []

    def start(*arguments):
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(TESTS / "support"), str(TESTS.parent / "include")]),
        }
        running.append(
            subprocess.Popen([sys.executable, *map(str, arguments)], env=environment, stderr=subprocess.PIPE)
        )
        return running[-1]

    try:
        yield start
    finally:
        for process in running:
            process.kill()
            process.communicate()


def _all_served(engine, priorities, deadline_s=20):
    end = time.monotonic() + deadline_s
    while True:
        with engine.connect() as connection:
            served = set(connection.execute(sa.select(tables.permit.c.priority).distinct()).scalars())
        if served == priorities:
            return
        assert time.monotonic() < end, f"only {served} got a slot"
        time.sleep(0.05)


RATE = Rate(60, window_s=3.0, jitter_s=0.6)


@dataclass(frozen=True)
class Sent:
    """By the ledger, and by the instants of arrival."""

    slots: list[dt.datetime]
    arrivals_s: list[float]


@pytest.fixture(scope="module")
def sent(throwaway_database):
    """What eight processes sent, of which three were killed and one was stopped in its tracks."""
    with throwaway_database() as url:
        engine = create_engine(url)
        arrivals_s = _eight_processes_three_killed(url, engine)
        with engine.connect() as connection:
            slots = sorted(connection.execute(sa.select(tables.permit.c.slot_at)).scalars())
        engine.dispose()
        yield Sent(slots, arrivals_s)


def _eight_processes_three_killed(database_url, engine):
    rate, listener = RATE, Listener()
    priorities = ["order", "stop_sell", "price", "catalog", "promotion", "export", "history", "catalog"]
    with _workers() as start:
        processes = [
            start(
                TESTS / "support" / "rate_limit_worker.py",
                database_url,
                listener.port,
                rate.limit,
                rate.window_s,
                rate.jitter_s,
                priority,
            )
            for priority in priorities
        ]
        listener.until(30)
        _all_served(engine, set(priorities))
        for process in (processes[0], processes[3], processes[6]):
            process.send_signal(signal.SIGKILL)
        sent = len(listener.arrivals_s)
        listener.until(sent + 60)
        processes[1].send_signal(signal.SIGSTOP)  # hangs, perhaps with the lock in its hand
        listener.until(sent + 100)
    listener.close()
    return listener.arrivals_s


def test_eight_processes_three_killed_share_one_row_of_slots(sent):
    assert len(sent.slots) >= len(sent.arrivals_s) > 100
    assert all(later - earlier >= RATE.spacing for earlier, later in itertools.pairwise(sent.slots))


def test_eight_processes_three_killed_never_exceed_the_limit(sent):
    """By the instants at which the requests arrived, which a machine with much else to do stamps too late."""
    arrivals_s = sent.arrivals_s
    assert most_in_a_window(arrivals_s, RATE.window_s) <= RATE.limit
    took_s = arrivals_s[-1] - arrivals_s[0]
    assert took_s >= (len(arrivals_s) - 1) * RATE.spacing.total_seconds() - RATE.jitter_s
    assert took_s <= 2 * (len(arrivals_s) - 1) * RATE.spacing.total_seconds() + 8, "far slower than it has to be"


@pytest.mark.proof
def test_three_minutes_of_eight_processes_against_the_platform(database_url, engine):
    """The platform's own journal counts. It enforces no limit here, so that it would show what exceeds it."""
    with LiveSandbox() as sandbox, _workers() as start:
        for worker in range(8):
            start(TESTS / "support" / "rate_limit_client.py", database_url, sandbox.base_url, worker)
        deadline_s = time.monotonic() + 60
        while not sandbox.journal()["requests"]:
            assert time.monotonic() < deadline_s
            time.sleep(0.1)
        began_s = time.monotonic()
        before = sandbox.journal()["requests"]
        while time.monotonic() < began_s + 180:
            time.sleep(1)
        journal = sandbox.journal()
    sent = journal["requests"] - before
    share = sent / 180
    print(
        f"in 180 s {sent} requests arrived: {share:.1%} of the allowance; at most {journal['max_requests_in_60s']} in 60 s"
    )
    assert journal["max_requests_in_60s"] <= 60
    assert share >= 0.97
