"""What every list on a page shares: filter, order and place in the address, the next page, and all rows as a file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from fastapi import HTTPException
from starlette.status import HTTP_400_BAD_REQUEST

from shelfsync.catalog.assortment.product_names import with_names_of_vendors
from shelfsync.pages.rows_file import ROWS as ROWS_OF_FILE
from shelfsync.pages.rows_file import rows_file
from shelfsync.pages.shell import context
from shelfsync.store.keyset_list import every_page, key, page

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fastapi import Request
    from starlette.responses import StreamingResponse

    from shelfsync.store.keyset_list import KeysetList

ROWS = 200
"""On a page."""
TEXT_MAX = 1000
"""Characters of a filter: a reason of the platform has as many."""
AFTER_MAX = 4


@dataclass(frozen=True)
class Field:
    """A filter that a person sees. `options`: its values with their words; None: any text."""

    name: str
    label: str
    options: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Column:
    """A column that a person sees. `kind`: text, long (a sentence), number, id, when, age (of seconds), price, state (a word of `words`); or product, store, run, alert, order and
    promotion, which are links. `text`: the column that has the text of the link, if it is not empty.
    """

    name: str
    title: str
    kind: str = "text"
    words: Mapping[str, str] = field(default_factory=dict)
    text: str = ""


@dataclass(frozen=True)
class Chip:
    """A number that leads to its rows. `query`: the address behind the path of the page; `path`: of another page."""

    text: str
    number: int
    query: str = ""
    path: str = ""
    chosen: bool = False


@dataclass(frozen=True)
class Asked:
    """What an address asks of a list."""

    filters: dict[str, str]
    order: str
    after: list[str]

    @property
    def given(self) -> dict[str, str]:
        """The filters and the order, as the address has them."""
        return {**self.filters, **({"order": self.order} if self.order else {})}

    @property
    def query(self) -> str:
        """The same as text."""
        return urlencode(self.given)

    def with_(self, **more: str) -> str:
        """The address with other values, from the first page on."""
        return urlencode({name: value for name, value in {**self.given, **more}.items() if value})


def asked_of(request: Request, of: KeysetList) -> Asked:
    """What this request's address asks of the list. 400: a value is longer than any that a list has."""
    given = {name: request.query_params.get(name, "") for name in (*of.filters, "order")}
    after = request.query_params.getlist("after")
    if len(after) > AFTER_MAX or any(len(text) > TEXT_MAX for text in (*given.values(), *after)):
        raise HTTPException(HTTP_400_BAD_REQUEST, "A value of this address is longer than any that a list has.")
    order = given.pop("order")
    return Asked({name: text for name, text in given.items() if text}, order, after)


def list_values(
    request: Request,
    of: KeysetList,
    path: str,
    fields: tuple[Field, ...] = (),
    columns: tuple[Column, ...] = (),
    *,
    most: int | None = None,
    instead: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """What `lists.html` shows: the rows of this page with the names of their products, the filters, the orders, the next page and the file.

    `most`: rows on the page, without it 200. `instead`: what the database is asked for in place of a filter of the address.
    """
    asked, app, most = asked_of(request, of), context(request), most or ROWS
    with app.engine.connect() as connection:
        found = page(
            connection, of, {**asked.filters, **(instead or {})}, order=asked.order, after=asked.after, most=most + 1
        )
    rows = found[:most]
    if {"vendor", "sku"} <= set(of.columns):
        rows = with_names_of_vendors(app, rows)
    following = ""
    if len(found) > most:
        behind = [("after", part) for part in key(of, rows[-1], asked.order)]
        following = urlencode([*asked.given.items(), *behind])
    return {
        "path": path,
        "asked": asked,
        "fields": fields,
        "columns": columns,
        "hidden": {name: text for name, text in asked.filters.items() if name not in {one.name for one in fields}},
        "orders": [*of.orders],
        "rows": rows,
        "query": asked.query,
        "next": following,
        "begun": bool(asked.after),
    }


CATEGORIES = 500
"""Of a store that a filter names."""


def category_field(known: list[str], asked: str) -> Field:
    """The filter by category: a choice of those that are known, without any a text."""
    named = known[:CATEGORIES]
    if asked and known and asked not in named:
        named.append(asked)
    return Field("category", "category", {name: name for name in named} or None)


def chips(found: list[dict[str, Any]], by: str, asked: Asked, words: Mapping[str, str]) -> list[Chip]:
    """The groups of a list, each a link to its rows."""
    return [
        Chip(
            words.get(row[by], str(row[by])),
            row["rows"],
            asked.with_(**{by: row[by]}),
            chosen=asked.filters.get(by) == row[by],
        )
        for row in found
    ]


def list_file(request: Request, of: KeysetList, name: str, **also: str) -> StreamingResponse:
    """All rows that the page has with this filter, in its order. `also`: further filters."""
    asked, app = asked_of(request, of), context(request)
    pages = every_page(app.engine.connect, of, asked.filters | also, order=asked.order, most=ROWS_OF_FILE)
    return rows_file(app, of.columns, pages, name)
