"""Rows as a file for a spreadsheet, page by page: no row count is too large for it."""

from __future__ import annotations

import csv
import io
import re
from itertools import chain
from typing import TYPE_CHECKING, Any

from starlette.responses import StreamingResponse

from shelfsync.catalog.assortment.product_names import with_names_of_vendors

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from shelfsync.context import Context

ROWS = 5_000
"""Rows that are read at once."""
_FORMULA = re.compile(r"""(^|[;\t\r\n][;"'\s]*)(?=[=+\-@\t\r])""")
"""Where a cell begins like a formula; also inside a text, because many spreadsheets split a CSV at semicolons."""


def rows_file(
    app: Context, columns: Sequence[str], pages: Iterable[list[dict[str, Any]]], name: str
) -> StreamingResponse:
    """A CSV of these columns; if they begin with vendor and sku, the name of the product stands behind them.

    The first rows are read before the answer begins, so an error of theirs is an answer of its own and not half a file.
    """
    left = iter(pages)
    first = next(left, [])
    return StreamingResponse(
        _lines(app, columns, chain([first], left)),
        media_type="text/csv; charset=utf-8",
        headers={"content-disposition": f'attachment; filename="{name}"'},
    )


def _lines(app: Context, columns: Sequence[str], pages: Iterable[list[dict[str, Any]]]) -> Iterator[str]:
    """A CSV with the mark that spreadsheets need to read UTF-8."""
    named = tuple(columns[:2]) == ("vendor", "sku")
    names = [*columns[:2], "name", *columns[2:]] if named else [*columns]
    yield "\ufeff" + _text([names])
    for rows in pages:
        yield _text(
            [_cell(row[name]) for name in names] for row in (with_names_of_vendors(app, rows) if named else rows)
        )


def _cell(value: Any) -> Any:
    """A spreadsheet runs a text that begins like a formula, so such a text gets an apostrophe before it."""
    return _FORMULA.sub(r"\1'", value) if isinstance(value, str) else value


def _text(rows: Iterable[list[Any]]) -> str:
    written = io.StringIO()
    csv.writer(written).writerows(rows)
    return written.getvalue()
