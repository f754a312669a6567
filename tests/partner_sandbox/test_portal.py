"""The portal over plain HTTP: its access, the effect of a form, and what a page never holds. A browser drives it in tests/browser."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from order_picker import STORE
from partner_sandbox.app import create_app
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
@pytest.mark.parametrize("path", ["/orders", "/webhooks", "/faults", "/faults/clear", "/clock", "/check"])
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
