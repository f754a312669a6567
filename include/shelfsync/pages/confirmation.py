"""A page that shows what an approval will do and asks once, unless it has changed since."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import Request
from starlette.responses import HTMLResponse
from starlette.status import HTTP_200_OK, HTTP_409_CONFLICT

from shelfsync.pages.shell import show


def confirmation(
    request: Request, form: Mapping[str, str], question: Mapping[str, Any], *, title: str, action: str, back: str
) -> HTMLResponse | None:
    """The page that shows what an approval will do and asks once; None: the form comes from that page, and nothing has changed since.

    `question`: `lines` and the `mark` of what they are about. The form carries that mark, so it approves exactly what was shown.
    """
    if form.get("shown") == question["mark"]:
        return None
    values = {"lines": question["lines"], "mark": question["mark"], "form": form, "action": action, "back": back}
    changed = "shown" in form
    code = HTTP_409_CONFLICT if changed else HTTP_200_OK
    return show(request, "confirm.html", title=title, status_code=code, changed=changed, **values)
