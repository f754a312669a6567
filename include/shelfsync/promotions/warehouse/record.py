"""Promotions in the warehouse: its tables, and what fills them from the ledger, in the transaction that changes the ledger.

They have the promotions of each vendor with their prices, every request, the outcome of every SKU, and the findings against the catalog.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB, insert

from shelfsync.platform.jobs.table import job as job_table
from shelfsync.promotions.ledger import tables as ledger
from shelfsync.store.bulk import among, copy_into, update
from shelfsync.store.metadata import boolean, count, instant, metadata, moment, number, text
from shelfsync.store.mirror import Mirror

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pyarrow as pa
    from sqlalchemy.engine import Connection

promotion_run = sa.Table(
    "promotion_run",
    metadata,
    number("run_id", "Number of the run", primary_key=True, autoincrement=False),
    text("run_key", "DAG and run id, or the command line's own name", nullable=False),
    boolean("dry_run", "True: nothing was sent", nullable=False),
    text("state", "running, planned, succeeded, partly_failed, failed or superseded", nullable=False),
    text("error", "The first error to read"),
    moment("started_at", "When it began", nullable=False),
    moment("finished_at", "When it ended"),
    count("rows", "Rows read from the ERP"),
    count("rows_quarantined", "Rows that could not be sent"),
    count("promotions", "Promotions that the ERP wants"),
    count("pairs", "Pairs of SKU and vendor that it wants"),
    count("held", "Pairs that a guard held"),
    count("created", "Promotions planned to be created"),
    count("changed", "Promotions planned to be changed"),
    count("ended", "Promotions planned to be ended"),
    count("requests", "Requests planned"),
    schema="warehouse",
    comment="One row a run of the promotions' path",
)

promotion = sa.Table(
    "promotion",
    metadata,
    number("promotion_id", "Number of the promotion in shelfsync", primary_key=True, autoincrement=False),
    text("campaign", "The ERP's identifier of the campaign", nullable=False, index=True),
    text("name", "Its name, in one language", nullable=False),
    sa.Column("display_name", JSONB, nullable=False, comment="Its name by locale"),
    text("type", "STRIKETHROUGH or SAME_ITEM_BUNDLE", nullable=False),
    text("reason", "The reason, as one of the platform's values", nullable=False),
    moment("start_time", "From when it runs", nullable=False),
    moment("end_time", "Until when it runs", nullable=False),
    text(
        "state",
        "new, sent (the platform has it: upcoming, running or over by its times), failed or ended",
        nullable=False,
    ),
    count("vendors", "Vendors it is for"),
    count("skus", "SKUs that the platform has in it, as far as it reported"),
    moment("confirmed_at", "When the platform first confirmed it"),
    moment("ended_at", "When the platform confirmed its end by shelfsync"),
    sa.Index("ix_promotion_window", "start_time", "end_time"),
    schema="warehouse",
    comment="One row a promotion that was ever planned",
)

promotion_vendor = sa.Table(
    "promotion_vendor",
    metadata,
    number(
        "promotion_id",
        "The promotion",
        sa.ForeignKey("warehouse.promotion.promotion_id"),
        primary_key=True,
        autoincrement=False,
    ),
    text("vendor", "The vendor", primary_key=True),
    sa.Index("ix_promotion_vendor_vendor", "vendor"),
    schema="warehouse",
    comment="Which vendors a promotion is for",
)

promotion_sku = sa.Table(
    "promotion_sku",
    metadata,
    number(
        "promotion_id",
        "The promotion",
        sa.ForeignKey("warehouse.promotion.promotion_id"),
        primary_key=True,
        autoincrement=False,
    ),
    text("sku", "The SKU", primary_key=True),
    text("subtype", "FINAL_PRICE, PERCENTAGE or ABSOLUTE", nullable=False),
    sa.Column("value", sa.Numeric(20, 3), nullable=False, comment="The final price, the percentage or the amount off"),
    number("max_quantity", "Discounted pieces an order may have; null: any number"),
    boolean("known", "False: the platform may hold this, another value, or nothing", nullable=False),
    sa.Index("ix_promotion_sku_sku", "sku"),
    schema="warehouse",
    comment="What the platform has of each promotion, at all its vendors but those that promotion_outcome names as rejected",
)

promotion_job = sa.Table(
    "promotion_job",
    metadata,
    number("job_id", "Number of the request in shelfsync", primary_key=True, autoincrement=False),
    number(
        "run_id", "The run that planned it", sa.ForeignKey("warehouse.promotion_run.run_id"), nullable=False, index=True
    ),
    number(
        "promotion_id", "The promotion", sa.ForeignKey("warehouse.promotion.promotion_id"), nullable=False, index=True
    ),
    text("action", "create, change or end", nullable=False),
    sa.Column("piece", sa.Integer, nullable=False, comment="Position among the requests of this promotion and run"),
    text("platform_job_id", "The platform's number of the job"),
    text("platform_status", "The last status that the platform reported: COMPLETED, FAILED, DUPLICATE"),
    text("state", "How it ended", nullable=False),
    number("body_bytes", "Length of the request", nullable=False),
    count("skus", "SKUs in it"),
    count("sent", "Pairs of SKU and vendor in it"),
    count("accepted", "Pairs that the platform accepted"),
    count("rejected", "Pairs that the platform rejected"),
    count("unaccounted", "Pairs whose outcome is unknown"),
    text("error", "Why it did not end well"),
    moment("sent_at", "When shelfsync committed the request, just before sending it", nullable=False),
    moment("answered_at", "When the platform accepted the request"),
    moment("ended_at", "When its outcome was known or given up"),
    schema="warehouse",
    comment="One row a request about a promotion",
)

promotion_outcome = sa.Table(
    "promotion_outcome",
    metadata,
    number("job_id", "The job", sa.ForeignKey("warehouse.promotion_job.job_id"), primary_key=True, autoincrement=False),
    text("sku", "The SKU as it was sent", primary_key=True),
    text("vendor", "The vendor; *: every vendor of the promotion that has no row of its own here", primary_key=True),
    text("state", "accepted, rejected or unaccounted", nullable=False),
    text("reason", "The platform's list that named it"),
    boolean("active", "False: the request removed the SKU", nullable=False),
    text("subtype", "FINAL_PRICE, PERCENTAGE or ABSOLUTE", nullable=False),
    sa.Column("value", sa.Numeric(20, 3), nullable=False, comment="The final price, the percentage or the amount off"),
    moment("known_at", "When it was known", nullable=False),
    sa.Index("ix_promotion_outcome_rejected", "vendor", "sku", postgresql_where=sa.text("state <> 'accepted'")),
    sa.CheckConstraint("state IN ('accepted', 'rejected', 'unaccounted')", name="state"),
    schema="warehouse",
    comment="The outcome of each SKU of each request: one row for all vendors together, and one for each vendor with another outcome",
)

promotion_quarantine = sa.Table(
    "promotion_quarantine",
    metadata,
    number("run_id", "The run", sa.ForeignKey("warehouse.promotion_run.run_id"), primary_key=True, autoincrement=False),
    number("row_number", "Position of the row in the extract, from 1", primary_key=True, autoincrement=False),
    text("vendor", "The vendor of the row; *: all vendors", primary_key=True),
    text("sku", "The SKU; null: the row has none"),
    text("field", "What is wrong with the row", nullable=False),
    text("reason", "The kind of fault, a stable keyword", nullable=False),
    text("message", "The fault in a sentence", nullable=False),
    text("raw", "The whole row as received, as JSON text", nullable=False),
    schema="warehouse",
    comment="Rows of the ERP's promotions that cannot be sent, with the reason; the ERP's data must be corrected",
)

promotion_finding = sa.Table(
    "promotion_finding",
    metadata,
    number("promotion_id", "The promotion; 0: one that shelfsync never sent", primary_key=True, autoincrement=False),
    text("vendor", "The vendor; *: all of the promotion", primary_key=True),
    text("sku", "The SKU; empty: the promotion as a whole", primary_key=True),
    text("cause", "What does not fit, a stable keyword (docs/how-to/promotions.md)", primary_key=True),
    text("message", "The same in a sentence", nullable=False),
    number("run_id", "The run that found it last", nullable=False),
    moment("first_at", "When it was first found", nullable=False),
    moment("last_at", "When it was last found; a finding that is over is removed", nullable=False),
    schema="warehouse",
    comment="Where promotions and catalog do not fit together, with the cause",
)

_COUNTS = ("rows", "rows_quarantined", "promotions", "pairs", "held", "created", "changed", "ended", "requests")


_run, _promotion, _job, _request = ledger.promotion_run.c, ledger.promotion.c, job_table.c, ledger.promotion_request.c
_counted = _run.report["counts"]
_header = _promotion.header
_names = sa.func.jsonb_each_text(_header["display_name"]).table_valued("key", "value")

RUN = Mirror(
    promotion_run,
    sa.select(
        *(_run[name] for name in ("run_id", "run_key", "dry_run", "state", "error", "started_at", "finished_at")),
        *(sa.func.coalesce(sa.cast(_counted[name].astext, sa.BigInteger), 0).label(name) for name in _COUNTS),
    ),
    by=_run.run_id,
)
PROMOTION = Mirror(
    promotion,
    sa.select(
        *(_promotion[name] for name in ("promotion_id", "campaign", "start_time", "end_time", "state")),
        *(_promotion[name] for name in ("ended_at", "confirmed_at")),
        sa.select(_names.c.value).limit(1).scalar_subquery().label("name"),
        _header["display_name"].label("display_name"),
        *(_header[name].as_string().label(name) for name in ("type", "reason")),
        sa.func.cardinality(_promotion.vendors).label("vendors"),
    ),
    by=_promotion.promotion_id,
)
PROMOTION_VENDOR = Mirror(
    promotion_vendor,
    sa.select(_promotion.promotion_id, sa.func.unnest(_promotion.vendors).label("vendor")),
    by=_promotion.promotion_id,
)
JOB = Mirror(
    promotion_job,
    sa.select(
        *(_request[name] for name in ("run_id", "promotion_id", "action", "piece", "body_bytes", "skus")),
        *(_job[name] for name in ("job_id", "platform_job_id", "platform_status", "state", "sent", "error")),
        *(sa.func.coalesce(_job[name], 0).label(name) for name in ("accepted", "rejected", "unaccounted")),
        _job.created_at.label("sent_at"),
        _job.answered_at,
        _job.ended_at,
    ).join(ledger.promotion_request, _request.request_id == _job.request_id),
    by=_job.job_id,
)


def record_promotions(connection: Connection, promotion_ids: Sequence[int]) -> None:
    """The promotions as the ledger has them now, with their vendors."""
    for of in (PROMOTION, PROMOTION_VENDOR):
        of.copy(connection, promotion_ids)


def replace_quarantine(connection: Connection, run_id: int, vendor: str, rows: pa.Table) -> None:
    """The quarantined rows of one vendor of one run, in place of the earlier ones."""
    import pyarrow as pa

    table = promotion_quarantine
    connection.execute(table.delete().where(table.c.run_id == run_id, table.c.vendor == vendor))
    if rows.num_rows:
        stamped = rows.drop_columns(["vendor"])
        stamped = stamped.append_column("run_id", pa.repeat(pa.scalar(run_id, pa.int64()), rows.num_rows))
        stamped = stamped.append_column("vendor", pa.repeat(pa.scalar(vendor), rows.num_rows))
        copy_into(connection, "warehouse.promotion_quarantine", stamped)


def load_outcomes(connection: Connection, job_ids: Iterable[int], rows: pa.Table) -> None:
    """The outcomes of the SKUs of these jobs (job_id, sku, vendor, state, reason, active, subtype, value). A second load changes nothing."""
    import pyarrow as pa

    table = promotion_outcome
    connection.execute(table.delete().where(among(table.c.job_id, list(job_ids))))
    known_at = connection.execute(sa.select(instant())).scalar_one()
    rows = rows.append_column("known_at", pa.repeat(pa.scalar(known_at, pa.timestamp("us", tz="UTC")), rows.num_rows))
    copy_into(connection, "warehouse.promotion_outcome", rows)


def load_rejected_request(connection: Connection, job_id: int, reason: str) -> None:
    """A request rejected as a whole: one row for it, because the platform reported nothing about its SKUs."""
    known_at = connection.execute(sa.select(instant())).scalar_one()
    values = {
        "job_id": job_id, "sku": "*", "vendor": "*", "state": "rejected", "reason": reason[:1000], "active": True,
        "subtype": "FINAL_PRICE", "value": 0, "known_at": known_at,
    }  # fmt: skip
    connection.execute(insert(promotion_outcome).values(values).on_conflict_do_nothing())


def incoming(connection: Connection, items: pa.Table) -> str:
    """The name of a table that has these items (promotion_id, job_id, sku) until the transaction ends."""
    columns = "promotion_id bigint, job_id bigint, sku text"
    connection.execute(sa.text(f"CREATE TEMPORARY TABLE incoming_promotion_sku ({columns}) ON COMMIT DROP"))
    copy_into(connection, "incoming_promotion_sku", items)
    return "incoming_promotion_sku"


def move_skus(connection: Connection, items: str, acknowledged: pa.Table, skus: Mapping[int, int]) -> None:
    """Replaces the acknowledged entries of these items (the table of promotion_id, job_id, sku) by `acknowledged` (ACKNOWLEDGED and promotion_id).

    `skus`: how many each promotion has now.
    """
    gone = f"DELETE FROM warehouse.promotion_sku AS held USING {items} AS i WHERE held.promotion_id = i.promotion_id AND held.sku = i.sku"  # noqa: S608
    connection.execute(sa.text(gone))
    copy_into(connection, "warehouse.promotion_sku", acknowledged)
    counts = [{"promotion_id": promotion_id, "skus": count} for promotion_id, count in skus.items()]
    connection.execute(update(promotion, "promotion_id", counts))
