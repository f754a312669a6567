"""What the platform shows of a SKU: as it was acknowledged, and as it was last seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.explain.event import Shown, Values

if TYPE_CHECKING:
    import datetime as dt

    from sqlalchemy.engine import Connection

    from shelfsync.flow.house import Parts

_FIELDS = ("price", "quantity", "active", "max_sales_quantity")

_NOW = """
SELECT price, quantity, active, max_sales_quantity FROM warehouse.baseline_history
WHERE vendor = :vendor AND sku = :sku AND valid_from <= :at ORDER BY version DESC LIMIT 1
"""

_SINCE = """
SELECT h.valid_from, h.job_id, h.observation_id, j.run_id, r.kind, r.started_at
FROM warehouse.baseline_history AS h
LEFT JOIN warehouse.catalog_job AS j ON j.job_id = h.job_id
LEFT JOIN warehouse.sync_run AS r ON r.run_id = j.run_id
WHERE h.vendor = :vendor AND h.sku = :sku AND h.valid_from <= :at AND h.version > coalesce((
    SELECT max(before.version) FROM warehouse.baseline_history AS before
    WHERE before.vendor = :vendor AND before.sku = :sku AND before.valid_from <= :at
      AND (before.price, before.active) IS DISTINCT FROM (CAST(:price AS numeric), CAST(:active AS boolean))), 0)
ORDER BY h.version LIMIT 1
"""


def acknowledged(connection: Connection, vendor: str, sku: str, at: dt.datetime) -> Shown | None:
    """What the platform had acknowledged by then, and since when and why price and availability stand."""
    bound = {"vendor": vendor, "sku": sku, "at": at}
    row = connection.execute(sa.text(_NOW), bound).mappings().one_or_none()
    if row is None or all(value is None for value in row.values()):
        return None
    values = Values(**row)
    since = connection.execute(sa.text(_SINCE), {**bound, "price": values.price, "active": values.active}).one()
    if since.job_id is None:
        because = f"picture {since.observation_id} of the platform showed it"
    elif since.run_id is None:
        because = f"job {since.job_id} brought it and the platform said success"
    else:
        begun = f"run {since.run_id} ({since.kind}, begun {since.started_at:%H:%M:%S})"
        because = f"{begun} sent it in job {since.job_id} and the platform said success"
    return Shown(values, since.valid_from, because)


def observed(parts: Parts, connection: Connection, vendor: str, sku: str, at: dt.datetime) -> Shown | None:
    """The SKU in the newest picture of the vendor that is not younger than `at`; None when there is none, or it is not in it."""
    statement = sa.text(
        "SELECT path, how, observed_at FROM ledger.observation WHERE vendor = :vendor AND observed_at <= :at"
        " ORDER BY observed_at DESC, observation_id DESC LIMIT 1"
    )
    picture = connection.execute(statement, {"vendor": vendor, "at": at}).one_or_none()
    if picture is None:
        return None
    row = parts.lake.find(picture.path, sku)
    because = f"the {picture.how} asked for then shows it"
    values = {name: row[name] for name in _FIELDS if name in row} if row else {}
    return Shown(Values(**values), picture.observed_at, because) if row else None
