"""shown: one promotion for people: its SKUs, its requests, its rejected pairs, and its findings against the catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.errors import DataError
from shelfsync.promotions.warehouse.findings import CAUSES

if TYPE_CHECKING:
    from shelfsync.context import Context

FEW = 200

_HEAD = """
SELECT p.promotion_id, p.campaign, p.name, p.display_name, p.type, p.reason, p.start_time, p.end_time, p.confirmed_at, p.ended_at, p.skus,
    l.vendors, l.retry_at, l.failures, {state} AS state
FROM warehouse.promotion AS p JOIN ledger.promotion AS l USING (promotion_id) WHERE p.promotion_id = :id
"""
_SKUS = """
SELECT sku, subtype, value, max_quantity, known FROM warehouse.promotion_sku WHERE promotion_id = :id ORDER BY sku
OFFSET :first LIMIT :rows
"""
_JOBS = """
SELECT job_id, run_id, action, piece, state, platform_status, skus, sent, accepted, rejected, unaccounted, sent_at, ended_at, error
FROM warehouse.promotion_job WHERE promotion_id = :id ORDER BY job_id DESC LIMIT :few
"""
_REJECTED = """
SELECT vendor, sku, reason, subtype, value, times, last_at FROM ledger.promotion_rejection WHERE promotion_id = :id
ORDER BY vendor, sku LIMIT :few
"""
_FINDINGS = """
SELECT cause, vendor, sku, message, first_at FROM warehouse.promotion_finding WHERE promotion_id = :id ORDER BY cause, vendor, sku LIMIT :few
"""

STATE = """CASE WHEN {row}.state = 'sent' AND {row}.end_time <= ledger.instant() THEN 'over'
         WHEN {row}.state = 'sent' AND {row}.start_time > ledger.instant() THEN 'upcoming'
         WHEN {row}.state = 'sent' THEN 'running' ELSE {row}.state END"""
"""What a person calls the state of a promotion; `row` is a row of ledger.promotion or warehouse.promotion."""
STATES = ("new", "upcoming", "running", "over", "ended", "failed")


def one(context: Context, promotion_id: int, *, first: int = 0, rows: int = 500) -> dict[str, Any]:
    """The promotion with `skus_shown`, `jobs`, `rejected`, `findings`; raises DataError if there is none."""
    bound = {"id": promotion_id, "first": first, "rows": rows, "few": FEW}
    with context.engine.connect() as connection:

        def asked(statement: str) -> list[dict[str, Any]]:
            return [dict(row) for row in connection.execute(sa.text(statement), bound).mappings()]

        heads = asked(_HEAD.format(state=STATE.format(row="p")))
        if not heads:
            raise DataError(
                f"promotions: there is no promotion {promotion_id}; `shelfsync promotions status` lists them"
            )
        findings = asked(_FINDINGS)
        for row in findings:
            row["meaning"] = CAUSES[row["cause"]]
        return {
            **heads[0],
            "skus_shown": asked(_SKUS),
            "jobs": asked(_JOBS),
            "rejected": asked(_REJECTED),
            "findings": findings,
        }
