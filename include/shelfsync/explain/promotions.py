"""What promotions do to a SKU: what customers pay and until when, what a promotion of the ERP waits for, and its events."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.explain.explanation import Event, Values, plain, when
from shelfsync.promotions.warehouse.customer_price import OUTCOMES_OF_PROMOTIONS, named, price_at

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterator

    from sqlalchemy.engine import Connection

    from shelfsync.promotions.warehouse.customer_price import CustomerPrice

_WAITING = """
SELECT 'the ERP''s promotion of it is quarantined (run ' || q.run_id || '): ' || q.message AS line
FROM warehouse.promotion_quarantine AS q
WHERE q.sku = :sku AND q.vendor IN (:vendor, '*') AND q.run_id = (
    SELECT max(r.run_id) FROM warehouse.promotion_run AS r WHERE NOT r.dry_run AND r.state NOT IN ('running', 'superseded'))
UNION ALL
SELECT 'campaign ' || h.campaign || ' is held in part at this vendor (' || h.rule || '): ' || h.message
    || '. Run `shelfsync promotions approve` or `shelfsync promotions decline`'
FROM ledger.promotion_hold AS h WHERE h.state = 'held' AND h.vendor IN (:vendor, '')
    AND (h.skus > 10 OR position(:sku || ' at ' IN h.message) > 0) -- the message names ten
UNION ALL
SELECT 'a request about promotion ' || p.name || ' (campaign ' || p.campaign || ') is in flight: job ' || j.job_id || ', ' || q.action
FROM ledger.promotion_request AS q JOIN ledger.job AS j USING (request_id)
JOIN warehouse.promotion AS p USING (promotion_id)
JOIN warehouse.promotion_vendor AS v ON v.promotion_id = p.promotion_id AND v.vendor IN (:vendor, '*')
WHERE j.state IN ('planned', 'submitting', 'open')
LIMIT 20
"""

_HAPPENED = f"""
SELECT o.known_at AS at, j.job_id, j.platform_status, o.state, o.reason, o.active, o.subtype, o.value, p.name, p.campaign,
    p.start_time, p.end_time
{OUTCOMES_OF_PROMOTIONS}
WHERE o.known_at <= :at
ORDER BY o.known_at DESC LIMIT :most
"""


def paid(connection: Connection, vendor: str, sku: str, at: dt.datetime, *, catalog_s: float) -> CustomerPrice | None:
    """What customers pay, and every promotion of the SKU; None if no promotion has it now or had it lately."""
    found = price_at(connection, vendor, sku, at, catalog_s=catalog_s)
    return found if found.promotions or found.promoted_lately else None


def waiting(connection: Connection, vendor: str, sku: str) -> tuple[str, ...]:
    """Why a promotion of the ERP is not, or not yet, what customers see."""
    bound = {"vendor": vendor, "sku": sku}
    return tuple(connection.execute(sa.text(_WAITING), bound).scalars())


def happened(connection: Connection, vendor: str, sku: str, at: dt.datetime, most: int) -> Iterator[Event]:
    """Every outcome of the SKU in a promotion."""
    bound = {"vendor": vendor, "sku": sku, "at": at, "most": most}
    for row in connection.execute(sa.text(_HAPPENED), bound).mappings():
        what = f"{row['subtype'].lower().replace('_', ' ')} {plain(row['value'])}" if row["active"] else "removed"
        outcome = {
            "accepted": f"the platform accepted it ({row['platform_status']})",
            "rejected": f"the platform rejected it: {row['reason']}",
            "unaccounted": "the platform did not report whether it accepted it",
        }[row["state"]]
        yield Event(row["at"], "promotion", f"{named(row)}: {what}; {outcome}", None, row["job_id"], Values())


def sentence(found: CustomerPrice, now: dt.datetime) -> str:
    """What customers pay, as text for people. It follows what the catalog shows."""
    if found.price is None:
        return f"The price that customers pay is unknown: {found.reason}."
    until = f" until {when(found.until, now)}" if found.until is not None else ""
    if found.seen_by is None or found.seen_by <= now:
        return f"Customers pay {plain(found.price)}{until}, because {found.reason}."
    seen_by = when(found.seen_by, now)
    return (
        f"Customers pay {plain(found.price)} from {seen_by} at the latest{until}, because {found.reason}."
        " Before that, the app may still show another price."
    )
