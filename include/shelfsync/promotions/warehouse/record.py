"""Promotions in the warehouse: copied from the ledger in the transaction that changes it, with the outcome of every SKU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from shelfsync.platform.jobs.table import job as job_table
from shelfsync.promotions.ledger import tables as ledger
from shelfsync.promotions.warehouse import tables
from shelfsync.store.bulk import copy_into
from shelfsync.store.instant import instant

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlalchemy.engine import Connection

_COUNTS = ("rows", "rows_quarantined", "promotions", "pairs", "held", "created", "changed", "ended", "requests")


def record_run(connection: Connection, run_id: int) -> None:
    """The run as the ledger has it now."""
    row = (
        connection.execute(sa.select(ledger.promotion_run).where(ledger.promotion_run.c.run_id == run_id))
        .mappings()
        .one()
    )
    names = ("run_id", "run_key", "dry_run", "state", "error", "started_at", "finished_at")
    counts = (row["report"] or {}).get("counts", {})
    values = {name: row[name] for name in names} | {name: counts.get(name, 0) for name in _COUNTS}
    _upsert(connection, tables.promotion_run, values, key="run_id")


def record_promotion(connection: Connection, promotion_id: int) -> None:
    """The promotion as the ledger has it now, with its vendors."""
    promotion = ledger.promotion
    row = connection.execute(sa.select(promotion).where(promotion.c.promotion_id == promotion_id)).mappings().one()
    header = row["header"]
    values = {
        "promotion_id": promotion_id,
        "campaign": row["campaign"],
        "name": next(iter(header["display_name"].values())),
        "display_name": header["display_name"],
        "type": header["type"],
        "reason": header["reason"],
        **{name: row[name] for name in ("start_time", "end_time", "state", "ended_at")},
        "confirmed_at": row["confirmed_at"],
        "vendors": len(row["vendors"]),
    }
    _upsert(connection, tables.promotion, values, key="promotion_id")
    statement = insert(tables.promotion_vendor).on_conflict_do_nothing()
    connection.execute(statement, [{"promotion_id": promotion_id, "vendor": vendor} for vendor in row["vendors"]])


def record_job(connection: Connection, job_id: int) -> None:
    """The request as the ledger has it now; no row if it was never sent."""
    job, request = job_table.c, ledger.promotion_request.c
    of_request = [request[name] for name in ("run_id", "promotion_id", "action", "piece", "body_bytes", "skus")]
    names = ("job_id", "platform_job_id", "platform_status", "state", "sent", "error", "answered_at")
    counts = {"accepted": job.accepted, "rejected": job.rejected, "unaccounted": job.unaccounted}
    counted = [sa.func.coalesce(count, 0).label(name) for name, count in counts.items()]
    times = (job.created_at.label("sent_at"), job.ended_at.label("ended_at"))
    statement = sa.select(*of_request, *(job[name] for name in names), *counted, *times)
    statement = statement.join(ledger.promotion_request, request.request_id == job.request_id)
    row = connection.execute(statement.where(job.job_id == job_id)).mappings().one()
    _upsert(connection, tables.promotion_job, dict(row), key="job_id")


def replace_quarantine(connection: Connection, run_id: int, vendor: str, rows: pa.Table) -> None:
    """The quarantined rows of one vendor of one run, in place of the earlier ones."""
    import pyarrow as pa

    table = tables.promotion_quarantine
    connection.execute(table.delete().where(table.c.run_id == run_id, table.c.vendor == vendor))
    if rows.num_rows:
        stamped = rows.drop_columns(["vendor"])
        stamped = stamped.append_column("run_id", pa.repeat(pa.scalar(run_id, pa.int64()), rows.num_rows))
        stamped = stamped.append_column("vendor", pa.repeat(pa.scalar(vendor), rows.num_rows))
        copy_into(connection, "warehouse.promotion_quarantine", stamped)


def load_outcomes(connection: Connection, job_id: int, rows: pa.Table) -> None:
    """The outcomes of the SKUs of one job (sku, vendor, state, reason, active, subtype, value). A second load changes nothing."""
    import pyarrow as pa

    connection.execute(tables.promotion_outcome.delete().where(tables.promotion_outcome.c.job_id == job_id))
    if rows.num_rows == 0:
        return
    known_at = connection.execute(sa.select(instant())).scalar_one()
    rows = rows.append_column("job_id", pa.repeat(pa.scalar(job_id, pa.int64()), rows.num_rows))
    rows = rows.append_column("known_at", pa.repeat(pa.scalar(known_at, pa.timestamp("us", tz="UTC")), rows.num_rows))
    copy_into(connection, "warehouse.promotion_outcome", rows)


def load_rejected_request(connection: Connection, job_id: int, reason: str) -> None:
    """A request rejected as a whole: one row for it, because the platform reported nothing about its SKUs."""
    known_at = connection.execute(sa.select(instant())).scalar_one()
    values = {
        "job_id": job_id, "sku": "*", "vendor": "*", "state": "rejected", "reason": reason[:1000], "active": True,
        "subtype": "FINAL_PRICE", "value": 0, "known_at": known_at,
    }  # fmt: skip
    connection.execute(insert(tables.promotion_outcome).values(values).on_conflict_do_nothing())


def move_skus(connection: Connection, promotion_id: int, items: pa.Table, acknowledged: pa.Table) -> None:
    """Replaces the acknowledged entries of a request's SKUs."""
    import pyarrow as pa
    import pyarrow.compute as pc

    connection.execute(sa.text("CREATE TEMPORARY TABLE incoming_promotion_sku (sku text) ON COMMIT DROP"))
    copy_into(connection, "incoming_promotion_sku", items.select(["sku"]))
    gone = "DELETE FROM warehouse.promotion_sku AS held USING incoming_promotion_sku AS incoming WHERE held.promotion_id = :id AND held.sku = incoming.sku"
    connection.execute(sa.text(gone), {"id": promotion_id})
    rows = acknowledged.filter(pc.is_in(acknowledged["sku"], value_set=items["sku"].combine_chunks()))
    rows = rows.append_column("promotion_id", pa.repeat(pa.scalar(promotion_id, pa.int64()), rows.num_rows))
    if rows.num_rows:
        copy_into(connection, "warehouse.promotion_sku", rows)
    connection.execute(
        tables.promotion.update()
        .where(tables.promotion.c.promotion_id == promotion_id)
        .values(skus=acknowledged.num_rows)
    )


def _upsert(connection: Connection, table: sa.Table, values: dict[str, Any], *, key: str) -> None:
    rest = {name: value for name, value in values.items() if name != key}
    connection.execute(insert(table).values(values).on_conflict_do_update(index_elements=[table.c[key]], set_=rest))
