"""The SKUs that the ERP's query of the changes missed, and the alarm about them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

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


def lines(connection: Connection, run_id: int) -> list[str]:
    """The alarm about what the changes had not reported until this run's whole reading; none if they reported all."""
    rows = connection.execute(sa.text(_OF_RUN), {"run": run_id}).all()
    if not rows:
        return []
    fields = sorted({name for row in rows for name in row.fields.split(",")})
    line = (
        f"the query of the changes missed {sum(row.skus for row in rows):,} SKUs of {len(rows)} vendors ({', '.join(fields)}),"
        f" the first of them {rows[0].sku!r} of vendor {rows[0].vendor}; this run sends them. Correct SHELFSYNC_ERP__CHANGES_SQL, or raise"
        " SHELFSYNC_ERP__CHANGES_OVERLAP if the ERP commits late; warehouse.missed_change has every SKU"
    )
    return [Alarm.CHANGES_MISSED.line(line)]
