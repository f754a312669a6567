"""Everything about one SKU at one vendor: the wanted and the shown values, the reasons, and the events."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.errors import DataError
from shelfsync.explain import promotions
from shelfsync.explain.desired import desired, waits_for
from shelfsync.explain.explanation import Event, Explanation, Values, sentence
from shelfsync.explain.holds import held, in_force, restored
from shelfsync.explain.shown import acknowledged, observed
from shelfsync.store import partitions
from shelfsync.store.instant import instant

if TYPE_CHECKING:
    import datetime as dt

    from sqlalchemy.engine import Connection

    from shelfsync.context import Context

EVENTS_MAX = 200

_TIMELINE = """
SELECT at, step, message, run_id, job_id, price, quantity, active, max_sales_quantity
FROM warehouse.timeline WHERE vendor = :vendor AND sku = :sku AND at <= :at
ORDER BY at DESC, job_id DESC NULLS LAST LIMIT :most
"""


def explain(
    context: Context, vendor: str, sku: str, *, at: dt.datetime | None = None, events: int = EVENTS_MAX
) -> Explanation:
    """The history of one SKU up to `at` (default: now), with its newest `events` in order of time.

    Reads rows of one SKU by index. From the lake it reads the vendor's newest snapshot and observation, and the small files of its holds.
    DataError if the vendor is unknown.
    """
    with context.engine.connect() as connection:
        now = connection.execute(sa.select(instant())).scalar_one()
        until = now if at is None else min(at, now)
        _known(connection, vendor)
        wanted = desired(context, connection, vendor, sku, until)
        confirmed = acknowledged(connection, vendor, sku, until, propagation_s=context.settings.drift.propagation_s)
        seen = observed(context, connection, vendor, sku, until)
        holds = list(held(context, connection, vendor, sku, until))
        obstacles = waits_for(connection, vendor, sku) if at is None else ()
        timeline = (
            *_timeline(connection, vendor, sku, until, events),
            *promotions.happened(connection, vendor, sku, until, events),
            *restored(connection, vendor, sku, until),
        )
        restorations = tuple(str(restoration) for restoration in in_force(connection, vendor, sku, until))
        paid = promotions.paid(connection, vendor, sku, until, catalog_s=context.settings.drift.propagation_s)
        kept_from = None if at is None else partitions.kept_from(connection, "baseline_history")
        offers = promotions.waiting(connection, vendor, sku) if at is None else ()
    if at is None:
        obstacles = (*(line for _, line in holds if line), *obstacles)
    timeline = tuple(sorted((*timeline, *(event for event, _ in holds)), key=lambda event: event.at)[-events:])
    summary = sentence(
        acknowledged=confirmed, observed=seen, desired=wanted, waits_for=obstacles, now=until, kept_from=kept_from
    )
    if paid is not None:
        summary = f"{summary} {promotions.sentence(paid, until)}"
    return Explanation(
        vendor, sku, until, summary, wanted, confirmed, seen, obstacles, timeline, paid, offers, restorations
    )


def _known(connection: Connection, vendor: str) -> None:
    found = connection.execute(sa.text("SELECT 1 FROM ledger.vendor WHERE vendor = :vendor"), {"vendor": vendor})
    if found.one_or_none() is None:
        names = connection.execute(sa.text("SELECT vendor FROM ledger.vendor ORDER BY vendor LIMIT 5")).scalars()
        known = ", ".join(names) or "none yet"
        raise DataError(f"explain: no extract had vendor {vendor!r} so far; known are {known}")


def _timeline(connection: Connection, vendor: str, sku: str, until: dt.datetime, most: int) -> tuple[Event, ...]:
    bound = {"vendor": vendor, "sku": sku, "at": until, "most": most}
    rows = connection.execute(sa.text(_TIMELINE), bound).all()
    found = [
        Event(
            row.at,
            row.step,
            row.message,
            row.run_id,
            row.job_id,
            Values(row.price, row.quantity, row.active, row.max_sales_quantity),
        )
        for row in rows
    ]
    return tuple(reversed(found))
