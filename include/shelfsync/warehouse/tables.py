"""What the warehouse tells: runs, jobs, what became of each SKU, what could not be sent, what the platform holds.

Written by the steps in the transaction that moves the ledger, read by people and their tools; nothing of ours decides by it.
"""

from __future__ import annotations

import sqlalchemy as sa

from shelfsync.ledger.metadata import metadata


def _time(name: str, comment: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable, comment=comment)


def _count(name: str, comment: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, nullable=False, server_default="0", comment=comment)


def _values(said: str) -> list[sa.Column[object]]:
    return [
        sa.Column("price", sa.Numeric(20, 3), comment=f"Price {said}"),
        sa.Column(
            "quantity",
            sa.BigInteger,
            comment=f"Quantity {said}; the platform compares it with its sales buffer and forgets it",
        ),
        sa.Column("active", sa.Boolean, comment=f"Availability {said}"),
        sa.Column("max_sales_quantity", sa.BigInteger, comment=f"Most pieces an order may hold, {said}"),
    ]


vendor = sa.Table(
    "vendor",
    metadata,
    sa.Column("vendor", sa.Text, primary_key=True, comment="The platform's identifier of the store"),
    _time("first_seen_at", "When it was first in an extract"),
    schema="warehouse",
    comment="One row a vendor",
)

sync_run = sa.Table(
    "sync_run",
    metadata,
    sa.Column("run_id", sa.BigInteger, primary_key=True, autoincrement=False, comment="Number of the run"),
    sa.Column("run_key", sa.Text, nullable=False, comment="DAG and run id in Airflow, or the command line's own name"),
    sa.Column("kind", sa.Text, nullable=False, comment="full or delta"),
    sa.Column("dry_run", sa.Boolean, nullable=False, comment="True: nothing was sent"),
    sa.Column("state", sa.Text, nullable=False, comment="running, succeeded, partly, partly_failed or failed"),
    sa.Column("error", sa.Text, comment="What a person should read first, when it did not succeed"),
    _time("started_at", "When it began"),
    _time("finished_at", "When it ended", nullable=True),
    _count("vendors", "Vendors in it"),
    _count("vendors_failed", "Vendors that failed"),
    _count("rows_raw", "Rows read from the ERP"),
    _count("rows_quarantined", "Rows that could not be sent"),
    _count("skus_changed", "SKUs with a change (new, changed or removed)"),
    _count("skus_sent", "SKUs sent"),
    _count("skus_accepted", "SKUs accepted"),
    _count("skus_refused", "SKUs refused"),
    _count("skus_unaccounted", "SKUs of which the platform said nothing"),
    _count("skus_held", "SKUs that a guard held"),
    _count("skus_spared", "SKUs whose quantity changed without effect for a customer: it waits for the full sync"),
    sa.Index("ix_sync_run_started_at", "started_at"),
    schema="warehouse",
    comment="One row a run of the catalog path",
)

catalog_job = sa.Table(
    "catalog_job",
    metadata,
    sa.Column("job_id", sa.BigInteger, primary_key=True, autoincrement=False, comment="Our number of the job"),
    sa.Column(
        "run_id",
        sa.BigInteger,
        sa.ForeignKey("warehouse.sync_run.run_id"),
        nullable=False,
        index=True,
        comment="The run",
    ),
    sa.Column("vendor", sa.Text, sa.ForeignKey("warehouse.vendor.vendor"), nullable=False, comment="The vendor"),
    sa.Column("platform_job_id", sa.Text, comment="The platform's number of the job"),
    sa.Column("state", sa.Text, nullable=False, comment="How it ended"),
    sa.Column("generation", sa.BigInteger, nullable=False, comment="Order of the snapshot it came from"),
    sa.Column("body_bytes", sa.BigInteger, nullable=False, comment="Length of the request body"),
    sa.Column(
        "lane",
        sa.Text,
        nullable=False,
        server_default="catalog",
        comment="stop_sell, price or catalog: what its most urgent SKUs are",
    ),
    _count("urgent", "SKUs that are of its lane; the others rode along"),
    _time(
        "wanted_at",
        "When the ERP was first read with what it carries; settled_at less this is the time to the acknowledgement",
        nullable=True,
    ),
    _count("sent", "SKUs in the request"),
    _count("accepted", "SKUs accepted"),
    _count("refused", "SKUs refused"),
    _count("unaccounted", "SKUs of which nothing was said"),
    sa.Column(
        "repeats_removed",
        sa.BigInteger,
        comment="Rows of sku_outcome that housekeeping removed because they repeated what held already; null: none yet",
    ),
    sa.Column("error", sa.Text, comment="Why it did not end well"),
    sa.Column(
        "heard_by",
        sa.Text,
        comment="How its end was first heard of: webhook, or question where none had come; null: nobody told, or not yet",
    ),
    _time("read_at", "When the ERP was read for it; null: that reading was replaced by a later one", nullable=True),
    _time("sent_at", "When the request was committed to leave"),
    _time("answered_at", "When the platform took it", nullable=True),
    _time("settled_at", "When its outcome was known or given up", nullable=True),
    sa.Index("ix_catalog_job_vendor_sent_at", "vendor", "sent_at"),
    schema="warehouse",
    comment="One row a catalog job",
)

sku_outcome = sa.Table(
    "sku_outcome",
    metadata,
    sa.Column("job_id", sa.BigInteger, primary_key=True, autoincrement=False, comment="The job"),
    sa.Column("sku", sa.Text, primary_key=True, comment="The SKU as it was sent"),
    sa.Column("settled_at", sa.DateTime(timezone=True), primary_key=True, comment="When it was known"),
    sa.Column("vendor", sa.Text, nullable=False, comment="The vendor"),
    sa.Column("state", sa.Text, nullable=False, comment="accepted, refused or unaccounted"),
    sa.Column("reason", sa.Text, comment="The platform's words when it was not accepted"),
    sa.Column("change", sa.Text, nullable=False, comment="new, changed, removed or same"),
    *_values("sent; null: not sent"),
    sa.Index("ix_sku_outcome_vendor_sku", "vendor", "sku", "settled_at"),
    sa.Index("ix_sku_outcome_not_accepted", "vendor", "state", postgresql_where=sa.text("state <> 'accepted'")),
    sa.CheckConstraint("state IN ('accepted', 'refused', 'unaccounted')", name="state"),
    schema="warehouse",
    comment="What became of each SKU of each job: one row for every SKU sent (repeats go after some days, counted in catalog_job); by months",
    postgresql_partition_by="RANGE (settled_at)",
)

quarantine = sa.Table(
    "quarantine",
    metadata,
    sa.Column("run_id", sa.BigInteger, sa.ForeignKey("warehouse.sync_run.run_id"), primary_key=True, comment="The run"),
    sa.Column(
        "row_number",
        sa.BigInteger,
        primary_key=True,
        autoincrement=False,
        comment="Place of the row in the extract, from 1",
    ),
    sa.Column("vendor", sa.Text, nullable=False, comment="The vendor"),
    sa.Column("sku", sa.Text, comment="The SKU, as far as there is one"),
    sa.Column("field", sa.Text, nullable=False, comment="What is wrong with the row"),
    sa.Column("reason", sa.Text, nullable=False, comment="The kind of fault, a stable word"),
    sa.Column("message", sa.Text, nullable=False, comment="The fault in a sentence"),
    sa.Column("raw", sa.Text, nullable=False, comment="The whole row as it came, as JSON text"),
    sa.Index("ix_quarantine_vendor_sku", "vendor", "sku"),
    schema="warehouse",
    comment="Rows of the ERP that cannot be sent, with the reason: work for people",
)

baseline = sa.Table(
    "baseline",
    metadata,
    sa.Column("vendor", sa.Text, sa.ForeignKey("warehouse.vendor.vendor"), primary_key=True, comment="The vendor"),
    sa.Column("sku", sa.Text, primary_key=True, comment="The SKU"),
    *_values("last acknowledged"),
    sa.Column(
        "job_id",
        sa.BigInteger,
        nullable=False,
        comment="The job that moved it last; its own row may have gone with its retention",
    ),
    _time("acknowledged_at", "When it moved last"),
    schema="warehouse",
    comment="What the platform has acknowledged, now: one row a vendor and SKU",
)
