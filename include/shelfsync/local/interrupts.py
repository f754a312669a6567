"""Ctrl-C, SIGTERM and SIGHUP: all of them unwind the stack, and none of them interrupts a step that must be complete."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def unwinding() -> Iterator[None]:
    """SIGTERM and SIGHUP raise SystemExit, so that everything is stopped on the way out, as after Ctrl-C.

    Ctrl-C itself is asked for too: a shell starts what it puts in the background with SIGINT ignored.
    """

    def leave(number: int, _frame: object) -> None:
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        raise SystemExit(128 + number)

    with _handling(leave):
        yield


@contextmanager
def held(echo: Callable[[str], None] | None = None) -> Iterator[None]:
    """A signal that comes during the block takes effect after it. `echo` shows the person that the signal has arrived."""
    came: list[int] = []

    def keep(number: int, _frame: object) -> None:
        came.append(number)
        if echo:
            echo("still at it; this must not be left half done")

    with _handling(keep):
        yield
    if came:
        signal.raise_signal(came[0])


@contextmanager
def _handling(handler: Callable[[int, object], None]) -> Iterator[None]:
    """`handler` for all of them during the block. Signals reach the main thread alone: elsewhere nothing is changed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, handler) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, previous in before.items():
            signal.signal(number, previous if previous is not None else signal.SIG_DFL)
