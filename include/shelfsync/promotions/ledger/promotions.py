"""Promotions that the ledger knows: found or created by their identity. Their state moves by what the platform confirmed, never by what was sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.platform.jobs.table import WAITING, job
from shelfsync.promotions.known_promotion import KnownPromotion
from shelfsync.promotions.ledger.tables import promotion, promotion_request
from shelfsync.promotions.unconfirmed_retry import pause_s
from shelfsync.storable import json_text
from shelfsync.store.bulk import among, insertion, update
from shelfsync.store.metadata import after, instant

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy.engine import Connection


@dataclass(frozen=True)
class Promotion(KnownPromotion):
    """One row of `ledger.promotion`; `busy` and `waits` are by the ledger and the database's clock."""

    version: int
    created_body_path: str | None
    created_body_bytes: int
    failures: int


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
    return _read(connection, _select().where(among(promotion.c.identity, list(identities))))


def read_all(connection: Connection, promotion_ids: Iterable[int]) -> dict[int, Promotion]:
    """The promotions of these numbers."""
    found = _read(connection, _select().where(among(promotion.c.promotion_id, list(promotion_ids))))
    return {row.promotion_id: row for row in found}


def read(connection: Connection, promotion_id: int) -> Promotion:
    """The promotion of this number."""
    return read_all(connection, [promotion_id])[promotion_id]


def lock(connection: Connection, promotion_ids: Iterable[int]) -> None:
    """Locks the rows until the transaction ends; every process locks them in the order of their numbers."""
    rows = sa.select(promotion.c.promotion_id).where(among(promotion.c.promotion_id, list(promotion_ids)))
    connection.execute(rows.order_by(promotion.c.promotion_id).with_for_update())


def find_or_make(connection: Connection, rows: Iterable[dict[str, Any]]) -> dict[str, int]:
    """Numbers by identity of promotions, new or known, in this order; their rows are locked until the transaction ends.

    `rows`: identity, campaign, header, vendors, start_time, end_time of each; of one identity the first counts.
    """
    distinct: dict[str, dict[str, Any]] = {}
    for row in rows:
        distinct.setdefault(row["identity"], row)
    if not distinct:
        return {}
    statement = insertion(promotion, list(distinct.values()))
    statement = statement.on_conflict_do_update(
        index_elements=[promotion.c.identity], set_={"campaign": statement.excluded.campaign}
    )
    made = connection.execute(statement.returning(promotion.c.identity, promotion.c.promotion_id))
    return {row.identity: row.promotion_id for row in made}


def keep_creations(connection: Connection, bodies: Iterable[tuple[int, str, int]]) -> None:
    """Stores the bodies (number, path, length) that create promotions, byte for byte: the same body ends a promotion."""
    names = ("promotion_id", "created_body_path", "created_body_bytes")
    rows = [dict(zip(names, body, strict=True)) for body in bodies]
    if rows:
        connection.execute(update(promotion, "promotion_id", rows))


@dataclass(frozen=True)
class Move:
    """The next acknowledged state of a promotion, computed from `version`."""

    promotion_id: int
    version: int
    acknowledged_path: str
    state: str
    wanted_path: str | None
    header: dict[str, Any] | None
    """None: it stays."""
    made_elsewhere: bool
    failures: int
    """Consecutive failed requests, this one included; 0: it did not fail."""


_MOVED = """
UPDATE ledger.promotion AS p SET version = m.version + 1, acknowledged_path = m.acknowledged_path, state = m.state, wanted_path = m.wanted_path,
    header = coalesce(m.header, p.header), made_elsewhere = p.made_elsewhere OR m.made_elsewhere, failures = m.failures,
    retry_at = ledger.instant() + make_interval(secs => m.pause_s),
    confirmed_at = CASE WHEN m.state = 'sent' THEN coalesce(p.confirmed_at, ledger.instant()) ELSE p.confirmed_at END,
    ended_at = CASE m.state WHEN 'sent' THEN NULL WHEN 'ended' THEN ledger.instant() ELSE p.ended_at END
FROM json_to_recordset(CAST(:rows AS json)) AS m (promotion_id bigint, version bigint, acknowledged_path text, state text, wanted_path text,
    header jsonb, made_elsewhere boolean, failures bigint, pause_s double precision)
WHERE p.promotion_id = m.promotion_id AND p.version = m.version RETURNING p.promotion_id
"""


def moved(connection: Connection, moves: Iterable[Move]) -> set[int]:
    """Compare and swap: moves acknowledged states to their next version. The numbers of those that no other process has moved."""
    rows = [{**vars(move), "pause_s": pause_s(move.failures) if move.failures else None} for move in moves]
    return set(connection.execute(sa.text(_MOVED), {"rows": json_text(rows)}).scalars())


def failed(connection: Connection, promotion_id: int, failures: int) -> None:
    """Notes one more failed request without a reason: the back-off of the next one grows each time."""
    values = {"failures": failures + 1, "retry_at": after(pause_s(failures + 1))}
    connection.execute(promotion.update().where(promotion.c.promotion_id == promotion_id).values(values))
