"""The listing's pages and records (interface.md 2.3, 4.2, 4.3; field notes, Listing)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, exists, func, or_, select

from partner_sandbox.access.callers import Vendor
from partner_sandbox.catalog import money
from partner_sandbox.catalog.tables import barcode, category, product, product_category


@dataclass(frozen=True)
class Wanted:
    """The filters of the listing."""

    term: str | None = None
    categories: tuple[str, ...] = ()
    locale: str | None = None
    active: bool | None = None


def read(connection: Connection, vendor: Vendor, wanted: Wanted, page: int, page_size: int) -> dict[str, Any]:
    """One page, products in the order of their SKUs."""
    where = _filter(vendor, wanted)
    total = connection.execute(select(func.count()).select_from(product).where(where)).scalar_one()
    rows = connection.execute(
        select(product).where(where).order_by(product.c.sku).limit(page_size).offset((page - 1) * page_size)
    ).all()
    return {
        "page_number": page,
        "page_size": page_size,
        "total_pages": math.ceil(total / page_size),
        "products": _records(connection, vendor, rows, wanted.locale),
    }


def categories(connection: Connection, vendor: Vendor, *, only_leaves: bool) -> list[dict[str, Any]]:
    """The category records of a vendor."""
    child = category.alias("child")
    query = select(category).where(category.c.vendor_key == vendor.key).order_by(category.c.global_id)
    if only_leaves:
        has_child = exists().where(
            child.c.vendor_key == category.c.vendor_key, child.c.parent_global_id == category.c.global_id
        )
        query = query.where(~has_child)
    return [
        {**_category(row), "parent_global_id": row.parent_global_id, "active": row.active}
        for row in connection.execute(query)
    ]


def _filter(vendor: Vendor, wanted: Wanted) -> ColumnElement[bool]:
    clauses: list[ColumnElement[bool]] = [product.c.vendor_key == vendor.key]
    if wanted.active is not None:
        clauses.append(product.c.active == wanted.active)
    if wanted.term is not None:
        term = wanted.term
        clauses.append(
            or_(product.c.title.icontains(term, autoescape=True), product.c.sku.icontains(term, autoescape=True))
        )
    if wanted.categories:
        within = product_category.c.global_id.in_(wanted.categories)
        clauses.append(exists().where(product_category.c.product_id == product.c.id, within))
    return and_(*clauses)


def _records(
    connection: Connection, vendor: Vendor, rows: Iterable[Row[Any]], locale: str | None
) -> list[dict[str, Any]]:
    rows = list(rows)
    ids = [row.id for row in rows]
    codes: defaultdict[int, list[str]] = defaultdict(list)
    for code in connection.execute(select(barcode).where(barcode.c.product_id.in_(ids)).order_by(barcode.c.position)):
        codes[code.product_id].append(code.barcode)
    within: defaultdict[int, list[dict[str, Any]]] = defaultdict(list)
    joined = (
        select(product_category.c.product_id, category)
        .join(category, category.c.global_id == product_category.c.global_id)
        .where(category.c.vendor_key == vendor.key, product_category.c.product_id.in_(ids))
        .order_by(product_category.c.position)
    )
    for row in connection.execute(joined):
        within[row.product_id].append({**_category(row), "active": row.active})
    return [_record(row, codes[row.id], within[row.id], locale) for row in rows]


def _record(row: Row[Any], codes: list[str], within: list[dict[str, Any]], locale: str | None) -> dict[str, Any]:
    details: dict[str, Any] = row.details
    translations: dict[str, str] = details.get("translations", {})
    if locale is not None:
        translations = {name: value for name, value in translations.items() if name == locale}
    return {
        "remote_product_id": row.remote_product_id,
        "sku": row.sku,
        "barcodes": codes,
        "title": translations.get(locale, row.title) if locale else row.title,
        "translations": translations,
        "images": details.get("images", []),
        "price": None if row.price_milli is None else money.text(row.price_milli),
        "categories": within,
        "active": row.active,
        "is_sold_by_weight": row.is_sold_by_weight,
    }


def _category(row: Row[Any]) -> dict[str, Any]:
    return {"global_id": row.global_id, "details": {"name": row.name, "description": row.description}}
