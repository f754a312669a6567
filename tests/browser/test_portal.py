"""The sandbox's portal as a person uses it, in a real browser (issue of the sandbox: a portal page)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Page, expect

from order_picker import ASSORTMENT, CHAIN, STORE, OrderPicker, picked
from promotion_bodies import HOUR, final, promotion_body

if TYPE_CHECKING:
    from sandbox_fixture import LiveSandbox, WebhookReceiver

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.proof]
HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(2)>'


@pytest.fixture
def portal(platform: LiveSandbox, receiver: WebhookReceiver) -> Any:
    platform.put_webhook(catalog_url=receiver.url, order_url=receiver.url)
    with platform.partner() as partner:
        yield OrderPicker(platform, partner, receiver)


def row(page: Page, section: str, text: str) -> Any:
    """A row of a section's table."""
    return page.locator(f"{section} tbody tr").filter(has_text=text)


def test_the_overview_shows_vendors_and_what_customers_see(page, portal):
    page.goto("/portal")
    expect(page.locator("#vendors tbody tr")).to_have_count(6)
    cells = row(page, "#vendors", STORE).locator("td")
    expect(cells.nth(1)).to_have_text(str(len(ASSORTMENT)))
    expect(cells.nth(2)).to_have_text("6")
    expect(row(page, "#vendors", "store-002").locator("td").nth(1)).to_have_text("0")


def test_the_shelf_shows_what_customers_see_and_what_is_on_its_way(page, portal):
    portal.partner.put(
        f"{CHAIN}/vendors/{STORE}/catalog", json={"products": [{"sku": "MILK", "price": 9.5, "active": False}]}
    )
    portal.platform.advance(0)
    page.goto("/portal")
    page.get_by_role("link", name=STORE).click()
    milk = page.locator(".shelf tbody tr").filter(has_text="MILK")
    expect(milk.locator(".price")).to_have_text("1.50")
    expect(milk).to_contain_text("9.50")
    expect(milk).to_contain_text("unavailable")
    page.get_by_role("button", name="15 min").click()
    expect(milk.locator(".price")).to_have_text("9.50")
    expect(milk.locator("input.amount")).to_have_count(0)


def test_the_old_price_is_shown_beside_the_price_that_customers_pay(page, portal):
    portal.partner.put(
        f"{CHAIN}/promotion", json=promotion_body(portal.platform, final(1.1, "MILK"), name="Dairy week")
    )
    portal.platform.advance(0)
    page.goto(f"/portal/vendors/{STORE}?q=milk")
    (milk,) = page.locator(".shelf tbody tr").all()
    expect(milk.locator("s")).to_have_text("1.50")
    expect(milk.locator(".price b")).to_have_text("1.10")
    expect(milk).to_contain_text("Dairy week")


def test_a_customer_orders_from_the_shelf(page, portal):
    page.goto(f"/portal/vendors/{STORE}")
    page.get_by_label("How many of MILK").fill("2")
    page.get_by_label("How many of CHEESE").fill("0.5")
    page.get_by_label("Delivery").select_option("VENDOR_DELIVERY")
    page.get_by_role("button", name="Place order").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("received")
    order_id = page.locator(".facts dd.id").first.inner_text()
    order = portal.get({"order_id": order_id})
    lines = [(item["sku"], item["pricing"]["quantity"], item["pricing"].get("weight")) for item in order["items"]]
    assert sorted(lines) == [("CHEESE", 1, 0.5), ("MILK", 2, None)]
    assert order["transport_type"] == "VENDOR_DELIVERY"
    assert portal.event_names() == ["RECEIVED"]


def test_an_order_is_placed_and_cancelled_on_the_overview(page, portal):
    page.goto("/portal")
    page.get_by_label("SKU 1").fill("JAM")
    page.get_by_label("Quantity 1").fill("1")
    page.get_by_role("button", name="Place order").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("received")
    page.get_by_role("link", name="Overview").click()
    page.locator("#orders").get_by_role("button", name="Cancel").click()
    expect(page.locator("#orders tbody tr .state")).to_have_text("cancelled")
    expect(page).to_have_url(re.compile(r"/portal\?"))
    assert portal.event_names() == ["RECEIVED", "CANCELLED"]


def test_an_order_goes_through_the_hands_of_rider_and_customer(page, portal):
    order = portal.place("MILK", "JAM")
    portal.done(order, "READY_FOR_PICKUP", picked(order["items"][0]), picked(order["items"][1], "NOT_FOUND"))
    page.goto(f"/portal/orders/{order['order_id']}")
    expect(page.locator("tr.off")).to_contain_text("not found")
    page.get_by_role("button", name="Rider takes it").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("dispatched")
    page.get_by_role("button", name="Customer has it").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("picked up")
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    assert portal.event_names() == ["RECEIVED", "READY_FOR_PICKUP", "DISPATCHED"]


def test_an_impossible_order_is_rejected_with_the_reason_and_a_way_back(page, portal):
    page.goto("/portal/orders")
    page.get_by_label("SKU 1").fill("OLD")
    page.get_by_label("Quantity 1").fill("1")
    page.get_by_role("button", name="Place order").click()
    expect(page.get_by_role("alert")).to_contain_text("customers do not see this product")
    page.get_by_role("link", name="Back").click()
    expect(page).to_have_url(re.compile(r"/portal/orders"))
    assert portal.event_names() == []


def test_a_job_shows_the_result_of_each_sku(page, portal):
    items = [{"sku": "MILK", "price": 1.7}, {"sku": "NOWHERE", "price": 1}, {"sku": "JAM", "price": -1}]
    portal.partner.put(f"{CHAIN}/vendors/{STORE}/catalog", json={"products": items})
    portal.platform.advance(0)
    page.goto("/portal")
    page.locator("#jobs tbody a").click()
    expect(row(page, "#results", "MILK")).to_contain_text("success")
    expect(row(page, "#results", "NOWHERE")).to_contain_text("not found")
    page.get_by_role("link", name="only the rejected").click()
    expect(page.locator("#results tbody tr")).to_have_count(2)


def test_promotions_show_their_four_states(page, portal):
    windows = {
        "Running": (-HOUR, HOUR),
        "Upcoming": (HOUR, 2 * HOUR),
        "Ended": (-2 * HOUR, -HOUR),
        "Cancelled": (-HOUR, 2 * HOUR),
    }
    for name, (start_s, end_s) in windows.items():
        body = promotion_body(portal.platform, final(1.0, "MILK"), name=f"Offer {name}", start_s=start_s, end_s=end_s)
        portal.partner.put(f"{CHAIN}/promotion", json=body)
        portal.platform.advance(0)
        if name == "Cancelled":
            portal.partner.put(f"{CHAIN}/promotion", json={**body, "active": False})
            portal.platform.advance(0)
    page.goto("/portal/promotions")
    for name in windows:
        expect(row(page, "main", f"Offer {name}").locator(".state")).to_have_text(name.lower())
    page.get_by_role("link", name="Offer Running").click()
    expect(page.locator("main")).to_contain_text("final price")


def test_webhook_settings_are_saved_and_every_attempt_is_shown(page, portal, receiver):
    portal.platform.control("PUT", "chains/demo-chain/webhook", {})
    page.goto("/portal/webhooks")
    expect(page.locator(".warning")).to_contain_text("No secret is set")
    page.get_by_label("Address for orders").fill(receiver.url)
    page.get_by_label("Secret", exact=True).fill("from-the-portal")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".warning")).to_have_count(0)
    receiver.statuses[:] = [503, 500]
    order = portal.place("MILK")
    portal.platform.advance(60)
    assert {call.authorization for call in receiver.received} == {"from-the-portal"}
    page.get_by_role("link", name="Webhooks").click()
    expect(page.locator(".delivery .try")).to_have_text(["503", "500", "204"])
    page.locator(".delivery summary").click()
    expect(page.locator(".delivery pre")).to_contain_text(order["order_id"])
    assert "from-the-portal" not in page.content()


def test_a_fault_is_added_and_cleared(page, portal):
    page.goto("/portal/faults")
    page.get_by_label("At").select_option("list_catalog")
    page.get_by_label("Fault", exact=True).fill("status_503")
    page.get_by_label("Times").fill("1")
    page.get_by_role("button", name="Add").click()
    expect(row(page, "main section:first-of-type", "list_catalog")).to_contain_text("status_503")
    statuses = [portal.partner.get(f"{CHAIN}/vendors/{STORE}/catalog").status_code for _ in range(2)]
    assert statuses == [503, 200]
    page.get_by_role("button", name="Clear all").click()
    expect(page.locator("main")).to_contain_text("No fault is in force")
    page.get_by_label("Fault", exact=True).fill("meteorite")
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_role("alert")).to_contain_text("there is no fault 'meteorite'")


@pytest.mark.slow
def test_the_rate_limit_is_drawn(page, portal):
    for _ in range(65):
        portal.partner.get(f"{CHAIN}/vendors/{STORE}/catalog")
    portal.platform.advance(5)
    page.goto("/portal")
    chart = page.get_by_role("img", name="Rate limit")
    expect(chart).to_be_visible()
    box = chart.bounding_box()
    assert box is not None
    assert box["width"] > 500
    assert box["height"] > 80
    used = portal.platform.journal()["requests"]
    expect(chart.locator("desc")).to_contain_text(f"{used} now, {used} at most, 60 allowed")
    expect(chart.locator(".limit")).to_have_count(1)
    expect(chart.locator(".rejection")).to_have_count(1)
    page.get_by_role("button", name="15 min").click()
    expect(chart.locator("desc")).to_contain_text("0 now, 0 at most")


def test_hostile_text_is_shown_and_never_run(scripted_page, portal):
    page = scripted_page
    platform = portal.platform
    platform.control(
        "PUT", f"chains/demo-chain/vendors/{STORE}", {"name": HOSTILE, "external_partner_config_id": HOSTILE}
    )
    platform.put_products(STORE, [{"sku": HOSTILE, "title": HOSTILE, "price": 2.0}])
    portal.partner.put(f"{CHAIN}/promotion", json=promotion_body(platform, final(1.0, HOSTILE), name=HOSTILE))
    update = {"products": [{"sku": HOSTILE, "price": 3}, {"sku": f"{HOSTILE}x", "price": 3}]}
    job = portal.partner.put(f"{CHAIN}/vendors/{STORE}/catalog", json=update).json()
    customer = {"first_name": HOSTILE, "phone_number": HOSTILE}
    order = portal.place(HOSTILE, comment=HOSTILE, customer=customer)
    platform.faults({"at": "put_catalog", "kind": "status_500", "vendor": HOSTILE, "body": HOSTILE})
    portal.events()
    for path in (
        "",
        f"/vendors/{STORE}",
        "/orders",
        f"/orders/{order['order_id']}",
        "/promotions",
        "/promotions/1",
        "/jobs",
        f"/jobs/{job['job_id']}",
        "/webhooks",
        "/faults",
    ):
        page.goto(f"/portal{path}")
        expect(page.locator("main")).to_be_visible()
        assert page.locator("main script, main img").count() == 0, path
    page.goto(f"/portal/orders/{order['order_id']}")
    expect(page.locator("main")).to_contain_text(HOSTILE)


def test_two_chains_are_kept_apart(page, portal):
    portal.platform.control("PUT", "chains/other-chain", {})
    portal.platform.control("PUT", "chains/other-chain/vendors/kiosk", {})
    page.goto("/portal")
    page.get_by_label("Chain").select_option("other-chain")
    page.get_by_role("button", name="Show").click()
    expect(page.locator("#vendors tbody tr")).to_have_count(1)
    page.get_by_role("link", name="kiosk").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("kiosk")
    page.get_by_role("link", name="Overview").click()
    expect(page.locator("#vendors tbody tr")).to_have_text(re.compile("kiosk"))


@pytest.mark.parametrize("width", [360, 1280])
def test_a_page_is_never_wider_than_its_window(page, portal, width):
    portal.place("MILK")
    page.set_viewport_size({"width": width, "height": 800})
    for path in ("", f"/vendors/{STORE}", "/orders", "/webhooks", "/faults"):
        page.goto(f"/portal{path}")
        box = page.locator("body").bounding_box()
        assert box is not None
        assert box["width"] <= width
        header = page.locator("header").bounding_box()
        assert header is not None
        assert header["width"] <= width


@pytest.mark.slow
def test_a_page_that_is_followed_loads_itself_again(page, portal):
    page.goto("/portal")
    page.get_by_role("link", name="Follow").click()
    expect(page.get_by_role("link", name="Following, stop")).to_be_visible()
    with page.expect_request(lambda request: "follow=1" in request.url):
        portal.place("MILK")
    expect(page.locator("#orders tbody tr")).to_have_count(1)
