"""Rows and values of the ERP that cannot be sent, as the last reading of each vendor found them: counted by vendor and reason, with examples.

The rows that name no usable vendor are counted on their own, because they belong to no vendor's report.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.catalog.warehouse import tables
from shelfsync.errors import Alarm
from shelfsync.store.bulk import among, copy_into

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa
    from sqlalchemy.engine import Connection


LAST_READING = """
    SELECT v.vendor, newest.run_id FROM ledger.vendor AS v CROSS JOIN LATERAL (
        SELECT run_id FROM ledger.vendor_run AS vr WHERE vr.vendor = v.vendor AND vr.extract_id IS NOT NULL ORDER BY generation DESC LIMIT 1
    ) AS newest
    UNION ALL
    SELECT '', run_id FROM (
        SELECT run_id FROM ledger.run
        WHERE run.vendors = '{}' AND EXISTS (SELECT FROM ledger.extract WHERE extract.run_id = run.run_id AND extract.since IS NULL)
        ORDER BY run_id DESC LIMIT 1
    ) AS newest
"""
"""SQL: each vendor and the run that read it last; vendor '': the last reading of all rows."""
_ROWS = f"""
WITH last AS ({LAST_READING}), numbered AS (
    SELECT q.*, count(*) OVER of_reason AS rows, row_number() OVER (of_reason ORDER BY q.row_number) AS number
    FROM warehouse.quarantine AS q JOIN last USING (vendor, run_id)
    WHERE (CAST(:vendor AS text) IS NULL OR q.vendor = :vendor) AND (CAST(:reason AS text) IS NULL OR q.reason = :reason)
    WINDOW of_reason AS (PARTITION BY q.vendor, q.row_sent, q.reason)
)
SELECT vendor, reason, row_sent, rows, run_id, row_number, sku, message, raw FROM numbered WHERE number <= :examples
ORDER BY vendor, row_sent, rows DESC, reason, row_number
"""  # noqa: S608  of constants


def groups(
    connection: Connection, *, vendor: str | None = None, reason: str | None = None, examples: int = 1
) -> list[dict[str, Any]]:
    """`{"vendor", "reason", "row_sent", "rows", "run_id", "examples": [{"row_number", "sku", "message", "raw"}]}`.

    Vendor '': rows that name none. `row_sent`: the value alone is left out.
    """
    given = {"vendor": vendor, "reason": reason, "examples": examples}
    found: dict[tuple[str, str, bool], dict[str, Any]] = {}
    for row in connection.execute(sa.text(_ROWS), given).mappings():
        group = {name: row[name] for name in ("vendor", "reason", "row_sent", "rows", "run_id")}
        at = found.setdefault((row["vendor"], row["reason"], row["row_sent"]), {**group, "examples": []})
        at["examples"].append({name: row[name] for name in ("row_number", "sku", "message", "raw")})
    return list(found.values())


def lines(found: Iterable[dict[str, Any]]) -> Iterator[str]:
    """For a person: a line for each group, and one for each of its examples."""
    for group in found:
        name = f"vendor {group['vendor']}" if group["vendor"] else "no usable vendor"
        what = "values left out, the rest of the row is sent" if group["row_sent"] else "rows"
        yield f"{name}: {group['rows']:,} {what}, {group['reason']} (run {group['run_id']})"
        for one in group["examples"]:
            sku = "no SKU" if one["sku"] is None else f"SKU {one['sku']}"
            yield f"    row {one['row_number']:,}, {sku}: {one['message']}: {one['raw']}"


_OF_RUN = """
SELECT reason, count(*) AS rows, min(message) AS message
FROM warehouse.quarantine WHERE run_id = :run AND vendor = '' AND reason <> 'no_row' GROUP BY reason ORDER BY reason
"""
_LAST = """
SELECT max(extract.run_id) FROM ledger.extract JOIN ledger.run USING (run_id)
WHERE NOT run.dry_run AND run.vendors = '{}' AND extract.since IS NULL AND (CAST(:before AS bigint) IS NULL OR extract.run_id < :before)
"""


def unusable_of_run(connection: Connection, run_id: int | None) -> list[dict[str, Any]]:
    """`{"reason", "rows", "message"}` for each reason; the message is that of one of the rows.

    A total or a drawn line is no row, so it calls for no person.
    """
    return [dict(row) for row in connection.execute(sa.text(_OF_RUN), {"run": run_id}).mappings()]


def unusable_of_last(connection: Connection, *, before: int | None = None) -> list[dict[str, Any]]:
    """The same of the last extract (before this run) that was no dry run."""
    return unusable_of_run(connection, connection.execute(sa.text(_LAST), {"before": before}).scalar_one_or_none())


def unusable_news(connection: Connection, run_id: int) -> list[dict[str, Any]]:
    """What this run quarantined for a reason that the extract before it did not have, so that each is reported once."""
    known = {row["reason"] for row in unusable_of_last(connection, before=run_id)}
    return [row for row in unusable_of_run(connection, run_id) if row["reason"] not in known]


def unusable_lines(found: list[dict[str, Any]]) -> list[str]:
    """One line for the operator; none if no such row was quarantined."""
    if not found:
        return []
    rows = sum(row["rows"] for row in found)
    reasons = ", ".join(f"{row['rows']:,} {row['reason']}" for row in found)
    line = f"{rows:,} rows name no usable store and were quarantined, the first because {found[0]['message']}."
    is_unreadable = all(row["reason"] == "row_unreadable" for row in found)
    remedy = (
        "Correct these lines, or the delimiter and the quotes" if is_unreadable else "Correct the column of the stores"
    )
    return [Alarm.UNUSABLE_ROWS.line(f"{line} {remedy} in the ERP ({reasons}: `shelfsync quarantine`)")]


def replace(connection: Connection, run_id: int, vendor: str | None, rows: pa.Table) -> None:
    """The quarantined rows of one vendor of one run (None: rows that name no vendor), in place of the earlier ones."""
    table, named = tables.quarantine, vendor or ""
    connection.execute(table.delete().where(table.c.run_id == run_id, table.c.vendor == named))
    unnamed = rows.drop_columns(["vendor"]) if "vendor" in rows.column_names else rows
    copy_into(connection, "warehouse.quarantine", unnamed, run_id=run_id, vendor=named)


def clear(connection: Connection, run_id: int, vendors: Sequence[str]) -> None:
    """Removes what an earlier reading of this run quarantined of these vendors."""
    table = tables.quarantine
    connection.execute(table.delete().where(table.c.run_id == run_id, among(table.c.vendor, vendors)))
