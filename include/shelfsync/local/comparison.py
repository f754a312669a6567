"""Compares what customers see with the ERP, SKU by SKU, from the tables of the ERP and of the sandbox, without any of shelfsync's."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import ROUND_DOWN, Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_MILL = Decimal("0.001")


@dataclass
class Comparison:
    """`equal` SKUs that the platform knows and that equal the ERP; `differences` one sentence each."""

    equal: int = 0
    unknown_to_platform: int = 0
    differences: list[str] = field(default_factory=list)


def compare(erp: Mapping[str, Mapping[str, Any]], platform: Mapping[str, Sequence[Mapping[str, Any]]]) -> Comparison:
    """`erp`: vendor -> SKU -> row with price, quantity, active, max_sales_quantity. `platform`: vendor -> products of the control plane.

    The rules are the interface's, 2.1: three decimals, the rest cut; on sale if active and the stock reaches the buffer. A product that
    is no longer in the ERP must be off sale. Stock of weighed goods counts in whole units, a negative one as none.
    """
    result = Comparison()
    for vendor, products in platform.items():
        rows = erp.get(vendor, {})
        known = set()
        for product in products:
            known.add(product["sku"])
            wanted = _wanted(rows.get(product["sku"]), product)
            have = {name: product[name] for name in wanted}
            if have == wanted:
                result.equal += 1
            else:
                wrong = ", ".join(
                    f"{name} is {have[name]}, not {wanted[name]}" for name in wanted if have[name] != wanted[name]
                )
                result.differences.append(f"{vendor} {product['sku']}: {wrong}")
        result.unknown_to_platform += len(rows.keys() - known)
    return result


def _wanted(row: Any, product: Mapping[str, Any]) -> dict[str, Any]:
    """What the platform should hold of a product."""
    if row is None:
        return {"active": False}
    stock = max(0, int(Decimal(row.quantity).to_integral_value(rounding="ROUND_FLOOR")))
    wanted: dict[str, Any] = {
        "price": Decimal(row.price).quantize(_MILL, ROUND_DOWN),
        "active": bool(row.active) and stock >= int(product["sales_buffer"]),
    }
    if row.max_sales_quantity is not None:
        wanted["max_sales_quantity"] = row.max_sales_quantity
    return wanted


def sentence(found: Comparison) -> str:
    """The last sentence of the summary; the demo fails before it if anything differs."""
    return (
        f"the sandbox equals the ERP: {found.equal:,} SKUs compared one by one, {len(found.differences):,} differ; "
        f"{found.unknown_to_platform:,} SKUs are unknown to the platform"
    )
