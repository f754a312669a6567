"""Any text in an address or a form of the pages: the answer is a message, never an error of the server, and no hold is decided."""

from __future__ import annotations

import re
from urllib.parse import quote, urlencode

import pytest
from fastapi.testclient import TestClient
from hypothesis import example, given
from hypothesis import strategies as st

from fuzz_minute import BRIEFLY, for_a_minute
from page_paths import FORMS, PATHS
from shelfsync.pages.app import create_app

CORPUS = (
    "\0",
    "9" * 23,
    "-1",
    "0",
    "1e400",
    "nan",
    "\u0661",
    "1_0",
    "\ud800",
    "\x1b",
    "x" * 300,
    "../..",
    "{{7*7}}",
    "<script>",
    "0001-01-01T00:00+23:59",
    "9999-12-31T23:59-23:59",
    "00000000-0000-0000-0000-000000000000",
)
texts = st.one_of(st.sampled_from(CORPUS), st.text(max_size=40), st.integers().map(str), st.datetimes().map(str))
NAMES = (
    "vendor", "sku", "at", "kind", "stage", "before", "day", "q", "order", "cause", "field", "event", "set_aside", "waiting", "first", "after", "reason", "scope", "state", "campaign", "problems", "threshold_max_share", "threshold_x", "shown", "\0",
)  # fmt: skip
fields = st.dictionaries(st.sampled_from(NAMES), texts)


def test_every_page_and_form_is_among_these():
    routes = create_app(lambda: None, lambda: None).routes
    known = {re.sub(r"{\w+}", "{}", route.path) for route in routes} - {"/pages.css", "/pages.js"}
    assert known | {"/{}"} == {*PATHS, *FORMS}


def test_the_address_of_a_form_tells_how_it_is_sent():
    client = TestClient(create_app(lambda: None, lambda: None))
    for path in sorted({*FORMS} - {*PATHS}):
        answer = client.get(path.format("1"))
        assert (path, answer.status_code, answer.headers.get("allow")) == (path, 405, "POST")
        assert "<h1>This did not work</h1>" in answer.text


@pytest.fixture
def client(world, browse):
    world.erp.put("store-001", "a", "1.00")
    world.sync("full")
    made = browse(world.app)
    made._transport.raise_server_exceptions = False
    return made


def written(text: str) -> str:
    return quote(text.encode("utf-8", "surrogatepass"), safe="")


@pytest.mark.slow
@BRIEFLY
@given(path=st.sampled_from(PATHS), text=texts, asked=fields)
@example(path="/explain", text="", asked={"vendor": "store-001", "sku": "a", "at": "9999-12-31T23:59-23:59"})
@example(path="/explain", text="", asked={"vendor": "store-001", "sku": "a", "at": "0001-01-01T00:00+23:59"})
@example(path="/explain", text="", asked={"vendor": "\0", "sku": "a"})
@example(path="/orders/{}", text="\0", asked={})
@example(path="/holds/{}", text="9" * 23, asked={"first": "9" * 23})
@example(path="/promotions", text="", asked={"campaign": "\0", "sku": "\0"})
@example(path="/promotions", text="", asked={"first": "9" * 23, "problems": "9" * 23})
@example(path="/promotions", text="", asked={"vendor": "x" * 300, "sku": "%", "campaign": "\\"})
def test_any_address_is_answered(client, path, text, asked):
    query = urlencode({name: value.encode("utf-8", "surrogatepass") for name, value in asked.items()})
    answer = client.get(f"{path.format(written(text))}?{query}", follow_redirects=False)
    assert answer.status_code < 500, answer.text


@pytest.mark.slow
@pytest.mark.proof
@BRIEFLY
@given(path=st.sampled_from(FORMS), text=texts, sent=fields)
@example(path="/holds/{}/approve", text="9" * 23, sent={})
@example(path="/switches/{}", text="pause", sent={"scope": "vendor", "vendor": "\0", "reason": "x"})
def test_any_form_is_answered_and_decides_nothing_that_is_not_there(client, world, path, text, sent):
    body = urlencode({name: value.encode("utf-8", "surrogatepass") for name, value in sent.items()})
    headers = {"content-type": "application/x-www-form-urlencoded"}
    answer = client.post(path.format(written(text)), content=body, headers=headers, follow_redirects=False)
    assert answer.status_code < 500, answer.text
    assert world.rows("SELECT count(*) FROM ledger.hold") == [(0,)]


@pytest.mark.slow
@pytest.mark.proof
def test_addresses_for_a_minute(client):
    assert for_a_minute(test_any_address_is_answered, client) > 0


@pytest.mark.slow
@pytest.mark.proof
def test_forms_for_a_minute(client, world):
    assert for_a_minute(test_any_form_is_answered_and_decides_nothing_that_is_not_there, client, world) > 0
