"""An approval shows what it will do and asks once; what has changed since is asked again."""

from __future__ import annotations

import pytest
from fastapi import FastAPI, Request
from fastapi.testclient import TestClient

from shelfsync.pages.confirmation import confirmation
from shelfsync.pages.form import Form  # noqa: TC001  FastAPI reads annotations at run time


@pytest.fixture
def approve():
    """`approve(mark, **form)`: the answer of a page whose question has this mark now."""
    app = FastAPI()
    app.state.menu = ()

    @app.post("/{mark}")
    def page(request: Request, mark: str, form: Form) -> object:
        question = {"lines": ["2 prices move"], "mark": mark}
        asked = confirmation(request, form, question, title="Approve", action="/approve", back="/holds")
        return {"done": True} if asked is None else asked

    client = TestClient(app)
    return lambda mark, **form: client.post(f"/{mark}", data=form or {"reason": "x"})


def test_it_asks_once_and_again_when_something_else_would_be_approved(approve):
    first = approve("a", reason="asked the ERP")
    assert first.status_code == 200
    assert "2 prices move" in first.text
    assert approve("a", shown="a").json() == {"done": True}
    changed = approve("b", shown="a")
    assert changed.status_code == 409
    assert "2 prices move" in changed.text


def test_a_reason_keeps_its_invisible_characters(approve):
    asked = approve("a", reason="prix v\u00e9rifi\u00e9\u00a0: d'accord \u2764\ufe0f").text
    assert 'name="reason" value="prix v\u00e9rifi\u00e9\u00a0: d&#39;accord \u2764\ufe0f"' in asked
