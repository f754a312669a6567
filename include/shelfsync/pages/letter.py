"""A letter that a page prepares: the person's mail program opens it, and the person sends it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from shelfsync.pages.shell import shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SKUS = 10
"""Products that a letter names: some mail programs cut a link behind 2,000 characters."""
TEXT_MAX = 200
"""Characters of the platform's reason."""


@dataclass(frozen=True)
class Letter:
    """`to`: a mail address."""

    to: str
    subject: str
    body: str

    @property
    def link(self) -> str:
        """Opens a mail program."""
        given = {"subject": self.subject, "body": self.body.replace("\n", "\r\n")}
        return f"mailto:{quote(self.to, safe='@')}?{urlencode(given, quote_via=quote)}"


def about_rejections(
    to: str, *, reason: str, products: int, stores: int, rows: Sequence[Mapping[str, Any]], page: str
) -> Letter:
    """About the products that the platform rejects for a reason. `rows`: the first of them; `page`: the address of the list."""
    named = [f"- {row['sku']} in {row['vendor']}" for row in rows[:SKUS]]
    more = [f"and {shown(products - len(named))} more"] if products > len(named) else []
    where = rows[0]["vendor"] if stores == 1 else f"{shown(stores)} stores"
    what = "1 product" if products == 1 else f"{shown(products)} products"
    short = reason if len(reason) <= TEXT_MAX else f"{reason[:TEXT_MAX]}…"
    lines = [f"{what} of {where} rejected: {short}", "", *named, *more, "", f"The list: {page}"]
    return Letter(to, f"Rejected: {what} of {where}", "\n".join(lines))
