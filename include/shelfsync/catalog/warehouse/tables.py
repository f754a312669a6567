"""The catalog in the warehouse: runs, jobs, the outcome of each SKU, quarantined rows, and the acknowledged state.

The steps write it in the transaction that changes the ledger. People and their tools read it; no step decides by it.
"""

from __future__ import annotations

import sqlalchemy as sa

from shelfsync.store.metadata import count, metadata, moment


def _values(meaning: str) -> list[sa.Column[object]]:
    return [
        sa.Column("price", sa.Numeric(20, 3), comment=f"Price {meaning}"),
        sa.Column(
            "quantity",
            sa.BigInteger,
            comment=f"Quantity {meaning}; the platform compares it with its sales buffer and does not keep it",
        ),
        sa.Column("active", sa.Boolean, comment=f"Availability {meaning}"),
        sa.Column("max_sales_quantity", sa.BigInteger, comment=f"Most pieces an order may hold, {meaning}"),
    ]


vendor = sa.Table(
    "vendor",
    metadata,
    sa.Column("vendor", sa.Text, primary_key=True, comment="The platform's identifier of the store"),
    moment("first_seen_at", "When it was first in an extract", nullable=False),
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
    sa.Column("error", sa.Text, comment="The first error to read, if the run did not succeed"),
    moment("started_at", "When it began", nullable=False),
    moment("finished_at", "When it ended"),
    count("vendors", "Vendors in it"),
    count("vendors_failed", "Vendors that failed"),
    count("rows_raw", "Rows read from the ERP"),
    count("rows_quarantined", "Rows that could not be sent"),
    count("skus_changed", "SKUs with a change (new, changed or removed)"),
    count("skus_sent", "SKUs sent"),
    count("skus_accepted", "SKUs accepted"),
    count("skus_rejected", "SKUs rejected"),
    count("skus_unaccounted", "SKUs for which the platform reported no result"),
    count("skus_held", "SKUs that a guard held"),
    count("skus_suppressed", "SKUs whose quantity changed without effect for a customer; the next full sync sends it"),
    sa.Index("ix_sync_run_started_at", "started_at"),
    schema="warehouse",
    comment="One row a run of the catalog path",
)

catalog_job = sa.Table(
    "catalog_job",
    metadata,
    sa.Column("job_id", sa.BigInteger, primary_key=True, autoincrement=False, comment="Number of the job in shelfsync"),
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
        "priority",
        sa.Text,
        nullable=False,
        server_default="catalog",
        comment="stop_sell, price or catalog: what its most urgent SKUs are",
    ),
    count("urgent", "SKUs of this priority; the others are less urgent"),
    moment(
        "wanted_at",
        "When the ERP was first read with these values; ended_at less this is the time to the acknowledgement",
    ),
    count("sent", "SKUs in the request"),
    count("accepted", "SKUs accepted"),
    count("rejected", "SKUs rejected"),
    count("unaccounted", "SKUs for which the platform reported no result"),
    sa.Column(
        "repeats_removed",
        sa.BigInteger,
        comment="Rows of sku_outcome that housekeeping removed because they repeated the acknowledged values; null: none yet",
    ),
    sa.Column("error", sa.Text, comment="Why it did not end well"),
    sa.Column(
        "end_reported_by",
        sa.Text,
        comment="What reported its end first: webhook or poll; null: neither, or it has not ended",
    ),
    moment("read_at", "When the ERP was read for it; null: a later reading replaced that one"),
    moment("sent_at", "When shelfsync committed the request, just before sending it", nullable=False),
    moment("answered_at", "When the platform accepted the request"),
    moment("ended_at", "When its outcome was known or given up"),
    sa.Index("ix_catalog_job_vendor_sent_at", "vendor", "sent_at"),
    schema="warehouse",
    comment="One row a catalog job",
)

sku_outcome = sa.Table(
    "sku_outcome",
    metadata,
    sa.Column("job_id", sa.BigInteger, primary_key=True, autoincrement=False, comment="The job"),
    sa.Column("sku", sa.Text, primary_key=True, comment="The SKU as it was sent"),
    sa.Column("known_at", sa.DateTime(timezone=True), primary_key=True, comment="When it was known"),
    sa.Column("vendor", sa.Text, nullable=False, comment="The vendor"),
    sa.Column("state", sa.Text, nullable=False, comment="accepted, rejected or unaccounted"),
    sa.Column("reason", sa.Text, comment="The platform's message, if it was not accepted"),
    sa.Column("change", sa.Text, nullable=False, comment="new, changed, removed or same"),
    *_values("sent; null: not sent"),
    sa.Index("ix_sku_outcome_vendor_sku", "vendor", "sku", "known_at"),
    sa.Index("ix_sku_outcome_not_accepted", "vendor", "state", postgresql_where=sa.text("state <> 'accepted'")),
    sa.CheckConstraint("state IN ('accepted', 'rejected', 'unaccounted')", name="state"),
    schema="warehouse",
    comment="The outcome of each SKU of each job: one row for every SKU sent. Housekeeping removes repeats after some days and counts them in catalog_job. Partitioned by month",
    postgresql_partition_by="RANGE (known_at)",
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
        comment="Position of the row in the extract, from 1",
    ),
    sa.Column("vendor", sa.Text, nullable=False, comment="The vendor"),
    sa.Column("sku", sa.Text, comment="The SKU; null: the row has none"),
    sa.Column("field", sa.Text, nullable=False, comment="What is wrong with the row"),
    sa.Column("reason", sa.Text, nullable=False, comment="The kind of fault, a stable keyword"),
    sa.Column("message", sa.Text, nullable=False, comment="The fault in a sentence"),
    sa.Column("raw", sa.Text, nullable=False, comment="The whole row as received, as JSON text"),
    sa.Index("ix_quarantine_vendor_sku", "vendor", "sku"),
    schema="warehouse",
    comment="Rows of the ERP that cannot be sent, with the reason; the ERP's data must be corrected",
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
        comment="The job that changed it last; its own row may have been removed by its retention",
    ),
    moment("acknowledged_at", "When it changed last", nullable=False),
    schema="warehouse",
    comment="What the platform has acknowledged until now: one row a vendor and SKU",
)
