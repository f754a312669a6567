"""Client and sandbox together, on promotions and orders: both read one contract."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from pydantic import SecretStr

from order_picker import ASSORTMENT, STORE
from partner_api import ClientCredentials, PartnerClient, errors
from partner_api.order_update import ItemUpdate, OrderUpdate
from partner_api.promotions import Discount, Promotion
from sandbox_fixture import LiveSandbox

if TYPE_CHECKING:
    from collections.abc import Iterator

HOUR = dt.timedelta(hours=1)


@pytest.fixture(scope="module", params=["spec", "live", "legacy"])
def running_platform(request: pytest.FixtureRequest) -> Iterator[LiveSandbox]:
    with LiveSandbox(dialect=request.param, clock="virtual", promotion_propagation_s=0) as live:
        yield live


@pytest.fixture
def platform(running_platform: LiveSandbox) -> LiveSandbox:
    running_platform.reset()
    running_platform.put_products(STORE, ASSORTMENT)
    return running_platform


@pytest.fixture
def client(platform: LiveSandbox) -> Iterator[PartnerClient]:
    credentials = ClientCredentials(platform.client_id, SecretStr(platform.client_secret))
    with PartnerClient(platform.base_url, platform.chain_id, credentials) as client:
        yield client


def now(platform: LiveSandbox) -> dt.datetime:
    return dt.datetime.fromisoformat(platform.control("GET", "state")["now"])


def place(platform: LiveSandbox, *skus: str, **options: str) -> str:
    body = {"items": [{"sku": sku, "quantity": 1} for sku in skus], **options}
    return platform.control("POST", f"chains/demo-chain/vendors/{STORE}/orders", body)["order_id"]


def test_a_promotion_lives_and_ends(platform, client):
    start = now(platform).replace(microsecond=0) - HOUR
    offer = {
        "vendors": (STORE,),
        "display_name": {"en_GB": "Offer"},
        "start_time": start,
        "end_time": start + 24 * HOUR,
    }
    discounts = (Discount(("MILK", "NOWHERE"), Decimal("1.199")),)
    seen = []
    for active in (True, True, False):
        job = client.put_promotion(Promotion(**offer, discounts=discounts, active=active), (STORE,))
        platform.advance(0)
        status = client.promotion_status(job.job_id)
        app = platform.products(STORE)["MILK"]["app"]["promotion"]
        seen.append((status.status, status.missing_skus, app and app["price"]))
    missing = {STORE: ("NOWHERE",)}
    assert seen == [("COMPLETED", missing, 1.199), ("DUPLICATE", missing, 1.199), ("COMPLETED", {}, None)]


def test_an_order_is_read_picked_and_found_in_the_history(platform, client):
    order = client.get_order(place(platform, "JAM", "CHEESE"))
    assert (order.status, order.store_id, order.chain_id) == ("RECEIVED", STORE, "demo-chain")
    assert order.order_total == order.sub_total + Decimal("2.48")
    jam, cheese = order.items
    items = (
        ItemUpdate("JAM", "REPLACED", item_id=jam.item_id),
        ItemUpdate("BREAD", "IN_CART", replaced_id=jam.item_id, quantity=1),
        ItemUpdate("CHEESE", "IN_CART", item_id=cheese.item_id, weight=Decimal("0.9"), pricing_type="KG"),
        ItemUpdate("MILK", "ADDITION", quantity=2),
    )
    checked = client.put_order(OrderUpdate(order.order_id, "UPDATE_CART", items))
    assert (checked.status, checked.order_total) == ("RECEIVED", order.order_total)
    done = client.put_order(OrderUpdate(order.order_id, "READY_FOR_PICKUP", items))
    assert done.sub_total == Decimal("2.0") + Decimal("10.8") + Decimal("3.0")
    platform.control("POST", f"orders/{order.order_id}/pick-up")
    present = now(platform)
    page = client.list_orders(STORE, present - HOUR, present + HOUR)
    assert [(found.order_id, found.status) for found in page.orders] == [(order.order_id, "PICKED_UP")]
    history = client.whole_history(STORE, present - HOUR, present + HOUR)
    assert (len(history.orders), history.complete) == (1, True)


def test_a_vendor_delivers_and_cancels(platform, client):
    first, second = (place(platform, "MILK", transport_type="VENDOR_DELIVERY") for _ in range(2))
    when = now(platform).replace(microsecond=0) + HOUR
    assert client.put_order(OrderUpdate(first, "ACCEPTED", accepted_for=when)).accepted_for == when
    assert client.put_order(OrderUpdate(first, "DISPATCHED", (ItemUpdate("MILK", "IN_CART"),))).status == "DISPATCHED"
    gone = (ItemUpdate("MILK", "NOT_FOUND"),)
    assert client.put_order(OrderUpdate(second, "CANCELLED", gone, cancel_reason="CLOSED")).status == "CANCELLED"
    with pytest.raises(errors.InvalidRequestError):
        client.put_order(OrderUpdate(second, "DISPATCHED", (ItemUpdate("MILK", "IN_CART"),)))


def test_the_partners_own_store_identifier_finds_its_orders(platform, client):
    platform.control("PUT", f"chains/demo-chain/vendors/{STORE}", {"external_partner_config_id": "till-9"})
    order_id = place(platform, "MILK")
    present = now(platform)
    (found,) = client.list_orders("till-9", present - HOUR, present + HOUR).orders
    assert (found.order_id, found.vendor_id) == (order_id, "till-9")
