"""Everything about one SKU at one vendor: the wanted and the shown values, the reasons, the events, and what promotions do to it."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync import display, outages
from shelfsync.catalog.assortment.product_names import of_skus
from shelfsync.catalog.warehouse.baseline_history import unmoved
from shelfsync.decisions.state import Subject
from shelfsync.errors import DataError
from shelfsync.explain import restorations
from shelfsync.explain.desired import FIELDS, desired, held, waits_for
from shelfsync.explain.explanation import Event, Explanation, Shown, Values, sentence
from shelfsync.promotions.warehouse.customer_price import OUTCOMES_OF_PROMOTIONS, named, price_at
from shelfsync.store import monthly_partitions
from shelfsync.store.metadata import instant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy.engine import Connection, Row

    from shelfsync.context import Context
    from shelfsync.promotions.warehouse.customer_price import CustomerPrice

EVENTS_MAX = 200
OUTAGE_DAYS = 7

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
        forgotten = _forgotten(connection, vendor)
        wanted = desired(context, connection, vendor, sku, until)
        confirmed = acknowledged(connection, vendor, sku, until, propagation_s=context.settings.drift.propagation_s)
        seen = observed(context, connection, vendor, sku, until)
        holds = list(held(context, connection, Subject.CATALOG, vendor, sku, until))
        of_campaigns = list(held(context, connection, Subject.PROMOTIONS, vendor, sku, until))
        obstacles = waits_for(connection, vendor, sku, is_forgotten=forgotten is not None) if at is None else ()
        timeline = (
            *_timeline(connection, vendor, sku, until, events),
            *_promotion_events(connection, vendor, sku, until, events),
            *restorations.events(connection, vendor, sku, until),
            *_outages(connection, until),
        )
        ordered = tuple(str(one) for one in restorations.in_force(connection, vendor, sku, until))
        paid = _paid(connection, vendor, sku, until, catalog_s=context.settings.drift.propagation_s)
        kept_from = None if at is None else monthly_partitions.kept_from(connection, "baseline_history")
        offers = _promotions_wait(connection, vendor, sku) if at is None else ()
    if at is None:
        offers += tuple(f"its campaign waits until {line}" for _, line in of_campaigns if line)
        waiting = tuple(line for _, line in holds if line)
        absent = wanted is not None and wanted.unproven is not None  # then a hold alone can take it off sale
        obstacles = waiting if absent else (*waiting, *obstacles)
    timeline = tuple(
        sorted((*timeline, *(event for event, _ in (*holds, *of_campaigns))), key=lambda event: event.at)[-events:]
    )
    summary = sentence(
        acknowledged=confirmed, observed=seen, desired=wanted, waits_for=obstacles, now=until, kept_from=kept_from
    )
    sold_out = _is_sold_out(confirmed, seen)
    if paid is not None:
        summary = f"{summary} {paid_sentence(paid, until, sold_out=sold_out)}"
    elif sold_out:
        summary = f"{summary} Customers cannot buy it, because {_SOLD_OUT}."
    if at is None and forgotten is not None:
        summary = f"{summary} The store is forgotten, so shelfsync sends nothing for it: {forgotten}."
    name = of_skus(context, vendor, [sku]).get(sku)
    return Explanation(
        vendor, sku, until, summary, wanted, confirmed, seen, obstacles, timeline, paid, offers, ordered, name
    )


def _forgotten(connection: Connection, vendor: str) -> str | None:
    """Why and by whom the vendor was forgotten; None: it takes part. DataError if it is unknown."""
    asked = sa.text("SELECT forgotten FROM ledger.vendor WHERE vendor = :vendor")
    found = connection.execute(asked, {"vendor": vendor}).one_or_none()
    if found is None:
        names = connection.execute(sa.text("SELECT vendor FROM ledger.vendor ORDER BY vendor LIMIT 5")).scalars()
        known = ", ".join(names) or "none yet"
        raise DataError(f"explain: no extract had store {vendor!r} so far; known are {known}")
    why: str | None = found.forgotten
    return why


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


_NOW = """
SELECT price, quantity, active, max_sales_quantity FROM warehouse.baseline_history
WHERE vendor = :vendor AND sku = :sku AND valid_from <= :at ORDER BY version DESC LIMIT 1
"""

_SINCE = """
SELECT h.valid_from, h.job_id, h.observation_id, j.run_id, r.kind, r.started_at, s.observed_at,
    o.state, o.reason, o.price AS sent_price, o.active AS sent_active, before.version AS version_before,
    before.price IS NOT NULL OR ever.price AS price_sent, before.active IS NOT NULL OR ever.active AS active_sent
FROM (
    SELECT * FROM warehouse.baseline_history AS first
    WHERE first.vendor = :vendor AND first.sku = :sku AND first.valid_from <= :at AND first.version > coalesce((
        SELECT max(other.version) FROM warehouse.baseline_history AS other
        WHERE other.vendor = :vendor AND other.sku = :sku AND other.valid_from <= :at AND (other.price, other.active)
            IS DISTINCT FROM (CAST(:price AS numeric), CAST(:active AS boolean))), 0)
    ORDER BY first.version LIMIT 1
) AS h
LEFT JOIN LATERAL (
    SELECT version, price, active FROM warehouse.baseline_history AS older
    WHERE older.vendor = :vendor AND older.sku = :sku AND older.version < h.version ORDER BY older.version DESC LIMIT 1
) AS before ON true
CROSS JOIN LATERAL (
    SELECT coalesce(bool_or(price IS NOT NULL), false) AS price, coalesce(bool_or(active IS NOT NULL), false) AS active
    FROM warehouse.sku_outcome WHERE vendor = :vendor AND sku = :sku
) AS ever
LEFT JOIN warehouse.observation AS s ON s.observation_id = h.observation_id
LEFT JOIN warehouse.catalog_job AS j ON j.job_id = h.job_id
LEFT JOIN warehouse.sync_run AS r ON r.run_id = j.run_id
LEFT JOIN warehouse.sku_outcome AS o ON o.vendor = :vendor AND o.sku = :sku AND o.job_id = h.job_id
"""


_REJECTED_SINCE = """
SELECT last.state = 'rejected' AND NOT EXISTS (
    SELECT FROM warehouse.sku_outcome AS o
    WHERE o.vendor = :vendor AND o.sku = :sku AND o.known_at <= :at AND o.state = 'accepted')
FROM (
    SELECT o.state FROM warehouse.sku_outcome AS o WHERE o.vendor = :vendor AND o.sku = :sku AND o.known_at <= :at
    ORDER BY o.known_at DESC, o.job_id DESC LIMIT 1
) AS last
"""
_EARLIER = "the platform acknowledged it before that, and the history kept does not show when"
_EARLIER_LOST = "a job or an observation made it unknown before that, and the history kept does not show when"


def acknowledged(
    connection: Connection, vendor: str, sku: str, at: dt.datetime, *, propagation_s: float
) -> Shown | None:
    """What the platform had acknowledged by then, and since when and why price and availability are so; None: nothing.

    A SKU of which only an unconfirmed job is known is unconfirmed until the platform rejects it: then it was never acknowledged.
    `propagation_s`: how long the change takes to reach every customer. `unconfirmed` names the values that are unknown
    since then: a job sent them and its log has no line for the SKU, or an observation showed other values.
    """
    bound = {"vendor": vendor, "sku": sku, "at": at}
    row = connection.execute(sa.text(_NOW), bound).mappings().one_or_none()
    if row is None:
        return _unmoved(connection, vendor, sku, at)
    values = Values(**row)
    if values == Values() and connection.execute(sa.text(_REJECTED_SINCE), bound).scalar():
        return None
    since = connection.execute(sa.text(_SINCE), {**bound, "price": values.price, "active": values.active}).one()
    lost = _lost(values, since)
    if since.job_id is None:
        result = "did not confirm it, so shelfsync sends it again" if lost else "showed it"
        because = f"observation {since.observation_id} of the platform {result}"
        return Shown(values, since.observed_at or since.valid_from, because, unconfirmed=lost)
    if not lost and _not_brought(values, since):
        return Shown(values, since.valid_from, _EARLIER, earlier=True)
    no_result = "reported no result" + (f" ({since.reason})" if since.reason else "")
    result = no_result if lost else "reported success"
    if since.run_id is None:
        because = f"job {since.job_id} sent it, and the platform {result}"
    else:
        begun = f"run {since.run_id} ({since.kind}, started {display.time(since.started_at, at)})"
        because = f"{begun} sent it in job {since.job_id}, and the platform {result}"
    seen_by = None if lost else since.valid_from + dt.timedelta(seconds=propagation_s)
    return Shown(values, since.valid_from, because, unconfirmed=lost, seen_by=seen_by)


def _unmoved(connection: Connection, vendor: str, sku: str, at: dt.datetime) -> Shown | None:
    held = unmoved(connection, vendor, sku, at)
    if held is None:
        return None
    values = Values(held.price, held.quantity, held.active, held.max_sales_quantity)
    if values == Values():
        return Shown(values, held.since_before, _EARLIER_LOST, unconfirmed=("price", "active"), earlier=True)
    return Shown(values, held.since_before, _EARLIER, earlier=True)


def _not_brought(values: Values, since: Row[tuple[object, ...]]) -> bool:
    """Whether the oldest move that is kept has neither price nor availability, so that an older one must have set them."""
    silent = since.sent_price is None and since.sent_active is None
    return since.state is not None and since.version_before is None and silent and values.price is not None


def _lost(values: Values, since: Row[tuple[object, ...]]) -> tuple[str, ...]:
    """Of price and active, those that this move made unknown: none if a job was accepted, else those ever sent, as far as the history is kept."""
    if since.job_id is not None and since.state != "unaccounted":
        return ()
    first = since.version_before is None
    price = values.price is None and (first or since.price_sent)
    active = values.active is None and (first or since.active_sent)
    return tuple(name for name, lost in (("price", price), ("active", active)) if lost)


def observed(context: Context, connection: Connection, vendor: str, sku: str, at: dt.datetime) -> Shown | None:
    """The SKU in the newest observation of the vendor that is not younger than `at`; `absent` if it is not in it. None: no observation."""
    statement = sa.text(
        "SELECT path, how, observed_at FROM ledger.observation WHERE vendor = :vendor AND observed_at <= :at"
        " ORDER BY observed_at DESC, observation_id DESC LIMIT 1"
    )
    newest = connection.execute(statement, {"vendor": vendor, "at": at}).one_or_none()
    if newest is None:
        return None
    row = context.lake.find(newest.path, sku)
    if row is None:
        return Shown(Values(), newest.observed_at, f"the {newest.how} requested then does not have it", absent=True)
    because = f"the {newest.how} requested then shows it"
    return Shown(Values(**{name: row[name] for name in FIELDS if name in row}), newest.observed_at, because)


_WAITING = """
SELECT 'the ERP''s promotion of it is quarantined (run ' || q.run_id || '): ' || q.message AS line
FROM warehouse.promotion_quarantine AS q
WHERE q.sku = :sku AND q.vendor IN (:vendor, '*') AND q.run_id = (
    SELECT max(r.run_id) FROM warehouse.promotion_run AS r WHERE NOT r.dry_run AND r.state NOT IN ('running', 'superseded'))
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


def _paid(connection: Connection, vendor: str, sku: str, at: dt.datetime, *, catalog_s: float) -> CustomerPrice | None:
    """What customers pay, and every promotion of the SKU; None if no promotion has it now or had it lately."""
    found = price_at(connection, vendor, sku, at, catalog_s=catalog_s)
    return found if found.promotions or found.promoted_lately else None


def _promotions_wait(connection: Connection, vendor: str, sku: str) -> tuple[str, ...]:
    """Why a promotion of the ERP is not, or not yet, what customers see."""
    bound = {"vendor": vendor, "sku": sku}
    return tuple(connection.execute(sa.text(_WAITING), bound).scalars())


def _promotion_events(connection: Connection, vendor: str, sku: str, at: dt.datetime, most: int) -> Iterator[Event]:
    """Every outcome of the SKU in a promotion."""
    bound = {"vendor": vendor, "sku": sku, "at": at, "most": most}
    for row in connection.execute(sa.text(_HAPPENED), bound).mappings():
        what = (
            f"{row['subtype'].lower().replace('_', ' ')} {display.discount(row['subtype'], row['value'])}"
            if row["active"]
            else "removed"
        )
        outcome = {
            "accepted": f"the platform accepted it ({row['platform_status']})",
            "rejected": f"the platform rejected it: {row['reason']}",
            "unaccounted": "the platform did not report whether it accepted it",
        }[row["state"]]
        yield Event(row["at"], "promotion", f"{named(row)}: {what}; {outcome}", None, row["job_id"], Values())


def _outages(connection: Connection, at: dt.datetime) -> Iterator[Event]:
    """Outages of the last days: what came or went meanwhile waited for their end."""
    found = outages.since(connection, at - dt.timedelta(days=OUTAGE_DAYS), at)
    for row, line in zip(found, outages.lines(found), strict=True):
        yield Event(row["began_at"], "outage", line)


_SOLD_OUT = "its last quantity is 0"


def _is_sold_out(acknowledged: Shown | None, observed: Shown | None) -> bool:
    """Whether the last acknowledged quantity leaves nothing to buy, and no newer observation shows the product on sale."""
    if acknowledged is None or acknowledged.values.quantity is None or acknowledged.values.quantity > 0:
        return False
    newer = observed is not None and observed.since > acknowledged.since
    return not (newer and observed is not None and observed.values.active)


def paid_sentence(found: CustomerPrice, now: dt.datetime, *, sold_out: bool = False) -> str:
    """What customers pay, or why they cannot buy it, as text for people. It follows what the catalog shows."""
    why_not = "it is off sale" if found.active is False else _SOLD_OUT if sold_out else None
    until = f" until {display.time(found.until, now)}" if found.until is not None else ""
    if why_not is not None:
        price = (
            ""
            if found.price is None
            else f" On sale, its price is {display.price(found.price)}{until}: {found.reason}."
        )
        return f"Customers cannot buy it, because {why_not}.{price}"
    if found.price is None:
        return f"The price that customers pay is unknown: {found.reason}."
    if found.seen_by is None or found.seen_by <= now:
        return f"Customers pay {display.price(found.price)}{until}, because {found.reason}."
    seen_by = display.time(found.seen_by, now)
    return (
        f"Customers pay {display.price(found.price)} from {seen_by} at the latest{until}, because {found.reason}."
        " Before that, the app may still show another price."
    )
