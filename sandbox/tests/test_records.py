"""What a developer sees of the client's requests: the filtered list, one record, the HAR file; and that none of them holds a secret."""

from __future__ import annotations

import json
from urllib.parse import quote, urlencode

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from order_picker import CHAIN, STORE, picked
from partner_sandbox.exchange import HIDDEN, Exchange, keep, masked

CATALOG = f"{CHAIN}/vendors/{STORE}/catalog"
SECRET = "c4nary"


@pytest.fixture
def browser(platform):
    with httpx.Client(base_url=platform.base_url + "/portal", verify=False, trust_env=False) as client:
        yield client


@pytest.fixture
def three(platform, partner):
    """A success, a rejection of a body, and a rejection of the limit."""
    partner.get(CATALOG)
    partner.put(CATALOG, json={"products": [{"sku": "A", "quantity": 1.5}]})
    platform.control("PUT", "settings", {"requests_per_minute": 1})
    partner.get(f"{CHAIN}/vendors/{STORE}/categories")
    return platform


def records(platform, **wanted):
    return platform.control("GET", f"records?{urlencode(wanted)}")["records"]


@pytest.mark.parametrize(
    ("wanted", "operations"),
    [
        ({}, ["categories", "put_catalog", "list_catalog", "token"]),
        ({"status": "rejected"}, ["categories", "put_catalog"]),
        ({"status": "4xx"}, ["categories", "put_catalog"]),
        ({"status": "400"}, ["put_catalog"]),
        ({"status": "none"}, []),
        ({"operation": "list_catalog"}, ["list_catalog"]),
        ({"rule": "8"}, ["categories"]),
        ({"rule": "2"}, ["put_catalog"]),
        ({"rule": "2.1"}, ["put_catalog"]),
        ({"q": "requests a minute"}, ["categories"]),
        ({"q": "/catalog"}, ["put_catalog", "list_catalog"]),
        ({"q": "%"}, []),
        ({"kind": "webhook"}, []),
    ],
)
def test_the_list_has_what_the_filter_names_the_newest_first(three, wanted, operations):
    assert [row["operation"] for row in records(three, **wanted)] == operations


def test_a_status_that_is_none_is_rejected(platform, browser):
    assert browser.get("/requests", params={"status": "bad"}).status_code == 400


def test_a_rejection_is_listed_with_its_sentence_and_its_rule(three, browser):
    page = browser.get("/requests", params={"status": "rejected"}).text
    assert "products[0].quantity" in page
    assert ">2.1<" in page
    assert "No more than 1 requests a minute for each address" in page
    assert "choice requests_per_minute=1" in page
    assert "list_catalog" not in page.partition("<tbody>")[2]


def test_one_record_has_headers_and_bodies_of_both_sides(three):
    (row,) = records(three, operation="put_catalog")
    record = three.control("GET", f"records/{row['n']}")
    assert json.loads(record["sent"]["body"]) == {"products": [{"sku": "A", "quantity": 1.5}]}
    assert record["sent"]["headers"]["authorization"] == "Bearer …"
    assert json.loads(record["answered"]["body"])["message"] == record["reason"]
    assert record["answered"]["headers"]["x-sandbox-hint"] == record["hint"]


@pytest.mark.parametrize("path", ["/requests/99999", f"/requests/{2**70}", "/requests/99999.har"])
def test_a_missing_record_is_not_found(browser, path):
    assert browser.get(path).status_code == 404


def test_the_requests_of_one_token_are_listed_together(platform, partner):
    partner.get(CATALOG)
    with platform.partner() as other:
        other.get(CATALOG)
    mine = records(platform, operation="list_catalog")[0]["caller"]
    assert len(records(platform, caller=mine)) == 1


def test_an_event_is_listed_with_the_partners_answer(picker, browser):
    picker.place("MILK")
    picker.events()
    (row,) = records(picker.platform, kind="webhook")
    record = picker.platform.control("GET", f"records/{row['n']}")
    assert record["answered"] is not None
    assert "to the partner" in browser.get("/requests").text


def test_the_har_file_has_requests_and_answers(three):
    har = three.control("GET", "records.har")["log"]
    assert har["version"] == "1.2"
    put = har["entries"][2]
    assert (put["request"]["method"], put["response"]["status"]) == ("PUT", 400)
    assert put["request"]["url"] == f"{three.base_url}{CATALOG}"
    assert put["request"]["bodySize"] == len(
        json.dumps({"products": [{"sku": "A", "quantity": 1.5}]}, separators=(",", ":"))
    )
    assert put["response"]["content"]["mimeType"] == "application/json"
    assert [entry["startedDateTime"] for entry in har["entries"]] == sorted(
        e["startedDateTime"] for e in har["entries"]
    )
    assert len(three.control("GET", "records.har?operation=put_catalog")["log"]["entries"]) == 1
    for entry in har["entries"]:
        assert set(entry) >= {"startedDateTime", "time", "request", "response", "cache", "timings"}
        assert set(entry["response"]) >= {"status", "statusText", "headers", "cookies", "content", "redirectURL"}


def test_a_record_can_be_saved_from_its_page(three, browser):
    (row,) = records(three, operation="put_catalog")
    page = browser.get(f"/requests/{row['n']}").text
    assert f"/portal/requests/{row['n']}.har" in page
    file = browser.get(f"/requests/{row['n']}.har")
    assert file.headers["content-disposition"] == f'attachment; filename="partner-sandbox-{row["n"]}.har"'
    assert len(file.json()["log"]["entries"]) == 1


def everything(platform, browser):
    """All that a person or a program can read of the requests."""
    numbers = [row["n"] for row in records(platform)]
    paths = ["/requests", "/requests.har", *(f"/requests/{n}" for n in numbers)]
    pages = [browser.get(path).text for path in paths]
    return "\n".join(
        [*pages, *(str(platform.control("GET", f"records/{n}")) for n in numbers), str(platform.journal())]
    )


@pytest.mark.parametrize(
    "content",
    [
        {"data": {"grant_type": "client_credentials", "client_id": "demo-client", "client_secret": f"{SECRET},}} x"}},
        {"json": {"client_id": "demo-client", "client_secret": SECRET}},
        {"content": f"client_secret : '{SECRET}'"},
        {"content": f"{{'client_secret': '{SECRET}'}}", "headers": {"Content-Type": "application/json"}},
        {"params": {"client_secret": SECRET}},
        {"headers": {"Authorization": f"Basic {SECRET}"}},
        {"headers": {"Authorization": SECRET}},
    ],
)
def test_a_secret_is_never_recorded_wherever_a_client_puts_it(platform, browser, content):
    httpx.post(f"{platform.base_url}/v2/oauth/token", **content)
    assert SECRET not in everything(platform, browser)


def test_tokens_links_and_customers_are_never_recorded(picker, browser):
    picker.platform.control("PUT", "settings", {"link": "presigned"})
    customer = {"first_name": SECRET, "last_name": SECRET, "email": f"{SECRET}@example.org"}
    address = {"street": SECRET, "floor": SECRET}
    order = picker.place("MILK", customer=customer, delivery_address=address, comment=SECRET)
    picker.events()
    picker.done(order, "READY_FOR_PICKUP", picked(order["items"][0]))
    picker.get(order)
    job_id = picker.partner.put(CATALOG, json={"products": [{"sku": "MILK", "price": 2}]}).json()["job_id"]
    picker.events()
    link = picker.partner.get(f"{CHAIN}/catalog/jobs/{job_id}").json()["download_url"]
    assert httpx.get(link).status_code == 200
    token = picker.partner.headers["Authorization"].removeprefix("Bearer ")
    text = everything(picker.platform, browser)
    found = [one for one in (SECRET, "s3cret", "demo-secret", token, link.partition("signature=")[2]) if one in text]
    assert found == []


def test_credentials_in_the_address_of_a_webhook_are_not_recorded(platform, partner, receiver, browser):
    url = receiver.url.replace("://", f"://user:{SECRET}@") + f"?token={SECRET}"
    platform.put_webhook(catalog_url=url)
    partner.put(CATALOG, json={"products": [{"sku": "A"}]})
    platform.advance(0)
    assert records(platform, kind="webhook")
    assert SECRET not in everything(platform, browser)


leaves = st.one_of(st.just(SECRET), st.just(f'"{SECRET}\\'), st.lists(st.just(SECRET), max_size=2))
hidden = st.sampled_from(sorted(HIDDEN))


@given(
    st.recursive(
        st.dictionaries(hidden, leaves, min_size=1, max_size=3),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["a", "items", 'b"c']), inner, max_size=3)
        ),
        max_leaves=6,
    ),
    st.integers(0, 400),
    st.sampled_from([None, 1]),
)
def test_law_a_hidden_value_is_masked_wherever_the_body_is_cut(body, cut, indent):
    for text in (json.dumps(body, indent=indent), json.dumps({"items": [1, body], "x": "kept"}, indent=indent)):
        assert SECRET not in masked(text)
        assert SECRET not in masked(text[:cut])


@pytest.mark.slow
@given(
    st.recursive(
        st.none() | st.booleans() | st.text() | st.integers(),
        lambda t: st.lists(t) | st.dictionaries(st.text("abc"), t),
    )
)
def test_law_a_body_without_hidden_names_is_shown_as_it_is(body):
    text = json.dumps({"comment": "x", "shown": body})
    if not any(mark in text for mark in ("eyJ", "earer", "asic", "://")):
        assert masked(text) == text.replace('"x"', '"…"', 1)


def test_a_long_body_is_cut_and_stays_bounded(platform, partner):
    partner.put(CATALOG, json={"products": [{"sku": f"S{n}"} for n in range(5000)]})
    (row,) = records(platform, operation="put_catalog")
    assert len(platform.control("GET", f"records/{row['n']}")["sent"]["body"]) == 2000


def test_what_a_client_sends_is_text_on_the_page(platform, partner, browser):
    hostile = "<script>alert(1)</script>"
    partner.get(f"{CATALOG}?query_term={quote(hostile)}", headers={"User-Agent": hostile})
    partner.put(CATALOG, content=hostile.encode())
    for row in records(platform):
        assert "<script" not in browser.get(f"/requests/{row['n']}").text
    assert "<script" not in browser.get("/requests", params={"q": hostile}).text


def test_a_form_of_credentials_is_shown_by_its_names():
    exchanged = Exchange()
    keep(exchanged.sent, b"grant_type=client_credentials&client_id=me&client_secret=a%26b&extra=c")
    row = exchanged.row(1, 0, "token")
    assert row["sent"]["body"] == "grant_type=client_credentials&client_id=me&client_secret=…&…=…"
