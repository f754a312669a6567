"""One look at the shared allowance, in one transaction under its row's lock: a slot, or when to look again."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from shelfsync.platform.rate_limit import tables
from shelfsync.platform.rate_limit.next_request import Waiting, order, overdue_at
from shelfsync.platform.rate_limit.priorities import due_after
from shelfsync.platform.rate_limit.sliding_window import ARRIVAL_S_MAX, LOOKAHEAD, clock_was_set, next_slot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from sqlalchemy.dialects.postgresql import Insert
    from sqlalchemy.engine import Connection, Row
    from sqlalchemy.sql.dml import ReturningInsert

    from shelfsync.platform.rate_limit.sliding_window import Rate

    Locked: TypeAlias = Row[Any]

LOOK_S_MAX = 2.0
"""A waiting request looks at least this often: it proves that its process lives, and sees a pause or a higher priority."""
OVERDUE = dt.timedelta(seconds=0.25)
"""A waiting request that is this late for its next look is skipped."""
_SOON_S = 0.005
_IN_TIME = dt.timedelta(seconds=0.1)
_FORGOTTEN = dt.timedelta(minutes=1)
_KEPT = dt.timedelta(days=1)
_HOUSEKEEPING_EVERY = 100

_allowance, _priority, _usage = tables.allowance, tables.priority, tables.usage
_ticket, _permit, _turn = tables.ticket, tables.permit, tables.turn


@dataclass(frozen=True, slots=True)
class Ask:
    """The caller that waits for a slot. `ticket_id`: from the first look; `forfeited`: the last slot could not be used."""

    priority: str
    operation: str
    ticket_id: int | None = None
    forfeited: bool = False


@dataclass(frozen=True, slots=True)
class Contact:
    """The database's clock and this process's monotonic one, read together."""

    database: dt.datetime
    before_s: float
    after_s: float


@dataclass(frozen=True, slots=True)
class Turn:
    """The result of a look. With `slot_at`, the request may be sent then; without, look again in `again_s`."""

    contact: Contact
    slot_at: dt.datetime | None
    permit_id: int | None
    again_s: float
    ticket_id: int | None
    paused_s: float
    pause_reason: str | None


@dataclass(frozen=True, slots=True)
class Line:
    """The queue: this request, the others with the time of their next look, when each priority's floor is due, and each chain's last slots."""

    own: Waiting
    others: dict[Waiting, dt.datetime]
    due: dict[str, dt.datetime]
    served: dict[tuple[str, str], dt.datetime]

    def order(self, requests: Iterable[Waiting], now: dt.datetime, spacing: dt.timedelta) -> list[Waiting]:
        """These requests in the order of service."""
        return order(requests, self.due, now, spacing, self.served)

    def first_for(self, slot_at: dt.datetime, now: dt.datetime, spacing: dt.timedelta) -> bool:
        """True when no other request that will look in time comes before this one to use the slot: no slot waits for a process that may be dead."""
        awake = [one for one, back_at in self.others.items() if back_at + _IN_TIME < slot_at]
        return self.order([*awake, self.own], now, spacing)[0] is self.own


@dataclass(frozen=True)
class Allowance:
    """An allowance as a process of one chain sees it. `database_time`: the clock that counts; `pause_max_s`: as configured.

    The statements of every request are built once a process.
    """

    key: str
    rate: Rate
    pause_max_s: float
    database_time: sa.ColumnElement[dt.datetime]
    chain: str = ""

    def look(
        self, connection: Connection, state: Locked, ask: Ask, last: Contact | None, monotonic_s: Callable[[], float]
    ) -> Turn:
        """Takes the next slot when it is near and this request is the one to have it. `state`: what `lock` returned."""
        before_s = monotonic_s()
        # a statement of its own: the row's lock may have taken long, and this clock must be read after it
        now, nth_arrival, rows = self._queue(connection)
        contact = Contact(now, before_s, monotonic_s())
        if self._clock_set(state, contact, last):
            state = self._start_anew(connection, state, now)
            nth_arrival, rows = None, self._queue(connection)[2]
        slot_at = next_slot(
            self.rate, now, free_at=state.free_at, paused_until=state.paused_until, nth_arrival=nth_arrival
        )
        line = _line(rows, ask, now, self.chain)
        if slot_at <= now + LOOKAHEAD and line.first_for(slot_at, now, self.rate.spacing):
            permit_id = self._give(connection, ask, line, slot_at)
            return Turn(contact, slot_at, permit_id, 0.0, None, 0.0, None)
        again_s = self._again_s(line, slot_at - LOOKAHEAD, now)
        paused = state.paused_until is not None and state.paused_until > now
        return Turn(
            contact=contact,
            slot_at=None,
            permit_id=None,
            again_s=again_s,
            ticket_id=self._wait(connection, ask, line, now + dt.timedelta(seconds=again_s)),
            paused_s=(state.paused_until - now).total_seconds() if paused else 0.0,
            pause_reason=state.pause_reason if paused else None,
        )

    def lock(self, connection: Connection) -> Locked:
        """The row of this key, locked; created at the first use.

        Bounds this transaction first: if a process freezes in it, the server ends its session, and other processes continue. PostgreSQL
        locks a row after it has evaluated what the row is joined with, so the wait for the lock is bounded too.
        """
        found = connection.execute(self._locked).one_or_none()
        if found is None:
            connection.execute(insert(_allowance).values(key=self.key).on_conflict_do_nothing())
            found = connection.execute(self._locked).one()
        return found

    @cached_property
    def _locked(self) -> sa.Select[Any]:
        bounds = sa.select(
            _lock_timeout(),
            sa.func.set_config("statement_timeout", "10s", True),
            sa.func.set_config("idle_in_transaction_session_timeout", "3s", True).label("last"),
        ).cte("bounds")
        return (
            sa.select(*_allowance.c, bounds.c.last)
            .join_from(_allowance, bounds, sa.true())
            .where(_allowance.c.key == self.key)
            .with_for_update(of=_allowance)
        )

    def _bounded_time(self) -> sa.ColumnElement[dt.datetime]:
        """The present, for a statement that commits itself: it bounds the statement's own waits for locks before it locks a row.

        A statement cannot bound its own length; one that waits for no lock has little to do.
        """
        bounds = sa.select(_lock_timeout()).cte("bounds")
        return sa.select(self.database_time).select_from(bounds).scalar_subquery()

    def arrived(self, connection: Connection, permit_id: int) -> None:
        """The request with this permit has arrived by now, if it was sent."""
        connection.execute(self._arrived, {"of_permit": permit_id})

    @cached_property
    def _arrived(self) -> sa.Update:
        waits = (_permit.c.permit_id == _given("of_permit", _permit.c.permit_id), _permit.c.arrived_by.is_(None))
        return sa.update(_permit).where(*waits).values(arrived_by=self.database_time)

    def forfeit(self, connection: Connection, ask: Ask) -> None:
        """Notes that a slot was not used, because its holder woke up too late for it."""
        connection.execute(
            self._forfeit, {"of_priority": ask.priority, "of_operation": ask.operation, "more_forfeited": 1}
        )

    @cached_property
    def _forfeit(self) -> Insert:
        return self._used(self.database_time, "forfeited")

    def count(self, connection: Connection, operation: str, permit_id: int | None, counts: Mapping[str, int]) -> bool:
        """Adds `answers`, `stops` and `failures` to the use of this hour, and the arrival of the request with this permit, in one statement.

        Returns whether the last answer that the allowance knows was a stop.
        """
        values = {"of_priority": "", "of_operation": operation, "of_permit": permit_id}
        more = {f"more_{name}": number for name, number in counts.items()}
        return bool(connection.execute(self._counting, values | more).scalar_one())

    @cached_property
    def _counting(self) -> ReturningInsert[bool]:
        struck = sa.select(_allowance.c.strikes > 0).where(_allowance.c.key == self.key).scalar_subquery()
        used = self._used(self._bounded_time(), "answers", "stops", "failures")
        return used.add_cte(self._arrived.cte("arrived")).returning(struck)

    def _nth_arrival(self) -> sa.ScalarSelect[Any]:
        """The limit-th from the end of the instants by which each request had arrived at the latest."""
        arrival = dt.timedelta(seconds=ARRIVAL_S_MAX)
        latest = sa.func.coalesce(_permit.c.arrived_by, _permit.c.slot_at + arrival)
        recent = _permit.c.slot_at > self.database_time - dt.timedelta(seconds=self.rate.window_s) - arrival
        return (
            sa.select(latest)
            .where(_permit.c.key == self.key, recent)
            .order_by(latest.desc())
            .offset(self.rate.limit - 1)
            .limit(1)
            .scalar_subquery()
        )

    def _clock_set(self, state: Locked, contact: Contact, last: Contact | None) -> bool:
        """True when the database's clock was set since this process looked last, and no process has noticed it yet.

        A clock that was set back shows in the row too: no slot is ever given further ahead than that.
        """
        now = contact.database
        if state.free_at is not None and state.free_at > now + self.rate.memory + LOOKAHEAD:
            return True
        if last is None:
            return False
        least_s, most_s = contact.before_s - last.after_s, contact.after_s - last.before_s
        if not clock_was_set(now - last.database, least_s=least_s, most_s=most_s):
            return False
        looked_at = now - dt.timedelta(seconds=least_s)  # by the clock as it is now
        return state.clock_set_at is None or state.clock_set_at < looked_at

    def _start_anew(self, connection: Connection, state: Locked, now: dt.datetime) -> Locked:
        """After the clock was set, the age of the last requests is unknown: one whole window without requests makes it safe."""
        until = now + self.rate.memory
        if state.paused_until is not None:
            until = max(until, min(state.paused_until, now + dt.timedelta(seconds=self.pause_max_s)))
        held = (_permit.c.slot_at, _permit.c.arrived_by, _priority.c.due_at, _ticket.c.back_at, _turn.c.slot_at)
        for column in held:
            table = column.table
            connection.execute(sa.update(table).where(table.c.key == self.key, column > now).values({column.name: now}))
        return connection.execute(
            sa.update(_allowance)
            .where(_allowance.c.key == self.key)
            .values(free_at=now, paused_until=until, clock_set_at=now, pause_reason="the database's clock was set")
            .returning(_allowance)
        ).one()

    def _queue(self, connection: Connection) -> tuple[dt.datetime, dt.datetime | None, Sequence[Any]]:
        """The present, the limit-th last arrival, and a row for each ticket, floor of a priority and turn of a chain, in one statement."""
        rows = connection.execute(self._queued).all()
        return rows[0].now, rows[0].nth_arrival, rows

    @cached_property
    def _queued(self) -> sa.CompoundSelect[Any]:
        moment = sa.select(self.database_time.label("now"), self._nth_arrival().label("nth_arrival")).cte("moment")
        none, no_text = sa.null().cast(sa.DateTime(timezone=True)), sa.null().cast(sa.Text)
        no_number = sa.null().cast(sa.BigInteger)
        its, times = (_ticket.c.ticket_id, _ticket.c.chain, _ticket.c.priority), (_ticket.c.asked_at, _ticket.c.back_at)
        tickets = sa.select(moment, *its, *times, none.label("due_at"), none.label("slot_at")).outerjoin_from(
            moment, _ticket, _ticket.c.key == self.key
        )
        floors = sa.select(
            moment, no_number, no_text, _priority.c.priority, none, none, _priority.c.due_at, none
        ).join_from(moment, _priority, _priority.c.key == self.key)
        turns = sa.select(
            moment, no_number, _turn.c.chain, _turn.c.priority, none, none, none, _turn.c.slot_at
        ).join_from(moment, _turn, _turn.c.key == self.key)
        return sa.union_all(tickets, floors, turns)

    def _again_s(self, line: Line, opens_at: dt.datetime, now: dt.datetime) -> float:
        """The first in the queue looks again when its slot opens; the next shortly after, in case the first is dead."""
        spacing = self.rate.spacing
        rank = line.order([*line.others, line.own], now, spacing).index(line.own)
        again_at = max(opens_at, now)
        if rank:
            again_at += (rank - 1) * spacing + OVERDUE
            same = [line.own, *(other for other in line.others if other.priority == line.own.priority)]
            overdue = overdue_at(min(same, key=lambda one: one.number), line.due, spacing)
            if overdue > now and line.order(same, now, spacing)[0] is line.own:
                again_at = min(again_at, overdue)  # from then on it precedes most of them, so it has to look
        return min((again_at - now).total_seconds() + _SOON_S, LOOK_S_MAX)

    def _wait(self, connection: Connection, ask: Ask, line: Line, back_at: dt.datetime) -> int:
        if ask.ticket_id is not None:
            kept: int | None = connection.execute(
                sa.update(_ticket)
                .where(_ticket.c.ticket_id == ask.ticket_id)
                .values(back_at=back_at)
                .returning(_ticket.c.ticket_id)
            ).scalar_one_or_none()
            if kept is not None:
                return kept
        made: int = connection.execute(
            sa.insert(_ticket)
            .values(
                key=self.key,
                chain=self.chain,
                priority=ask.priority,
                operation=ask.operation,
                asked_at=line.own.asked_at,
                back_at=back_at,
            )
            .returning(_ticket.c.ticket_id)
        ).scalar_one()
        return made

    def _give(self, connection: Connection, ask: Ask, line: Line, slot_at: dt.datetime) -> int:
        spacing = self.rate.spacing
        waited_s = max((slot_at - line.own.asked_at).total_seconds(), 0.0)
        permit_id: int = connection.execute(
            self._giving,
            {
                "of_priority": ask.priority,
                "of_operation": ask.operation,
                "of_ticket": ask.ticket_id,
                "asked": line.own.asked_at,
                "slot": slot_at,
                "free": slot_at + spacing,
                "due": due_after(ask.priority, slot_at, line.due.get(ask.priority), spacing),
                "more_permits": 1,
                "more_waited_s": waited_s,
                "more_waited_s_max": waited_s,
            },
        ).scalar_one()
        if permit_id % _HOUSEKEEPING_EVERY == 0:
            self._tidy(connection, slot_at)
        return permit_id

    @cached_property
    def _giving(self) -> ReturningInsert[int]:
        """Gives a slot in one statement: the permit, and with it the next slot, both orders of service, the use; its ticket goes."""
        slot_at, due_at = _given("slot", _permit.c.slot_at), _given("due", _priority.c.due_at)
        priority = _given("of_priority", _permit.c.priority)
        taken = sa.update(_allowance).where(_allowance.c.key == self.key)
        served = (
            insert(_priority)
            .values(key=self.key, priority=priority, due_at=due_at, slot_at=slot_at)
            .on_conflict_do_update(index_elements=["key", "priority"], set_={"due_at": due_at, "slot_at": slot_at})
        )
        turn = (
            insert(_turn)
            .values(key=self.key, priority=priority, chain=self.chain, slot_at=slot_at)
            .on_conflict_do_update(index_elements=["key", "priority", "chain"], set_={"slot_at": slot_at})
        )
        with_it = {
            "taken": taken.values(free_at=_given("free", _allowance.c.free_at)),
            "served": served,
            "turn": turn,
            "used": self._used(slot_at, "permits", "waited_s", "waited_s_max"),
            "left": sa.delete(_ticket).where(_ticket.c.ticket_id == _given("of_ticket", _ticket.c.ticket_id)),
        }
        permit = {
            "key": self.key,
            "chain": self.chain,
            "priority": priority,
            "operation": _given("of_operation", _permit.c.operation),
            "asked_at": _given("asked", _permit.c.asked_at),
            "slot_at": slot_at,
        }
        parts = [part.cte(name) for name, part in with_it.items()]
        return sa.insert(_permit).values(permit).returning(_permit.c.permit_id).add_cte(*parts)

    def _tidy(self, connection: Connection, now: dt.datetime) -> None:
        connection.execute(sa.delete(_permit).where(_permit.c.key == self.key, _permit.c.slot_at < now - _KEPT))
        connection.execute(sa.delete(_ticket).where(_ticket.c.key == self.key, _ticket.c.back_at < now - _FORGOTTEN))

    def _used(self, at: sa.ColumnElement[dt.datetime], *more: str) -> Insert:
        """As a statement: adds to the use of this hour, of `of_priority` and `of_operation`; `more`: columns, each by its `more_NAME`.

        Of `waited_s_max` the longest counts.
        """
        new = insert(_usage).values(
            key=self.key,
            hour_at=sa.func.date_trunc("hour", at, "UTC"),
            chain=self.chain,
            priority=_given("of_priority", _usage.c.priority),
            operation=_given("of_operation", _usage.c.operation),
            **{name: _given(f"more_{name}", _usage.c[name]) for name in more},
        )
        summed = {name: _usage.c[name] + new.excluded[name] for name in more}
        if "waited_s_max" in more:
            summed["waited_s_max"] = sa.func.greatest(_usage.c.waited_s_max, new.excluded.waited_s_max)
        key = ["key", "hour_at", "chain", "priority", "operation"]
        return new.on_conflict_do_update(index_elements=key, set_=summed)


def _given(name: str, like: sa.Column[Any]) -> sa.BindParameter[Any]:
    """A value that comes when the statement is executed."""
    return sa.bindparam(name, type_=like.type)


def _lock_timeout() -> sa.ColumnElement[str]:
    return sa.func.set_config("lock_timeout", "5s", True)


def _line(rows: Sequence[Any], ask: Ask, now: dt.datetime, chain: str) -> Line:
    """The waiting requests among the rows of `_queue`. This request is at the end until it has a ticket."""
    tickets = [row for row in rows if row.ticket_id is not None]
    mine = Waiting(max((row.ticket_id for row in tickets), default=0) + 1, ask.priority, now, chain)
    back_at = {}
    for row in tickets:
        one = Waiting(row.ticket_id, row.priority, row.asked_at, row.chain)
        if row.ticket_id == ask.ticket_id:
            mine = one
        elif row.back_at + OVERDUE >= now:
            back_at[one] = row.back_at
    due = {row.priority: row.due_at for row in rows if row.due_at is not None}
    return Line(mine, back_at, due, {(row.priority, row.chain): row.slot_at for row in rows if row.slot_at})
