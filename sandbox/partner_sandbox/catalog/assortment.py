"""The whole assortment of a vendor, as the control plane replaces and reads it."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from decimal import Decimal, InvalidOperation
from itertools import islice
from typing import IO, Any

from fastapi import APIRouter, Request
from pydantic import ValidationError
from sqlalchemy import Connection, delete, select, text, update

from partner_sandbox import answers, money
from partner_sandbox.catalog.body import WHOLE_MAX, BodyError, barcode_problem, padded, products, spooled
from partner_sandbox.catalog.products import barcode, category, product, product_category, show_due, visible_change
from partner_sandbox.contract import described
from partner_sandbox.errors import unknown_field, validation_error
from partner_sandbox.promotions import shown
from partner_sandbox.sandbox import Ids, TheSandbox
from partner_sandbox.vendors import Vendor, named_vendor
from partner_sandbox.weight import Weight

PIECE_ITEMS = 20_000
_INSERT_PRODUCT = (
    "INSERT INTO product (id, vendor_key, sku, remote_product_id, title, details, price_milli, active, sales_limit,"
    " sales_buffer, is_sold_by_weight, app_price_milli, app_active, app_sales_limit)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_INSERT_BARCODE = "INSERT INTO barcode (vendor_key, barcode, position, product_id) VALUES (?, ?, ?, ?)"
DETAILS = ("translations", "description", "images", "weight_specifications")
_KINDS: dict[str, type] = {
    "title": str,
    "active": bool,
    "is_sold_by_weight": bool,
    "barcodes": list,
    "categories": list,
    "max_sales_quantity": int,
    "sales_buffer": int,
    "remote_product_id": str,
    "translations": dict,
    "description": dict,
    "images": list,
    "weight_specifications": dict,
}
_LEAST = {"max_sales_quantity": 1, "sales_buffer": 0}
CATEGORY_FIELDS = ("global_id", "name", "description", "parent_global_id", "active")
FIELDS = frozenset({"sku", "price", "app", *_KINDS})


def replace(connection: Connection, ids: Ids, vendor: Vendor, items: Iterable[Any], now_us: int) -> int:
    """Replaces the assortment by these products; customers see them at once. Returns the number of products."""
    show_due(connection, now_us)
    clear(connection, vendor)
    total = 0
    seen: set[str] = set()
    numbered = enumerate(items)
    while piece := list(islice(numbered, PIECE_ITEMS)):
        for number, item in piece:
            _check(number, item, seen)
        add(connection, ids, vendor, (item for _, item in piece))
        total += len(piece)
    return total


def clear(connection: Connection, vendor: Vendor) -> None:
    """Removes every product and category of a vendor."""
    mine = select(product.c.id).where(product.c.vendor_key == vendor.key)
    for table in (visible_change, product_category, barcode):
        connection.execute(delete(table).where(table.c.product_id.in_(mine)))
    connection.execute(delete(product).where(product.c.vendor_key == vendor.key))
    connection.execute(delete(category).where(category.c.vendor_key == vendor.key))


def add(connection: Connection, ids: Ids, vendor: Vendor, items: Iterable[dict[str, Any]]) -> None:
    """Adds checked products; their SKUs must be new to the vendor."""
    first = connection.execute(text("SELECT coalesce(max(id), 0) + 1 FROM product")).scalar_one()
    products: list[tuple[Any, ...]] = []
    codes: list[tuple[Any, ...]] = []
    links: list[dict[str, Any]] = []
    found: dict[str, dict[str, Any]] = {}
    for product_id, item in enumerate(items, first):
        products.append(_product(product_id, vendor, ids, item))
        for position, code in enumerate(item.get("barcodes") or ()):
            codes.append((vendor.key, padded(code), position, product_id))
        for position, given in enumerate(item.get("categories") or ()):
            made = _category(vendor, given)
            found[made["global_id"]] = made
            links.append({"product_id": product_id, "global_id": made["global_id"], "position": position})
    if products:
        connection.exec_driver_sql(_INSERT_PRODUCT, products)
    if codes:
        connection.exec_driver_sql(_INSERT_BARCODE, codes)
    if found:
        connection.execute(category.insert().prefix_with("OR REPLACE"), list(found.values()))
        connection.execute(product_category.insert().prefix_with("OR IGNORE"), links)


def put_one(connection: Connection, ids: Ids, vendor: Vendor, item: dict[str, Any], now_us: int) -> None:
    """Makes a product, or changes one: its details and categories stay; customers see it at once. BodyError for a wrong field."""
    show_due(connection, now_us)
    _check(0, item, set())
    mine = (product.c.vendor_key == vendor.key, product.c.sku == item["sku"])
    known = connection.execute(select(product).where(*mine)).one_or_none()
    if known is None:
        add(connection, ids, vendor, [item])
        return
    price_milli, active, limit = _price(item.get("price")), bool(item.get("active")), item.get("max_sales_quantity")
    changed = {
        "title": item.get("title") or item["sku"],
        "sales_buffer": item.get("sales_buffer"),
        "is_sold_by_weight": bool(item.get("is_sold_by_weight")),
        "price_milli": price_milli,
        "active": active,
        "sales_limit": limit,
        "app_price_milli": price_milli,
        "app_active": active,
        "app_sales_limit": limit,
    }
    connection.execute(update(product).where(product.c.id == known.id).values(changed))
    for table in (visible_change, barcode):
        connection.execute(delete(table).where(table.c.product_id == known.id))
    codes = [(vendor.key, padded(code), position, known.id) for position, code in enumerate(item.get("barcodes") or ())]
    if codes:
        connection.exec_driver_sql(_INSERT_BARCODE, codes)


def read(connection: Connection, vendor: Vendor, now_us: int) -> Iterator[dict[str, Any]]:
    """Every product with the fields that were put; under `app` what a customer sees now."""
    show_due(connection, now_us)
    codes: defaultdict[int, list[str]] = defaultdict(list)
    for row in connection.execute(
        select(barcode).where(barcode.c.vendor_key == vendor.key).order_by(barcode.c.product_id, barcode.c.position)
    ):
        codes[row.product_id].append(row.barcode)
    within: defaultdict[int, list[str]] = defaultdict(list)
    linked = select(product_category).join(product).where(product.c.vendor_key == vendor.key)
    for row in connection.execute(linked.order_by(product_category.c.position)):
        within[row.product_id].append(row.global_id)
    for row in connection.execute(select(product).where(product.c.vendor_key == vendor.key).order_by(product.c.sku)):
        yield {
            "sku": row.sku,
            "barcodes": codes.get(row.id, []),
            "title": row.title,
            "price": money.number(row.price_milli),
            "active": row.active,
            "max_sales_quantity": row.sales_limit,
            "sales_buffer": row.sales_buffer,
            "categories": within.get(row.id, []),
            "is_sold_by_weight": row.is_sold_by_weight,
            "app": {
                "price": money.number(row.app_price_milli),
                "active": row.app_active,
                "max_sales_quantity": row.app_sales_limit,
            },
        }


def _check(number: int, item: Any, seen: set[str]) -> None:
    where = f"products[{number}]"
    if not isinstance(item, dict):
        raise BodyError(where, "must be an object")
    unknown = set(item) - FIELDS
    if unknown:
        raise unknown_field(f"{where}.{min(unknown)}", FIELDS - {"app"})
    sku = item.get("sku")
    if not isinstance(sku, str) or not sku:
        raise BodyError(f"{where}.sku", "must be a text that is not empty")
    if sku in seen:
        raise BodyError(f"{where}.sku", f"{sku!r} stands there twice")
    seen.add(sku)
    _check_types(where, item)
    for code in item.get("barcodes") or ():
        problem = barcode_problem(code) if isinstance(code, str) and code else "must be a text of digits"
        if problem:
            raise BodyError(f"{where}.barcodes", f"{problem}, not {code!r}")


def _check_types(where: str, item: dict[str, Any]) -> None:
    for name, value in item.items():
        kind = _KINDS.get(name)
        if kind is not None and value is not None and type(value) is not kind:
            raise BodyError(f"{where}.{name}", f"must be {kind.__name__}, not {value!r}")
        if value is not None and name in _LEAST and not _LEAST[name] <= value <= WHOLE_MAX:
            raise BodyError(f"{where}.{name}", f"must be from {_LEAST[name]} to {WHOLE_MAX}, not {value}")
    try:
        price = _price(item.get("price"))
    except (OverflowError, InvalidOperation, ValueError, TypeError):
        raise BodyError(f"{where}.price", "must be a number of money") from None
    if price is not None and price < 0:
        raise BodyError(f"{where}.price", "must not be negative")
    _check_details(where, item)
    for number, given in enumerate(item.get("categories") or ()):
        _check_category(f"{where}.categories[{number}]", given)


def _check_details(where: str, item: dict[str, Any]) -> None:
    if not _texts(item.get("images") or ()):
        raise BodyError(f"{where}.images", "must be a list of texts")
    for name in ("translations", "description"):
        if not _texts((item.get(name) or {}).values()):
            raise BodyError(f"{where}.{name}", "must be an object of texts by locale")
    if item.get("weight_specifications"):
        try:
            Weight.model_validate_json(json.dumps(item["weight_specifications"], default=float))
        except ValidationError as error:
            problem = validation_error(error.errors()).message
            field, _, sentence = problem.partition(": ")
            raise BodyError(f"{where}.weight_specifications.{field}", sentence) from None


def _check_category(where: str, given: Any) -> None:
    """A category given as its id, or as the object that the listing shows."""
    if isinstance(given, str):
        given = {"global_id": given}
    if not isinstance(given, dict):
        raise BodyError(where, "must be a text or an object with global_id")
    unknown = set(given) - {*CATEGORY_FIELDS, "vendor_key"}
    if unknown:
        raise unknown_field(f"{where}.{min(unknown)}", CATEGORY_FIELDS)
    if not isinstance(given.get("global_id"), str) or not given["global_id"]:
        raise BodyError(f"{where}.global_id", "must be a text that is not empty")
    for name, kinds in (
        ("name", (str, dict)),
        ("description", (dict,)),
        ("parent_global_id", (str,)),
        ("active", (bool,)),
    ):
        value = given.get(name)
        if value is not None and not (
            isinstance(value, kinds) and (not isinstance(value, dict) or _texts(value.values()))
        ):
            raise BodyError(f"{where}.{name}", f"must be {' or '.join(kind.__name__ for kind in kinds)}, not {value!r}")


def _texts(values: Iterable[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


def _price(value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool):
        raise TypeError(value)
    return money.cut(Decimal(str(value) if isinstance(value, float) else value))


def _product(product_id: int, vendor: Vendor, ids: Ids, item: dict[str, Any]) -> tuple[Any, ...]:
    price_milli = _price(item.get("price"))
    active = item.get("active")
    active = True if active is None else active
    limit = item.get("max_sales_quantity")
    details = {name: item[name] for name in DETAILS if item.get(name) is not None}
    return (
        product_id,
        vendor.key,
        item["sku"],
        item.get("remote_product_id") or ids.uuid(),
        item.get("title") or item["sku"],
        json.dumps(details, default=float) if details else "{}",
        price_milli,
        active,
        limit,
        item.get("sales_buffer"),
        bool(item.get("is_sold_by_weight")),
        price_milli,
        active,
        limit,
    )


def _category(vendor: Vendor, given: Any) -> dict[str, Any]:
    """A category given as its id or as {global_id, name, description, parent_global_id, active}."""
    whole = given if isinstance(given, dict) else {"global_id": str(given)}
    global_id = str(whole["global_id"])
    name = whole.get("name") or global_id
    active = whole.get("active")
    return {
        "vendor_key": vendor.key,
        "global_id": global_id,
        "name": name if isinstance(name, dict) else {"en_GB": str(name)},
        "description": whole.get("description") or {},
        "parent_global_id": whole.get("parent_global_id"),
        "active": True if active is None else active,
    }


router = APIRouter(prefix="/chains/{chain_id}/vendors/{vendor_id}/products")


@router.put("", **described(answers.AssortmentChanged, answers.NewAssortment))
async def put_products(chain_id: str, vendor_id: str, request: Request, sandbox: TheSandbox) -> dict[str, Any]:
    """Replaces the assortment; customers see it at once."""

    def put(file: IO[bytes]) -> int:
        with sandbox.storage.begin() as connection:
            of = named_vendor(connection, chain_id, vendor_id)
            return replace(connection, sandbox.ids, of, products(file, alone=True), sandbox.clock.now_us())

    async with spooled(request) as file:
        return {"vendor": vendor_id, "products": await asyncio.to_thread(put, file)}


@router.get("", **described(answers.Assortment))
def get_products(chain_id: str, vendor_id: str, sandbox: TheSandbox) -> dict[str, Any]:
    """What the platform holds, and under `app` what a customer sees."""
    with sandbox.storage.begin() as connection:
        of = named_vendor(connection, chain_id, vendor_id)
        now_us = sandbox.clock.now_us()
        return {"products": list(shown.dressed(connection, of.key, now_us, read(connection, of, now_us)))}
