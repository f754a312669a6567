"""The per-SKU log of an update as CSV, in the newer and the older form (interface.md 2.2; field notes, Jobs)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from sqlalchemy import text

from partner_sandbox.behaviour import Behaviour
from partner_sandbox.jobs.jobs import Job
from partner_sandbox.storage import Storage

PAGE_ROWS = 20_000
PIECE_ROWS = 2_000
_PAGE = text("""
    SELECT number, sku, barcode, error FROM job_item
    WHERE job_seq = :job AND number >= :first AND number < :beyond ORDER BY number
""")
NEWER = ("sku", "state", "errors")
OLDER = ("sku", "code", "state", "errors", "row_number", "piece_barcode")
UNKNOWN = ("processed_by", "remarks")


class LogRow(NamedTuple):
    """The outcome of one item; `error` is None for a success."""

    number: int
    sku: str | None
    barcode: str | None
    error: str | None


def lines(storage: Storage, behaviour: Behaviour, job: Job) -> Iterator[str]:
    """The file in pieces of text: a header row, then a row for each item in the order they were sent.

    The column sku has the key as it was sent: the SKU, or the barcode padded to 14 digits.
    """
    return written(rows(storage, job), behaviour)


def rows(storage: Storage, job: Job) -> Iterator[LogRow]:
    """The items of a job and their outcomes, in the order they were sent."""
    for first in range(0, job.items, PAGE_ROWS):
        with storage.begin() as connection:
            page = connection.execute(_PAGE, {"job": job.seq, "first": first, "beyond": first + PAGE_ROWS}).all()
        for number, sku, barcode, error in page:
            yield LogRow(number, sku, barcode, error)


def written(items: Iterable[LogRow], behaviour: Behaviour, *, unknown_columns: bool = False) -> Iterator[str]:
    """The rows in the form of the dialect, after their header."""
    older = behaviour.log_format == "older"
    header = OLDER if older else NEWER
    form = _older if older else _newer
    fine = quoted(behaviour.log_no_errors)
    beginning, end = ("", "\r\n")
    if unknown_columns:
        header = (UNKNOWN[0], *header, UNKNOWN[1])
        beginning, end = ('"batch-7",', ',"-"\r\n')
    piece = [",".join(map(quoted, header)) + "\r\n"]
    for row in items:
        piece.append(f"{beginning}{form(row, fine)}{end}")
        if len(piece) >= PIECE_ROWS:
            yield "".join(piece)
            piece.clear()
    yield "".join(piece)


def quoted(value: str) -> str:
    """One quoted field."""
    return '"' + value.replace('"', '""') + '"'


def _newer(row: LogRow, fine: str) -> str:
    key = quoted(row.sku or row.barcode or "")
    return f'{key},"success",{fine}' if row.error is None else f'{key},"failed",{quoted(row.error)}'


def _older(row: LogRow, fine: str) -> str:
    key = quoted(row.sku or row.barcode or "")
    code, state, errors = ("200", "success", fine) if row.error is None else ("404", "failed", quoted(row.error))
    return f'{key},"{code}","{state}",{errors},"{row.number + 1}",{quoted(row.barcode or "")}'
