"""Find a product by its code, barcode or name, and the stores that have it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query, Request
from starlette.responses import HTMLResponse, JSONResponse, StreamingResponse

from shelfsync.catalog.assortment.product_search import MOST, NAMES_OF, search
from shelfsync.catalog.ledger import vendors
from shelfsync.catalog.warehouse.products_by_beginning import STORES_MAX, STORES_OF_PRODUCT
from shelfsync.invisible_characters import plain
from shelfsync.pages.lists import Column, list_file, list_values
from shelfsync.pages.shell import Page, Text, context, show
from shelfsync.pages.store import NAMES

SEARCH = Page("/search", "Find a product", ("assortment_export",))

SUGGESTIONS = 10
"""Products that the field suggests."""

Sku = Annotated[str, Query(min_length=1, max_length=255)]
_COLUMNS = (
    Column("vendor", "store", "store"),
    Column("sku", "SKU", "product"),
    Column("name", "name"),
    Column("barcode", "barcode"),
    Column("in_erp", "in the ERP"),
    Column("on_platform", "on the platform"),
    Column("active_wanted", "wanted on sale"),
    Column("active_shown", "on sale on the platform"),
    Column("seen_at", "last change seen", "when"),
)


@SEARCH.router.get("/search")
def find(request: Request, q: Text = "", vendor: Text = "") -> HTMLResponse:
    """The products that are found; without a text only the form that asks for one."""
    app = context(request)
    with app.engine.connect() as connection:
        names = vendors.names(connection)[:NAMES]
    text = q.strip()
    values: dict[str, Any] = {"asked": {"q": q, "vendor": vendor}, "names": names, "looked": bool(text)}
    found = search(app, text, vendor or None)
    values |= {"found": found, "full": len(found) >= MOST, "names_of": NAMES_OF, "stores_max": STORES_MAX}
    return show(request, "search.html", title=SEARCH.title, **values)


@SEARCH.router.get("/search/suggestions")
def suggestions(request: Request, q: Text = "", vendor: Text = "") -> JSONResponse:
    """The first of the same products while a person types: `[{"sku", "label"}]`. The label has name and barcode."""
    found = search(context(request), q.strip(), vendor or None, most=SUGGESTIONS)
    labels = (", ".join(plain(text) for text in (one.name, one.barcode) if text) for one in found)
    return JSONResponse([{"sku": one.sku, "label": label} for one, label in zip(found, labels, strict=True)])


@SEARCH.router.get("/search/stores")
def stores(request: Request, sku: Sku) -> HTMLResponse:
    """Every store that has or had a product, as of its newest export."""
    values = list_values(request, STORES_OF_PRODUCT, "/search/stores", (), _COLUMNS)
    intro = "The stores that have this product, each as of its newest export."
    return show(
        request,
        "list.html",
        title=f"Product {sku}",
        intro=intro,
        chips=(),
        empty="No export of a store was read with this product.",
        **values,
    )


@SEARCH.router.get("/search/stores.csv")
def stores_file(request: Request, sku: Sku) -> StreamingResponse:
    """The same as a file."""
    return list_file(request, STORES_OF_PRODUCT, "stores.csv", sku=sku)
