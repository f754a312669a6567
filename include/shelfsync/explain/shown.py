"""What the platform shows of a SKU: as it was acknowledged, and as it was last seen."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.explain.event import Shown, Values
from shelfsync.warehouse.history import unmoved

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Row

    from shelfsync.flow.house import Parts

_FIELDS = ("price", "quantity", "active", "max_sales_quantity")

_NOW = """
SELECT price, quantity, active, max_sales_quantity FROM warehouse.baseline_history
WHERE vendor = :vendor AND sku = :sku AND valid_from <= :at ORDER BY version DESC LIMIT 1
"""

_SINCE = """
SELECT h.valid_from, h.job_id, h.observation_id, j.run_id, r.kind, r.started_at, s.observed_at,
    o.state, o.reason, o.price AS sent_price, o.active AS sent_active, before.version AS version_before,
    before.price IS NOT NULL OR ever.price AS price_said, before.active IS NOT NULL OR ever.active AS active_said
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
SELECT last.state = 'refused' AND NOT EXISTS (
    SELECT FROM warehouse.sku_outcome AS o
    WHERE o.vendor = :vendor AND o.sku = :sku AND o.settled_at <= :at AND o.state = 'accepted')
FROM (
    SELECT o.state FROM warehouse.sku_outcome AS o WHERE o.vendor = :vendor AND o.sku = :sku AND o.settled_at <= :at
    ORDER BY o.settled_at DESC, o.job_id DESC LIMIT 1
) AS last
"""
_EARLIER = "it was acknowledged before that, longer ago than what is kept can tell"
_EARLIER_LOST = "a job or a picture put it in doubt before that, longer ago than what is kept can tell"


def acknowledged(
    connection: Connection, vendor: str, sku: str, at: dt.datetime, *, propagation_s: float
) -> Shown | None:
    """What the platform had acknowledged by then, and since when and why price and availability stand; None: it never did.

    A SKU of which only an unconfirmed job is known is in doubt until the platform rejects it: then it was never acknowledged.
    `propagation_s`: how long the change takes to reach every customer. `in_doubt` names what nobody knows since then: a job carried it and the log passed over it, or a picture showed something else.
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
        said = "did not bear it out, so it is to be said again" if lost else "showed it"
        because = f"picture {since.observation_id} of the platform {said}"
        return Shown(values, since.observed_at or since.valid_from, because, in_doubt=lost)
    if not lost and _not_brought(values, since):
        return Shown(values, since.valid_from, _EARLIER, earlier=True)
    silence = "did not say what became of it" + (f" ({since.reason})" if since.reason else "")
    verb, word = ("carried", silence) if lost else ("sent", "said success")
    if since.run_id is None:
        because = f"job {since.job_id} {'carried' if lost else 'brought'} it and the platform {word}"
    else:
        begun = f"run {since.run_id} ({since.kind}, begun {since.started_at:%H:%M:%S})"
        because = f"{begun} {verb} it in job {since.job_id} and the platform {word}"
    seen_by = None if lost else since.valid_from + dt.timedelta(seconds=propagation_s)
    return Shown(values, since.valid_from, because, in_doubt=lost, seen_by=seen_by)


def _unmoved(connection: Connection, vendor: str, sku: str, at: dt.datetime) -> Shown | None:
    held = unmoved(connection, vendor, sku, at)
    if held is None:
        return None
    values = Values(held.price, held.quantity, held.active, held.max_sales_quantity)
    if values == Values():
        return Shown(values, held.since_before, _EARLIER_LOST, in_doubt=("price", "active"), earlier=True)
    return Shown(values, held.since_before, _EARLIER, earlier=True)


def _not_brought(values: Values, since: Row[tuple[object, ...]]) -> bool:
    """Whether the oldest move that is kept said nothing of price and availability, so that an older one must have brought them."""
    silent = since.sent_price is None and since.sent_active is None
    return since.state is not None and since.version_before is None and silent and values.price is not None


def _lost(values: Values, since: Row[tuple[object, ...]]) -> tuple[str, ...]:
    """Of price and active, what this move made unknown: where a job was accepted nothing, and else what was ever said, as far as is kept."""
    if since.job_id is not None and since.state != "unaccounted":
        return ()
    first = since.version_before is None
    price = values.price is None and (first or since.price_said)
    active = values.active is None and (first or since.active_said)
    return tuple(name for name, lost in (("price", price), ("active", active)) if lost)


def observed(parts: Parts, connection: Connection, vendor: str, sku: str, at: dt.datetime) -> Shown | None:
    """The SKU in the newest picture of the vendor that is not younger than `at`, `absent` where it is not in it; None: there is no picture."""
    statement = sa.text(
        "SELECT path, how, observed_at FROM ledger.observation WHERE vendor = :vendor AND observed_at <= :at"
        " ORDER BY observed_at DESC, observation_id DESC LIMIT 1"
    )
    picture = connection.execute(statement, {"vendor": vendor, "at": at}).one_or_none()
    if picture is None:
        return None
    row = parts.lake.find(picture.path, sku)
    if row is None:
        return Shown(Values(), picture.observed_at, f"the {picture.how} asked for then does not have it", absent=True)
    because = f"the {picture.how} asked for then shows it"
    return Shown(Values(**{name: row[name] for name in _FIELDS if name in row}), picture.observed_at, because)
