"""PUT catalog: items are taken whole or not at all, and applied when the job runs (interface.md 2.1, 4.1)."""

from __future__ import annotations

from decimal import Decimal
from itertools import islice
from typing import IO, Any

from sqlalchemy import Connection

from partner_sandbox.access.callers import Vendor
from partner_sandbox.behaviour import Behaviour
from partner_sandbox.catalog import money, statements
from partner_sandbox.catalog.body import BodyError, products
from partner_sandbox.catalog.item import reader_of
from partner_sandbox.clock import to_us
from partner_sandbox.jobs import jobs
from partner_sandbox.sandbox import Sandbox

PIECE_ITEMS = 20_000
_INSERT = (
    "INSERT INTO job_item (job_seq, number, sku, barcode, quantity, price_milli, active, sales_limit, error)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


def take(sandbox: Sandbox, vendor: Vendor, file: IO[bytes], address: str) -> jobs.Job:
    """Checks every item and keeps them as a job; BodyError for the first that makes the request invalid."""
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


def run(sandbox: Sandbox, job: jobs.Job) -> None:
    """Applies a job's items in their order, a piece at a time."""
    apply = sandbox.faults.draw("job", "not_applied", vendor=job.vendor) is None
    for first in range(0, job.items, PIECE_ITEMS):
        with sandbox.storage.begin() as connection:
            apply_piece(connection, sandbox.behaviour, job, first, sandbox.clock.now_us(), apply=apply)
    edit = sandbox.faults.draw("job", "portal_edit", vendor=job.vendor)
    with sandbox.storage.begin() as connection:
        jobs.count_refused(connection, job.seq)
        if edit is not None:
            price_milli = None if edit.price is None else money.cut(Decimal(str(edit.price)))
            visible_us = sandbox.clock.now_us() + to_us(sandbox.behaviour.propagation_s)
            connection.execute(statements.EDIT, {"job": job.seq, "price": price_milli})
            connection.execute(statements.EDIT_SHOWN, {"job": job.seq, "visible": visible_us})


def single_key(sandbox: Sandbox, job: jobs.Job) -> str:
    """The SKU of a job's only item, or its barcode."""
    with sandbox.storage.begin() as connection:
        row = connection.execute(statements.SINGLE_KEY, {"job": job.seq}).one()
    return str(row.sku or row.barcode)


def apply_piece(
    connection: Connection, behaviour: Behaviour, job: jobs.Job, first: int, now_us: int, *, apply: bool
) -> None:
    """The items from `first` on: found, then applied, later items of a product over earlier ones."""
    piece = {"job": job.seq, "first": first, "beyond": first + PIECE_ITEMS}
    for statement in (statements.FIND_BY_SKU, statements.FIND_BY_BARCODE):
        connection.execute(statement, {**piece, "vendor": job.vendor_key})
    connection.execute(statements.REFUSE_UNKNOWN, piece)
    if not apply:
        return
    waves = 1
    if connection.execute(statements.REPEATED, piece).first() is not None:
        connection.execute(statements.WAVES, piece)
        waves = connection.execute(statements.LAST_WAVE, piece).scalar_one()
    ignored = behaviour.single_item_quantity == "ignored" and job.items == 1
    rule = {
        **piece,
        "vendor": job.vendor_key,
        "at_buffer": int(behaviour.quantity_at_buffer == "activates"),
        "with_quantity": int(not ignored),
    }
    for wave in range(1, waves + 1):
        connection.execute(statements.APPLY, {**rule, "wave": wave})
    connection.execute(statements.SHOW, {**piece, "visible": now_us + to_us(behaviour.propagation_s)})


def _insert(connection: Connection, job_seq: int, piece: list[tuple[Any, ...]]) -> None:
    connection.exec_driver_sql(_INSERT, [(job_seq, *row) for row in piece])
