"""Carries events to the partner (interface.md 5.6, 6; field notes, Orders).

The secret verbatim in Authorization, ten seconds to answer, any 2xx is success, up to five further tries with growing waits.
Each delivery has a task of its own, so that an address that does not answer holds up no other; the events of one job or
order go one after the other.
"""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass
from functools import cache
from typing import Any

import httpx
from sqlalchemy import Row, Select, select, update

from partner_sandbox import webhooks
from partner_sandbox.clock import Source, to_us
from partner_sandbox.exchange import Exchange, keep
from partner_sandbox.journal import Entry
from partner_sandbox.sandbox import Sandbox
from partner_sandbox.webhooks import attempt, delivery

AT_ONCE_MAX = 32


@dataclass(frozen=True)
class _Flight:
    """A delivery in flight."""

    subject: str
    event: str
    authorization: str | None
    task: asyncio.Task[None]

    def goes_before(self, row: Row[Any]) -> bool:
        """Whether a delivery waits for this one: another event of the same job or order, or the same one after a forged one."""
        return self.subject == row.subject and (self.event, self.authorization) != (row.event, row.authorization)


class Courier(Source):
    """The deliveries as due work."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._flying: dict[int, _Flight] = {}

    def next_due_us(self) -> int | None:
        if len(self._flying) >= AT_ONCE_MAX:
            return None  # the next one to land wakes the work
        with self._sandbox.storage.begin() as connection:
            row = connection.execute(self._waiting().limit(1)).one_or_none()
        return None if row is None else int(row.due_us)

    async def run_due(self) -> int:
        """Starts the due deliveries; returns how many."""
        begun = 0
        for row in self._due():
            if any(flight.goes_before(row) for flight in self._flying.values()):
                continue
            task = asyncio.create_task(self._carry(row))
            self._flying[row.id] = _Flight(row.subject, row.event, row.authorization, task)
            begun += 1
        return begun

    async def finish(self) -> int:
        """Waits until every started delivery has ended; returns how many."""
        tasks = [flight.task for flight in self._flying.values()]
        await asyncio.gather(*tasks)
        return len(tasks)

    async def stop(self) -> None:
        """Drops the running deliveries; they are due again when the platform starts again."""
        tasks = [flight.task for flight in self._flying.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _waiting(self) -> Select[Any]:
        """Deliveries whose job or order has none in flight, the earliest due first."""
        subjects = {flight.subject for flight in self._flying.values()}
        waiting = select(delivery).where(delivery.c.state == "pending", delivery.c.subject.not_in(subjects))
        return waiting.order_by(delivery.c.due_us, delivery.c.id)

    def _due(self) -> list[Row[Any]]:
        """The due deliveries, including copies of those in flight."""
        room = AT_ONCE_MAX - len(self._flying)
        ripe = (
            select(delivery)
            .where(
                delivery.c.state == "pending",
                delivery.c.due_us <= self._sandbox.clock.now_us(),
                delivery.c.id.not_in(list(self._flying)),
            )
            .order_by(delivery.c.due_us, delivery.c.id)
            .limit(max(room, 0))
        )
        with self._sandbox.storage.begin() as connection:
            return list(connection.execute(ripe))

    async def _carry(self, row: Row[Any]) -> None:
        sandbox = self._sandbox
        try:
            with sandbox.storage.begin() as connection:
                to = webhooks.configured(connection, row.chain)
            secret = row.authorization or (to.secret if to is not None else "")
            at_us = sandbox.clock.now_us()
            exchange = Exchange(sent_headers={"content-type": "application/json"})
            keep(exchange.sent, row.body.encode())
            status, problem = await self._post(row, secret, exchange)
            entry = Entry("webhook", at_us, "POST", row.url, row.operation, status, fault=row.fault)
            entry.bytes_out = len(row.body.encode())
            entry.reason = problem or (None if 200 <= (status or 0) < 300 else f"answered {status}; any 2xx is success")
            sandbox.journal.write(entry, exchange, sandbox.clock.now_us())
            self._record(row, at_us, status, problem)
        finally:
            del self._flying[row.id]
            sandbox.work.wake()

    async def _post(self, row: Row[Any], secret: str, exchange: Exchange) -> tuple[int | None, str | None]:
        """The partner's status, or why there is none; its answer goes into `exchange`."""
        timeout_s = self._sandbox.behaviour.webhook_timeout_s
        transport = self._sandbox.webhook_transport
        headers = [(b"Authorization", secret.encode()), (b"Content-Type", b"application/json")]
        settings: dict[str, Any] = {"timeout": timeout_s, "trust_env": False, "verify": _trusted()}
        try:
            async with asyncio.timeout(timeout_s), httpx.AsyncClient(transport=transport, **settings) as client:
                answer = await client.post(row.url, content=row.body.encode(), headers=headers)
        except TimeoutError:
            return None, f"no answer within {timeout_s:g} s"
        except Exception as error:  # noqa: BLE001  whatever becomes of an address, the platform tries again later
            return None, f"{type(error).__name__}: {error}"
        exchange.answers(answer.headers.raw)
        keep(exchange.answered, answer.content)
        return answer.status_code, None

    def _record(self, row: Row[Any], at_us: int, status: int | None, problem: str | None) -> None:
        waits = self._sandbox.behaviour.webhook_backoff_s
        attempts = row.attempts + 1
        done = status is not None and 200 <= status < 300
        values: dict[str, Any] = {"attempts": attempts, "state": "delivered", "due_us": None}
        if not done and (row.once or attempts > len(waits)):
            values["state"] = "given_up"
        elif not done:
            values |= {"state": "pending", "due_us": self._sandbox.clock.now_us() + to_us(waits[attempts - 1])}
        with self._sandbox.storage.begin() as connection:
            known = connection.execute(update(delivery).where(delivery.c.id == row.id).values(values)).rowcount
            if known:  # unless a reset in between deleted it
                line = {"delivery_id": row.id, "number": attempts, "at_us": at_us, "status": status, "problem": problem}
                connection.execute(attempt.insert().values(line))
                held = (delivery.c.chain == row.chain, delivery.c.operation == row.operation, delivery.c.after_next)
                released = {"due_us": self._sandbox.clock.now_us(), "after_next": False}
                connection.execute(update(delivery).where(*held, delivery.c.id < row.id).values(released))
                webhooks.forget_old(connection, row.id)


@cache
def _trusted() -> ssl.SSLContext:
    """The machine's certificates, read once."""
    return ssl.create_default_context()
