"""coherence: where promotions and catalog do not fit together, each with its cause (docs/how-to/promotions.md lists them)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.promotions.warehouse import findings

if TYPE_CHECKING:
    from collections.abc import Iterable
    from decimal import Decimal

    import pyarrow as pa

    from shelfsync.context import Context

LOOK_BACK_S = 7 * 86_400.0
"""How long after a promotion's end the prices of its SKUs are looked at."""


def look(context: Context, run_id: int) -> dict[str, int]:
    """Computes the findings vendor by vendor and replaces the former ones; returns their counts by cause."""
    with context.engine.begin() as connection:
        began = findings.begin(connection)
        vendors = findings.vendors_of_interest(connection, look_back_s=LOOK_BACK_S)
    for vendor in vendors:
        with context.engine.begin() as connection:
            findings.of_catalog(connection, run_id, vendor)
        after_end(context, run_id, vendor)
    with context.engine.begin() as connection:
        findings.of_promotions(connection, run_id)
        findings.of_orders(connection, run_id, look_back_s=LOOK_BACK_S)
        findings.remove_earlier(connection, began)
        return findings.by_cause(connection)


def after_end(context: Context, run_id: int, vendor: str) -> None:
    """What the platform showed of a SKU after its promotion had ended, against the price it acknowledged."""
    from shelfsync.catalog.ledger import observations

    with context.engine.connect() as connection:
        seen = observations.newest(connection, vendor)
        if seen is None:
            return
        over = findings.ended(connection, vendor, seen.observed_at, look_back_s=LOOK_BACK_S)
        held = findings.base_prices(connection, vendor, list(over)) if over else {}
    if not held:
        return
    shown = context.lake.read_table(seen.path, columns=["sku", "price"])
    rows = [
        {
            "promotion_id": over[sku],
            "vendor": vendor,
            "sku": sku,
            "cause": "price_after_end",
            "message": f"the promotion is over and the platform shows {price.normalize():f}; acknowledged is {held[sku].normalize():f}",
        }
        for sku, price in _prices(shown, held)
        if price is not None and held[sku] is not None and price != held[sku]
    ]
    with context.engine.begin() as connection:
        findings.note(connection, run_id, rows)


def _prices(shown: pa.Table, wanted: Iterable[str]) -> list[tuple[str, Decimal | None]]:
    """The prices shown of these SKUs."""
    import pyarrow as pa
    import pyarrow.compute as pc

    table = shown.filter(pc.is_in(shown["sku"], value_set=pa.array(list(wanted), pa.string())))
    return list(zip(table["sku"].to_pylist(), table["price"].to_pylist(), strict=True))
