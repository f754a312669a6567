"""Drift in the warehouse: every value that differs in an observation, with its cause and the action; and the products."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.catalog.warehouse import assortment_history
from shelfsync.store import keyset_list
from shelfsync.store.bulk import copy_into
from shelfsync.store.keyset_list import KeysetList, Order
from shelfsync.store.metadata import boolean, metadata, moment, number, text

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Mapping

    import pyarrow as pa
    from sqlalchemy.engine import Connection

drift = sa.Table(
    "drift",
    metadata,
    number(
        "observation_id",
        "The observation (export or listing) that showed it",
        sa.ForeignKey(assortment_history.observation.c.observation_id),
        primary_key=True,
    ),
    text("sku", "The SKU", primary_key=True),
    text("field", "The value that differs; sku: the platform does not show the SKU", primary_key=True),
    text("vendor", "The vendor", nullable=False),
    text(
        "cause",
        "never_sent, rejected, held, acknowledged_not_applied, changed_on_platform, export_older_than_change or unknown",
        nullable=False,
    ),
    text(
        "action",
        "resend: the next delta sends it again; report, ignore: as configured; reject: it was sent again too often",
        nullable=False,
    ),
    text("desired", "What the ERP wants; null: the ERP has no value, or its effect cannot be predicted"),
    text("acknowledged", "What the platform had accepted; null: unknown"),
    text("observed", "What the platform shows"),
    text("message", "The reason for the cause, as a sentence", nullable=False),
    moment("observed_at", "When the observation was requested", nullable=False),
    sa.Index("ix_drift_vendor_sku", "vendor", "sku", "observed_at"),
    schema="warehouse",
    comment="Every observed value that differs from the wanted or acknowledged one: one row an observation, SKU and field",
)

drift_count = sa.Table(
    "drift_count",
    metadata,
    number(
        "observation_id",
        "The observation (export or listing)",
        sa.ForeignKey(assortment_history.observation.c.observation_id),
        primary_key=True,
    ),
    text("cause", "The cause", primary_key=True),
    text("field", "The value that differs", primary_key=True),
    number("differing", "Values that differ", nullable=False),
    number(
        "skus", "Their SKUs, each in the first row of its observation that has it: the sum is the SKUs", nullable=False
    ),
    moment("observed_at", "When the observation was requested", nullable=False),
    schema="warehouse",
    comment="The drift of each observation by cause and field, counted in the transaction that writes it",
)

product = sa.Table(
    "product",
    metadata,
    text("vendor", "The vendor", primary_key=True),
    text("sku", "The SKU", primary_key=True),
    text("barcode", "The ERP's barcode; if it has none, the barcode that the platform shows"),
    boolean(
        "in_erp",
        "Whether the ERP has it, quarantined rows included; null: unknown, because the ERP was not read yet or an unproven extract lacks the SKU",
    ),
    boolean("on_platform", "Whether the platform shows it, on sale or not", nullable=False),
    boolean("active_wanted", "The ERP's availability"),
    boolean("active_shown", "Whether it is on sale on the platform"),
    moment("first_seen_at", "The observation at which it was first known", nullable=False),
    moment("seen_at", "The last observation that changed this row", nullable=False),
    sa.Index("ix_product_sku", "sku", "vendor", postgresql_ops={"sku": "text_pattern_ops"}),
    sa.Index("ix_product_barcode", "barcode", "sku", postgresql_ops={"barcode": "text_pattern_ops"}),
    schema="warehouse",
    comment="Every SKU of a vendor that ERP or platform ever had, as of the vendor's newest observation",
)

_PRODUCT_TEMP = """
CREATE TEMPORARY TABLE incoming_product
(sku text, barcode text, in_erp boolean, on_platform boolean, active_wanted boolean, active_shown boolean) ON COMMIT DROP
"""
_MERGE_PRODUCT = """
MERGE INTO warehouse.product AS held USING incoming_product AS now ON held.vendor = :vendor AND held.sku = now.sku
WHEN MATCHED AND (held.barcode, held.in_erp, held.on_platform, held.active_wanted, held.active_shown)
    IS DISTINCT FROM (now.barcode, now.in_erp, now.on_platform, now.active_wanted, now.active_shown)
THEN UPDATE SET barcode = now.barcode, in_erp = now.in_erp, on_platform = now.on_platform,
    active_wanted = now.active_wanted, active_shown = now.active_shown, seen_at = :at
WHEN NOT MATCHED THEN INSERT
    (vendor, sku, barcode, in_erp, on_platform, active_wanted, active_shown, first_seen_at, seen_at)
    VALUES (:vendor, now.sku, now.barcode, now.in_erp, now.on_platform, now.active_wanted, now.active_shown, :at, :at)
"""
_GONE_PRODUCT = """
UPDATE warehouse.product AS held SET in_erp = false, on_platform = false, active_wanted = NULL, active_shown = NULL, seen_at = :at
WHERE vendor = :vendor AND (in_erp OR on_platform) AND NOT EXISTS (SELECT 1 FROM incoming_product AS now WHERE now.sku = held.sku)
"""

COUNT = """
INSERT INTO warehouse.drift_count (observation_id, cause, field, differing, skus, observed_at)
SELECT observation_id, cause, field, count(*), count(*) FILTER (WHERE number = 1), observed_at
FROM (
    SELECT drift.*, row_number() OVER (PARTITION BY sku ORDER BY cause, field) AS number
    FROM warehouse.drift WHERE observation_id = :observation_id
) AS numbered GROUP BY observation_id, cause, field, observed_at
"""


def replace_drift(
    connection: Connection, vendor: str, observation_id: int, observed_at: dt.datetime, rows: pa.Table
) -> None:
    """The drift of one observation (DRIFT schema with `action`), in place of its earlier rows; and its counts."""
    for table in (drift, drift_count):
        connection.execute(table.delete().where(table.c.observation_id == observation_id))
    copy_into(
        connection, "warehouse.drift", rows, observation_id=observation_id, vendor=vendor, observed_at=observed_at
    )
    connection.execute(sa.text(COUNT), {"observation_id": observation_id})


def merge_products(connection: Connection, vendor: str, at: dt.datetime, rows: pa.Table) -> None:
    """The products of a vendor as of an observation: sku, barcode, in_erp, on_platform, active_wanted, active_shown."""
    connection.execute(sa.text(_PRODUCT_TEMP))
    copy_into(connection, "incoming_product", rows)
    connection.execute(sa.text("ANALYZE incoming_product"))
    for statement in (_MERGE_PRODUCT, _GONE_PRODUCT):
        connection.execute(sa.text(statement), {"vendor": vendor, "at": at})
    connection.execute(sa.text("DROP TABLE incoming_product"))


def drift_causes(connection: Connection, observation_id: int) -> dict[tuple[str, str], str]:
    """The cause of each (SKU, field) that differed in an observation."""
    rows = connection.execute(
        sa.select(drift.c.sku, drift.c.field, drift.c.cause).where(drift.c.observation_id == observation_id)
    )
    return {(row.sku, row.field): row.cause for row in rows}


def drift_counts(connection: Connection, observation_ids: list[int]) -> dict[str, dict[str, int]]:
    """How many values differ in these observations: cause to action to number."""
    statement = (
        sa.select(drift.c.cause, drift.c.action, sa.func.count())
        .where(drift.c.observation_id.in_(observation_ids))
        .group_by(drift.c.cause, drift.c.action)
        .order_by(drift.c.cause, drift.c.action)
    )
    found: dict[str, dict[str, int]] = {}
    for cause, action, rows in connection.execute(statement):
        found.setdefault(cause, {})[action] = rows
    return found


def too_young(connection: Connection, observation_ids: list[int]) -> list[str]:
    """The vendors of these observations with a value that was accepted too late to show in them."""
    accepted = drift.c.acknowledged.is_not(None) & drift.c.acknowledged.is_distinct_from(drift.c.observed)
    young = (drift.c.cause == "export_older_than_change") & accepted
    statement = sa.select(drift.c.vendor).where(drift.c.observation_id.in_(observation_ids), young).distinct()
    return list(connection.execute(statement.order_by(drift.c.vendor)).scalars())


_COLUMNS = (
    "vendor",
    "sku",
    "field",
    "cause",
    "action",
    "desired",
    "acknowledged",
    "observed",
    "message",
    "observed_at",
)
_FILTERS = {
    "vendor": "vendor = :vendor",
    "cause": "cause = :cause",
    "field": "field = :field",
    "sku": "starts_with(sku, :sku)",
}
_BY_PRODUCT = (("vendor", "text"), ("sku", "text"), ("field", "text"))

_OF_NEWEST = """(
    SELECT newest.vendor, {columns}
    FROM (
        SELECT v.vendor, newest.*
        FROM ledger.vendor AS v
        CROSS JOIN LATERAL (
            SELECT observation_id, observed_at FROM warehouse.observation WHERE observation.vendor = v.vendor
            ORDER BY observed_at DESC LIMIT 1
        ) AS newest
        WHERE v.forgotten IS NULL ORDER BY {order}
    ) AS newest
    JOIN warehouse.{table} AS d USING (observation_id)
) AS differing"""
"""Observation by observation in an order: whoever wants the first rows reads the drift of the first observations alone."""

_DRIFT, _NEWEST_FIRST = (
    _OF_NEWEST.format(
        table="drift",
        columns="d.sku, d.field, d.cause, d.action, d.desired, d.acknowledged, d.observed, d.message, newest.observed_at, newest.observation_id",
        order=order,
    )
    for order in ("vendor", "observed_at DESC, vendor DESC")
)
_WITH_CAUSE = """
cause = :cause AND observation_id = (
    SELECT c.observation_id FROM warehouse.drift_count AS c WHERE c.observation_id = differing.observation_id AND c.cause = :cause LIMIT 1
)
"""
"""The counts have which observations have the cause, so no other is read. As an equality, PostgreSQL expects few of them."""

DRIFT = KeysetList(
    _DRIFT,
    _COLUMNS,
    {**_FILTERS, "cause": _WITH_CAUSE},
    {
        "product": Order(_BY_PRODUCT),
        "newest export": Order(
            (("observed_at", "timestamptz"), *_BY_PRODUCT), newest_first=True, relation=_NEWEST_FIRST
        ),
    },
)
"""What differs in the newest observation of each vendor."""

_COUNTED = KeysetList(
    _OF_NEWEST.format(table="drift_count", columns="d.cause, d.field, d.differing, d.skus", order="vendor"),
    ("vendor", "cause", "field", "differing", "skus"),
    {name: condition for name, condition in _FILTERS.items() if name != "sku"},
    {},
)


def causes(connection: Connection, asked: Mapping[str, str], *, most: int) -> list[dict[str, Any]]:
    """`{"cause", "rows", "stores"}` of `DRIFT`, the most frequent first. The cause of `asked` is left out of account."""
    stores = {"stores": "count(DISTINCT vendor)"}
    if asked.get("sku"):
        return keyset_list.groups(connection, DRIFT, asked, "cause", also=stores, most=most)
    return keyset_list.groups(connection, _COUNTED, asked, "cause", rows="sum(differing)", also=stores, most=most)


def skus_differing(connection: Connection, vendor: str | None = None) -> int:
    """The SKUs of `DRIFT`, of one vendor or of all."""
    given = {} if vendor is None else {"vendor": vendor}
    statement = f"SELECT coalesce(sum(skus), 0) FROM {_COUNTED.relation} WHERE {_COUNTED.where(given)}"  # noqa: S608  of constants
    return int(connection.execute(sa.text(statement), given).scalar_one())


OF_OBSERVATION = KeysetList(
    "warehouse.drift",
    _COLUMNS,
    {"observation_id": "observation_id = CAST(:observation_id AS bigint)"},
    {"product": Order((("sku", "text"), ("field", "text")))},
)
"""What differed in one observation."""
