"""The catalog in the warehouse: runs, jobs, the outcome of each SKU, quarantined rows, and the acknowledged state.

The steps write it in the transaction that changes the ledger. People and their tools read it; no step decides by it.
"""

from __future__ import annotations

import sqlalchemy as sa

from shelfsync.store.metadata import boolean, count, metadata, moment, number, text


def _values(meaning: str) -> list[sa.Column[object]]:
    return [
        sa.Column("price", sa.Numeric(20, 3), comment=f"Price {meaning}"),
        number("quantity", f"Quantity {meaning}; the platform compares it with its sales buffer and does not keep it"),
        boolean("active", f"Availability {meaning}"),
        number("max_sales_quantity", f"Most pieces an order may hold, {meaning}"),
    ]


vendor = sa.Table(
    "vendor",
    metadata,
    text("vendor", "The platform's identifier of the store", primary_key=True),
    moment("first_seen_at", "When it was first in an extract", nullable=False),
    schema="warehouse",
    comment="One row a vendor",
)

sync_run = sa.Table(
    "sync_run",
    metadata,
    number("run_id", "Number of the run", primary_key=True, autoincrement=False),
    text("run_key", "DAG and run id in Airflow, or the command line's own name", nullable=False),
    text("kind", "full or delta", nullable=False),
    boolean("dry_run", "True: nothing was sent", nullable=False),
    text("state", "running, succeeded, partly, partly_failed or failed", nullable=False),
    text("error", "The first error to read, if the run did not succeed"),
    moment("started_at", "When it began", nullable=False),
    moment("finished_at", "When it ended"),
    count("vendors", "Vendors in it"),
    count("vendors_failed", "Vendors that failed"),
    count("rows_raw", "Rows read from the ERP"),
    count("rows_quarantined", "Rows that could not be sent"),
    count("values_left_out", "Values that could not be sent, of rows that were sent without them"),
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
    number("job_id", "Number of the job in shelfsync", primary_key=True, autoincrement=False),
    number("run_id", "The run", sa.ForeignKey("warehouse.sync_run.run_id"), nullable=False, index=True),
    text("vendor", "The vendor", sa.ForeignKey("warehouse.vendor.vendor"), nullable=False),
    text("platform_job_id", "The platform's number of the job"),
    text("state", "How it ended", nullable=False),
    number("generation", "Order of the snapshot it came from", nullable=False),
    number("body_bytes", "Length of the request body", nullable=False),
    text(
        "priority",
        "stop_sell, price or catalog: what its most urgent SKUs are",
        nullable=False,
        server_default="catalog",
    ),
    count("urgent", "SKUs of this priority; the others are less urgent"),
    moment(
        "wanted_at",
        "When the ERP made the first of these changes, if it reports that, else when it was first read with them; ended_at less this is the"
        " time to the acknowledgement",
    ),
    count("sent", "SKUs in the request"),
    count("accepted", "SKUs accepted"),
    count("rejected", "SKUs rejected"),
    count("unaccounted", "SKUs for which the platform reported no result"),
    number(
        "repeats_removed",
        "Rows that sku_outcome lacks because they repeated the acknowledged values: removed, or never written; null: it has all",
    ),
    text("error", "Why it did not end well"),
    text("end_reported_by", "What reported its end first: webhook or poll; null: neither, or it has not ended"),
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
    number("job_id", "The job", primary_key=True, autoincrement=False),
    text("sku", "The SKU as it was sent", primary_key=True),
    moment("known_at", "When it was known", primary_key=True),
    text("vendor", "The vendor", nullable=False),
    text("state", "accepted, rejected or unaccounted", nullable=False),
    text("reason", "The platform's message, if it was not accepted"),
    text("change", "new, changed, removed or same", nullable=False),
    *_values("sent; null: not sent"),
    sa.Index("ix_sku_outcome_vendor_sku", "vendor", "sku", "known_at"),
    sa.Index("ix_sku_outcome_not_accepted", "vendor", "state", postgresql_where=sa.text("state <> 'accepted'")),
    sa.CheckConstraint("state IN ('accepted', 'rejected', 'unaccounted')", name="state"),
    schema="warehouse",
    comment="The outcome of each SKU of each job: one row for every SKU sent. Repeats go after some days; catalog_job has their number. Partitioned by month",
    postgresql_partition_by="RANGE (known_at)",
)

quarantine = sa.Table(
    "quarantine",
    metadata,
    number("run_id", "The run", sa.ForeignKey("warehouse.sync_run.run_id"), primary_key=True),
    text("vendor", "The vendor; empty: the row names none", primary_key=True),
    number("row_number", "Position of the row in the extract, from 1", primary_key=True, autoincrement=False),
    text("sku", "The SKU; null: the row has none"),
    text("field", "What is wrong with the row", primary_key=True),
    text("reason", "The kind of fault, a stable keyword", nullable=False),
    text("message", "The fault in a sentence", nullable=False),
    text("raw", "The row as received, as JSON text; of each value at most 240 characters", nullable=False),
    boolean("row_sent", "True: this value alone is left out, and the rest of the row is sent", nullable=False),
    sa.Index("ix_quarantine_vendor_sku", "vendor", "sku"),
    schema="warehouse",
    comment="What cannot be sent of the ERP, rows and single values, with the reason; the ERP's data must be corrected",
)

missed_change = sa.Table(
    "missed_change",
    metadata,
    number("run_id", "The run", sa.ForeignKey("warehouse.sync_run.run_id"), primary_key=True),
    text("vendor", "The vendor", primary_key=True),
    text("sku", "The SKU", primary_key=True),
    text("change", "new, changed or removed", nullable=False),
    text("fields", "The fields that differ, separated by commas", nullable=False),
    schema="warehouse",
    comment="SKUs that the query of the changes had not reported, as a reading of the whole ERP found them",
)

baseline = sa.Table(
    "baseline",
    metadata,
    text("vendor", "The vendor", primary_key=True),  # no foreign key: its check costs as much as writing the row
    text("sku", "The SKU", primary_key=True),
    *_values("last acknowledged"),
    text("barcode", "The barcode that the values were sent to"),
    number("sales_buffer", "The sales buffer in force when the quantity was sent; null: unknown"),
    boolean("left_erp", "True: it was switched off because it left the ERP, not by a value of the ERP"),
    number(
        "job_id",
        "The job that changed its values last; its own row may have been removed by its retention",
        nullable=False,
    ),
    moment("acknowledged_at", "When it changed last", nullable=False),
    schema="warehouse",
    comment="What the platform has acknowledged until now: one row a vendor and SKU",
)
