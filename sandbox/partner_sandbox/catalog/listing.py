"""The assortment as a partner reads it: pages and categories (interface.md 2.3, 4.2, 4.3), and the export, a job and a CSV of its run (2.2, 4.4).

Field notes: Listing, Export.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import sqlalchemy as sa
from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from partner_sandbox import bodies, job_runner, jobs, money, storage
from partner_sandbox.catalog.products import barcodes_of, category, has_term, product, product_category
from partner_sandbox.errors import invalid
from partner_sandbox.sandbox import Sandbox, TheSandbox
from partner_sandbox.storage import Storage, metadata
from partner_sandbox.vendors import TheVendor, Vendor


@dataclass(frozen=True)
class Wanted:
    """The filters of the listing."""

    term: str | None = None
    categories: tuple[str, ...] = ()
    locale: str | None = None
    active: bool | None = None


def read(connection: sa.Connection, vendor: Vendor, wanted: Wanted, page: int, page_size: int) -> dict[str, Any]:
    """One page, products in the order of their SKUs."""
    query = sa.select(product).where(*_filter(vendor, wanted)).order_by(product.c.sku)
    total, rows = storage.page(connection, query, (page - 1) * page_size, page_size)
    return {
        "page_number": page,
        "page_size": page_size,
        "total_pages": math.ceil(total / page_size),
        "products": _records(connection, vendor, rows, wanted.locale),
    }


def categories(connection: sa.Connection, vendor: Vendor, *, only_leaves: bool) -> list[dict[str, Any]]:
    """The category records of a vendor."""
    child = category.alias("child")
    query = sa.select(category).where(category.c.vendor_key == vendor.key).order_by(category.c.global_id)
    if only_leaves:
        has_child = sa.exists().where(
            child.c.vendor_key == category.c.vendor_key, child.c.parent_global_id == category.c.global_id
        )
        query = query.where(~has_child)
    return [
        {**_category(row), "parent_global_id": row.parent_global_id, "active": row.active}
        for row in connection.execute(query)
    ]


def _filter(vendor: Vendor, wanted: Wanted) -> list[sa.ColumnElement[bool]]:
    clauses: list[sa.ColumnElement[bool]] = [product.c.vendor_key == vendor.key]
    if wanted.active is not None:
        clauses.append(product.c.active == wanted.active)
    if wanted.term is not None:
        clauses.append(has_term(wanted.term))
    if wanted.categories:
        within = product_category.c.global_id.in_(wanted.categories)
        clauses.append(sa.exists().where(product_category.c.product_id == product.c.id, within))
    return clauses


def _records(
    connection: sa.Connection, vendor: Vendor, rows: Sequence[sa.Row[Any]], locale: str | None
) -> list[dict[str, Any]]:
    ids = [row.id for row in rows]
    codes = barcodes_of(connection, ids)
    within: defaultdict[int, list[dict[str, Any]]] = defaultdict(list)
    joined = (
        sa.select(product_category.c.product_id, category)
        .join(category, category.c.global_id == product_category.c.global_id)
        .where(category.c.vendor_key == vendor.key, product_category.c.product_id.in_(ids))
        .order_by(product_category.c.position)
    )
    for row in connection.execute(joined):
        within[row.product_id].append({**_category(row), "active": row.active})
    return [_record(row, codes[row.id], within[row.id], locale) for row in rows]


def _record(row: sa.Row[Any], codes: list[str], within: list[dict[str, Any]], locale: str | None) -> dict[str, Any]:
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


def _category(row: sa.Row[Any]) -> dict[str, Any]:
    return {"global_id": row.global_id, "details": {"name": row.name, "description": row.description}}


router = APIRouter(prefix="/v2/chains/{chain_id}/vendors/{vendor_id}")
PAGE_MAX = 1_000_000


@router.get("/catalog", name="list_catalog")
def list_catalog(
    sandbox: TheSandbox,
    vendor: TheVendor,
    page: str | None = None,
    page_size: str | None = None,
    query_term: str | None = None,
    category_global_ids: Annotated[list[str] | None, Query()] = None,
    locale: str | None = None,
    is_active: str | None = None,
) -> dict[str, Any]:
    """A page of products. `page_number` as a parameter is ignored, as live."""
    behaviour = sandbox.behaviour
    number = bodies.whole("page", page, 1, most=PAGE_MAX)
    largest = behaviour.listing_page_size_max
    page_size_max = largest if behaviour.listing_page_size_beyond == "reject" else None
    size = bodies.whole("page_size", page_size, behaviour.listing_page_size_default, most=page_size_max)
    wanted = Wanted(
        term=query_term or None,
        categories=_words(category_global_ids),
        locale=_locale(locale),
        active=bodies.truth("is_active", is_active),
    )
    stuck = sandbox.faults.draw("list_catalog", "first_page_again", vendor=vendor.vendor)
    with sandbox.storage.begin() as connection:
        answer = read(connection, vendor, wanted, 1 if stuck else number, min(size, largest))
    if sandbox.faults.draw("list_catalog", "endless_pages", vendor=vendor.vendor):
        answer["total_pages"] = number + 1
    return answer


@router.get("/categories", name="categories")
def list_categories(sandbox: TheSandbox, vendor: TheVendor, only_leaves: str | None = None) -> dict[str, Any]:
    """The categories of the vendor; by default only those without children."""
    leaves = bodies.truth("only_leaves", only_leaves) is not False
    with sandbox.storage.begin() as connection:
        return {"categories": categories(connection, vendor, only_leaves=leaves)}


def _words(values: list[str] | None) -> tuple[str, ...]:
    """A list as repeated parameters or separated by commas."""
    return tuple(word for value in values or () for word in value.split(",") if word)


def _locale(value: str | None) -> str | None:
    if value is not None and bodies.LOCALE.fullmatch(value) is None:
        raise invalid("locale", "must have the form xx_YY")
    return value


export_row = sa.Table(
    "export_row",
    metadata,
    sa.Column("job_seq", sa.Integer, sa.ForeignKey("job.seq"), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True, comment="from 0, in the order of the SKUs"),
    sa.Column("sku", sa.Text, nullable=False),
    sa.Column("barcode", sa.Text, comment="the first one, 14 digits"),
    sa.Column("price_milli", sa.Integer),
    sa.Column("active", sa.Boolean, nullable=False),
    sa.Column("sales_limit", sa.Integer),
    sqlite_with_rowid=False,
)
HEADER = '"sku","barcode","price","active","maximum_sales_quantity"\r\n'
READ_ROWS = 20_000
_TAKE = sa.text("""
    INSERT INTO export_row (job_seq, number, sku, barcode, price_milli, active, sales_limit)
    SELECT :job, row_number() OVER (ORDER BY sku) - 1, sku,
        (SELECT barcode FROM barcode WHERE barcode.product_id = product.id ORDER BY position LIMIT 1),
        price_milli, active, sales_limit
    FROM product WHERE vendor_key = :vendor
""")
_COUNT = sa.text("SELECT count(*) FROM export_row WHERE job_seq = :job")
_FORGET = sa.text("""
    DELETE FROM export_row WHERE job_seq = :job OR job_seq IN (
        SELECT seq FROM job WHERE kind = 'export' AND link_ends_us <= :now)
        OR job_seq NOT IN (SELECT seq FROM job)
""")
_PAGE = sa.text("""
    SELECT sku, barcode, price_milli, active, sales_limit FROM export_row
    WHERE job_seq = :job AND number >= :first AND number < :beyond ORDER BY number
""")


def run_export(sandbox: Sandbox, job: jobs.Job, _: None) -> None:
    """Takes the snapshot, and deletes those of expired links and of forgotten jobs."""
    with sandbox.storage.begin() as connection:
        connection.execute(_FORGET, {"job": job.seq, "now": sandbox.clock.now_us()})
        connection.execute(_TAKE, {"job": job.seq, "vendor": job.vendor_key})
        jobs.change(connection, job.seq, items=connection.execute(_COUNT, {"job": job.seq}).scalar_one())


def export_lines(storage: Storage, job: jobs.Job) -> Iterator[str]:
    """The file in pieces of text."""
    yield HEADER
    for first in range(0, job.items, READ_ROWS):
        with storage.begin() as connection:
            page = connection.execute(_PAGE, {"job": job.seq, "first": first, "beyond": first + READ_ROWS}).all()
        yield "".join(
            f'{quoted(sku)},"{barcode or ""}","{"" if price is None else money.text(price)}",'
            f'"{1 if active else 0}","{"" if limit is None else limit}"\r\n'
            for sku, barcode, price, active, limit in page
        )


def quoted(value: str) -> str:
    """One quoted field."""
    return '"' + value.replace('"', '""') + '"'


@router.post("/catalog/export", name="export")
async def export_catalog(request: Request, sandbox: TheSandbox, vendor: TheVendor) -> Response:
    """Starts an export; what it holds is the assortment at the moment the job runs (interface.md 4.4)."""
    with sandbox.storage.begin() as connection:
        job = jobs.receive(connection, sandbox, "export", jobs.address_of(sandbox, request), vendor=vendor)
        job = jobs.queue(connection, sandbox, job.seq, 0)
    return await job_runner.accepted(sandbox, job, request, status=sandbox.behaviour.export_status)
