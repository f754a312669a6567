"""Rows as a file for a spreadsheet, page by page: no row count is too large for it."""

from __future__ import annotations

import tempfile
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.background import BackgroundTask
from starlette.responses import FileResponse, StreamingResponse

from shelfsync.catalog.assortment.product_names import with_names_of_vendors
from shelfsync.spreadsheet import csv_text, write_workbook

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from shelfsync.context import Context

ROWS = 5_000
"""Rows that are read at once."""
WORKBOOK = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def rows_file(
    app: Context, columns: Sequence[str], pages: Iterable[list[dict[str, Any]]], name: str
) -> StreamingResponse:
    """A CSV of these columns; if they begin with vendor and sku, the name of the product stands behind them."""
    if tuple(columns[:2]) != ("vendor", "sku"):
        return csv_file(columns, ([[row[one] for one in columns] for row in rows] for rows in pages), name)
    names = [*columns[:2], "name", *columns[2:]]
    with_names = (with_names_of_vendors(app, rows) for rows in pages)
    return csv_file(names, ([[row[one] for one in names] for row in rows] for rows in with_names), name)


def csv_file(names: Sequence[str], pages: Iterable[list[list[Any]]], name: str) -> StreamingResponse:
    """A CSV with the mark that spreadsheets need to read UTF-8.

    The first rows are read before the answer begins, so an error of theirs is an answer of its own and not half a file.
    """
    left = iter(pages)
    first = next(left, [])
    lines = chain(["\ufeff" + csv_text([names])], (csv_text(rows) for rows in chain([first], left)))
    return StreamingResponse(lines, media_type="text/csv; charset=utf-8", headers=_named(name))


def workbook_file(names: Sequence[str], pages: Iterable[list[list[Any]]], name: str) -> FileResponse:
    """An XLSX of these columns. It is made on the disk, and removed when it is sent."""
    with tempfile.NamedTemporaryFile(suffix=".xlsx", delete=False) as made:
        file = Path(made.name)
    try:
        write_workbook(file, names, chain.from_iterable(pages))
    except BaseException:
        file.unlink()
        raise
    return FileResponse(file, media_type=WORKBOOK, headers=_named(name), background=BackgroundTask(file.unlink))


def _named(name: str) -> dict[str, str]:
    return {"content-disposition": f'attachment; filename="{name}"'}
