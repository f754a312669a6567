"""rejection_file: what the platform rejects, as rows for a spreadsheet: under the ERP's names of columns, with what to do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from shelfsync.catalog.assortment.product_names import with_names_of_vendors
from shelfsync.catalog.warehouse.rows_by_reason import REJECTED
from shelfsync.store.keyset_list import every_page

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from shelfsync.context import Context

_OF_ERP = ("vendor", "sku", "name", "barcode", "price", "quantity", "active", "max_sales_quantity")
_OF_PLATFORM = ("field", "value", "code", "reason", "action")
_AT_STAKE = "value_at_stake"
_ROWS = 5_000
_WHEN = ("times", "first_at", "last_at", "next_try_at", "released_by")
_FIELDS = {
    "barcode": "barcode|ean|gtin",
    "price": "price",
    "max_sales_quantity": "max_sales_quantity|sales limit|maximum quantity",
    "quantity": "quantity|stock",
    "active": "active|availability",
}
"""Field -> how the platform's text names it, in the order in which they are looked for."""


def names(context: Context) -> list[str]:
    """The names of the columns. Those of the ERP have its own names; what has no name there, or one twice, has shelfsync's."""
    own = context.settings.erp.columns
    given: list[str] = []
    for column in (*_OF_ERP, *_OF_PLATFORM, _AT_STAKE, *_WHEN):
        name = own.get(column, column) if column in _OF_ERP else column
        taken = {one.casefold() for one in given}
        if name.casefold() in taken:
            name = f"shelfsync {column}"
        given.append(name)
    return given


def pages(context: Context, asked: Mapping[str, str], *, order: str = "") -> Iterator[list[list[Any]]]:
    """The rejections by these filters, some thousands of rows at a time, in the order of `names`."""
    for rows in every_page(context.engine.connect, REJECTED, asked, order=order, most=_ROWS):
        yield [_cells(row) for row in with_names_of_vendors(context, rows)]


def _cells(row: Mapping[str, Any]) -> list[Any]:
    field = field_of(row["reason"], row["kind"])
    about = [field, row[field] if field else None, row["kind"], row["reason"], row["what_to_do"]]
    return [*(row[name] for name in _OF_ERP), *about, row[_AT_STAKE], *(row[name] for name in _WHEN)]


def field_of(reason: str, kind: str) -> str | None:
    """The field that a rejection is about: the SKU where the platform does not know it, else what its text names; None: it names none."""
    if kind == "unknown_sku":
        return "sku"
    found = (name for name, words in _FIELDS.items() if re.search(rf"\b(?:{words})\b", reason.casefold()))
    return next(found, None)
