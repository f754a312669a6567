"""A store as it was: what the platform shows now beside what it would show, before anything is restored, and the order to restore it."""

from __future__ import annotations

import datetime as dt
import hashlib
from typing import Any
from urllib.parse import urlencode

from fastapi import HTTPException, Request
from starlette.responses import HTMLResponse, Response
from starlette.status import HTTP_400_BAD_REQUEST

from shelfsync.catalog.ledger import restorations, vendors
from shelfsync.catalog.steps.restore import restore
from shelfsync.display import read_instant
from shelfsync.errors import DataError
from shelfsync.pages.confirmation import confirmation
from shelfsync.pages.form import Form
from shelfsync.pages.rights import Decider
from shelfsync.pages.shell import Page, Text, context, lead_to, sentence, show

RESTORE = Page("/store/restore", "Restore", in_menu=False)

NAMES = 500
"""Stores that the field suggests."""
MOVES = 50
"""The largest moves that the page has."""
_HOURS = {"1": "1 hour", "4": "4 hours", "12": "12 hours", "24": "1 day", "72": "3 days", "168": "a week"}


@RESTORE.router.get("/store/restore")
def preview(
    request: Request, vendor: Text = "", at: Text = "", hours: Text = "4", sku: Text = "", category: Text = ""
) -> HTMLResponse:
    """What `shelfsync restore --dry-run` has. Without a store and an instant only the form that asks for them."""
    asked = {"vendor": vendor, "at": at, "hours": hours, "sku": sku, "category": category}
    found, problem = None, None
    if vendor and at:
        try:
            found = _restored(request, asked, who="", why="", dry_run=True)
        except (DataError, ValueError) as error:
            problem = sentence(error)
    with context(request).engine.connect() as connection:
        names = vendors.names(connection)[:NAMES]
    zone = context(request).settings.time_zone
    return show(
        request,
        "restore.html",
        title=RESTORE.title,
        asked=asked,
        names=names,
        all_hours=_HOURS,
        problem=problem,
        found=found,
        mark=_mark(request, found) if found else "",
        zone=zone,
    )


@RESTORE.router.post("/store/restore")
def order(request: Request, form: Form, person: Decider) -> Response:
    """Orders what the page has shown. If the store has changed since, it asks again. 400: no reason, or nothing to restore."""
    reason = form.get("reason", "").strip()
    if not reason:
        raise HTTPException(HTTP_400_BAD_REQUEST, "give a reason; the pages show it while the store is restored")
    try:
        found = _restored(request, form, who=person.name, why=reason, dry_run=True)
        question = {"lines": found["lines"], "mark": _mark(request, found)}
        back = f"{RESTORE.path}?{urlencode({name: form.get(name, '') for name in ('vendor', 'at', 'hours', 'sku', 'category')})}"
        title = f"Restore store {form.get('vendor', '')}?"
        asked = confirmation(request, form, question, title=title, action=RESTORE.path, back=back)
        if asked is not None:
            return asked
        _restored(request, form, who=person.name, why=reason, dry_run=False)
    except (DataError, ValueError) as error:
        raise HTTPException(HTTP_400_BAD_REQUEST, sentence(error)) from None
    return lead_to(request, f"/store?{urlencode({'vendor': form.get('vendor', '')})}")


def _restored(request: Request, asked: dict[str, str], *, who: str, why: str, dry_run: bool) -> dict[str, Any]:
    """A ValueError or DataError has a sentence for the person."""
    app = context(request)
    hours = asked.get("hours", "")
    if hours not in _HOURS:
        raise DataError(f"{hours!r} is no time that a restoration can last; choose one of {', '.join(_HOURS)} hours")
    skus = asked.get("sku", "").replace(",", " ").split()
    category = asked.get("category", "").strip() or None
    if skus and category:
        raise DataError("name SKUs or a category, not both")
    return restore(
        app,
        asked.get("vendor", ""),
        at=read_instant(asked.get("at", ""), app.settings.time_zone),
        span=dt.timedelta(hours=int(hours)),
        skus=skus or None,
        category=category,
        why=why,
        who=who,
        dry_run=dry_run,
        most=MOVES,
    )


def _mark(request: Request, found: dict[str, Any]) -> str:
    """What a person was shown, without the instant at which it ends, and what is restored already: a second click is another order."""
    with context(request).engine.connect() as connection:
        before = [one.restoration_id for one in restorations.in_force(connection, [found["vendor"]])]
    seen = [before, *(found[name] for name in ("changes", "of_field", "moves", "left_out"))]
    return hashlib.sha256(repr(seen).encode()).hexdigest()[:16]
