"""What the demo prints at its end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from shelfsync.local.scenario import Figures


def lines(result: Figures) -> Iterator[str]:
    """The summary for a person."""
    for run, requests in (result.full, result.delta):
        yield from _sync(run, requests)
    yield from _promotions(result.promotions)
    yield from _order(result.order)
    yield from _export(result.export)
    yield ""
    yield "warehouse, rows in each table"
    for name, count in result.tables.items():
        yield _row(name, count)
    yield _requests("requests in all", result.requests)
    yield ""
    yield (
        f"the sandbox equals the ERP: {result.comparison.equal:,} SKUs compared one by one, 0 differ; "
        f"{result.comparison.unknown_to_platform:,} SKUs are unknown to the platform"
    )


def _sync(run: Mapping[str, Any], requests: Mapping[str, int]) -> Iterator[str]:
    yield ""
    yield f"catalog {run['kind']} sync: {run['state']}, {_seconds(run)}"
    yield _row("vendors", run["vendors"])
    yield _row("rows in the ERP", run["rows_raw"])
    yield _row("rows quarantined", run["rows_quarantined"])
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
