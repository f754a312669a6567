"""The SKUs that the ERP's query of the changes missed, and the alarm about them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.catalog.ledger.tables import extract, run
from shelfsync.catalog.warehouse.tables import missed_change
from shelfsync.errors import Alarm
from shelfsync.store.bulk import copy_into

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlalchemy.engine import Connection

_OF_RUN = """
SELECT vendor, count(*) AS skus, min(sku) AS sku, string_agg(DISTINCT coalesce(nullif(fields, ''), change), ',') AS fields
FROM warehouse.missed_change WHERE run_id = :run GROUP BY vendor ORDER BY count(*) DESC, vendor
"""


def replace(connection: Connection, run_id: int, vendor: str, rows: pa.Table) -> None:
    """What the changes of one vendor had not reported until this run's whole reading (MISSED)."""
    table = missed_change
    connection.execute(table.delete().where(table.c.run_id == run_id, table.c.vendor == vendor))
    copy_into(connection, "warehouse.missed_change", rows, run_id=run_id, vendor=vendor)


def of_last_full(connection: Connection) -> list[str]:
    """The same alarm of the newest full run that has ended, and that has read the whole ERP."""
    whole = sa.exists().where(extract.c.run_id == run.c.run_id, extract.c.since.is_(None))
    ended = (
        run.c.kind == "full",
        run.c.finished_at.is_not(None),
        ~run.c.dry_run,
        sa.func.cardinality(run.c.vendors) == 0,
    )
    newest = sa.select(run.c.run_id).where(*ended, whole).order_by(run.c.run_id.desc()).limit(1)
    run_id = connection.execute(newest).scalar_one_or_none()
    return [] if run_id is None else lines(connection, run_id, who=f"run {run_id}")


def lines(connection: Connection, run_id: int, *, who: str = "this run") -> list[str]:
    """The alarm about what the changes had not reported until this run's whole reading; none if they reported all. `who` sends it."""
    rows = connection.execute(sa.text(_OF_RUN), {"run": run_id}).all()
    if not rows:
        return []
    fields = sorted({name for row in rows for name in row.fields.split(",")})
    line = (
        f"the query of the changes missed {sum(row.skus for row in rows):,} SKUs of {len(rows)} stores ({', '.join(fields)}),"
        f" the first of them {rows[0].sku!r} of store {rows[0].vendor}; {who} sends them. Correct the query, or let it read further back if"
        " the ERP commits late (SHELFSYNC_ERP__CHANGES_SQL, SHELFSYNC_ERP__CHANGES_OVERLAP; warehouse.missed_change has every SKU)"
    )
    return [Alarm.CHANGES_MISSED.line(line)]
