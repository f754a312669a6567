"""Promotions in the warehouse: copied from the ledger in the transaction that changes it, with the outcome of every SKU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from shelfsync.platform.jobs.table import job as job_table
from shelfsync.promotions.ledger import tables as ledger
from shelfsync.promotions.warehouse import tables
from shelfsync.store.bulk import among, copy_into, update
from shelfsync.store.instant import instant

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

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


_PROMOTIONS = """
INSERT INTO warehouse.promotion (promotion_id, campaign, name, display_name, type, reason, start_time, end_time, state, ended_at, confirmed_at, vendors)
SELECT promotion_id, campaign, (SELECT value FROM jsonb_each_text(header -> 'display_name') LIMIT 1), header -> 'display_name', header ->> 'type',
    header ->> 'reason', start_time, end_time, state, ended_at, confirmed_at, cardinality(vendors)
FROM ledger.promotion WHERE promotion_id = ANY(:ids) ORDER BY promotion_id
ON CONFLICT (promotion_id) DO UPDATE SET (campaign, name, display_name, type, reason, start_time, end_time, state, ended_at, confirmed_at, vendors)
    = (excluded.campaign, excluded.name, excluded.display_name, excluded.type, excluded.reason, excluded.start_time, excluded.end_time,
       excluded.state, excluded.ended_at, excluded.confirmed_at, excluded.vendors)
"""
_VENDORS = """
INSERT INTO warehouse.promotion_vendor (promotion_id, vendor)
SELECT promotion_id, unnest(vendors) FROM ledger.promotion WHERE promotion_id = ANY(:ids) ON CONFLICT DO NOTHING
"""


def record_promotions(connection: Connection, promotion_ids: Iterable[int]) -> None:
    """The promotions as the ledger has them now, with their vendors."""
    for statement in (_PROMOTIONS, _VENDORS):
        connection.execute(sa.text(statement), {"ids": list(promotion_ids)})


def record_jobs(connection: Connection, job_ids: Iterable[int]) -> None:
    """The requests as the ledger has them now."""
    job, request = job_table.c, ledger.promotion_request.c
    of_request = [request[name] for name in ("run_id", "promotion_id", "action", "piece", "body_bytes", "skus")]
    names = ("job_id", "platform_job_id", "platform_status", "state", "sent", "error", "answered_at")
    counts = {"accepted": job.accepted, "rejected": job.rejected, "unaccounted": job.unaccounted}
    counted = [sa.func.coalesce(count, 0).label(name) for name, count in counts.items()]
    times = (job.created_at.label("sent_at"), job.ended_at.label("ended_at"))
    rows = sa.select(*of_request, *(job[name] for name in names), *counted, *times)
    rows = rows.join(ledger.promotion_request, request.request_id == job.request_id)
    rows = rows.where(among(job.job_id, list(job_ids))).order_by(job.job_id)
    statement = insert(tables.promotion_job).from_select(list(rows.selected_columns.keys()), rows)
    new = {name: statement.excluded[name] for name in rows.selected_columns.keys() if name != "job_id"}  # noqa: SIM118
    connection.execute(statement.on_conflict_do_update(index_elements=[tables.promotion_job.c.job_id], set_=new))


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


def load_outcomes(connection: Connection, job_ids: Iterable[int], rows: pa.Table) -> None:
    """The outcomes of the SKUs of these jobs (job_id, sku, vendor, state, reason, active, subtype, value). A second load changes nothing."""
    import pyarrow as pa

    table = tables.promotion_outcome
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
    connection.execute(insert(tables.promotion_outcome).values(values).on_conflict_do_nothing())


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
    connection.execute(update(tables.promotion, "promotion_id", counts))


def _upsert(connection: Connection, table: sa.Table, values: dict[str, Any], *, key: str) -> None:
    rest = {name: value for name, value in values.items() if name != key}
    connection.execute(insert(table).values(values).on_conflict_do_update(index_elements=[table.c[key]], set_=rest))
