"""PUT catalog: the platform accepts all items or none, and applies them when the job runs (interface.md 2.1, 4.1)."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from itertools import islice
from typing import IO, Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from sqlalchemy import Connection, text

from partner_sandbox import job_runner, jobs, money
from partner_sandbox.catalog.body import BodyError, products, reader_of, spooled
from partner_sandbox.catalog.products import show_due
from partner_sandbox.clock import to_us
from partner_sandbox.sandbox import Sandbox, TheSandbox
from partner_sandbox.settings import Behaviour
from partner_sandbox.vendors import TheVendor, Vendor

FIND_BY_SKU = text("""
    UPDATE job_item SET wave = 1, product_id = (
        SELECT id FROM product WHERE product.vendor_key = :vendor AND product.sku = job_item.sku)
    WHERE job_seq = :job AND number >= :first AND number < :beyond AND sku IS NOT NULL AND error IS NULL
""")
FIND_BY_BARCODE = text("""
    UPDATE job_item SET wave = 1, (product_id, error) = (
        SELECT max(product_id),
            CASE WHEN count(DISTINCT product_id) > 1 THEN 'barcode belongs to more than one product' END
        FROM barcode WHERE barcode.vendor_key = :vendor AND barcode.barcode = job_item.barcode)
    WHERE job_seq = :job AND number >= :first AND number < :beyond AND sku IS NULL AND error IS NULL
""")
REJECT_UNKNOWN = text("""
    UPDATE job_item SET error = 'product not found in the catalog of the vendor'
    WHERE job_seq = :job AND number >= :first AND number < :beyond AND product_id IS NULL AND error IS NULL
""")
REPEATED = text("""
    SELECT 1 FROM job_item
    WHERE job_seq = :job AND number >= :first AND number < :beyond AND error IS NULL
    GROUP BY product_id HAVING count(*) > 1 LIMIT 1
""")
WAVES = text("""
    UPDATE job_item SET wave = ranked.wave
    FROM (
        SELECT number AS n, row_number() OVER (PARTITION BY product_id ORDER BY number) AS wave
        FROM job_item WHERE job_seq = :job AND number >= :first AND number < :beyond AND error IS NULL) AS ranked
    WHERE job_item.job_seq = :job AND job_item.number = ranked.n
""")
LAST_WAVE = text("""
    SELECT max(wave) FROM job_item
    WHERE job_seq = :job AND number >= :first AND number < :beyond AND error IS NULL
""")
# An explicit active=false wins; otherwise a quantity decides by the buffer; otherwise an explicit active=true.
APPLY = text("""
    UPDATE product SET
        price_milli = coalesce(i.price_milli, product.price_milli),
        sales_limit = coalesce(i.sales_limit, product.sales_limit),
        active = CASE
            WHEN i.active = 0 THEN 0
            WHEN i.quantity IS NOT NULL AND :with_quantity
                THEN i.quantity + :at_buffer > coalesce(product.sales_buffer, vendor.sales_buffer)
            ELSE coalesce(i.active, product.active) END
    FROM job_item AS i, vendor
    WHERE i.job_seq = :job AND i.number >= :first AND i.number < :beyond AND i.error IS NULL AND i.wave = :wave
        AND product.id = i.product_id AND vendor.id = :vendor
""")
SHOW = text("""
    INSERT INTO visible_change (visible_us, product_id, price_milli, active, sales_limit)
    SELECT :visible, id, price_milli, active, sales_limit FROM product
    WHERE id IN (
            SELECT product_id FROM job_item
            WHERE job_seq = :job AND number >= :first AND number < :beyond AND error IS NULL)
        AND (price_milli IS NOT app_price_milli OR active IS NOT app_active OR sales_limit IS NOT app_sales_limit
            OR EXISTS (SELECT 1 FROM visible_change AS c WHERE c.product_id = product.id))
""")
SINGLE_KEY = text("SELECT sku, barcode FROM job_item WHERE job_seq = :job")
EDIT = text("""
    UPDATE product SET price_milli = coalesce(:price, price_milli + 1000, 1000)
    WHERE id = (SELECT product_id FROM job_item WHERE job_seq = :job AND error IS NULL ORDER BY number LIMIT 1)
""")
EDIT_SHOWN = text("""
    INSERT INTO visible_change (visible_us, product_id, price_milli, active, sales_limit)
    SELECT :visible, id, price_milli, active, sales_limit FROM product
    WHERE id = (SELECT product_id FROM job_item WHERE job_seq = :job AND error IS NULL ORDER BY number LIMIT 1)
""")


PIECE_ITEMS = 20_000
_INSERT = (
    "INSERT INTO job_item (job_seq, number, sku, barcode, quantity, price_milli, active, sales_limit, error)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


def take(sandbox: Sandbox, vendor: Vendor, file: IO[bytes], address: str) -> jobs.Job:
    """Checks every item and stores them as a job; BodyError for the first that makes the request invalid."""
    reader = reader_of(sandbox.behaviour)
    rows = (reader.read(number, item) for number, item in enumerate(products(file)))
    piece = list(islice(rows, PIECE_ITEMS))
    if not piece:
        raise BodyError("products", "must have at least one item")
    if len(piece) < PIECE_ITEMS:  # the whole of it is known to be good: one transaction
        with sandbox.storage.begin() as connection:
            job = jobs.receive(connection, sandbox, "update", address, vendor=vendor)
            _insert(connection, job.seq, piece)
            return jobs.queue(connection, sandbox, job.seq, len(piece))
    with sandbox.storage.begin() as connection:
        job = jobs.receive(connection, sandbox, "update", address, vendor=vendor)
    items = 0
    try:
        while piece:
            items += len(piece)
            with sandbox.storage.begin() as connection:
                _insert(connection, job.seq, piece)
            piece = list(islice(rows, PIECE_ITEMS))
    except BodyError:
        with sandbox.storage.begin() as connection:
            jobs.forget(connection, job.seq)
        raise
    with sandbox.storage.begin() as connection:
        return jobs.queue(connection, sandbox, job.seq, items)


def apply(sandbox: Sandbox, job: jobs.Job) -> None:
    """Applies a job's items in their order, a piece at a time; doing it again changes nothing."""
    applied = sandbox.faults.draw("job", "not_applied", vendor=job.vendor) is None
    for first in range(0, job.items, PIECE_ITEMS):
        with sandbox.storage.begin() as connection:
            apply_piece(connection, sandbox.behaviour, job, first, sandbox.clock.now_us(), apply=applied)


def conclude(sandbox: Sandbox, job: jobs.Job, _: None) -> None:
    """Counts what was rejected."""
    edit = sandbox.faults.draw("job", "portal_edit", vendor=job.vendor)
    with sandbox.storage.begin() as connection:
        jobs.count_rejected(connection, job.seq)
        show_due(connection, sandbox.clock.now_us())  # or changes of a vendor that nothing reads pile up
        if edit is not None:
            price_milli = None if edit.price is None else money.cut(Decimal(str(edit.price)))
            visible_us = sandbox.clock.now_us() + to_us(sandbox.behaviour.propagation_s)
            connection.execute(EDIT, {"job": job.seq, "price": price_milli})
            connection.execute(EDIT_SHOWN, {"job": job.seq, "visible": visible_us})


def apply_piece(
    connection: Connection, behaviour: Behaviour, job: jobs.Job, first: int, now_us: int, *, apply: bool
) -> None:
    """The items from `first` on: found, then applied, later items of a product over earlier ones."""
    piece = {"job": job.seq, "first": first, "beyond": first + PIECE_ITEMS}
    for statement in (FIND_BY_SKU, FIND_BY_BARCODE):
        connection.execute(statement, {**piece, "vendor": job.vendor_key})
    connection.execute(REJECT_UNKNOWN, piece)
    if not apply:
        return
    waves = 1
    if connection.execute(REPEATED, piece).first() is not None:
        connection.execute(WAVES, piece)
        waves = connection.execute(LAST_WAVE, piece).scalar_one()
    ignored = behaviour.single_item_quantity == "ignored" and job.items == 1
    rule = {
        **piece,
        "vendor": job.vendor_key,
        "at_buffer": int(behaviour.quantity_at_buffer == "activates"),
        "with_quantity": int(not ignored),
    }
    for wave in range(1, waves + 1):
        connection.execute(APPLY, {**rule, "wave": wave})
    connection.execute(SHOW, {**piece, "visible": now_us + to_us(behaviour.propagation_s)})


def _insert(connection: Connection, job_seq: int, piece: list[tuple[Any, ...]]) -> None:
    connection.exec_driver_sql(_INSERT, [(job_seq, *row) for row in piece])


router = APIRouter()


@router.put("/v2/chains/{chain_id}/vendors/{vendor_id}/catalog", name="put_catalog")  # noqa: FAST003  TheVendor takes them
async def put_catalog(request: Request, sandbox: TheSandbox, vendor: TheVendor) -> Response:
    """Accepts items and answers at once; a job applies them (interface.md 4.1)."""
    async with spooled(request) as file:
        job = await asyncio.to_thread(take, sandbox, vendor, file, jobs.address_of(sandbox, request))
    if job.items == 1 and sandbox.behaviour.single_item_answer == "sku":
        return await asyncio.to_thread(_done_at_once, sandbox, job)
    return await job_runner.accepted(sandbox, job, request)


def _done_at_once(sandbox: Sandbox, job: jobs.Job) -> Response:
    """The older form: the answer holds the single product, its SKU or else its barcode, and no job."""
    with sandbox.storage.begin() as connection:
        row = connection.execute(SINGLE_KEY, {"job": job.seq}).one()
    job_runner.finish(sandbox, job)
    return JSONResponse({"sku": str(row.sku or row.barcode)})
