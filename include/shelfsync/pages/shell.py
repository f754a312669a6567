"""What all pages share. The frame around them: one layout, one style sheet, one script, nothing from another host.

What a user may do is in `rights`, what a user sends in `form`.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import parse_qsl, unquote

import fastapi
import sqlalchemy as sa
from fastapi import APIRouter, Query, Request
from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context
from markupsafe import Markup, escape
from starlette.responses import HTMLResponse, RedirectResponse
from starlette.status import HTTP_303_SEE_OTHER, HTTP_400_BAD_REQUEST

from shelfsync import display
from shelfsync.alerts.steps.lists import severe
from shelfsync.decisions.rule_name import rule_name
from shelfsync.invisible_characters import plain_lines
from shelfsync.platform import kill_switch
from shelfsync.store.metadata import instant
from shelfsync.terminal import age

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from shelfsync.context import Context
    from shelfsync.platform.kill_switch import Stop

HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'self'; base-uri 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cache-control": "no-store",
}
"""A page shows texts of the ERP and of the platform. If one of them is ever rendered as markup, these headers keep it harmless."""

_ASIDE = re.compile(r"(\bhold \d+)?( ?\([^()]*\))")
_OF_OPERATOR = ("SHELFSYNC_", "AIRFLOW__", "DECIMAL_MARK", "warehouse.", "`shelfsync ")
_CAUSE_AND_ACTION = re.compile(r" differs \([a-z_]+, [a-z_]+\):")
_STORE = re.compile(r"\bvendor(?= \S+ is paused by )|^vendor(?= \S)|(?<=\d )vendor(?=s failed\b)")
_RULE = re.compile(r"\b((?:rule|guard|holds it:) )([a-z]+(?:_[a-z]+)+)\b")


def show(
    request: Request, template: str, *, title: str, status_code: int = 200, of_store: str | None = None, **values: Any
) -> HTMLResponse:
    """A page from `templates/`; `root` in it is the path below which a proxy or Airflow has mounted the pages.

    `of_store`: the one store that the page is about; it tells of no other that is paused.
    """
    html, as_of = _environment().get_template(template), dt.datetime.now(dt.UTC)
    # neither an error page nor the page before the chains has a ledger to ask
    if status_code < HTTP_400_BAD_REQUEST and hasattr(request.app.state, "opened"):
        with context(request).engine.connect() as connection:
            off = kill_switch.stops(connection)
            as_of = connection.execute(sa.select(instant())).scalar_one()
        values.setdefault("paused", pauses(off, of_store))
        values.setdefault("severe", severe(context(request)))
    text = html.render(
        title=title,
        root=_root(request),
        viewer=getattr(request.state, "viewer", None),
        feeds=getattr(request.state, "feeds", ()),
        menu=request.app.state.menu,
        here=request.scope.get("path", ""),
        as_of=as_of,
        may_be_read_again=request.method == "GET",
        **values,
    )
    return HTMLResponse(text, status_code=status_code)


PAUSED_STORES = 5
"""Paused stores that a page names."""


def pauses(off: Sequence[Stop], of_store: str | None) -> list[str]:
    """What a page tells about the switches: each that stops more than a store has its line, the stores share one."""
    wide = [stop.for_people for stop in off if stop.scope != "vendor"]
    stores = [stop for stop in off if stop.scope == "vendor" and of_store in {None, stop.name}]
    if len(stores) <= 1:
        return wide + [stop.for_people for stop in stores]
    more = f" and {shown(len(stores) - PAUSED_STORES)} more" if len(stores) > PAUSED_STORES else ""
    named = ", ".join(stop.name for stop in stores[:PAUSED_STORES])
    return [
        *wide,
        f"{shown(len(stores))} stores: {named}{more}; nothing but orders is sent to them until they are resumed",
    ]


def lead_to(request: Request, path: str) -> RedirectResponse:
    """Leads to a page after a form was accepted, so that a reload does not send the form again."""
    return RedirectResponse(_root(request) + path, HTTP_303_SEE_OTHER)


def _root(request: Request) -> str:
    root: str = request.scope.get("root_path", "")
    return root.rstrip("/")


def context(request: Request) -> Context:
    """The context whose state the pages show."""
    opened: Context = request.app.state.opened()
    return opened


def shown(value: object) -> str:
    """A value as a person reads it: thousands apart, instants in the chain's zone to the second, nothing for null.

    A value whose formatting raises an error becomes the text "cannot be shown"; the rest of the page is complete.
    """
    try:
        return _shown(value)
    except Exception:  # noqa: BLE001
        return "cannot be shown"


def price(value: object) -> str:
    """A price as a person reads it, with the chain's currency; what is no number as `shown` has it."""
    return display.price(value) if isinstance(value, Decimal) else shown(value)


def total(value: object) -> str:
    """A sum of prices as a person reads it; what is no number as `shown` has it."""
    return display.total(value) if isinstance(value, Decimal) else shown(value)


def discount(value: object, subtype: object) -> str:
    """What a promotion takes off, or the price that it makes."""
    return display.discount(str(subtype), value) if isinstance(value, Decimal) else shown(value)


def for_buyers(text: str) -> str:
    """A sentence with rules as words, and without what only the operator can use: what stands in brackets with a setting or a command.

    The command about a hold stays, because it becomes a link.
    """
    plain = _CAUSE_AND_ACTION.sub(" differs:", _ASIDE.sub(_without_operator, text))
    return _RULE.sub(lambda found: found[1] + rule_name(found[2]), _STORE.sub("store", plain))


def _without_operator(found: re.Match[str]) -> str:
    hold, aside = found.groups()
    return found[0] if hold or not any(mark in aside for mark in _OF_OPERATOR) else ""


_STEP = re.compile(r"^[a-z]+: (?=\S)")
_WHAT_LISTS = re.compile(r"[;.] `shelfsync [^`]*`[^;.`]*$")


def sentence(error: Exception) -> str:
    """What a person did that cannot be, without the step before it and the command that lists what there is: the page has both."""
    return _WHAT_LISTS.sub("", _STEP.sub("", str(error)))


THRESHOLD = "threshold_"
"""The prefix of form fields with a threshold for one decision."""
_THRESHOLDS = {
    "max_rows": "rows that always pass",
    "max_share": "share of all rows that passes",
    "move": "share by which a price has to move",
    "leap": "leap that is held alone",
    "slack": "tolerance around ten, a hundred, a thousand times",
    "discount_share_max": "largest discount",
}


def threshold(name: str) -> str:
    """A threshold of a guard as a buyer calls it; its setting has the name."""
    return _THRESHOLDS.get(name, name.replace("_", " "))


_VALUE_NAMES = {"active": "on sale", "max_sales_quantity": "sales limit", "sales_buffer": "sales buffer", "sku": "SKU"}


def value_name(name: str) -> str:
    """A value of a product as a buyer calls it; its column has the name."""
    return _VALUE_NAMES.get(name, name)


_TO_DO = {
    "at next_try_at": "by itself, with a later run",
    "for this vendor": "for this store",
    "add its keywords to SHELFSYNC_REJECTION__REASON_KEYWORDS": "the operator of shelfsync can name its kind",
}


def what_to_do(text: str) -> str:
    """What the view of the rejections says to do, for those who see no columns and settings."""
    for of_view, plain in _TO_DO.items():
        text = text.replace(of_view, plain)
    return text


def _shown(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case int() | float():
            return f"{value:,}"
        case Decimal():
            return f"{value.normalize():,f}" if value % 1 else f"{value:,.0f}"
        case dt.datetime():
            return display.instant(value)
        case _:
            return str(value)


def _visible(value: Any) -> Any:
    """What cannot be seen in a text, escaped; markup (and `|e`, which a form's field needs) stays exact."""
    return plain_lines(value) if type(value) is str else value


_COMMAND = re.compile(r"`([^`]*)`")
_OF_HOLD = re.compile(r"hold (\d+) \(`shelfsync (?:--chain \S+ )?holds \w+ \1\b[^`]*`\)")


@pass_context
def with_commands(page: Mapping[str, Any], text: str) -> Markup:
    """A message of the product as HTML: what stands between two backticks is a command or a setting; a hold is a link to it."""
    html = str(escape(plain_lines(text)))
    html = _OF_HOLD.sub(lambda found: f'<a href="{escape(page["root"])}/holds/{found[1]}">hold {found[1]}</a>', html)
    return Markup(_COMMAND.sub(r"<code>\1</code>", html))  # noqa: S704  it is escaped


_made: list[Environment] = []


def _environment() -> Environment:
    if not _made:
        loader = FileSystemLoader(Path(__file__).parent / "templates")
        made = Environment(
            loader=loader,
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            finalize=_visible,
        )
        made.filters["shown"] = shown
        made.filters["price"] = price
        made.filters["total"] = total
        made.filters["discount"] = discount
        made.filters["threshold"] = threshold
        made.filters["rule_name"] = rule_name
        made.filters["value_name"] = value_name
        made.filters["what_to_do"] = what_to_do
        made.filters["age"] = age
        made.filters["for_buyers"] = for_buyers
        made.filters["with_commands"] = with_commands
        _made.append(made)
    return _made[0]


@dataclass(frozen=True)
class Page:
    """A page, with the DAGs that feed it. Its routes are added to `router`."""

    path: str
    title: str
    dags: tuple[str, ...] = ()
    router: APIRouter = field(default_factory=APIRouter)
    in_menu: bool = True


_BIGGEST = 2**63 - 1
Number = Annotated[int, fastapi.Path(ge=0, le=_BIGGEST)]
"""The number of a ledger row, in a path."""
First = Annotated[int, Query(ge=0, le=_BIGGEST)]
"""How many rows a page leaves out."""
Text = Annotated[str, Query(max_length=255)]
"""Text in a query, such as an identifier; empty: not given."""


def is_readable(request: Request) -> bool:
    """Whether path and query are text that a database can look up: no control character, no half of a surrogate pair."""
    query = request.scope.get("query_string", b"").decode("latin-1")
    texts = [request.scope.get("path", ""), unquote(request.scope.get("path", ""))]
    texts += [text for pair in parse_qsl(query, keep_blank_values=True) for text in pair]
    return all(_is_text(text) for text in texts)


def _is_text(text: str) -> bool:
    return not any(ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0 or 0xD800 <= ord(char) < 0xE000 for char in text)
