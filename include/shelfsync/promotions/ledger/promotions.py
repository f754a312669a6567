"""Promotions that the ledger knows: found or created by their identity. Their state moves by what the platform confirmed, never by what was sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from shelfsync.platform.jobs.table import WAITING, job
from shelfsync.promotions.ledger.tables import promotion, promotion_request
from shelfsync.store.instant import after, instant

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Sequence

    from sqlalchemy.engine import Connection

_BACKOFF_S, _BACKOFF_MAX_S = 600.0, 86_400.0


@dataclass(frozen=True)
class Promotion:
    """One row of `ledger.promotion`; `busy` and `waits` are by the ledger and the database's clock."""

    promotion_id: int
    identity: str
    campaign: str
    header: dict[str, Any]
    vendors: tuple[str, ...]
    start_time: dt.datetime
    end_time: dt.datetime
    state: str
    version: int
    acknowledged_path: str | None
    wanted_path: str | None
    created_body_path: str | None
    created_body_bytes: int
    failures: int
    busy: bool
    waits: bool

    @property
    def campaigns(self) -> tuple[str, ...]:
        """All its campaigns: more than one if they are merged."""
        return (self.campaign, *self.header.get("also", ()))

    @property
    def there(self) -> bool:
        """Whether the platform has it, or may have it."""
        return self.state == "sent"


def _select() -> sa.Select[Any]:
    names = [name for name in Promotion.__dataclass_fields__ if name in promotion.c]
    busy = sa.exists().where(
        promotion_request.c.promotion_id == promotion.c.promotion_id,
        job.c.request_id == promotion_request.c.request_id,
        job.c.state.in_(WAITING),
    )
    return sa.select(
        *(promotion.c[name] for name in names),
        busy.label("busy"),
        sa.func.coalesce(promotion.c.retry_at > instant(), sa.false()).label("waits"),
    )


def _read(connection: Connection, statement: sa.Select[Any]) -> list[Promotion]:
    rows = connection.execute(statement.order_by(promotion.c.promotion_id)).mappings()
    return [Promotion(**{**row, "vendors": tuple(row["vendors"])}) for row in rows]


def current(connection: Connection) -> list[Promotion]:
    """Promotions whose window is not over; older ones need nothing any more."""
    return _read(connection, _select().where(promotion.c.end_time > instant()))


def of_identities(connection: Connection, identities: Iterable[str]) -> list[Promotion]:
    """Those of these identities, whatever their window."""
    return _read(connection, _select().where(promotion.c.identity.in_(list(identities))))


def read(connection: Connection, promotion_id: int) -> Promotion:
    """The promotion of this number."""
    return _read(connection, _select().where(promotion.c.promotion_id == promotion_id))[0]


def lock(connection: Connection, promotion_id: int) -> None:
    """Locks the row until the transaction ends."""
    connection.execute(
        sa.select(promotion.c.promotion_id).where(promotion.c.promotion_id == promotion_id).with_for_update()
    )


def find_or_make(
    connection: Connection,
    *,
    identity: str,
    campaign: str,
    header: dict[str, Any],
    vendors: Sequence[str],
    start_time: dt.datetime,
    end_time: dt.datetime,
) -> int:
    """The number of the promotion of this identity, new or known; its row is locked until the transaction ends."""
    values = {
        "identity": identity,
        "campaign": campaign,
        "header": header,
        "vendors": list(vendors),
        "start_time": start_time,
        "end_time": end_time,
    }
    statement = insert(promotion).values(values)
    statement = statement.on_conflict_do_update(
        index_elements=[promotion.c.identity], set_={"campaign": statement.excluded.campaign}
    )
    return int(connection.execute(statement.returning(promotion.c.promotion_id)).scalar_one())


def keep_creation(connection: Connection, promotion_id: int, path: str, body_bytes: int) -> None:
    """Stores the body that creates the promotion, byte for byte: the same body ends it."""
    _write(connection, promotion_id, created_body_path=path, created_body_bytes=body_bytes)


def moved(
    connection: Connection,
    promotion_id: int,
    *,
    version: int,
    acknowledged_path: str,
    state: str,
    wanted_path: str | None,
    header: dict[str, Any] | None = None,
    made_elsewhere: bool = False,
) -> bool:
    """Compare and swap: moves the acknowledged state from `version` to the next. False if another process has moved it."""
    values: dict[str, Any] = {
        "version": version + 1,
        "acknowledged_path": acknowledged_path,
        "state": state,
        "wanted_path": wanted_path,
        "failures": 0,
        "retry_at": None,
    }
    if header is not None:
        values["header"] = header
    if made_elsewhere:
        values["made_elsewhere"] = True
    if state == "sent":
        values |= {"confirmed_at": sa.func.coalesce(promotion.c.confirmed_at, instant()), "ended_at": None}
    if state == "ended":
        values["ended_at"] = instant()
    statement = promotion.update().where(promotion.c.promotion_id == promotion_id, promotion.c.version == version)
    return connection.execute(statement.values(values)).rowcount == 1


def failed(connection: Connection, promotion_id: int, failures: int) -> None:
    """Notes one more failed request without a reason: the back-off of the next one grows each time."""
    pause_s = min(_BACKOFF_MAX_S, _BACKOFF_S * 2.0**failures)
    _write(connection, promotion_id, failures=failures + 1, retry_at=after(pause_s))


def _write(connection: Connection, promotion_id: int, **values: Any) -> None:
    connection.execute(promotion.update().where(promotion.c.promotion_id == promotion_id).values(values))
