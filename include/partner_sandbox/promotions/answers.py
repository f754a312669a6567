"""How promotions are shown: the job's status to the partner, the state to people (interface.md 3.4, 4.7)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, Row, func, select

from partner_sandbox.access.tables import vendor
from partner_sandbox.catalog import money
from partner_sandbox.clock import iso
from partner_sandbox.jobs import jobs
from partner_sandbox.jobs.answers import UNKNOWN_STATE, shown_id
from partner_sandbox.promotions.store import promotion, promotion_sku
from partner_sandbox.sandbox import Sandbox


def status_of(sandbox: Sandbox, job: jobs.Job) -> dict[str, Any]:
    """QUEUED until the job has ended: promotion jobs lack IN_PROGRESS (interface.md 3.3)."""
    state = "QUEUED" if job.state in jobs.OPEN else job.state
    if sandbox.faults.draw("promotion_status", "unknown_status"):
        state = UNKNOWN_STATE
    answer: dict[str, Any] = {
        "job_id": shown_id(sandbox, job),
        "job_status": state,
        "created_at": iso(job.created_us),
        "updated_at": iso(job.ended_us or job.created_us),
    }
    if job.state not in jobs.OPEN:
        nothing: dict[str, Any] = {"invalid_vendors": [], "missing_skus": {}, "invalid_discounted_skus": {}}
        answer["result"] = {**nothing, **(job.result or {})}
    return answer


def state_of(row: Row[Any], now_us: int) -> str:
    """What the partner portal shows: Cancelled, Ended, Running or Upcoming."""
    if not row.active and row.cancelled_us < row.end_us:
        return "Cancelled"
    if now_us >= row.end_us:
        return "Ended"
    return "Upcoming" if now_us < row.start_us else "Running"


def overview(connection: Connection, chain: str, now_us: int, limit: int = 200) -> list[dict[str, Any]]:
    """The promotions of a chain, the newest first."""
    mine = select(promotion).where(promotion.c.chain == chain).order_by(promotion.c.id.desc()).limit(limit)
    return [_shown(connection, row, now_us) for row in connection.execute(mine).all()]


def one(connection: Connection, chain: str, promotion_id: int, now_us: int) -> dict[str, Any] | None:
    mine = select(promotion).where(promotion.c.chain == chain, promotion.c.id == promotion_id)
    row = connection.execute(mine).one_or_none()
    return None if row is None else _shown(connection, row, now_us)


def skus(connection: Connection, promotion_id: int, first: int, count: int) -> Iterator[dict[str, Any]]:
    """The SKUs in force, by vendor and SKU."""
    mine = (
        select(vendor.c.vendor, promotion_sku)
        .join(vendor, vendor.c.id == promotion_sku.c.vendor_key)
        .where(promotion_sku.c.promotion_id == promotion_id, promotion_sku.c.seen_until_us.is_(None))
        .order_by(promotion_sku.c.vendor_key, promotion_sku.c.sku)
        .offset(first)
        .limit(count)
    )
    for row in connection.execute(mine):
        yield {
            "vendor": row.vendor,
            "sku": row.sku,
            "subtype": row.subtype,
            "value": money.text(row.value_milli),
            "max_quantity": row.max_quantity,
            "seen_from_us": row.seen_from_us,
        }


def _shown(connection: Connection, row: Row[Any], now_us: int) -> dict[str, Any]:
    counted = select(
        func.count(), func.count(promotion_sku.c.sku.distinct()), func.count(promotion_sku.c.vendor_key.distinct())
    ).where(promotion_sku.c.promotion_id == row.id, promotion_sku.c.seen_until_us.is_(None))
    pairs, count, vendors = connection.execute(counted).one()
    return {
        "id": row.id,
        "name": row.display_name.get("en_GB") or next(iter(row.display_name.values())),
        "display_name": row.display_name,
        "state": state_of(row, now_us),
        "type": row.type,
        "reason": row.reason,
        "vendors": row.vendors,
        "vendors_with_skus": vendors,
        "skus": count,
        "pairs": pairs,
        "start_us": row.start_us,
        "end_us": row.end_us,
        "start_time": iso(row.start_us),
        "end_time": iso(row.end_us),
        "updated_at": iso(row.updated_us),
    }
