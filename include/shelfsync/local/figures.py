"""The demo's numbers. Each comes from the warehouse or the ledger, by the SQL in this file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shelfsync.local.comparison import sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import sqlalchemy as sa

    from shelfsync.local.comparison import Comparison
    from shelfsync.local.mail_catcher import Mail


_RUN = """
SELECT run_id, kind, state, vendors, rows_raw, rows_quarantined, values_left_out, skus_changed, skus_sent, skus_accepted, skus_rejected, skus_unaccounted,
    skus_held, extract(epoch FROM finished_at - started_at) AS seconds
FROM warehouse.sync_run WHERE run_key = %(run_key)s"""
_REJECTED = """
SELECT o.reason, count(*) AS skus
FROM warehouse.sku_outcome AS o JOIN warehouse.catalog_job AS j USING (job_id)
WHERE j.run_id = %(run_id)s AND o.state = 'rejected'
GROUP BY o.reason ORDER BY skus DESC, o.reason
"""
_BALANCE = """
SELECT coalesce(sum(j.sent), 0) AS sent,
    (SELECT count(*) FROM warehouse.sku_outcome AS o JOIN warehouse.catalog_job AS k USING (job_id) WHERE k.run_id = %(run_id)s) AS outcomes
FROM warehouse.catalog_job AS j WHERE j.run_id = %(run_id)s
"""
_PROMOTIONS = """
SELECT run.run_id, run.state, run.rows, run.rows_quarantined, run.held, run.created, run.changed, run.ended,
    extract(epoch FROM run.finished_at - run.started_at) AS seconds,
    coalesce(sum(job.accepted), 0) AS accepted, coalesce(sum(job.rejected), 0) AS rejected, coalesce(sum(job.unaccounted), 0) AS unaccounted
FROM warehouse.promotion_run AS run LEFT JOIN warehouse.promotion_job AS job USING (run_id)
WHERE run.run_key = %(run_key)s GROUP BY run.run_id
"""
_ORDER = """
SELECT o.order_id, o.vendor, o.order_code, o.status, o.placed_at,
    (SELECT min(written_at) FROM ledger.hand_over AS h WHERE h.order_id = o.order_id AND h.kind = 'new') AS handed_over_at,
    (SELECT min(received_at) FROM ledger.picking_result AS r WHERE r.order_id = o.order_id) AS picked_at,
    o.fulfilled_at
FROM warehouse.customer_order AS o WHERE o.order_id = %(order_id)s
"""
_EXPORT = """
SELECT count(*) AS vendors, coalesce(sum(o.rows), 0) AS rows, coalesce(sum(e.drifts), 0) AS drifts, coalesce(sum(e.resent), 0) AS resent
FROM ledger.export AS e JOIN warehouse.observation AS o USING (observation_id) JOIN ledger.job AS j USING (export_id)
WHERE e.run_key = %(run_key)s AND j.state = 'acknowledged'
"""
_CAUSES = """
SELECT d.cause, count(*) AS found
FROM warehouse.drift AS d JOIN ledger.export AS e USING (observation_id)
WHERE e.run_key = %(run_key)s GROUP BY d.cause ORDER BY found DESC, d.cause
"""
_TABLES = (
    "vendor",
    "sync_run",
    "catalog_job",
    "sku_outcome",
    "quarantine",
    "baseline",
    "promotion",
    "customer_order",
    "observation",
    "drift",
)


def run(connection: sa.Connection, run_key: str) -> dict[str, Any]:
    """The warehouse's row of one run, with `rejected` (reason -> SKUs), `sent` of its jobs and the number of their `outcomes`."""
    found = connection.exec_driver_sql(_RUN, {"run_key": run_key}).mappings().one()
    number = {"run_id": found["run_id"]}
    rejected = {row.reason: row.skus for row in connection.exec_driver_sql(_REJECTED, number)}
    balance = connection.exec_driver_sql(_BALANCE, number).mappings().one()
    return {**found, "rejected": rejected, "sent": int(balance["sent"]), "outcomes": int(balance["outcomes"])}


def promotions(connection: sa.Connection, run_key: str) -> dict[str, Any]:
    """One run of promotions_sync, and the outcomes of the pairs of SKU and vendor that it sent."""
    return dict(connection.exec_driver_sql(_PROMOTIONS, {"run_key": run_key}).mappings().one())


def order(connection: sa.Connection, order_id: str) -> dict[str, Any]:
    """An order and when each step of it was done; only its number and status None as long as no event has come."""
    found = connection.exec_driver_sql(_ORDER, {"order_id": order_id}).mappings().one_or_none()
    return {"order_id": order_id, "status": None} if found is None else dict(found)


def export(connection: sa.Connection, run_key: str) -> dict[str, Any]:
    """The comparison of an export run, with `causes` (cause -> values that differ)."""
    key = {"run_key": run_key}
    causes = {row.cause: row.found for row in connection.exec_driver_sql(_CAUSES, key)}
    return {**connection.exec_driver_sql(_EXPORT, key).mappings().one(), "causes": causes}


def tables(connection: sa.Connection) -> dict[str, int]:
    """Rows of the warehouse's tables."""
    return {
        name: int(connection.exec_driver_sql(f"SELECT count(*) FROM warehouse.{name}").scalar_one())  # noqa: S608  fixed names
        for name in _TABLES
    }


def lines(result: Figures) -> Iterator[str]:
    """The summary for a person."""
    for run, requests in (result.full, result.delta):
        yield from sync_lines(run, requests)
    yield from _promotions(result.promotions)
    yield from _order(result.order)
    yield from _export(result.export)
    for mail in result.mails:
        yield ""
        yield from mail.lines()
    yield ""
    yield "warehouse, rows in each table"
    for name, count in result.tables.items():
        yield _row(name, count)
    yield _requests("requests in all", result.requests)
    yield ""
    yield sentence(result.comparison)


def sync_lines(run: Mapping[str, Any], requests: Mapping[str, int]) -> Iterator[str]:
    """One sync of the summary; `requests`: operation -> count."""
    yield ""
    yield f"catalog {run['kind']} sync: {run['state']}, {_seconds(run)}"
    yield _row("vendors", run["vendors"])
    yield _row("rows in the ERP", run["rows_raw"])
    yield _row("rows quarantined", run["rows_quarantined"])
    if run["values_left_out"]:
        yield _row("faulty values left out", run["values_left_out"])
    yield _row("SKUs changed", run["skus_changed"])
    yield _row("SKUs held", run["skus_held"])
    yield _row("SKUs sent", run["skus_sent"])
    yield _row("SKUs accepted", run["skus_accepted"])
    yield _row("SKUs rejected", run["skus_rejected"])
    for reason, skus in run["rejected"].items():
        yield _row(f"  {reason}", skus)
    yield _row("SKUs unaccounted", run["skus_unaccounted"])
    yield _requests("requests", requests)


def _promotions(run: Mapping[str, Any]) -> Iterator[str]:
    yield ""
    yield f"promotions sync: {run['state']}, {_seconds(run)}"
    yield _row("rows in the ERP", run["rows"])
    yield _row("rows quarantined", run["rows_quarantined"])
    yield _row("promotions made", run["created"])
    yield _row("SKUs at vendors accepted", run["accepted"])
    yield _row("SKUs at vendors rejected", run["rejected"])
    yield _row("SKUs at vendors unaccounted", run["unaccounted"])
    for promotion in run["portal"]:
        yield f"  the portal shows {promotion['name']!r}: {promotion['state']}, {promotion['skus']} SKUs at {promotion['vendors_with_skus']} vendors"


def _order(order: Mapping[str, Any]) -> Iterator[str]:
    items = order["platform"]["items"]
    picked = sum(item["status"] == "IN_CART" for item in items)
    yield ""
    yield f"order {order['order_code']} at {order['vendor']}: {order['platform']['status']}, {picked} of {len(items)} items picked"
    for name, what in (
        ("handed_over_at", "handed over to the store after"),
        ("picked_at", "picked after"),
        ("fulfilled_at", "fulfilled on the platform after"),
    ):
        if order[name] is not None:
            yield f"  {what:<50}{(order[name] - order['placed_at']).total_seconds():>10,.0f} s"


def _export(export: Mapping[str, Any]) -> Iterator[str]:
    yield ""
    yield "assortment export: compared with the ERP and with what the platform had accepted"
    yield _row("vendors", export["vendors"])
    yield _row("SKUs shown", export["rows"])
    yield _row("values that differ", export["drifts"])
    for cause, found in export["causes"].items():
        yield _row(f"  {cause.replace('_', ' ')}", found)


def _seconds(run: Mapping[str, Any]) -> str:
    return f"{float(run['seconds'] or 0):.0f} s"


def _requests(name: str, requests: Mapping[str, int]) -> str:
    each = ", ".join(f"{operation} {count}" for operation, count in sorted(requests.items()))
    return f"{_row(name, sum(requests.values()))}   {each}"


def _row(name: str, number: int) -> str:
    return f"  {name:<50}{int(number):>10,}"


@dataclass(frozen=True)
class Figures:
    """The result of a demo: figures and requests of both syncs, of the order, the promotion and the export, and the comparison."""

    full: tuple[dict[str, Any], Mapping[str, int]]
    delta: tuple[dict[str, Any], Mapping[str, int]]
    promotions: dict[str, Any]
    order: dict[str, Any]
    export: dict[str, Any]
    requests: Mapping[str, int]
    tables: dict[str, int]
    comparison: Comparison
    mails: tuple[Mail, ...]
    """What the operator got."""
