"""The ERP's time limit for files: a named pipe that no program writes to, or a share whose server is gone, may never answer.

The system cannot interrupt such a call, so it runs in a thread of its own. If no answer comes in time, shelfsync goes on without it. The
thread ends with its call, or with the process.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from typing import TYPE_CHECKING, Any, TypeVar

from shelfsync.errors import BrokenOffError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from shelfsync.erp.address import FoundFile

T = TypeVar("T")

_LEAST_S = 1.0
"""A storage that works begins to answer in less."""
_CLOSING_S = 1.0
"""How long a reading that is over waits until its file is closed."""

_silent: dict[tuple[str, str], threading.Thread] = {}
"""What has not answered, as it was listed -> the thread that still waits for it. shelfsync does not ask the same again meanwhile."""


class TimeLimit:
    """At most `seconds` for each answer.

    Each file that does not answer halves the limit of the next: a dead share with a thousand files costs two limits and a second a file.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._least = min(seconds, _LEAST_S)

    def answer(self, of: str | FoundFile, ask: Callable[[], T]) -> T:
        """What `ask` returns. Raises BrokenOffError if it does not return in time."""
        with contextlib.closing(self.answers(of, (found() for found in (ask,)))) as answers:
            return next(answers)

    def answers(self, of: str | FoundFile, parts: Generator[T]) -> Generator[T]:
        """The parts of an iterator, one after the other. Raises BrokenOffError if one does not come in time.

        `of`: a file, or the name of something else for a person. A file that was written anew is another one.
        """
        name, key = (of, (of, "")) if isinstance(of, str) else (of.name, (of.name, of.listed))
        waiting = _silent.get(key)
        if waiting is not None and waiting.is_alive():
            raise _no_answer(name, "it still does not answer")
        reading = _Reading(name, parts)
        try:
            while True:
                try:
                    ended, part = reading.next(self._seconds)
                except queue.Empty:
                    _silent[key] = reading.thread
                    seconds, self._seconds = self._seconds, max(self._seconds / 2, self._least)
                    raise _no_answer(name, f"it did not answer within {seconds:g} s") from None
                if ended:
                    return
                yield part
        finally:
            reading.end(wait_s=0 if key in _silent else _CLOSING_S)


class _Reading:
    """An iterator in a thread of its own. The thread takes a part when it is asked for one, and closes the iterator at the end."""

    def __init__(self, name: str, parts: Generator[Any]) -> None:
        self._parts = parts
        self._asked: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[tuple[bool, Any, BaseException | None]] = queue.SimpleQueue()
        self.thread = threading.Thread(target=self._run, name=f"shelfsync reads {name}", daemon=True)
        self.thread.start()

    def next(self, seconds: float) -> tuple[bool, Any]:
        """Whether the iterator has ended, or its next part. Raises queue.Empty if it does not answer in time."""
        self._asked.put(True)
        ended, part, error = self._answers.get(timeout=seconds)
        if error is not None:
            raise error
        return ended, part

    def end(self, wait_s: float) -> None:
        self._asked.put(False)
        self.thread.join(wait_s)

    def _run(self) -> None:
        with contextlib.closing(self._parts):
            while self._asked.get():
                answer: tuple[bool, Any, BaseException | None]
                try:
                    answer = (False, next(self._parts), None)
                except StopIteration:
                    answer = (True, None, None)
                except BaseException as error:  # noqa: BLE001  it belongs to the thread that asked
                    answer = (True, None, error)
                self._answers.put(answer)
                del answer


def _no_answer(name: str, what: str) -> BrokenOffError:
    return BrokenOffError(
        f"{name} cannot be read: {what} (SHELFSYNC_ERP__TIMEOUT_S). Nothing was sent."
        " See whether it is a named pipe, and whether its share or storage answers; then run it again."
    )
