"""The export of an assortment: a job, and a CSV of the assortment at its run (interface.md 2.2, 4.4; field notes, Export)."""

from __future__ import annotations

from collections.abc import Iterator

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy import Boolean, Column, ForeignKey, Integer, Table, Text, text

from partner_sandbox import money
from partner_sandbox.jobs import jobs, runner
from partner_sandbox.sandbox import Sandbox, TheSandbox
from partner_sandbox.storage import Storage, metadata
from partner_sandbox.vendors import TheVendor

export_row = Table(
    "export_row",
    metadata,
    Column("job_seq", Integer, ForeignKey("job.seq"), primary_key=True),
    Column("number", Integer, primary_key=True, comment="from 0, in the order of the SKUs"),
    Column("sku", Text, nullable=False),
    Column("barcode", Text, comment="the first one, 14 digits"),
    Column("price_milli", Integer),
    Column("active", Boolean, nullable=False),
    Column("sales_limit", Integer),
    sqlite_with_rowid=False,
)

router = APIRouter()
HEADER = '"sku","barcode","price","active","maximum_sales_quantity"\r\n'
PAGE_ROWS = 20_000
_TAKE = text("""
    INSERT INTO export_row (job_seq, number, sku, barcode, price_milli, active, sales_limit)
    SELECT :job, row_number() OVER (ORDER BY sku) - 1, sku,
        (SELECT barcode FROM barcode WHERE barcode.product_id = product.id ORDER BY position LIMIT 1),
        price_milli, active, sales_limit
    FROM product WHERE vendor_key = :vendor
""")
_COUNT = text("SELECT count(*) FROM export_row WHERE job_seq = :job")
_FORGET = text("""
    DELETE FROM export_row WHERE job_seq = :job OR job_seq IN (
        SELECT seq FROM job WHERE kind = 'export' AND link_ends_us <= :now)
        OR job_seq NOT IN (SELECT seq FROM job)
""")
_PAGE = text("""
    SELECT sku, barcode, price_milli, active, sales_limit FROM export_row
    WHERE job_seq = :job AND number >= :first AND number < :beyond ORDER BY number
""")


def run(sandbox: Sandbox, job: jobs.Job, _: None) -> None:
    """Takes the snapshot, and deletes those of expired links and of forgotten jobs."""
    with sandbox.storage.begin() as connection:
        connection.execute(_FORGET, {"job": job.seq, "now": sandbox.clock.now_us()})
        connection.execute(_TAKE, {"job": job.seq, "vendor": job.vendor_key})
        jobs.change(connection, job.seq, items=connection.execute(_COUNT, {"job": job.seq}).scalar_one())


def lines(storage: Storage, job: jobs.Job) -> Iterator[str]:
    """The file in pieces of text."""
    yield HEADER
    for first in range(0, job.items, PAGE_ROWS):
        with storage.begin() as connection:
            page = connection.execute(_PAGE, {"job": job.seq, "first": first, "beyond": first + PAGE_ROWS}).all()
        yield "".join(
            f'{quoted(sku)},"{barcode or ""}","{"" if price is None else money.text(price)}",'
            f'"{1 if active else 0}","{"" if limit is None else limit}"\r\n'
            for sku, barcode, price, active, limit in page
        )


def quoted(value: str) -> str:
    """One quoted field."""
    return '"' + value.replace('"', '""') + '"'


@router.post("/v2/chains/{chain_id}/vendors/{vendor_id}/catalog/export", name="export")  # noqa: FAST003
async def export_catalog(request: Request, sandbox: TheSandbox, vendor: TheVendor) -> Response:
    """Starts an export; what it holds is the assortment at the moment the job runs (interface.md 4.4)."""
    with sandbox.storage.begin() as connection:
        job = jobs.receive(connection, sandbox, "export", jobs.address_of(sandbox, request), vendor=vendor)
        job = jobs.queue(connection, sandbox, job.seq, 0)
    return await runner.accepted(sandbox, job, request, status=sandbox.behaviour.export_status)
