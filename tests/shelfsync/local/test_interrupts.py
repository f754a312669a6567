"""Signals unwind, and wait where something must not be left half done."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from shelfsync.local import processes

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.mark.parametrize(
    ("number", "expected"),
    [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SystemExit), (signal.SIGHUP, SystemExit)],
)
def test_a_signal_unwinds_through_what_has_to_be_stopped(number: signal.Signals, expected: type[BaseException]) -> None:
    before = signal.getsignal(number)
    stopped = []

    @contextmanager
    def something_running() -> Iterator[None]:
        try:
            yield
        finally:
            stopped.append(True)

    with pytest.raises(expected), processes.unwinding(), something_running():
        signal.raise_signal(number)
    assert stopped
    assert signal.getsignal(number) == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_waits_for_the_end_of_the_block_and_then_takes_effect(number: signal.Signals) -> None:
    done, lines = [], []

    def work() -> None:
        signal.raise_signal(number)
        signal.raise_signal(number)
        done.append(True)

    with pytest.raises((KeyboardInterrupt, SystemExit)), processes.unwinding(), processes.held(lines.append):
        work()
    assert done
    assert len(lines) == 2


def test_without_a_signal_nothing_happens() -> None:
    with processes.unwinding(), processes.held():
        pass
