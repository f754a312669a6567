"""Promotions that the ledger knows: found or created by their identity. Their state moves by what the platform confirmed, never by what was sent.

And the pairs that the platform rejected in them, with the wanted and known values. A pair is sent again if these change, or after a day.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from shelfsync.back_off import back_off_s
from shelfsync.platform.jobs.table import WAITING, job
from shelfsync.promotions.ledger.tables import promotion, promotion_rejection, promotion_request
from shelfsync.promotions.plan import KnownPromotion
from shelfsync.storable import json_text
from shelfsync.store.bulk import among, insertion, update
from shelfsync.store.metadata import after, instant

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa
    from sqlalchemy.engine import Connection

_REJECTION = promotion_rejection.c
_CHUNK = 10_000
_BACKOFF_S, _BACKOFF_MAX_S = 600.0, 86_400.0


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
    rows = [{**vars(move), "pause_s": _pause_s(move.failures) if move.failures else None} for move in moves]
    return set(connection.execute(sa.text(_MOVED), {"rows": json_text(rows)}).scalars())


def failed(connection: Connection, promotion_id: int, failures: int) -> None:
    """Notes one more failed request without a reason: the back-off of the next one grows each time."""
    values = {"failures": failures + 1, "retry_at": after(_pause_s(failures + 1))}
    connection.execute(promotion.update().where(promotion.c.promotion_id == promotion_id).values(values))


def _pause_s(failures: int) -> float:
    return back_off_s(failures, _BACKOFF_S, _BACKOFF_MAX_S)


def rejections_of(connection: Connection, promotion_id: int) -> list[dict[str, Any]]:
    """The rejected pairs of a promotion: rows of vendor, sku, subtype, value and max_quantity."""
    columns = [_REJECTION[name] for name in ("vendor", "sku", "subtype", "value", "max_quantity")]
    rows = connection.execute(
        sa.select(*columns).where(_REJECTION.promotion_id == promotion_id).order_by(_REJECTION.sku)
    )
    return [dict(row) for row in rows.mappings()]


def rejections_due(connection: Connection, *, retry_s: float) -> dict[int, set[str]]:
    """By promotion that is not over: its SKUs whose rejection is old enough that they are tried again."""
    statement = (
        sa.select(_REJECTION.promotion_id, _REJECTION.sku)
        .join(promotion, promotion.c.promotion_id == _REJECTION.promotion_id)
        .where(_REJECTION.last_at <= after(-retry_s), promotion.c.end_time > instant())
    )
    found: dict[int, set[str]] = {}
    for promotion_id, sku in connection.execute(statement):
        found.setdefault(promotion_id, set()).add(sku)
    return found


def rejections_at(connection: Connection, vendor: str) -> list[dict[str, Any]]:
    """The rejected pairs of a vendor: rows of promotion_id, sku, base_price and known, of promotions that are not over."""
    columns = [_REJECTION[name] for name in ("promotion_id", "sku", "base_price", "known")]
    statement = (
        sa.select(*columns)
        .join(promotion, promotion.c.promotion_id == _REJECTION.promotion_id)
        .where(_REJECTION.vendor == vendor, promotion.c.end_time > instant())
    )
    return [dict(row) for row in connection.execute(statement).mappings()]


def remember_rejections(connection: Connection, rows: pa.Table) -> None:
    """Stores rejections: promotion_id, job_id, vendor, sku, reason, subtype, value, max_quantity, base_price, known. A job counts once."""
    for batch in rows.to_batches(max_chunksize=_CHUNK):
        statement = insert(promotion_rejection)
        new = statement.excluded
        again = {
            name: new[name] for name in ("reason", "subtype", "value", "max_quantity", "base_price", "known", "job_id")
        }
        counted = sa.case((_REJECTION.job_id == new.job_id, _REJECTION.times), else_=_REJECTION.times + 1)
        statement = statement.on_conflict_do_update(
            index_elements=[_REJECTION.promotion_id, _REJECTION.vendor, _REJECTION.sku],
            set_={**again, "times": counted, "last_at": instant()},
        )
        connection.execute(statement, [{**row, "times": 1} for row in batch.to_pylist()])


def release_rejections(connection: Connection, items: str) -> None:
    """Deletes the rejections of SKUs by other jobs: the platform has reported a new outcome, or the SKUs left.

    `items`: the table of promotion_id, job_id, sku.
    """
    statement = f"""
        DELETE FROM ledger.promotion_rejection AS r USING {items} AS i
        WHERE r.promotion_id = i.promotion_id AND r.sku = i.sku AND r.job_id <> i.job_id
    """  # noqa: S608  a name of a table that the caller has written
    connection.execute(sa.text(statement))


def count_rejections(connection: Connection) -> list[dict[str, Any]]:
    """Rows of vendor, reason, promotions and pairs rejected in promotions that are not over; the vendor with the most pairs comes first."""
    pairs, promotions = (
        sa.func.count().label("pairs"),
        sa.func.count(sa.distinct(_REJECTION.promotion_id)).label("promotions"),
    )
    statement = (
        sa.select(_REJECTION.vendor, _REJECTION.reason, promotions, pairs)
        .join(promotion, promotion.c.promotion_id == _REJECTION.promotion_id)
        .where(promotion.c.end_time > instant())
        .group_by(_REJECTION.vendor, _REJECTION.reason)
        .order_by(pairs.desc(), _REJECTION.vendor, _REJECTION.reason)
    )
    return [dict(row) for row in connection.execute(statement).mappings()]
