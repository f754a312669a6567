"""What the demo tells at its end. Every number about a sync comes from the warehouse, by the SQL that stands here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import sqlalchemy as sa

_RUN = """
SELECT run_id, kind, state, vendors, rows_raw, rows_quarantined, skus_changed, skus_sent, skus_accepted, skus_refused, skus_unaccounted,
    skus_held, extract(epoch FROM finished_at - started_at) AS seconds
FROM warehouse.sync_run WHERE run_key = %(run_key)s
"""
_REFUSED = """
SELECT o.reason, count(*) AS skus
FROM warehouse.sku_outcome AS o JOIN warehouse.catalog_job AS j USING (job_id)
WHERE j.run_id = %(run_id)s AND o.state = 'refused'
GROUP BY o.reason ORDER BY skus DESC, o.reason
"""
_BALANCE = """
SELECT coalesce(sum(j.sent), 0) AS sent,
    (SELECT count(*) FROM warehouse.sku_outcome AS o JOIN warehouse.catalog_job AS k USING (job_id) WHERE k.run_id = %(run_id)s) AS outcomes
FROM warehouse.catalog_job AS j WHERE j.run_id = %(run_id)s
"""
_TABLES = ("vendor", "sync_run", "catalog_job", "sku_outcome", "quarantine", "baseline")


def run_figures(connection: sa.Connection, run_key: str) -> dict[str, Any]:
    """The warehouse's row of one run, with `refused` (reason -> SKUs), `sent` of its jobs and the number of their `outcomes`."""
    found = connection.exec_driver_sql(_RUN, {"run_key": run_key}).mappings().one()
    run = {"run_id": found["run_id"]}
    refused = {row.reason: row.skus for row in connection.exec_driver_sql(_REFUSED, run)}
    balance = connection.exec_driver_sql(_BALANCE, run).mappings().one()
    return {**found, "refused": refused, "sent": int(balance["sent"]), "outcomes": int(balance["outcomes"])}


def table_rows(connection: sa.Connection) -> dict[str, int]:
    """Rows of each table of the warehouse."""
    return {
        name: int(connection.exec_driver_sql(f"SELECT count(*) FROM warehouse.{name}").scalar_one())  # noqa: S608  names of ours
        for name in _TABLES
    }


def lines(
    runs: Sequence[tuple[dict[str, Any], Mapping[str, int]]], tables: Mapping[str, int], *, equal: int, unknown: int
) -> Iterator[str]:
    """The summary for a person. `runs` are figures with the requests that the sandbox counted meanwhile."""
    for figures, requests in runs:
        yield ""
        yield f"catalog {figures['kind']} sync: {figures['state']}, {float(figures['seconds'] or 0):.0f} s"
        yield _row("vendors", figures["vendors"])
        yield _row("rows in the ERP", figures["rows_raw"])
        yield _row("rows quarantined", figures["rows_quarantined"])
        yield _row("SKUs changed", figures["skus_changed"])
        yield _row("SKUs held", figures["skus_held"])
        yield _row("SKUs sent", figures["skus_sent"])
        yield _row("SKUs accepted", figures["skus_accepted"])
        yield _row("SKUs refused", figures["skus_refused"])
        for reason, skus in figures["refused"].items():
            yield _row(f"  {reason}", skus)
        yield _row("SKUs unaccounted", figures["skus_unaccounted"])
        yield (
            _row("requests", sum(requests.values()))
            + "   "
            + ", ".join(f"{name} {count}" for name, count in sorted(requests.items()))
        )
    yield ""
    yield "warehouse, rows in each table"
    for name, count in tables.items():
        yield _row(name, count)
    yield ""
    yield f"the sandbox equals the ERP: {equal:,} SKUs compared one by one, 0 differ; {unknown:,} SKUs are unknown to the platform"


def _row(name: str, number: int) -> str:
    return f"  {name:<50}{int(number):>10,}"
