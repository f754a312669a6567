"""Every request received and every webhook sent."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Column, Integer, Table, Text, delete, select

from partner_sandbox.clock import iso
from partner_sandbox.exchange import Exchange, exchange, masked
from partner_sandbox.storage import Storage, metadata

WINDOW_US = 60_000_000

journal = Table(
    "journal",
    metadata,
    Column("n", Integer, primary_key=True),
    Column("kind", Text, nullable=False, comment="request, storage (a request to the storage host) or webhook"),
    Column("at_us", Integer, nullable=False, comment="when it arrived or left"),
    Column("operation", Text, comment="the name by which a fault selects it; null for a path without a route"),
    Column("method", Text, nullable=False),
    Column("route", Text, nullable=False, comment="path with query, or the partner's address"),
    Column("status", Integer, comment="null when no answer was given or got"),
    Column("bytes_in", Integer, nullable=False),
    Column("bytes_out", Integer, nullable=False),
    Column("fault", Text, comment="the fault that was played, if any"),
    Column("reason", Text, comment="the error's sentence, or why an event did not arrive"),
    Column("hint", Text, comment="the rule of the interface behind an error, and the dialect's choice"),
    Column("caller", Text, comment="a digest of the token that came with the request"),
    sqlite_autoincrement=True,
)
LINES_MAX = 200_000
"""Lines that the journal holds; older ones are forgotten, so that a soak needs no more memory."""
EXCHANGES_MAX = 2_000
TRIM_LINES = 1_000


@dataclass
class Entry:
    """One line, as long as it is being written."""

    kind: str
    at_us: int
    method: str
    route: str
    operation: str | None = None
    status: int | None = None
    bytes_in: int = 0
    bytes_out: int = 0
    fault: str | None = None
    reason: str | None = None
    hint: str | None = None
    caller: str | None = None


class Journal:
    """Lines have numbers in the order in which they ended; `at` is when each began."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._lock = threading.Lock()
        self._window: deque[int] = deque()
        self._peak = 0
        self._requests = 0

    def open(self) -> None:
        """Counts the requests of the stored journal."""
        with self._storage.begin() as connection:
            stored = connection.execute(
                select(journal.c.at_us).where(journal.c.kind == "request").order_by(journal.c.at_us)
            )
            instants = [row.at_us for row in stored]
        self.clear()
        for at_us in instants:
            self.count(at_us)
        self._requests = len(instants)

    def count(self, at_us: int) -> None:
        """Counts an arriving request, rejected or not."""
        with self._lock:
            self._window.append(at_us)
            while self._window[0] <= at_us - WINDOW_US:
                self._window.popleft()
            self._peak = max(self._peak, len(self._window))

    def write(self, entry: Entry, exchanged: Exchange | None = None, ended_us: int = 0) -> None:
        """Adds a line and its exchange, and forgets the oldest from time to time."""
        with self._storage.begin() as connection:
            row = {**vars(entry), "route": masked(entry.route), "reason": entry.reason and masked(entry.reason)}
            made = connection.execute(journal.insert().values(row)).inserted_primary_key
            assert made is not None
            n = int(made[0])
            if exchanged is not None:
                connection.execute(exchange.insert().values(exchanged.row(n, ended_us, entry.operation)))
            if n % TRIM_LINES == 0:
                connection.execute(delete(journal).where(journal.c.n <= n - LINES_MAX))
                connection.execute(delete(exchange).where(exchange.c.n <= n - EXCHANGES_MAX))
        self._requests += entry.kind == "request"

    def clear(self) -> None:
        """Clears the window and the peak; the storage clears the table."""
        with self._lock:
            self._window.clear()
            self._peak = 0
            self._requests = 0

    @property
    def max_requests_in_60s(self) -> int:
        return self._peak

    def read(self, after: int, limit: int = 10_000) -> dict[str, Any]:
        """Lines numbered beyond `after`, oldest first; `last` is the number to go on from."""
        with self._storage.begin() as connection:
            rows = connection.execute(
                select(journal).where(journal.c.n > after).order_by(journal.c.n).limit(limit)
            ).mappings()
            entries = [_line(dict(row)) for row in rows]
        last = entries[-1]["n"] if entries else after
        return {
            "entries": entries,
            "last": last,
            "requests": self._requests,
            "max_requests_in_60s": self.max_requests_in_60s,
        }


def _line(row: dict[str, Any]) -> dict[str, Any]:
    at_us = row.pop("at_us")
    return {"n": row.pop("n"), "time": iso(at_us), "at": at_us / 1e6, **row, "size": row["bytes_in"]}
