"""The views of the warehouse. Every migration creates them again; to change one is a migration, too.

The history of every SKU is one of them: each kind of event is one SELECT, and a query by vendor and SKU uses an index in each.
The SQL is the part of the language that PostgreSQL and DuckDB share, so that the same text answers in both (docs/reference/warehouse.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.catalog.warehouse.views import CATALOG_VIEWS, VENDOR_COUNT
from shelfsync.orders.warehouse.views import ORDER_VIEWS
from shelfsync.store.metadata import View

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

_NO_VALUES = (
    "CAST(NULL AS numeric(20, 3)) AS price, CAST(NULL AS bigint) AS quantity,"
    " CAST(NULL AS boolean) AS active, CAST(NULL AS bigint) AS max_sales_quantity"
)

_WANTED = """
SELECT o.vendor, o.sku, j.read_at AS at, 'diff' AS step,
    CASE o.change WHEN 'new' THEN 'wanted, not acknowledged before'
        WHEN 'removed' THEN 'no longer wanted, because it left the ERP'
        ELSE 'the wanted values differ from the acknowledged ones' END
        || ' (run ' || j.run_id || ' read the ERP)' AS message,
    j.run_id, CAST(NULL AS bigint) AS job_id, o.price, o.quantity, o.active, o.max_sales_quantity
FROM warehouse.sku_outcome AS o JOIN warehouse.catalog_job AS j ON j.job_id = o.job_id
WHERE o.change <> 'same' AND j.read_at IS NOT NULL
"""

_SENT = """
SELECT o.vendor, o.sku, j.sent_at AS at, 'deliver' AS step,
    CASE o.change WHEN 'removed' THEN 'sent as off sale, because it left the ERP'
        WHEN 'same' THEN 'sent again by a full sync'
        WHEN 'new' THEN 'sent for the first time' ELSE 'sent' END
        || ' (job ' || o.job_id || ' of run ' || j.run_id || ')' AS message,
    j.run_id, o.job_id, o.price, o.quantity, o.active, o.max_sales_quantity
FROM warehouse.sku_outcome AS o JOIN warehouse.catalog_job AS j ON j.job_id = o.job_id
"""

_OUTCOMES = """
SELECT o.vendor, o.sku, o.known_at AS at, 'confirm' AS step,
    CASE o.state WHEN 'accepted' THEN 'the platform accepted it'
        WHEN 'rejected' THEN 'the platform rejected it: ' || coalesce(o.reason, 'no reason given')
        ELSE 'the platform reported no result' || coalesce(': ' || o.reason, '') END
        || ' (job ' || o.job_id || coalesce(', on the platform ' || j.platform_job_id, '') || ')' AS message,
    j.run_id, o.job_id, o.price, o.quantity, o.active, o.max_sales_quantity
FROM warehouse.sku_outcome AS o JOIN warehouse.catalog_job AS j ON j.job_id = o.job_id
"""

_QUARANTINED = f"""
SELECT q.vendor, q.sku, r.started_at AS at, 'normalise' AS step,
    CASE WHEN q.row_sent THEN 'of row ' || q.row_number || ' of the extract one value was left out: '
        ELSE 'row ' || q.row_number || ' of the extract was quarantined: ' END || q.message AS message,
    q.run_id, CAST(NULL AS bigint) AS job_id, {_NO_VALUES}
FROM warehouse.quarantine AS q JOIN warehouse.sync_run AS r ON r.run_id = q.run_id
"""

_CONFIRMED = """
SELECT h.vendor, h.sku, h.valid_from AS at, 'reconcile' AS step,
    'observation ' || h.observation_id || ' of the platform set the acknowledged values' AS message,
    CAST(NULL AS bigint) AS run_id, CAST(NULL AS bigint) AS job_id, h.price, h.quantity, h.active, h.max_sales_quantity
FROM warehouse.baseline_history AS h WHERE h.observation_id IS NOT NULL
"""

_SHOWN = """
SELECT a.vendor, a.sku, a.valid_from AS at, 'observe' AS step, 'the platform showed this' AS message,
    CAST(NULL AS bigint) AS run_id, CAST(NULL AS bigint) AS job_id,
    a.price, CAST(NULL AS bigint) AS quantity, a.active, a.max_sales_quantity
FROM warehouse.assortment_history AS a
"""

_GONE = f"""
SELECT a.vendor, a.sku, a.valid_to AS at, 'observe' AS step, 'the platform no longer showed it' AS message,
    CAST(NULL AS bigint) AS run_id, CAST(NULL AS bigint) AS job_id, {_NO_VALUES}
FROM warehouse.assortment_history AS a
WHERE a.valid_to IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM warehouse.assortment_history AS later
    WHERE later.vendor = a.vendor AND later.sku = a.sku AND later.valid_from = a.valid_to)
"""

_DRIFTED = f"""
SELECT d.vendor, d.sku, d.observed_at AS at, 'reconcile' AS step,
    d.field || ' differs (' || d.cause || ', ' || d.action || '): ' || d.message AS message,
    CAST(NULL AS bigint) AS run_id, CAST(NULL AS bigint) AS job_id, {_NO_VALUES}
FROM warehouse.drift AS d
"""

_OFFER = "p.name || ' (campaign ' || p.campaign || '), ' || lower(replace(s.subtype, '_', ' ')) || ' ' || s.value"
_PROMOTED = f"""
SELECT v.vendor, s.sku, p.{{when}} AS at, 'promotion' AS step,
    'promotion ' || {_OFFER} || ': {{event}}' AS message,
    CAST(NULL AS bigint) AS run_id, CAST(NULL AS bigint) AS job_id, {_NO_VALUES}
FROM warehouse.promotion AS p
JOIN warehouse.promotion_sku AS s ON s.promotion_id = p.promotion_id
JOIN warehouse.promotion_vendor AS named ON named.promotion_id = p.promotion_id
JOIN warehouse.vendor AS v ON named.vendor IN (v.vendor, '*')
WHERE p.confirmed_at IS NOT NULL AND p.{{when}} IS NOT NULL
"""
_STARTED = _PROMOTED.format(when="confirmed_at", event="the platform has it")
_BEGINS = _PROMOTED.format(when="start_time", event="it begins")
_ENDED = _PROMOTED.format(when="ended_at", event="shelfsync ended it")
_OVER = _PROMOTED.format(when="end_time", event="it ends at its end time")

_EVENTS = (
    _WANTED,
    _SENT,
    _OUTCOMES,
    _QUARANTINED,
    _CONFIRMED,
    _SHOWN,
    _GONE,
    _DRIFTED,
    _STARTED,
    _BEGINS,
    _ENDED,
    _OVER,
)

TIMELINE = View(
    "timeline",
    "The events of each SKU at each vendor, without holds, restorations and outcomes of promotions. Always filter by vendor and SKU: then it is fast",
    {
        "vendor": "The vendor",
        "sku": "The SKU",
        "at": "When; the begin or end of a promotion may lie in the future",
        "step": "The step that wrote it",
        "message": "The event as text",
        "run_id": "The run, if there is one",
        "job_id": "The job, if there is one",
        "price": "Price sent, accepted, rejected or observed",
        "quantity": "Quantity",
        "active": "Availability",
        "max_sales_quantity": "Sales limit",
    },
    "\nUNION ALL".join(_EVENTS),
)
VIEWS = (*CATALOG_VIEWS, VENDOR_COUNT, *ORDER_VIEWS, TIMELINE)
"""Each view comes after those that it reads."""


def drop(connection: Connection) -> None:
    """Drops all views, so that a migration may change their tables."""
    if connection.execute(sa.text("SELECT to_regnamespace('warehouse') IS NULL")).scalar_one():
        return
    for view in reversed(VIEWS):
        connection.execute(sa.text(f"DROP VIEW IF EXISTS warehouse.{view.name}"))


def create(connection: Connection) -> None:
    """Creates all views as they are here, with their comments."""
    drop(connection)
    for view in VIEWS:
        connection.execute(sa.text(f"CREATE VIEW warehouse.{view.name} AS {view.sql}"))
        _comment(connection, f"VIEW warehouse.{view.name}", view.comment)
        for name, meaning in view.columns.items():
            _comment(connection, f'COLUMN warehouse.{view.name}."{name}"', meaning)


def _comment(connection: Connection, what: str, text: str) -> None:
    quoted = text.replace("'", "''")
    connection.execute(sa.text(f"COMMENT ON {what} IS :text".replace(":text", f"'{quoted}'").replace(":", r"\:")))
