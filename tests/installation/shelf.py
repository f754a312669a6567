"""Compares the assortment of the platform with the ERP, by the ERP's tables and the sandbox's store."""

from __future__ import annotations

from decimal import ROUND_DOWN, ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING, Any

from installation.installed import CHAIN, PROJECT

if TYPE_CHECKING:
    from collections.abc import Callable

    from installation.installed import Installation

SELECT = (PROJECT / "include/shelfsync/erp/sample/sample.sql").read_text("utf-8")
"""What a user of the sample gives to shelfsync, too."""


def erp_rows(installation: Installation) -> dict[tuple[str, str], dict[str, Any]]:
    """Vendor and SKU -> the row of the ERP."""
    return {(row["vendor"], row["sku"]): row for row in installation.erp(SELECT.rstrip().rstrip(";"))}


def products(installation: Installation, vendor: str) -> dict[str, dict[str, Any]]:
    """SKU -> what the platform holds of a vendor."""
    found = installation.sandbox("GET", f"/chains/{CHAIN}/vendors/{vendor}/products")["products"]
    return {product["sku"]: product for product in found}


def differences(installation: Installation) -> list[str]:
    """A line for each product of the platform that differs from the ERP (interface.md 2.1)."""
    (chain,) = (one for one in installation.sandbox("GET", "/state")["chains"] if one["chain"] == CHAIN)
    usual = {one["vendor"]: one["sales_buffer"] for one in chain["vendors"]}

    def held(vendor: str) -> dict[str, dict[str, Any]]:
        found = products(installation, vendor)
        return {sku: one | {"sales_buffer": _buffer(one, usual[vendor])} for sku, one in found.items()}

    return differing(erp_rows(installation), held)


def _buffer(product: dict[str, Any], usual: int) -> int:
    """A product that `shelfsync sandbox fill` made has the sales buffer of its vendor."""
    own = product["sales_buffer"]
    return usual if own is None else int(own)


def differing(
    rows: dict[tuple[str, str], dict[str, Any]], held: Callable[[str], dict[str, dict[str, Any]]]
) -> list[str]:
    """The same for the rows of any ERP; `held` gives what the platform holds of a vendor."""
    found = []
    for vendor in sorted({vendor for vendor, _ in rows}):
        for sku, product in held(vendor).items():
            wanted = _wanted(rows.get((vendor, sku)), product)
            wrong = {name: (product[name], value) for name, value in wanted.items() if product[name] != value}
            found += [f"{vendor} {sku}: {name} is {has}, not {value}" for name, (has, value) in wrong.items()]
    return found


def _wanted(row: dict[str, Any] | None, product: dict[str, Any]) -> dict[str, Any]:
    if row is None:
        return {"active": False}
    stock = max(0, int(Decimal(row["quantity"]).to_integral_value(rounding=ROUND_FLOOR)))
    wanted: dict[str, Any] = {
        "price": Decimal(row["price"]).quantize(Decimal("0.001"), ROUND_DOWN),
        "active": bool(row["active"]) and stock >= int(product["sales_buffer"]),
    }
    if row["max_sales_quantity"] is not None:
        wanted["max_sales_quantity"] = row["max_sales_quantity"]
    return wanted


def move_price(installation: Installation, vendor: str, sku: str) -> Decimal:
    """A buyer makes a product of one store a little dearer, from today on, with four decimals; what customers will pay."""
    price = erp_rows(installation)[vendor, sku]["price"] * Decimal("1.07") + Decimal("0.0109")
    set_price(installation, vendor, sku, price)
    return price.quantize(Decimal("0.001"), ROUND_DOWN)


def set_price(installation: Installation, vendor: str, sku: str, price: Decimal) -> None:
    """A buyer gives a product of one store another price, from today on."""
    installation.erp(
        """
        INSERT INTO erp.price (product_id, store_id, amount, valid_from)
        SELECT product.product_id, store.store_id, CAST(%(price)s AS numeric), current_date
        FROM erp.product, erp.store WHERE product.item_code = %(sku)s AND store.code = %(vendor)s
        """,
        vendor=vendor, sku=sku, price=price,
    )  # fmt: skip


def set_listed(installation: Installation, vendor: str, skus: list[str], *, active: bool) -> None:
    """A buyer takes products of one store off sale, or puts them back."""
    installation.erp(
        """
        UPDATE erp.listing SET active = %(active)s FROM erp.product, erp.store
        WHERE listing.product_id = product.product_id AND listing.store_id = store.store_id
            AND store.code = %(vendor)s AND product.item_code = ANY(%(skus)s)
        """,
        vendor=vendor, skus=skus, active=active,
    )  # fmt: skip


def set_limit(installation: Installation, vendor: str, sku: str, pieces: int) -> None:
    """A buyer changes how many pieces a customer may put in one order."""
    installation.erp(
        """
        UPDATE erp.listing SET max_per_order = %(pieces)s FROM erp.product, erp.store
        WHERE listing.product_id = product.product_id AND listing.store_id = store.store_id
            AND store.code = %(vendor)s AND product.item_code = %(sku)s
        """,
        vendor=vendor, sku=sku, pieces=pieces,
    )  # fmt: skip


def edit_in_portal(installation: Installation, vendor: str, sku: str, **values: Any) -> None:
    """Changes a product in the platform's portal, without the ERP."""
    path = f"/chains/{CHAIN}/vendors/{vendor}/products"
    kept = [
        {name: value for name, value in row.items() if name != "app"} for row in products(installation, vendor).values()
    ]
    edited = [{**row, **values} if row["sku"] == sku else row for row in kept]
    installation.sandbox("PUT", path, {"products": edited})


def on_sale(installation: Installation, vendor: str, count: int, *, skip: int = 0) -> list[str]:
    """SKUs of a vendor that customers can buy now and that the ERP calls active, in a fixed order."""
    rows = erp_rows(installation)
    found = [
        sku
        for sku, product in sorted(products(installation, vendor).items())
        if product["active"] and (row := rows.get((vendor, sku))) and row["active"] and row["quantity"] >= 3
    ]
    assert len(found) >= skip + count, f"{vendor} has {len(found)} products on sale"
    return found[skip : skip + count]


def sent_since(
    installation: Installation, entry: int, operation: str = "put_catalog", *, vendor: str = ""
) -> list[dict[str, Any]]:
    """Requests of one operation, and of one vendor where one is named, that the platform has got since a line of its journal."""
    lines = [line for line in journal(installation, entry) if line["operation"] == operation]
    return [line for line in lines if vendor in line["route"]]


def journal(installation: Installation, entry: int) -> list[dict[str, Any]]:
    """The sandbox's journal after a line."""
    found: list[dict[str, Any]] = []
    while page := installation.sandbox("GET", f"/journal?after={entry}"):
        if not page["entries"]:
            return found
        found += page["entries"]
        entry = int(page["last"])
    return found


def journal_end(installation: Installation) -> int:
    """The number of the journal's last line."""
    end = 0
    while (page := installation.sandbox("GET", f"/journal?after={end}"))["entries"]:
        end = int(page["last"])
    return end
