"""Events into the database: committed before anybody is told that they were received (I8).

Whatever arrives while a commit is under way goes into the next one, so that a flood of events costs few commits.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from typing import TYPE_CHECKING

import psycopg

from shelfsync.inbox.events import CHANNEL, ORDER_CHANNEL
from shelfsync.ledger.faults import is_about_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shelfsync.inbox.reading import Received

    _Waiter = tuple[Received, asyncio.Future[bool]]

log = logging.getLogger(__name__)

BATCH_MAX = 256
WAITING_MAX = 4096
WAITING_BYTES_MAX = 64 * 1024 * 1024
"""Events in memory, waiting for a commit: beyond this the sender is asked to come again."""

# One statement, one transaction. Sorted, because two receivers that store the same repeats must not wait for each other
# crosswise. pg_notify is sent by the commit, and only for what is new.
_INSERT = f"""
WITH stored AS (
    INSERT INTO inbox.event (kind, identity, platform_job_id, vendor, body)
    SELECT * FROM unnest(%s::text[], %s::text[], %s::text[], %s::text[], %s::bytea[])
        AS coming (kind, identity, platform_job_id, vendor, body)
    ORDER BY identity
    ON CONFLICT (identity) DO NOTHING
    RETURNING identity, platform_job_id, kind
)
SELECT identity,
       CASE WHEN platform_job_id IS NOT NULL THEN pg_notify('{CHANNEL}', platform_job_id)
            WHEN kind = 'order' THEN pg_notify('{ORDER_CHANNEL}', '') END
FROM stored
"""  # noqa: S608  the channels are constants of ours


class StoreUnavailableError(Exception):
    """The event is not known to be stored: the sender has to come again."""


class UnstorableEventError(Exception):
    """The event can never be stored, however often it comes: the database refuses what is in it. Holds the SQLSTATE, nothing of it."""


class InboxStore:
    """The inbox of one event loop; connects at the first event. `dsn`: as libpq takes it.

    `write_timeout_s`: how long an event may take to be stored, connecting included; the platform waits ten seconds.
    """

    def __init__(self, dsn: str, *, write_timeout_s: float = 5.0) -> None:
        self._dsn = dsn
        self._write_timeout_s = write_timeout_s
        self._waiting: deque[tuple[Received, asyncio.Future[bool]]] = deque()
        self._waiting_bytes = 0
        self._connection: psycopg.AsyncConnection[tuple[str, object]] | None = None
        self._lock: asyncio.Lock | None = None
        self._writer: asyncio.Task[None] | None = None

    async def put(self, event: Received) -> bool:
        """Returns when the event is durable: True when it is new, False when it was there.

        UnstorableEventError: the database refuses this very event, alone too. StoreUnavailableError: not now.
        """
        if len(self._waiting) >= WAITING_MAX or self._waiting_bytes + len(event.body) > WAITING_BYTES_MAX:
            raise StoreUnavailableError("too many events wait to be stored")
        done: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append((event, done))
        self._waiting_bytes += len(event.body)
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write_waiting())
        return await done

    async def check(self) -> None:
        """One round trip to the table; StoreUnavailableError when events could not be stored now."""
        try:
            async with asyncio.timeout(self._write_timeout_s), self._alone():
                await self._ask()
        except (psycopg.Error, OSError, TimeoutError) as error:
            raise StoreUnavailableError(type(error).__name__) from error

    async def close(self) -> None:
        """Stores what waits, then lets go of the database."""
        if self._writer is not None:
            await self._writer
        await self._disconnect()

    async def _write_waiting(self) -> None:
        while self._waiting:
            batch = [self._waiting.popleft() for _ in range(min(BATCH_MAX, len(self._waiting)))]
            self._waiting_bytes -= sum(len(event.body) for event, _ in batch)
            await self._write(batch)

    async def _write(self, batch: Sequence[_Waiter]) -> bool:
        """Stores these events and tells their senders; False when the database could not be reached."""
        try:
            stored = await self._store([event for event, _ in batch])
        except Exception as error:  # noqa: BLE001  whatever it was, nobody may be told that it went well
            refused = _refused(error)
            if refused is not None and len(batch) > 1:
                await self._write_singly(batch)
                return True
            log.warning("inbox: %d events could not be stored: %s", len(batch), type(error).__name__)
            _fail(batch, StoreUnavailableError(type(error).__name__) if refused is None else refused)
            return refused is not None
        for event, done in batch:
            if not done.done():  # its sender may have gone; the event stays
                done.set_result(event.identity in stored)
            stored.discard(event.identity)  # a repeat within the batch is no new event
        return True

    async def _write_singly(self, batch: Sequence[_Waiter]) -> None:
        """One of these is refused for what is in it: the others shall not go with it."""
        for number, one in enumerate(batch):
            if not await self._write([one]):
                _fail(batch[number + 1 :], StoreUnavailableError("the database went away"))
                return

    async def _store(self, events: Sequence[Received]) -> set[str]:
        """Identities of those that are new. Once more on a fresh connection: it is safe, because repeats are not stored."""
        columns = [list(column) for column in zip(*(_row(event) for event in events), strict=True)]
        async with asyncio.timeout(self._write_timeout_s), self._alone():
            fresh = self._connection is None
            try:
                return await self._insert(columns)
            except (psycopg.OperationalError, psycopg.InterfaceError) as error:
                if _refused(error) is not None:
                    raise
                await self._disconnect()
                if fresh:
                    raise
                return await self._insert(columns)
            except BaseException:  # a timeout leaves the connection in the middle of a statement
                await self._disconnect()
                raise

    async def _ask(self) -> None:
        try:
            connection = await self._connected()
            await connection.execute("SELECT 1 FROM inbox.event LIMIT 0")
        except BaseException:
            await self._disconnect()
            raise

    async def _insert(self, columns: list[list[object]]) -> set[str]:
        connection = await self._connected()
        cursor = await connection.execute(_INSERT, columns)
        return {identity for identity, _ in await cursor.fetchall()}

    async def _connected(self) -> psycopg.AsyncConnection[tuple[str, object]]:
        if self._connection is None or self._connection.closed:
            connection = await psycopg.AsyncConnection.connect(
                self._dsn,
                autocommit=True,  # one statement is one transaction; its result is there when the commit is
                connect_timeout=max(2, int(self._write_timeout_s)),
                application_name="shelfsync inbox",
            )
            # a server set to answer before the commit is on disk would have us promise what it may forget
            await connection.execute(
                "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
            )
            self._connection = connection
        return self._connection

    async def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(psycopg.Error, OSError):
                await connection.close()

    def _alone(self) -> asyncio.Lock:
        if self._lock is None:
            self._lock = asyncio.Lock()
        return self._lock


def _refused(error: Exception) -> UnstorableEventError | None:
    """What the database has against the content; None when it has not looked at it."""
    if not isinstance(error, psycopg.Error) or not is_about_values(error):
        return None
    return UnstorableEventError(f"SQLSTATE {error.sqlstate}" if error.sqlstate else type(error).__name__)


def _fail(batch: Sequence[_Waiter], error: Exception) -> None:
    for _, done in batch:
        if not done.done():
            done.set_exception(error)


def _row(event: Received) -> tuple[object, ...]:
    """What is written of an event; the one place where a body goes to the database."""
    return event.kind, event.identity, event.platform_job_id, event.vendor, event.body
