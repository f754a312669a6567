"""The deadline of a request: it ends, however slowly its answer drips."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


_LOOKS = 30
"""How often a download is looked at while its head may take."""


class Deadline:
    """Ends a request at its deadline however slowly its answer drips: it shuts the socket down under the reading thread.

    `head_s`: an earlier deadline, for an answer of which `head_came` is not true by then. With it, `slowness` is asked again and again:
    once it is a reason, the request ends, whatever part of the answer drips. `slow` is that reason.

    `see` is the extension `trace` of the request, whose connection has to be a new one (`NO_REUSE`).
    """

    def __init__(
        self,
        deadline_s: float,
        *,
        head_s: float | None = None,
        head_came: Callable[[], bool] = lambda: True,
        slowness: Callable[[], str | None] = lambda: None,
    ) -> None:
        self._timer = threading.Timer(deadline_s, self._cut)
        self._timer.daemon = True
        self._head_s = head_s
        self._head_came = head_came
        self._slowness = slowness
        self._ended = threading.Event()
        self._socket: socket.socket | None = None
        self.passed = False
        self.slow: str | None = None

    def see(self, event: str, info: Mapping[str, Any]) -> None:
        """A trace callback of httpcore: the connection just made is the one to cut."""
        if event in {"connection.connect_tcp.complete", "connection.start_tls.complete"}:
            stream = info.get("return_value")
            self._socket = stream.get_extra_info("socket") if stream is not None else None

    def _cut(self) -> None:
        self.passed = True
        if self._socket is not None:
            with contextlib.suppress(OSError):  # it was closed meanwhile
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def _watch(self, head_s: float) -> None:
        ends_s = time.monotonic() + head_s
        while not self._ended.wait(head_s / _LOOKS):
            if not self._head_came():
                self.slow = f"no answer came within {head_s:g} s" if time.monotonic() >= ends_s else None
            else:
                self.slow = self._slowness()
            if self.slow is not None:
                self._cut()
                return

    def __enter__(self) -> None:
        self._timer.start()
        if self._head_s is not None:
            threading.Thread(target=self._watch, args=(self._head_s,), name="watches a download", daemon=True).start()

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        self._ended.set()
