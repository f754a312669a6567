"""The table of the holds, and every decision about each, by a person or by time. A decision is never changed.

The rules are in `decisions.hold`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.decisions.hold import REOPENED, Found, Hold, undecided
from shelfsync.decisions.ledger.tables import decision, hold
from shelfsync.decisions.state import HELD, HoldState, Place, Subject
from shelfsync.errors import DataError
from shelfsync.store.bulk import among
from shelfsync.store.keyset_list import KeysetList, Order
from shelfsync.store.metadata import after, instant

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from sqlalchemy.engine import Connection

LOOK_S, LOOK_EACH_S = 300.0, 2.0
"""A question in Airflow looks so often whether its hold is decided: each look costs a task, so many open holds look more rarely."""
SILENT_LOOKS = 6
"""After so many missed looks the run that asked asks no more."""

HOLDS = KeysetList(
    """(
    SELECT hold.*, hold.state = 'open' AS waits, coalesce(round(100.0 * hold.rows / nullif(counted.erp_rows, 0), 1), 0) AS share
    FROM ledger.hold LEFT JOIN ledger.vendor_count AS counted USING (vendor)
) AS held""",
    (
        *("hold_id", "subject", "vendor", "rule", "category", "campaign", "rows", "share", "state", "waits"),
        *("held_at", "expires_at", "decided_by", "decided_at", "message"),
    ),
    {name: f"{name} = :{name}" for name in ("state", "subject", "vendor", "rule", "campaign")},
    {
        "waiting first": Order((("waits", "boolean"), ("hold_id", "bigint")), newest_first=True),
        "rows": Order((("rows", "bigint"), ("hold_id", "bigint")), newest_first=True),
        "share of the store": Order((("share", "numeric"), ("hold_id", "bigint")), newest_first=True),
        "expires first": Order((("expires_at", "timestamptz"), ("hold_id", "bigint"))),
    },
)
"""Every hold. `share`: its rows in percent of the ERP's rows of the store; 0: of all stores, or not known."""

_FORGOTTEN: sa.Select[Any] = (
    sa.select(sa.column("vendor"))
    .select_from(sa.table("vendor", schema="ledger"))
    .where(sa.column("forgotten").is_not(None))
)
"""Stores that the operator has taken out: what is held of them waits for no person."""


COLUMNS = [hold.c[name] for name in Hold.__dataclass_fields__]
"""What `holds_of` reads."""


def renew(
    connection: Connection,
    subject: Subject,
    found: Iterable[Found],
    *,
    vendor: str | None = None,
    without: Collection[str] = (),
    run_id: int,
    generation: int,
    hours: float,
    kept: Collection[int] = (),
) -> None:
    """Writes the holds of this run. The same rows are the same hold, decided or not. Every other open hold is superseded.

    Quantities of new products may differ: the counter sells them while the question waits. The hold takes the newest.
    `vendor`: the one that the run has read; None: all of them but `without`. `kept`: decided holds whose values the ERP may still have.
    """
    mine = scope(subject, vendor, without)
    current = {
        (row.vendor, row.rule, row.category, row.campaign, row.identity or row.rows_path): row
        for row in _current(connection, mine, HELD)
    }
    new: list[Found] = []
    same: list[int] = []
    for one in found:
        kind = (one.vendor, one.rule, one.category, one.campaign)
        known = current.pop((*kind, one.identity), None) or current.pop((*kind, one.rows_path), None)
        if known is None:
            new.append(one)
            continue
        same.append(known.hold_id)
        now: dict[str, str | None] = {"message": one.message, "rows_path": one.rows_path, "identity": one.identity}
        if known.before_path is None:
            now["before_path"] = one.before_path
        if any(getattr(known, name) != value for name, value in now.items()):
            connection.execute(hold.update().where(hold.c.hold_id == known.hold_id).values(now))
    of_run = {"run_id": run_id, "generation": generation}
    _set(connection, same, of_run)
    for one, number in zip(new, _insert(connection, subject, new, hours=hours, **of_run), strict=True):
        if one.carried is not None:
            _decide_as(connection, number, one.carried)
    approved = sa.and_(mine, hold.c.state == HoldState.APPROVED, hold.c.released_at.is_(None))
    older = sa.and_(approved, hold.c.generation < generation, hold.c.superseded_by.is_(None))
    connection.execute(hold.update().where(older).values(superseded_by=run_id))  # the newer run sends what still holds
    was_open = hold.c.state == HoldState.OPEN  # of the row as it is now: a person may have decided since it was read
    ended = {
        "state": sa.case((was_open, HoldState.SUPERSEDED), else_=hold.c.state),
        "decided_at": sa.case((was_open, instant()), else_=hold.c.decided_at),
    }
    gone = [row.hold_id for row in current.values() if row.hold_id not in kept]
    _set(connection, gone, {"superseded_by": run_id, **ended})


def _set(connection: Connection, numbers: Collection[int], values: dict[str, Any]) -> None:
    """Writes the same to these holds; sends nothing if there are none."""
    if numbers:
        connection.execute(hold.update().where(among(hold.c.hold_id, numbers)).values(values))


def scope(subject: Subject, vendor: str | None, without: Collection[str] = ()) -> sa.ColumnElement[bool]:
    """Holds of one vendor, or of all but these."""
    of_vendor = sa.true() if vendor is None else hold.c.vendor == vendor
    return sa.and_(hold.c.subject == subject, of_vendor, sa.not_(among(hold.c.vendor, without)))


def _current(connection: Connection, mine: sa.ColumnElement[bool], states: Collection[str]) -> list[Hold]:
    current = sa.and_(mine, hold.c.state.in_(states), hold.c.superseded_by.is_(None))
    return holds_of(connection, sa.select(*COLUMNS).where(current).order_by(hold.c.hold_id))


def decide(
    connection: Connection,
    hold_id: int,
    state: HoldState,
    *,
    who: str,
    place: Place,
    why: str | None,
    thresholds: dict[str, Any] | None = None,
) -> bool:
    """Approves or declines an open hold, or declines an expired one, and records the decision. Returns False if it is decided."""
    statement = hold.update().where(hold.c.hold_id == hold_id, hold.c.state.in_(undecided(state)))
    decided = {"state": state, "decided_by": who, "why": why, "decided_at": instant(), "acts": hold.c.acts + 1}
    done = connection.execute(statement.values(decided))
    if done.rowcount != 1:
        return False
    add_decision(connection, hold_id, state, who=who, place=place, why=why, thresholds=thresholds)
    return True


def reopen(connection: Connection, hold_id: int, *, who: str, place: Place, why: str, hours: float) -> bool:
    """Opens a declined or expired hold again for so many hours, and records who did it. Every earlier decision stays in the ledger.

    Airflow asks a new question about it: an answer to the earlier question does nothing.
    """
    decided = hold.c.state.in_(REOPENED)
    statement = hold.update().where(hold.c.hold_id == hold_id, decided, hold.c.superseded_by.is_(None))
    undecided = {"decided_by": None, "why": None, "decided_at": None, "asked_by": None, "looked_at": None}
    opened = {"state": HoldState.OPEN, "acts": hold.c.acts + 1, "expires_at": after(hours * 3600)}
    if connection.execute(statement.values(**undecided, **opened)).rowcount != 1:
        return False
    add_decision(connection, hold_id, HoldState.OPEN, who=who, place=place, why=why)
    return True


def close(connection: Connection, vendor: str, *, who: str, why: str) -> int:
    """Supersedes the holds of a vendor that wait for a decision, or approved for the sending; returns their number."""
    waits = sa.or_(
        hold.c.state == HoldState.OPEN, sa.and_(hold.c.state == HoldState.APPROVED, hold.c.released_at.is_(None))
    )
    statement = hold.update().where(hold.c.vendor == vendor, waits, hold.c.superseded_by.is_(None))
    values = {"state": HoldState.SUPERSEDED, "decided_by": who, "why": why, "decided_at": instant()}
    return connection.execute(statement.values(values)).rowcount


def narrow(connection: Connection, hold_id: int, *, rows_path: str, identity: str, rows: int) -> None:
    """Reduces an open hold to the rows that other thresholds still hold."""
    statement = hold.update().where(hold.c.hold_id == hold_id, hold.c.state == HoldState.OPEN)
    connection.execute(statement.values(rows_path=rows_path, identity=identity, rows=rows))


def released(connection: Connection, hold_id: int) -> None:
    """Records that the rows of a hold are planned."""
    connection.execute(hold.update().where(hold.c.hold_id == hold_id).values(released_at=instant()))


def look_s(connection: Connection) -> float:
    """How long a question waits until it looks again whether its hold is decided."""
    return max(LOOK_S, LOOK_EACH_S * open_count(connection))


def look(connection: Connection, hold_id: int, key: str) -> None:
    """Records that the run of Airflow that asks about the hold is alive."""
    statement = hold.update().where(hold.c.hold_id == hold_id, hold.c.asked_by == key)
    connection.execute(statement.values(looked_at=instant()))


def ask(connection: Connection, key: str, *, most: int) -> list[Hold]:
    """The open holds that this caller asks a person about, at most so many, the oldest first. A repeated call returns the same holds.

    A hold whose caller has not looked for SILENT_LOOKS is asked about anew: a person has ended that run, or its DAG has another name.
    """
    asked = sa.select(sa.func.count()).where(hold.c.asked_by == key)
    left = max(0, most - connection.execute(asked).scalar_one())
    silent = hold.c.looked_at < after(-SILENT_LOOKS * look_s(connection))
    unasked = sa.and_(hold.c.state == HoldState.OPEN, sa.or_(hold.c.asked_by.is_(None), silent))
    oldest = sa.select(hold.c.hold_id).where(unasked).order_by(hold.c.hold_id).limit(left)
    connection.execute(
        hold.update().where(unasked, hold.c.hold_id.in_(oldest)).values(asked_by=key, looked_at=instant())
    )
    return holds_of(connection, sa.select(*COLUMNS).where(hold.c.asked_by == key).order_by(hold.c.hold_id))


def read(connection: Connection, hold_id: int, *, lock: bool = False) -> Hold | None:
    """The hold of this number, or None."""
    statement = sa.select(*COLUMNS).where(hold.c.hold_id == hold_id)
    found = holds_of(connection, statement.with_for_update() if lock else statement)
    return found[0] if found else None


def open_count(connection: Connection) -> int:
    """How many holds wait for a decision."""
    return int(connection.execute(sa.select(sa.func.count()).where(hold.c.state == HoldState.OPEN)).scalar_one())


def waiting(connection: Connection, subject: Subject) -> list[Hold]:
    """Approved holds whose rows are not planned yet and are still in the newest extract."""
    unplanned = sa.and_(
        hold.c.subject == subject,
        hold.c.state == HoldState.APPROVED,
        hold.c.released_at.is_(None),
        hold.c.superseded_by.is_(None),
    )
    return holds_of(connection, sa.select(*COLUMNS).where(unplanned).order_by(hold.c.hold_id))


def of_vendor(connection: Connection, subject: Subject, vendor: str, *states: str) -> list[Hold]:
    """Holds of one vendor in these states that its newest extract still has, oldest first."""
    return _current(connection, scope(subject, vendor), states)


def newest(connection: Connection, *states: str, holds: int = 200) -> list[Hold]:
    """The last holds and every open one, newest first; of any state when none is named."""
    of_states = hold.c.state.in_(states) if states else sa.true()
    last = sa.select(hold.c.hold_id).where(of_states).order_by(hold.c.hold_id.desc()).limit(holds)
    still_open = sa.select(hold.c.hold_id).where(of_states, hold.c.state == HoldState.OPEN)
    shown = hold.c.hold_id.in_(sa.union(last, still_open))  # an OR over a subquery would read the whole table
    return holds_of(connection, sa.select(*COLUMNS).where(shown).order_by(hold.c.hold_id.desc()))


def in_force(connection: Connection, subject: Subject | None = None, *, run_id: int | None = None) -> list[Hold]:
    """The holds whose rows are held now, newest first; `run_id`: those with rows of this run. catalog.sku_state counts the same as held."""
    held = sa.and_(hold.c.state.in_(HELD), hold.c.superseded_by.is_(None), hold.c.vendor.not_in(_FORGOTTEN))
    mine = sa.true() if subject is None else hold.c.subject == subject
    of_run = sa.true() if run_id is None else hold.c.run_id == run_id
    return holds_of(connection, sa.select(*COLUMNS).where(held, mine, of_run).order_by(hold.c.hold_id.desc()))


def in_place_of_open(connection: Connection) -> set[int]:
    """The holds in force that took the place of an open one of the same question, in a newer extract, and hold less than twice as many rows."""
    before = hold.alias()
    about = ("subject", "vendor", "rule", "category", "campaign")
    same = [before.c[name].is_not_distinct_from(hold.c[name]) for name in about]
    of_it = (before.c.superseded_by == hold.c.first_run_id, before.c.state == HoldState.SUPERSEDED)
    taken = sa.exists().where(*same, *of_it, before.c.hold_id < hold.c.hold_id, hold.c.rows < 2 * before.c.rows)
    in_force_now = (hold.c.state.in_(HELD), hold.c.superseded_by.is_(None))
    return set(connection.execute(sa.select(hold.c.hold_id).where(*in_force_now, taken)).scalars())


def _decide_as(connection: Connection, hold_id: int, earlier: int) -> None:
    """Gives the rest of a decided hold the same decision, without a new question. If a person has reopened that hold since, the rest is open too."""
    before = sa.select(hold.c.state, hold.c.decided_by).where(hold.c.hold_id == earlier)
    row = connection.execute(before).one()
    if row.state not in {HoldState.APPROVED, HoldState.DECLINED, HoldState.EXPIRED}:
        return
    why = f"still what hold {earlier} held"
    decide(connection, hold_id, row.state, who=row.decided_by, place=Place.SHELFSYNC, why=why)


def add(connection: Connection, subject: Subject, one: Found, *, run_id: int, generation: int, hours: float) -> int:
    """A new open hold; its number."""
    (number,) = _insert(connection, subject, [one], run_id=run_id, generation=generation, hours=hours)
    return number


def _insert(
    connection: Connection, subject: Subject, found: Collection[Found], *, run_id: int, generation: int, hours: float
) -> list[int]:
    """New open holds; their numbers."""
    if not found:
        return []
    of_run = {"subject": subject, "first_run_id": run_id, "run_id": run_id, "generation": generation}
    rows = [{name: value for name, value in vars(one).items() if name != "carried"} | of_run for one in found]
    statement = hold.insert().values(held_at=instant(), expires_at=after(hours * 3600))
    numbers = statement.returning(hold.c.hold_id, sort_by_parameter_order=True)
    return [int(row.hold_id) for row in connection.execute(numbers, rows)]


def holds_of(connection: Connection, statement: sa.Select[Any]) -> list[Hold]:
    """The holds that a statement selects by their COLUMNS."""
    found = connection.execute(statement).mappings()
    return [Hold(**{**row, "subject": Subject(row["subject"]), "state": HoldState(row["state"])}) for row in found]


def add_decision(
    connection: Connection,
    hold_id: int,
    state: HoldState,
    *,
    who: str,
    place: Place,
    why: str | None = None,
    thresholds: dict[str, Any] | None = None,
    ignored: str | None = None,
) -> None:
    """One more act about a hold. `ignored`: why it did nothing."""
    values = {"hold_id": hold_id, "state": state, "decided_by": who, "place": place, "why": why, "ignored": ignored}
    values["decided_at"] = instant()
    given = {} if thresholds is None else {"thresholds": thresholds}
    connection.execute(decision.insert().values(**values, **given))


def decisions_of(connection: Connection, hold_id: int) -> list[dict[str, Any]]:
    """All acts about a hold, oldest first: `state`, `decided_by`, `place`, `why`, `thresholds`, `ignored`, `decided_at`."""
    names = ("state", "decided_by", "place", "why", "thresholds", "ignored", "decided_at")
    statement = sa.select(*(decision.c[name] for name in names)).where(decision.c.hold_id == hold_id)
    return [dict(row) for row in connection.execute(statement.order_by(decision.c.decision_id)).mappings()]


def known(connection: Connection, hold_id: int, *, lock: bool = False) -> Hold:
    """The hold of this number; a DataError: there is none."""
    found = read(connection, hold_id, lock=lock)
    if found is None:
        raise DataError(f"holds: there is no hold {hold_id}; `shelfsync holds list` shows them")
    return found
