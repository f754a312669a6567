"""A chain with something on each page, in front of a browser: a hold, rejections, quarantine, differences, a pause, alerts, a promotion, an order."""

from __future__ import annotations

import datetime as dt
from concurrent.futures import ThreadPoolExecutor

import pytest
import uvicorn
from fastapi import Request  # noqa: TC002  FastAPI reads annotations at run time

from page_paths import addresses
from promotion_erp import SQL, PromotionErp
from serving import serving
from shelfsync.alerts.ledger import alerts
from shelfsync.orders.steps.apply import apply
from shelfsync.pages.app import create_app
from shelfsync.pages.rights import Viewer

ERP_SQL = """
SELECT vendor, sku AS article, price, quantity, active, max_sales_quantity, CASE WHEN sku LIKE 'a_' THEN 'Milk ' || substr(sku, 2) END AS name FROM stock
"""
SETTINGS = {
    "erp": {"sql": ERP_SQL, "columns": {"sku": "article"}},
    "drift": {"propagation_s": 0},
    "rejection": {"account_manager": "kam@platform.example"},
    "promotions": {"sql": SQL, "poll_first_s": 0.05, "poll_max_s": 0.2},
}
"""Of the chain's world: its ERP calls a SKU an article, and knows names."""


def guard(request: Request) -> None:
    request.state.viewer = Viewer("ada", may_decide=True, may_stop=True, may_start=True)


def product(sku: str) -> dict[str, object]:
    return {"sku": sku, "barcodes": [], "title": sku, "price": 9.0, "active": True}


def fill(world):
    """Returns the id of the order."""
    for store in ("store-001", "store-002"):
        world.platform.put_products(store, [product(f"a{number}") for number in range(5)])
        for number in range(5):
            world.erp.put(store, f"a{number}", "1.00")
    world.erp.put("store-001", "unknown", "1.00")
    world.erp.put("store-002", "bad", "no price")
    world.sync("full")
    for number in range(4):
        world.erp.put("store-001", f"a{number}", "900.00")
    world.sync("delta")
    world.platform.put_products("store-002", [product("a1") | {"price": 7.0}])
    world.app.export("test/1", (), progress=lambda *_: None)
    PromotionErp(world.erp, dt.datetime.now(dt.UTC)).put("c1", "a4", "0.90")
    promotions = world.app.promotions
    promotions.sync(promotions.open_run("test/2", dry_run=False))
    placed = {"items": [{"sku": "a1", "quantity": 1}]}
    order = world.platform.control("POST", "chains/demo-chain/vendors/store-001/orders", placed)
    with world.platform.partner() as partner, world.app.context.engine.begin() as connection:
        raw = partner.get(f"/v2/chains/demo-chain/orders/{order['order_id']}").json()
        apply(world.app.context, connection, raw, "read_back")
    world.app.pause("vendor", "store-002", why="stocktaking", who="ada")
    waits = {("hold_waits", "catalog x"): "4 changes wait (`shelfsync holds list`)"}
    for found in ({("store_late", "store-002"): "late"}, waits):
        with world.app.context.engine.begin() as connection:
            alerts.keep(connection, ("store_late", "hold_waits"), found)
    with world.app.context.engine.begin() as connection:
        alerts.keep(connection, ("paused",), {("paused", "vendor store-002"): "store store-002 is paused by ada"})
    return order["order_id"]


@pytest.fixture
def shown(make_world):
    """A chain with something on each page: a hold, rejections, quarantine, differences, a paused store, alerts open and over, a promotion, an order.

    Its last run is at work. The rejections of a reason have a letter to the account manager.
    """
    world = make_world(**SETTINGS)
    with ThreadPoolExecutor(1) as beside:  # the event loop of this thread is the browser's
        order = beside.submit(fill, world).result()
    at_work = world.app.open_run("delta", "test/at-work", ())
    assert [len(world.rows(f"SELECT FROM warehouse.{table}")) for table in ("customer_order", "promotion")] == [1, 1]
    app = create_app(lambda: world.app.context, guard, start_run=lambda *_: None)
    with serving(uvicorn.Config(app, log_level="warning")) as served:
        yield served, [*addresses(order), f"/runs/{at_work}"]
