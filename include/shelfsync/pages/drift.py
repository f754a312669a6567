"""What the platform shows and the ERP does not want, in the newest export of each store: by cause, filtered, and as a file."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from fastapi import Request
from starlette.responses import HTMLResponse, StreamingResponse

from shelfsync import display
from shelfsync.catalog.warehouse.drift import DRIFT as DIFFERING
from shelfsync.catalog.warehouse.drift import causes
from shelfsync.pages.lists import Column, Field, chips, list_file, list_values
from shelfsync.pages.shell import Page, context, show

DRIFT = Page("/drift", "Differences", ("assortment_export",))

CAUSES = {
    "never_sent": "not sent yet",
    "rejected": "the platform rejects it",
    "held": "a guard holds it",
    "acknowledged_not_applied": "the platform accepted it and does not show it",
    "changed_on_platform": "changed on the platform",
    "export_older_than_change": "the export is older than the change",
    "unknown": "cause unknown",
}
"""Each cause in words."""
_ACTIONS = {
    "resend": "the next run sends it again",
    "report": "a person looks at it",
    "ignore": "nothing to do",
    "reject": "sent too often; a person looks at it",
}
_VALUES = {"sku": "the product is missing", "price": "price", "active": "on sale", "max_sales_quantity": "sales limit"}
_FIELDS = (
    Field("vendor", "store"),
    Field("sku", "SKU begins with"),
    Field("cause", "cause", CAUSES),
    Field("field", "value", _VALUES),
)
_COLUMNS = (
    Column("vendor", "store", "store"),
    Column("sku", "SKU", "product"),
    Column("name", "name"),
    Column("field", "value", "state", _VALUES),
    Column("desired", "wanted"),
    Column("acknowledged", "accepted"),
    Column("observed", "shown"),
    Column("cause", "cause", "state", CAUSES),
    Column("action", "what happens", "state", _ACTIONS),
    Column("observed_at", "export of", "when"),
)


@DRIFT.router.get("/drift")
def drift(request: Request) -> HTMLResponse:
    """The rows of `warehouse.drift` of the newest observation of each store."""
    values = list_values(request, DIFFERING, DRIFT.path, _FIELDS, _COLUMNS)
    values["rows"] = [_in_words(row) for row in values["rows"]]
    asked = values["asked"]
    with context(request).engine.connect() as connection:
        counted = causes(connection, asked.filters, most=len(CAUSES))
    return show(
        request,
        "list.html",
        title=DRIFT.title,
        chips=chips(counted, "cause", asked, CAUSES),
        empty="No value differs in the newest export of any store"
        + (" with this filter." if asked.filters else ", or no export was read yet."),
        **values,
    )


@DRIFT.router.get("/drift.csv")
def drift_file(request: Request) -> StreamingResponse:
    """All rows that the page has with this filter."""
    return list_file(request, DIFFERING, "differences.csv")


def _in_words(row: dict[str, Any]) -> dict[str, Any]:
    """The three values of a row as a person reads them: prices with the currency, yes and no."""
    sides = {side: row[side] for side in ("desired", "acknowledged", "observed") if row[side] is not None}
    if row["field"] == "price":
        return row | {side: display.price(Decimal(text)) for side, text in sides.items()}
    if row["field"] == "active":
        return row | {side: {"true": "yes", "false": "no"}.get(text, text) for side, text in sides.items()}
    return row
