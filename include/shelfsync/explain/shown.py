"""What the platform shows of a SKU: as acknowledged by its jobs, and as last seen in a picture of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.explain.event import Shown, Values

if TYPE_CHECKING:
    import datetime as dt

    from sqlalchemy.engine import Connection

    from shelfsync.flow.house import Parts

_FIELDS = ("price", "quantity", "active", "max_sales_quantity")

_LAST = """
SELECT {field} AS value, settled_at, job_id FROM warehouse.sku_outcome
WHERE vendor = :vendor AND sku = :sku AND state = 'accepted' AND {field} IS NOT NULL AND settled_at <= :at
ORDER BY settled_at DESC, job_id DESC LIMIT 1
"""

_SINCE = """
SELECT o.settled_at, o.job_id, j.run_id, j.platform_job_id, r.kind, r.started_at
FROM warehouse.sku_outcome AS o
JOIN warehouse.catalog_job AS j USING (job_id) JOIN warehouse.sync_run AS r USING (run_id)
WHERE o.vendor = :vendor AND o.sku = :sku AND o.state = 'accepted' AND o.{field} = :value AND o.settled_at <= :at
  AND o.settled_at > coalesce((
      SELECT max(before.settled_at) FROM warehouse.sku_outcome AS before
      WHERE before.vendor = :vendor AND before.sku = :sku AND before.state = 'accepted'
        AND before.{field} <> :value AND before.settled_at <= :at), '-infinity')
ORDER BY o.settled_at, o.job_id LIMIT 1
"""


def acknowledged(connection: Connection, vendor: str, sku: str, at: dt.datetime) -> Shown | None:
    """The values of the platform's last word on each field, and since when and why the price (else the availability) stands."""
    bound = {"vendor": vendor, "sku": sku, "at": at}
    last = {name: connection.execute(sa.text(_LAST.format(field=name)), bound).one_or_none() for name in _FIELDS}
    known = {name: row.value for name, row in last.items() if row is not None}
    if not known:
        return None
    field = next(name for name in ("price", "active", "max_sales_quantity", "quantity") if name in known)
    since = connection.execute(sa.text(_SINCE.format(field=field)), {**bound, "value": known[field]}).one()
    because = (
        f"run {since.run_id} ({since.kind}, begun {since.started_at:%H:%M:%S}) sent it in job {since.job_id}"
        " and the platform said success"
    )
    return Shown(Values(**known), since.settled_at, because)


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
