"""new_work: what starts a run at once: an approval, or a base price from the catalog that rows of the last plan wait for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.decisions.ledger import holds
from shelfsync.decisions.state import Subject
from shelfsync.promotions.ledger import runs as promotion_runs
from shelfsync.promotions.steps.assortment import known_assortment

if TYPE_CHECKING:
    from shelfsync.context import Context

_WAITING = """
SELECT q.vendor, array_agg(DISTINCT q.sku ORDER BY q.sku) AS skus FROM warehouse.promotion_quarantine AS q
WHERE q.reason = 'base_price_unknown' AND q.sku IS NOT NULL AND q.run_id = (
    SELECT run_id FROM ledger.promotion_run WHERE planned_at IS NOT NULL AND NOT dry_run ORDER BY generation DESC LIMIT 1)
GROUP BY q.vendor ORDER BY q.vendor
"""
"""The newest plan has them. One that is planned again has others, so no price is reported twice."""


def approved_waiting(context: Context) -> list[str]:
    """The campaigns that a person has approved since the last planned run began. It only reads.

    A run that began later has met the approval. If it could not read the store, one more at once would not either.
    """
    with context.engine.connect() as connection:
        found = holds.waiting(connection, Subject.PROMOTIONS)
        met_at = promotion_runs.newest_planned(connection)
    return sorted(
        {hold.campaign or "" for hold in found if met_at is None or hold.decided_at is None or hold.decided_at > met_at}
    )


def vendors_with_new_prices(context: Context) -> list[str]:
    """Vendors of which a base price is known now that a row of the last plan waits for. It only reads."""
    with context.engine.connect() as connection:
        waiting = {row.vendor: row.skus for row in connection.execute(sa.text(_WAITING))}
    return [vendor for vendor, skus in waiting.items() if _one_is_known(context, vendor, skus)]


def _one_is_known(context: Context, vendor: str, skus: list[str]) -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    known = known_assortment(context, vendor)
    priced = pc.is_valid(known["price"])
    waited_for = pc.is_in(known["sku"], value_set=pa.array(skus, pa.string()))
    return bool(pc.any(pc.and_(priced, waited_for)).as_py())
