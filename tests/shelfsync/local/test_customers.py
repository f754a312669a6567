"""The simulated customers, at a real sandbox: they order products on sale, cancel now and then, and pick up ready orders."""

from __future__ import annotations

import pytest

from sandbox_fixture import LiveSandbox, WebhookReceiver
from shelfsync.errors import ShelfsyncError
from shelfsync.local.customers import Customers
from shelfsync.local.sandbox_control import SandboxControl

STORE = "store-001"
PRODUCTS = [
    {"sku": f"ON-{number}", "title": "On sale", "price": 2.5, "max_sales_quantity": 2, "is_sold_by_weight": number == 3}
    for number in range(8)
] + [{"sku": f"OFF-{number}", "title": "Off sale", "price": 2.5, "active": False} for number in range(30)]


@pytest.fixture
def platform():
    with LiveSandbox() as live:
        live.put_products(STORE, PRODUCTS)
        yield live


@pytest.fixture
def receiver(platform):
    with WebhookReceiver() as listening:
        platform.put_webhook(order_url=f"{listening.url}/orders")
        yield listening


@pytest.fixture
def sandbox(platform):
    control = SandboxControl(platform.base_url)
    yield control
    control.close()


def orders(platform) -> dict[str, int]:
    return platform.control("GET", "state")["orders"]


def test_customers_order_what_is_on_sale_and_no_more_than_the_bound(platform, receiver, sandbox):
    customers = Customers(sandbox, orders_max=6, seed=1)
    placed = [customers.order() for _ in range(9)]
    assert [one is not None for one in placed] == [True] * 6 + [False] * 3
    assert sum(orders(platform).values()) == 6
    for order in filter(None, placed):
        assert order["vendor"] == STORE
        assert {item["sku"][:2] for item in order["items"]} == {"ON"}
    ways = {(order["transport_type"], order["order_type"]) for order in filter(None, placed)}
    assert len(ways) > 1


def test_no_order_is_placed_before_the_platform_has_the_webhook_address(platform, sandbox):
    assert Customers(sandbox, orders_max=6, seed=1).order() is None
    assert orders(platform) == {}


def test_a_product_that_went_off_sale_meanwhile_is_no_failure(platform, receiver, sandbox):
    customers = Customers(sandbox, orders_max=6, seed=1)
    assert customers.order()
    platform.put_products(STORE, [one | {"active": False} for one in PRODUCTS])
    assert customers.order() is None
    platform.put_products(STORE, PRODUCTS)
    assert customers.order()


@pytest.mark.slow
def test_what_is_ready_is_taken_along_and_reaches_its_customer_and_some_orders_are_cancelled(
    platform, receiver, sandbox
):
    customers = Customers(sandbox, orders_max=24, seed=2)
    placed = [order for order in (customers.order() for _ in range(24)) if order]
    customers.follow()
    assert set(orders(platform)) == {"RECEIVED", "CANCELLED"}
    with platform.partner() as partner:
        for order in placed:
            vendor_delivers = order["transport_type"] == "VENDOR_DELIVERY" and order["order_type"] != "PICKUP"
            status = "DISPATCHED" if vendor_delivers else "READY_FOR_PICKUP"
            items = [{"_id": one["_id"], "sku": one["sku"], "status": "IN_CART"} for one in order["items"]]
            body = {"order_id": order["order_id"], "status": status, "items": items}
            partner.put(f"/v2/chains/demo-chain/orders/{order['order_id']}", json=body)
    customers.follow()
    customers.follow()
    assert set(orders(platform)) == {"PICKED_UP", "CANCELLED"}
    assert customers.waiting == 0


def test_a_sandbox_that_is_away_is_one_line():
    away = SandboxControl("http://127.0.0.1:1")
    with pytest.raises(ShelfsyncError, match="does not answer"):
        Customers(away, orders_max=1, seed=1).order()
    away.close()
