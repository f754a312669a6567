"""What public client programs send and read (field notes): accepted where a dialect accepts it, rejected with the reason elsewhere."""

from __future__ import annotations

import re

import pytest

from order_picker import STORE, by_sku, picked
from partner_sandbox.settings import behaviour_of
from promotion_bodies import final, promotion_body

CATALOG = f"/v2/chains/demo-chain/vendors/{STORE}/catalog"
PROMOTION = "/v2/chains/demo-chain/promotion"
COLLECTED = {"order_type": "PICKUP", "transport_type": "VENDOR_DELIVERY"}


@pytest.mark.parametrize("status", ["IN_CART", "NOT_FOUND", "NOT_PROCESSED"])
def test_a_weight_of_0_and_an_empty_replaced_id_on_pieces_mean_absent(picker, status):
    picker.platform.control("PUT", "settings", {"order_unprocessed_item": "stays"})
    order = picker.place("MILK")
    item = {**picked(order["items"][0], status, weight=0, quantity=1), "replaced_id": ""}
    assert picker.done(order, "READY_FOR_PICKUP", item)["items"][0]["status"] == status


def test_an_item_sent_back_as_not_processed_stays_as_ordered_where_the_dialect_accepts_it(picker):
    order = picker.place("MILK", "BREAD")
    sent = [picked(by_sku(order, "MILK")), picked(by_sku(order, "BREAD"), "NOT_PROCESSED")]
    assert "NOT_PROCESSED" in picker.rejected(order, "READY_FOR_PICKUP", *sent)["message"]
    picker.platform.control("PUT", "settings", {"order_unprocessed_item": "stays"})
    after = picker.done(order, "READY_FOR_PICKUP", *sent)
    assert [item["status"] for item in after["items"]] == ["IN_CART", "NOT_PROCESSED"]
    assert after["order_total"] == order["order_total"]


@pytest.mark.parametrize(
    ("choice", "accepted"),
    [
        ("READY_FOR_PICKUP", {"READY_FOR_PICKUP"}),
        ("DISPATCHED", {"DISPATCHED"}),
        ("both", {"READY_FOR_PICKUP", "DISPATCHED"}),
    ],
)
def test_a_collected_order_of_a_vendor_is_fulfilled_with_the_status_of_the_dialect(picker, choice, accepted):
    picker.platform.control("PUT", "settings", {"order_pickup_by_vendor": choice})
    answers = {}
    for status in ("READY_FOR_PICKUP", "DISPATCHED"):
        order = picker.place("MILK", **COLLECTED)
        answers[status] = picker.put(order, status, picked(order["items"][0])).status_code
    assert {status for status, code in answers.items() if code == 200} == accepted


def test_live_is_lenient_where_clients_were_seen():
    live = behaviour_of("live")
    assert (live.order_unprocessed_item, live.order_pickup_by_vendor) == ("stays", "both")
    assert (live.promotion_left_out, live.promotion_times) == ("accepted", "any")


@pytest.fixture
def promotion(platform, partner):
    platform.put_products(STORE, [{"sku": "A", "price": 5}, {"sku": "B", "price": 5}])

    def put(body):
        answer = partner.put(PROMOTION, json=body)
        if answer.status_code != 202:
            return answer.json()["message"]
        platform.advance(0)
        return partner.get(f"{PROMOTION}/jobs/{answer.json()['job_id']}").json()["job_status"]

    return put


def test_a_removal_entry_may_have_its_skus_alone_where_the_dialect_accepts_it(platform, promotion):
    body = promotion_body(platform, final(4, "A"), final(4, "B"))
    assert promotion(body) == "COMPLETED"
    removal = {**body, "discount": [{"sku": ["A"], "active": False}]}
    assert promotion(removal) == "discount[0].discount_subtype: is required"
    platform.control("PUT", "settings", {"promotion_left_out": "accepted"})
    assert promotion(removal) == "COMPLETED"
    (left,) = platform.control("GET", "chains/demo-chain/promotions")["promotions"]
    assert left["skus"] == 1
    assert promotion({**body, "discount": [{"sku": ["A"]}]}) == "discount[0].discount_subtype: is required"
    assert promotion({**body, "active": False, "discount": [{"sku": ["A"]}]}) == "COMPLETED"


@pytest.mark.parametrize("name", ["reason", "display_name"])
def test_reason_and_name_may_be_left_out_where_the_dialect_accepts_it(platform, promotion, name):
    body = promotion_body(platform, final(4, "A"))
    del body[name]
    assert promotion(body) == f"{name}: is required"
    platform.control("PUT", "settings", {"promotion_left_out": "accepted"})
    assert promotion(body) == "COMPLETED"
    assert promotion({**body, "active": False}) == "COMPLETED"


@pytest.mark.parametrize("digits", ["", ".0000000", ".1234567"])
def test_times_may_have_any_fraction_where_the_dialect_accepts_it(platform, promotion, digits):
    body = promotion_body(platform, final(4, "A"))
    body["conditions"] = {name: re.sub(r"\.\d+", digits, text) for name, text in body["conditions"].items()}
    assert "with milliseconds" in promotion(body)
    platform.control("PUT", "settings", {"promotion_times": "any"})
    assert promotion(body) == "COMPLETED"


def test_the_link_of_a_job_event_may_have_both_names(platform, partner, receiver):
    platform.control("PUT", "settings", {"job_webhook_link_name": "both"})
    partner.put(CATALOG, json={"products": [{"sku": "A"}]})
    (event,) = receiver.wait_for(1)
    assert event.body["download_url"] == event.body["downloadURL"]


def test_the_older_job_event_names_the_vendor_as_the_older_client_reads_it():
    legacy = behaviour_of("legacy")
    assert (legacy.job_webhook_vendor_name, legacy.job_id_type) == ("platform_vendor_id", "integer")


def test_the_spelling_of_another_dialect_is_reported_as_such(platform, partner):
    platform.control("PUT", "settings", {"dialect": "legacy", "requests_per_minute": 1000})
    answer = partner.put(CATALOG, json={"products": [{"sku": "A", "maximum_sales_quantity": 3}, {"sku": "B"}]})
    assert answer.status_code == 400
    assert "another dialect" in answer.json()["message"]
    assert "max_sales_quantity" in answer.json()["message"]


def test_a_job_that_the_dialect_does_not_show_is_reported_as_such(platform, partner):
    platform.control("PUT", "settings", {"job_status_for": "creation"})
    job_id = partner.put(CATALOG, json={"products": [{"sku": "A"}]}).json()["job_id"]
    answer = partner.get(f"/v2/chains/demo-chain/catalog/jobs/{job_id}")
    assert (answer.status_code, "this dialect" in answer.json()["message"]) == (404, True)
    unknown = partner.get("/v2/chains/demo-chain/catalog/jobs/nope")
    assert unknown.json()["message"] == "Job not found"


@pytest.mark.parametrize("kind", ["429_retry_after", "429", "403_html"])
def test_the_error_at_the_limit_has_its_number(platform, partner, kind):
    platform.control("PUT", "settings", {"requests_per_minute": 7, "rate_limit_answer": kind})
    answers = [partner.get(CATALOG) for _ in range(8)]
    assert "7 requests" in answers[-1].text


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/catalog"),
        ("GET", "/categories"),
        ("POST", "/catalog/export"),
        ("GET", "/status"),
        ("GET", "/orders"),
        ("GET", ""),
    ],
)
def test_the_partners_own_store_identifier_names_the_vendor(platform, partner, method, path):
    platform.control("PUT", f"chains/demo-chain/vendors/{STORE}", {"external_partner_config_id": "till-9"})
    assert partner.request(method, f"/v2/chains/demo-chain/vendors/till-9{path}").status_code in {200, 202}


def status_path(vendor: str = STORE) -> str:
    return f"/v2/chains/demo-chain/vendors/{vendor}/status"


def test_the_outlet_status_names_its_vendor(partner):
    assert partner.get(status_path()).json() == {
        "vendor_id": STORE,
        "status": "OPEN",
        "closed_reason": None,
        "closed_until": None,
    }


@pytest.mark.parametrize("until", [None, "soon", "2001-01-01T00:00:00Z"])
def test_closed_until_needs_a_time_to_come(partner, until):
    answer = partner.put(status_path(), json={"status": "CLOSED_UNTIL", "closed_until": until})
    assert (answer.status_code, "closed_until" in answer.json()["message"]) == (400, True)


def test_a_closed_outlet_receives_no_order_until_it_opens(picker):
    far = picker.platform.advance(0)[:4]
    until = f"{int(far) + 1}-01-01T00:00:00.000Z"
    closed = picker.partner.put(status_path(), json={"status": "CLOSED_UNTIL", "closed_until": until}).json()
    assert (closed["status"], closed["closed_until"]) == ("CLOSED_UNTIL", until)
    with pytest.raises(RuntimeError, match=r"409.*CLOSED_UNTIL"):
        picker.place("MILK")
    picker.platform.advance(366 * 86_400)
    assert picker.partner.get(status_path()).status_code == 401  # the token's two hours are over
    assert picker.place("MILK")["status"] == "RECEIVED"


def test_an_outlet_that_is_closed_today_opens_tomorrow(picker):
    picker.partner.put(status_path(), json={"status": "CLOSED_TODAY", "closed_reason": "stocktaking"})
    with pytest.raises(RuntimeError, match=r"409.*CLOSED_TODAY"):
        picker.place("MILK")
    picker.platform.advance(86_400)
    assert picker.place("MILK")["status"] == "RECEIVED"


def test_an_order_is_as_rich_as_those_seen(picker):
    product = {
        "sku": "TEA",
        "title": "Tea",
        "price": 3,
        "barcodes": ["4006381333931"],
        "images": ["https://img.example/tea.png"],
    }
    picker.platform.put_products(STORE, [product, {"sku": "NUT", "price": 1}])
    order = picker.place({"sku": "TEA", "instructions": "the green one"}, "NUT", delivery_address={"postal_code": "Q1"})
    tea, nut = order["items"]
    assert (tea["barcode"], tea["image_url"]) == ("04006381333931", "https://img.example/tea.png")
    assert (tea["instructions"], tea["vat_percent"]) == ("the green one", 20)
    assert (nut["barcode"], nut["instructions"]) == (None, "")
    assert order["customer"]["id"]
    address = order["customer"]["delivery_address"]
    assert {"street", "number", "city", "country", "latitude", "longitude"} <= set(address)
    assert (address["zipcode"], address["postal_code"]) == ("Q1", "Q1")


def test_an_addition_is_as_rich_as_the_rest(picker):
    order = picker.place("MILK")
    added = {"sku": "JAM", "status": "ADDITION", "pricing": {"quantity": 1}}
    after = picker.done(order, "READY_FOR_PICKUP", picked(order["items"][0]), added)
    assert set(by_sku(after, "JAM")) == set(by_sku(after, "MILK"))


@pytest.mark.parametrize(("choice", "last"), [("none", "READY_FOR_PICKUP"), ("sent", "DELIVERED")])
def test_a_setting_sends_an_event_when_the_customer_has_it(picker, choice, last):
    picker.platform.control("PUT", "settings", {"order_delivered_event": choice})
    order = picker.place("MILK")
    picker.done(order, "READY_FOR_PICKUP", picked(order["items"][0]))
    picker.platform.control("POST", f"orders/{order['order_id']}/pick-up")
    assert picker.event_names()[-1] == last


@pytest.mark.parametrize("by", ["customer", "partner"])
def test_a_cancelled_order_costs_nothing(picker, by):
    order = picker.place("MILK")
    if by == "customer":
        after = picker.platform.control("POST", f"orders/{order['order_id']}/cancel")
    else:
        sent = picked(order["items"][0], "NOT_FOUND")
        after = picker.done(order, "CANCELLED", sent, cancellation={"reason": "TOO_BUSY"})
    assert (after["order_total"], after["payment"]["order_total"]) == (0, 0)
