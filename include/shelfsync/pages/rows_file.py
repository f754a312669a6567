"""Rows as a file for a spreadsheet, page by page: no row count is too large for it."""

from __future__ import annotations

import tempfile
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from starlette.background import BackgroundTask
from starlette.responses import StreamingResponse

from shelfsync.catalog.assortment.product_names import with_names_of_vendors
from shelfsync.spreadsheet import csv_text, few, write_workbook

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from shelfsync.context import Context

ROWS = 5_000
"""Rows that are read at once."""
_PART_BYTES = 1 << 20
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


def workbook_file(names: Sequence[str], pages: Iterable[list[list[Any]]], name: str) -> StreamingResponse:
    """An XLSX of these columns, made before the answer begins. Raises DataError if there are more than WORKBOOK_ROWS rows."""
    made = tempfile.TemporaryFile()  # noqa: SIM115  open until it is sent
    try:
        write_workbook(made, names, few(chain.from_iterable(pages)))
        made.seek(0)
    except BaseException:
        made.close()
        raise
    parts = iter(partial(made.read, _PART_BYTES), b"")
    return StreamingResponse(parts, media_type=WORKBOOK, headers=_named(name), background=BackgroundTask(made.close))


def _named(name: str) -> dict[str, str]:
    return {"content-disposition": f'attachment; filename="{name}"'}
