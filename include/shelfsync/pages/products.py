"""The products of the chain by their state: the buyer's first page. Its numbers are those of the status."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import urlencode

import sqlalchemy as sa
from fastapi import HTTPException, Query, Request
from starlette.responses import HTMLResponse, StreamingResponse
from starlette.status import HTTP_400_BAD_REQUEST, HTTP_404_NOT_FOUND

from shelfsync.catalog.assortment.product_categories import categories
from shelfsync.catalog.steps.products import COLUMNS, GROUPS, ORDERS, Behind, Which, every_part, part
from shelfsync.catalog.warehouse.drift import skus_differing
from shelfsync.errors import some_of
from shelfsync.pages.lists import ROWS, Asked, Chip, Column, Field, category_field
from shelfsync.pages.rows_file import ROWS as ROWS_OF_FILE
from shelfsync.pages.rows_file import rows_file
from shelfsync.pages.shell import Page, Text, context, show

PRODUCTS = Page("/products", "Products", ("catalog_full_sync", "catalog_delta_sync"))

_WORDS = {
    "right": "right",
    "waiting": "waiting",
    "held": "held",
    "rejected": "rejected",
    "quarantined": "quarantined",
    "left": "no longer in the ERP, still on sale",
}
_STATES = {
    "acknowledged": "right",
    "suppressed": "right; a quantity without effect waits for the full sync",
    "pending": "to be sent",
    "in_flight": "on its way",
    "unconfirmed": "sent, no result yet: it is sent again",
    "held": "a guard holds it until a person decides",
    "rejected_for_good": "rejected until something changes",
    "rejected_for_now": "rejected; shelfsync tries again",
    "quarantined": "the row cannot be sent",
    "absent": "no longer in the ERP, still on sale",
}
_BY_ERP = {"erp_rows": "every row of the ERP", "not_in_erp": "without a row in the ERP"}
_FIELDS = (
    Field("vendor", "store"),
    Field(
        "state", "state", {**_WORDS, **{state: _STATES[state] for state in _STATES if state not in GROUPS}, **_BY_ERP}
    ),
    Field("sku", "SKU begins with"),
)
_SHOWN = (
    Column("vendor", "store", "store"),
    Column("sku", "SKU", "product"),
    Column("name", "name"),
    Column("state", "state", "state", _STATES),
    Column("price", "wanted price", "price"),
    Column("price_on_platform", "on the platform", "price"),
    Column("active", "wanted on sale"),
    Column("active_on_platform", "on the platform"),
    Column("reason", "why", "long"),
)
_BY_STORE = (
    "Products of several stores stand by store and SKU. To sort them by price, shelfsync would have to read every product of the chain,"
    " which takes longer than a page may. Name a store to sort its products by price or by difference, or sort the file in a spreadsheet."
)
_BESIDE = """
SELECT coalesce(sum(skus), 0) FROM warehouse.rejection_count JOIN ledger.vendor AS v USING (vendor)
WHERE kind = 'unknown_sku' AND v.forgotten IS NULL AND (:vendor = '' OR vendor = :vendor)
"""
After = Annotated[list[str], Query(max_length=3)]


@PRODUCTS.router.get("/products")
def products(
    request: Request,
    vendor: Text = "",
    state: Text = "",
    sku: Text = "",
    category: Text = "",
    order: Text = "",
    after: After = [],  # noqa: B006  read only
) -> HTMLResponse:
    """As many rows as `shelfsync status` counts, store by store; those of one store in an order that is asked for."""
    app = context(request)
    given = {"vendor": vendor, "state": state, "sku": sku, "category": category}
    asked = Asked({name: value for name, value in given.items() if value}, _order(vendor, order), after)
    found = part(app, _which(asked), behind=_behind(after), most=ROWS)
    following = ""
    if found.behind is not None:
        place = found.behind.vendor, found.behind.sku, str(found.behind.row)
        following = urlencode([*asked.given.items(), *(("after", one) for one in place)])
    notes = []
    if found.gone:
        notes.append(
            f"The files of {some_of(found.gone)} cannot be read, so their products are not here. The next run writes them again."
        )
    if found.restored:
        notes.append(
            f"Values of {some_of(found.restored)} are restored: they are wanted, and the ERP may have others. Explain shows both."
        )
    if following and len(found.rows) < ROWS:
        notes.append("Further stores may have such products: go on below.")
    return show(
        request,
        "list.html",
        title=PRODUCTS.title,
        path=PRODUCTS.path,
        asked=asked,
        fields=(*_FIELDS, category_field(categories(app, vendor) if vendor else [], category)),
        hidden={},
        orders=ORDERS if vendor else (),
        columns=_SHOWN,
        rows=found.rows,
        query=asked.query,
        next=following,
        begun=bool(after),
        chips=[*_chips(found.numbers, asked), *_beside(request, vendor)],
        notes=notes,
        hint="" if vendor else _BY_STORE,
        empty="There is no such product."
        if asked.filters
        else "No product is known yet: the first full sync reads them.",
    )


@PRODUCTS.router.get("/products.csv")
def products_file(
    request: Request, vendor: Text = "", state: Text = "", sku: Text = "", category: Text = "", order: Text = ""
) -> StreamingResponse:
    """All rows that the page has with this filter."""
    app = context(request)
    asked = Asked({"vendor": vendor, "state": state, "sku": sku, "category": category}, _order(vendor, order), [])
    return rows_file(app, COLUMNS, every_part(app, _which(asked), most=ROWS_OF_FILE), "products.csv")


def _order(vendor: str, order: str) -> str:
    """The order that is asked for; several stores have none but their own. 404: there is no such order."""
    if order and order not in ORDERS:
        raise HTTPException(HTTP_404_NOT_FOUND, f"There is no order {order!r}. Choose one of {', '.join(ORDERS)}.")
    return order if vendor else ""


def _which(asked: Asked) -> Which:
    state, vendor, sku, category = (asked.filters.get(name) or None for name in ("state", "vendor", "sku", "category"))
    return Which(state, vendor, sku, category, asked.order or ORDERS[0])


def _behind(after: list[str]) -> Behind | None:
    if not after:
        return None
    try:
        vendor, sku, row = after
        return Behind(vendor, sku, max(-1, min(int(row), 2**62)))
    except ValueError:
        raise HTTPException(
            HTTP_400_BAD_REQUEST, "This address names no row to go on behind. Begin with the first page."
        ) from None


def _chips(numbers: dict[str, int], asked: Asked) -> list[Chip]:
    whole = Chip("rows in all", sum(numbers.values()), asked.with_(state=""), chosen="state" not in asked.filters)
    return [
        whole,
        *(
            Chip(_WORDS[group], number, asked.with_(state=group), chosen=asked.filters.get("state") == group)
            for group, number in numbers.items()
        ),
    ]


def _beside(request: Request, vendor: str) -> list[Chip]:
    """What is also true of some of them, and has a page of its own."""
    of_store: dict[str, Any] = {"vendor": vendor} if vendor else {}
    with context(request).engine.connect() as connection:
        unknown = int(connection.execute(sa.text(_BESIDE), {"vendor": vendor}).scalar_one())
        differing = skus_differing(connection, vendor or None)
    return [
        Chip("of them unknown to the platform", unknown, urlencode({"kind": "unknown_sku", **of_store}), "/rejections"),
        Chip("of them differing in the newest export", differing, urlencode(of_store), "/drift"),
    ]
