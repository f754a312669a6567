"""The portal over plain HTTP: its access, the effect of a form, and what a page never holds. A browser drives it in tests/browser."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from order_picker import STORE
from partner_sandbox.server import create_app
from partner_sandbox.settings import SandboxSettings

PAGES = ("", "/orders", "/promotions", "/jobs", "/webhooks", "/requests", "/check", "/faults", f"/vendors/{STORE}")


@pytest.fixture
def browser(platform):
    with httpx.Client(base_url=platform.base_url + "/portal", verify=False, trust_env=False) as client:
        yield client


@pytest.mark.parametrize("path", PAGES)
def test_every_page_is_html_without_scripts_or_foreign_parts(picker, browser, path):
    picker.place("MILK")
    answer = browser.get(path)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    text = answer.text.replace(picker.platform.base_url, "")
    assert "<script" not in text
    assert "style=" not in text
    assert 'src="http' not in text
    assert 'href="http' not in text


@pytest.mark.parametrize(
    "path", ["/jobs/nope", "/orders/nope", "/promotions/nope", "/promotions/9", "/vendors/nope", "?chain=nope"]
)
def test_a_missing_object_is_a_page_with_a_link_back(browser, path):
    answer = browser.get(path)
    assert (answer.status_code, answer.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "not found" in answer.text


@pytest.mark.parametrize("page", ["0", "x", "99999999999999999999"])
def test_an_invalid_page_number_is_rejected(browser, page):
    assert browser.get("/jobs", params={"page": page}).status_code == 400


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://elsewhere.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
@pytest.mark.parametrize(
    "path", ["/orders", "/webhooks", "/faults", "/faults/clear", "/clock", "/check", f"/vendors/{STORE}/products"]
)
def test_a_form_of_another_site_does_nothing(picker, browser, headers, path):
    before = picker.platform.control("GET", "state")
    form = {"vendor": STORE, "sku": "MILK", "quantity": "1", "at": "log", "kind": "gzip", "seconds": "60"}
    assert browser.post(path, data=form, headers=headers).status_code == 403
    assert picker.platform.control("GET", "state") == before
    assert picker.platform.control("GET", "faults")["rules"] == []


@pytest.mark.parametrize(
    "back", ["https://elsewhere.example", "//elsewhere.example", "/portal.example", "/portal\\x", "/orders", ""]
)
def test_a_form_never_leads_to_another_site(browser, back):
    answer = browser.post("/clock", data={"seconds": "1", "back": back})
    assert (answer.status_code, answer.headers["location"]) == (303, "/portal")


@pytest.mark.parametrize("seconds", ["-1", "nan", "inf", "1e300", "soon", str(400 * 86_400)])
def test_the_clock_goes_only_forward_and_not_too_far(platform, browser, seconds):
    before = platform.control("GET", "state")["now"]
    assert browser.post("/clock", data={"seconds": seconds}).status_code == 400
    assert platform.control("GET", "state")["now"] == before


@pytest.mark.parametrize(
    ("form", "why"),
    [
        ({"vendor": STORE}, "at least one product"),
        ({"vendor": "nowhere", "sku": "MILK", "quantity": "1"}, "Vendor"),
        ({"vendor": STORE, "sku": "MILK", "quantity": "many"}, "must be a number"),
        ({"vendor": STORE, "sku": "MILK", "quantity": "-1"}, "quantity"),
        ({"vendor": STORE, "sku": "MILK", "quantity": "1", "transport_type": "DRONE"}, "transport_type"),
    ],
)
def test_an_invalid_order_form_is_rejected_with_the_reason(picker, browser, form, why):
    answer = browser.post("/orders", data=form)
    assert answer.status_code in {400, 404}
    assert why in answer.text
    assert picker.platform.control("GET", "state")["orders"] == {}


def test_an_unknown_action_is_rejected(picker, browser):
    order = picker.place("MILK")
    assert browser.post(f"/orders/{order['order_id']}/teleport").status_code == 404
    assert browser.post(f"/orders/{order['order_id']}/dispatch").status_code == 409


def test_a_webhook_address_must_be_http_and_an_empty_secret_stays(platform, browser):
    platform.put_webhook(order_url="http://127.0.0.1:9/x", secret="kept")
    assert browser.post("/webhooks", data={"order_url": "javascript:alert(1)"}).status_code == 400
    browser.post("/webhooks", data={"order_url": "http://127.0.0.1:9/y", "secret": ""})
    assert platform.control("GET", "state")["chains"][0]["webhook"]["secret_set"] is True
    browser.post("/webhooks", data={"forget": "1"})
    assert platform.control("GET", "state")["chains"][0]["webhook"]["secret_set"] is False


def test_the_secret_is_on_no_page(picker, browser):
    picker.place("MILK")
    picker.events()
    for path in PAGES:
        assert "s3cret" not in browser.get(path).text


def test_the_portal_does_not_count_against_the_rate_limit(platform, browser):
    for path in PAGES:
        browser.get(path)
    assert platform.journal()["requests"] == 0


def test_a_large_form_is_not_read_to_its_end(browser):
    assert browser.post("/orders", content=b"x" * 300_000).status_code == 413


def test_the_portal_is_for_this_machine_unless_control_is_exposed():
    async def ask(*, expose: bool) -> int:
        app = create_app(SandboxSettings(clock="virtual", expose_control=expose))
        transport = httpx.ASGITransport(app, client=("192.0.2.7", 1234))
        async with httpx.AsyncClient(transport=transport, base_url="http://platform") as client:
            status = (await client.get("/portal")).status_code
        app.state.sandbox.close()
        return status

    assert [asyncio.run(ask(expose=expose)) for expose in (False, True)] == [403, 200]


SHELF = f"/vendors/{STORE}"


def test_a_product_is_made_and_changed_in_the_portal(platform, browser):
    form = {"sku": "A/1", "title": "Tea", "price": "1,005", "barcodes": "4000000000013, 4000000000020", "active": "1"}
    answer = browser.post(f"{SHELF}/products", data={**form, "max_sales_quantity": "3"})
    assert (answer.status_code, answer.headers["location"]) == (303, f"/portal{SHELF}?chain=demo-chain&q=A%2F1")
    made = platform.products(STORE)["A/1"]
    assert (made["title"], made["price"], made["max_sales_quantity"], made["active"]) == ("Tea", 1.005, 3, True)
    assert made["barcodes"] == ["04000000000013", "04000000000020"]
    page = browser.get(SHELF, params={"edit": "A/1"}).text
    assert 'value="1.005"' in page
    browser.post(f"{SHELF}/products", data={"sku": "A/1", "price": "2", "is_sold_by_weight": "1", "sales_buffer": "4"})
    changed = platform.products(STORE)["A/1"]
    assert (changed["price"], changed["active"], changed["barcodes"], changed["sales_buffer"]) == (2, False, [], 4)
    assert changed["app"]["price"] == 2


def test_a_change_in_the_portal_ends_what_was_on_its_way(platform, partner, browser):
    platform.put_products(STORE, [{"sku": "A", "price": 1, "categories": ["tea"]}])
    partner.put(f"/v2/chains/demo-chain/vendors/{STORE}/catalog", json={"products": [{"sku": "A", "price": 5}]})
    platform.advance(1)
    browser.post(f"{SHELF}/products", data={"sku": "A", "price": "3", "active": "1"})
    platform.advance(3600)
    held = platform.products(STORE)["A"]
    assert (held["price"], held["app"]["price"], held["categories"]) == (3, 3, ["tea"])


@pytest.mark.parametrize(
    ("form", "why"),
    [
        ({"price": "1"}, "sku: must be a text"),
        ({"sku": "A", "price": "much"}, "price: must be a number"),
        ({"sku": "A", "price": "-1"}, "price: must not be negative"),
        ({"sku": "A", "max_sales_quantity": "1.5"}, "max_sales_quantity: must be a whole number"),
        ({"sku": "A", "sales_buffer": "-3"}, "sales_buffer: must be from 0"),
        ({"sku": "A", "barcodes": "abc"}, "barcodes"),
    ],
)
def test_a_wrong_product_is_rejected_with_its_field(platform, browser, form, why):
    answer = browser.post(f"{SHELF}/products", data=form)
    assert (answer.status_code, why in answer.text) == (400, True), answer.text
    assert platform.products(STORE) == {}


def test_an_unknown_product_cannot_be_changed(browser):
    assert browser.get(SHELF, params={"edit": "NONE"}).status_code == 404


def test_the_overview_shows_how_to_connect_without_the_secret(platform, browser):
    page = browser.get("").text
    assert all(text in page for text in (platform.base_url, "demo-client", "/v2/oauth/token", "/openapi.json"))
    assert "demo-secret" not in page
