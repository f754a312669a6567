"""Stores events in the database. Each is committed before the receiver answers its call (I8)."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING

import psycopg

from shelfsync.inbox.events import CHANNEL, ORDER_CHANNEL
from shelfsync.inbox.waiting_events import WaitingEvents
from shelfsync.store.engine import is_about_values

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import LiteralString

    from shelfsync.inbox.event_body import Received
    from shelfsync.inbox.waiting_events import Waiter

log = logging.getLogger(__name__)

# One statement, one transaction. It is sorted, so two receivers that store the same events cannot deadlock.
# The commit sends pg_notify, and only for new events.
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
"""  # noqa: S608  the channels are constants


class StoreUnavailableError(Exception):
    """The event may not be stored: the sender has to send it again."""


class TablesMissingError(StoreUnavailableError):
    """The database answers and has no inbox yet."""

    def __init__(self) -> None:
        super().__init__("the tables do not exist yet; `shelfsync check` creates them")


class UnstorableEventError(Exception):
    """The event can never be stored: the database rejects its content. The message has the SQLSTATE and no content."""


class InboxStore:
    """The inbox of one event loop. It connects at the first event. `dsn`: a libpq connection string.

    `write_timeout_s`: the limit for storing an event, including the connection; the platform waits ten seconds.
    """

    def __init__(self, dsn: str, *, write_timeout_s: float = 5.0) -> None:
        self._dsn = dsn
        self._write_timeout_s = write_timeout_s
        self._waiting = WaitingEvents()
        self._connection: psycopg.AsyncConnection[tuple[str, object]] | None = None
        self._lock: asyncio.Lock | None = None
        self._writer: asyncio.Task[None] | None = None
        self._check: asyncio.Task[None] | None = None
        self._refusals: list[asyncio.Task[None]] = []

    async def put(self, event: Received) -> bool:
        """Returns when the event is durable: True if it is new, False if it was known.

        UnstorableEventError: the database rejects this event, even alone. StoreUnavailableError: it cannot be stored now.
        """
        if not self._waiting.has_room_for(event):
            raise StoreUnavailableError("too many events wait to be stored")
        done = self._waiting.add(event)
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write_waiting())
        return await done

    def refused(self, endpoint: str, calls: int) -> None:
        """Stores soon that so many calls had a wrong secret. If the database is away, the log alone has it."""
        self._refusals = [task for task in self._refusals if not task.done()]
        self._refusals.append(asyncio.get_running_loop().create_task(self._store_refusal(endpoint, calls)))

    async def _store_refusal(self, endpoint: str, calls: int) -> None:
        try:
            async with asyncio.timeout(self._write_timeout_s), self._exclusive():
                await self._run("INSERT INTO inbox.refusal (endpoint, calls) VALUES (%s, %s)", (endpoint, calls))
        except (psycopg.Error, OSError, TimeoutError) as error:
            log.warning("inbox: that calls had a wrong secret was not stored: %s", type(error).__name__)

    async def check(self) -> None:
        """Makes one round trip to the table. StoreUnavailableError: events cannot be stored now.

        Checks at the same time share a round trip, so any number of them delays the events by one.
        """
        if self._check is None or self._check.done():
            self._check = asyncio.create_task(self._check_now())
        await asyncio.shield(self._check)

    async def _check_now(self) -> None:
        try:
            async with asyncio.timeout(self._write_timeout_s), self._exclusive():
                await self._run("SELECT 1 FROM inbox.event LIMIT 0")
        except (psycopg.Error, OSError, TimeoutError) as error:
            raise _unavailable(error) from error

    async def close(self) -> None:
        """Stores the waiting events, then disconnects."""
        if self._writer is not None:
            await self._writer
        await asyncio.gather(*self._refusals)
        await self._disconnect()

    async def _write_waiting(self) -> None:
        while batch := self._waiting.take():
            await self._write(batch)

    async def _write(self, batch: Sequence[Waiter]) -> bool:
        """Stores these events and ends the waits of their senders; False if the database is unavailable."""
        try:
            stored = await self._store([event for event, _ in batch])
        except Exception as error:  # noqa: BLE001  after any error, no sender may receive a success
            unstorable = _unstorable(error)
            if unstorable is not None and len(batch) > 1:
                await self._write_singly(batch)
                return True
            why = _unavailable(error) if unstorable is None else unstorable
            log.warning("inbox: %d events could not be stored: %s", len(batch), why)
            _fail(batch, why)
            return unstorable is not None
        for event, done in batch:
            if not done.done():  # its sender may have disconnected; the event stays
                done.set_result(event.identity in stored)
            stored.discard(event.identity)  # a repeat within the batch is no new event
        return True

    async def _write_singly(self, batch: Sequence[Waiter]) -> None:
        """The database rejects the content of an event in this batch: the others are stored one by one."""
        for number, waiter in enumerate(batch):
            if not await self._write([waiter]):
                _fail(batch[number + 1 :], StoreUnavailableError("the database went away"))
                return

    async def _store(self, events: Sequence[Received]) -> set[str]:
        """Identities of the new events. Tries again once on a new connection; this is safe, because repeats are not stored."""
        columns = [list(column) for column in zip(*(_row(event) for event in events), strict=True)]
        async with asyncio.timeout(self._write_timeout_s), self._exclusive():
            fresh = self._connection is None
            try:
                return await self._insert(columns)
            except (psycopg.OperationalError, psycopg.InterfaceError) as error:
                if _unstorable(error) is not None:
                    raise
                await self._disconnect()
                if fresh:
                    raise
                return await self._insert(columns)
            except BaseException:  # a timeout leaves the connection in the middle of a statement
                await self._disconnect()
                raise

    async def _run(self, statement: LiteralString, values: Sequence[object] = ()) -> None:
        try:
            connection = await self._connected()
            await connection.execute(statement, values)
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
                autocommit=True,  # one statement is one transaction; its result arrives after the commit
                connect_timeout=max(2, int(self._write_timeout_s)),
                application_name="shelfsync inbox",
            )
            # with synchronous_commit off, the server could lose an event that the receiver has answered 200
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

    def _exclusive(self) -> asyncio.Lock:
        if self._lock is None:
            self._lock = asyncio.Lock()
        return self._lock


def _unavailable(error: Exception) -> StoreUnavailableError:
    if isinstance(error, psycopg.errors.UndefinedTable | psycopg.errors.InvalidSchemaName):
        return TablesMissingError()
    return StoreUnavailableError(type(error).__name__)


def _unstorable(error: Exception) -> UnstorableEventError | None:
    """The error if the database rejects the content; None for any other error."""
    if not isinstance(error, psycopg.Error) or not is_about_values(error):
        return None
    return UnstorableEventError(f"SQLSTATE {error.sqlstate}" if error.sqlstate else type(error).__name__)


def _fail(batch: Sequence[Waiter], error: Exception) -> None:
    for _, done in batch:
        if not done.done():
            done.set_exception(error)


def _row(event: Received) -> tuple[object, ...]:
    """The columns of an event. This is the only place where a body is written to the database."""
    return event.kind, event.identity, event.platform_job_id, event.vendor, event.body
