"""The sample's store hub between a real outbox, a real receiver and the platform: it picks, and orders are fulfilled."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
import sqlalchemy as sa
from pydantic import SecretStr

from orders_world import PICKING_KEY
from shelfsync.erp import sample
from shelfsync.local.store_hub import StoreHub, picking_result

STORE = "store-001"
TABLE = "shelfsync_order_outbox"


@pytest.fixture(scope="module")
def erp_engine(postgres):
    url = postgres.create_database("shelfsync_store_hub").replace("postgresql://", "postgresql+psycopg://", 1)
    engine = sa.create_engine(url)
    sample.create(engine, vendors=1, skus_per_vendor=60)
    yield engine
    engine.dispose()
    postgres.drop_database("shelfsync_store_hub")


@pytest.fixture
def world(make_world, erp_engine):
    """Orders are handed over to the sample ERP's database."""
    url = erp_engine.url.render_as_string(hide_password=False)
    made = make_world(orders={"hand_over": "outbox", "hand_over_url": None}, erp={"url": url})
    with erp_engine.begin() as connection:
        connection.execute(sa.text(f"DROP TABLE IF EXISTS {TABLE}"))
        connection.execute(sa.text("DELETE FROM erp.store_order"))
    made.platform.put_products(STORE, [one | {"active": True} for one in sample.assortment(erp_engine)[STORE]])
    return made


@pytest.fixture
def make_hub(world, erp_engine):
    hubs = []

    def make(*, picking_delay_s: float = 0.0, receiver_url: str = "") -> StoreHub:
        hub = StoreHub(
            erp_engine,
            TABLE,
            receiver_url or world.receiver_url,
            SecretStr(PICKING_KEY),
            picking_delay_s=picking_delay_s,
        )
        hubs.append(hub)
        return hub

    yield make
    for hub in hubs:
        hub.close()


def on_sale(world, *, weighed: bool = False, number: int = 2) -> list[str]:
    products = world.platform.products(STORE)
    return [sku for sku, one in products.items() if one["active"] and one["is_sold_by_weight"] is weighed][:number]


def ordered(world, *skus: str, **options):
    """An order that its store can see."""
    order = world.place(*(skus or on_sale(world)), vendor=STORE, **options)
    world.receive_events()
    assert world.app.orders.hand_over()["failed"] == {}
    return order


def stock(engine, sku: str) -> Decimal:
    statement = sa.text(
        "SELECT sum(quantity) FROM erp.stock_movement JOIN erp.product USING (product_id) WHERE item_code = :sku"
    )
    with engine.connect() as connection:
        return connection.execute(statement, {"sku": sku}).scalar_one() or Decimal(0)


def states(engine) -> list[str]:
    with engine.connect() as connection:
        return list(connection.execute(sa.text("SELECT state FROM erp.store_order ORDER BY order_id")).scalars())


def ticked(world, hub, times: int = 3) -> None:
    for _ in range(times):
        world.tick()
        world.receive_events()
        hub.look()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("transport", "kind", "state"),
    [
        ("LOGISTICS_DELIVERY", "DELIVERY", "READY_FOR_PICKUP"),
        ("VENDOR_DELIVERY", "DELIVERY", "DISPATCHED"),
        ("VENDOR_DELIVERY", "PICKUP", "READY_FOR_PICKUP"),
    ],
)
def test_an_order_of_a_customer_is_picked_and_fulfilled_and_leaves_the_stock(
    world, make_hub, erp_engine, transport, kind, state
):
    hub = make_hub()
    order = ordered(world, transport_type=transport, order_type=kind)
    before = {item["sku"]: stock(erp_engine, item["sku"]) for item in order["items"]}
    assert hub.look() == {"taken": 1, "returned": 1}
    ticked(world, hub)
    assert world.shown(order)["status"] == state
    assert states(erp_engine) == ["done"]
    found = {item["sku"] for item in world.shown(order)["items"] if item["status"] == "IN_CART"}
    assert found
    for sku, had in before.items():
        assert stock(erp_engine, sku) == had - (1 if sku in found else 0)
    assert hub.look() == {"taken": 0, "returned": 0}


@pytest.mark.slow
def test_what_is_weighed_comes_back_with_its_weight_and_leaves_the_stock_by_it(world, make_hub, erp_engine):
    (sku,) = on_sale(world, weighed=True, number=1)
    hub, before = make_hub(), stock(erp_engine, sku)
    order = ordered(world, sku)
    hub.look()
    ticked(world, hub)
    (item,) = world.shown(order)["items"]
    assert item["status"] == "IN_CART"
    assert stock(erp_engine, sku) == before - Decimal(str(item["pricing"]["weight"]))


@pytest.mark.slow
def test_an_order_is_picked_after_some_seconds_and_a_cancelled_one_never(world, make_hub, erp_engine):
    hub = make_hub(picking_delay_s=3600)
    order = ordered(world)
    assert hub.look() == {"taken": 1, "returned": 0}
    world.platform.control("POST", f"orders/{order['order_id']}/cancel", {})
    world.receive_events()
    world.tick()
    hub.look()
    assert states(erp_engine) == ["cancelled"]
    assert make_hub().look() == {"taken": 0, "returned": 0}


def test_a_result_whose_answer_was_lost_is_given_again_and_is_known(world, make_hub, erp_engine):
    hub = make_hub()
    order = ordered(world)
    hub.look()
    with erp_engine.begin() as connection:  # as after a kill between the answer and the commit
        connection.execute(sa.text("UPDATE erp.store_order SET state = 'picking'"))
    assert hub.look() == {"taken": 0, "returned": 1}
    assert len(world.results(order)) == 1


def test_while_the_receiver_is_away_the_result_waits(world, make_hub, erp_engine):
    away = make_hub(receiver_url="http://127.0.0.1:1")
    ordered(world)
    assert away.look() == {"taken": 1, "returned": 0}
    assert states(erp_engine) == ["picking"]
    assert make_hub().look() == {"taken": 0, "returned": 1}


def test_a_rejected_result_is_corrected_once_with_everything_as_ordered(world, make_hub, erp_engine):
    hub = make_hub()
    order = ordered(world)
    hub.look()
    rejected = {"kind": "reply", "order_id": order["order_id"], "state": "rejected"}
    reply = sa.text(f"INSERT INTO {TABLE} VALUES (:number, :order, 'reply', :vendor, :document, now(), NULL)")
    seen = []
    for number in (101, 102):
        values = {"number": number, "order": order["order_id"], "vendor": STORE, "document": json.dumps(rejected)}
        with erp_engine.begin() as connection:
            connection.execute(reply, values)
        seen.append((hub.look(), states(erp_engine)))
    assert seen == [({"taken": 1, "returned": 1}, ["returned"]), ({"taken": 1, "returned": 0}, ["failed"])]
    assert [one["result_id"][-2:] for one in world.results(order)] == ["-0", "-1"]


def test_before_any_order_and_before_the_erp_is_made_there_is_nothing_to_do(world, make_hub, postgres):
    assert make_hub().look() == {"taken": 0, "returned": 0}
    empty = sa.create_engine(postgres.create_database("shelfsync_no_erp").replace("postgresql:", "postgresql+psycopg:"))
    hub = StoreHub(empty, TABLE, world.receiver_url, SecretStr(PICKING_KEY), picking_delay_s=0)
    try:
        assert hub.look() == {"taken": 0, "returned": 0}
    finally:
        hub.close()
        empty.dispose()
        postgres.drop_database("shelfsync_no_erp")


@pytest.mark.slow
def test_what_a_store_took_yesterday_is_removed_with_the_customer_in_it(world, make_hub, erp_engine):
    hub = make_hub()
    ordered(world, transport_type="VENDOR_DELIVERY")
    hub.look()
    ticked(world, hub)
    with erp_engine.begin() as connection:
        connection.execute(sa.text(f"UPDATE {TABLE} SET taken_at = taken_at - interval '2 days'"))
    hub.tidy()
    with erp_engine.connect() as connection:
        assert connection.execute(sa.text(f"SELECT count(*) FROM {TABLE}")).scalar_one() == 0


def test_the_same_document_gives_the_same_result_and_at_least_one_line_is_picked():
    document = {
        "order_id": "6f1c0000-0000-0000-0000-000000000001",
        "items": [
            {"item_id": "a", "sku": "M", "pricing_type": "UNIT", "quantity": 2},
            {"item_id": "b", "sku": "C", "pricing_type": "KG", "quantity": 1, "weight": 0.5, "min_quantity": 0.25,
             "max_quantity": 0.75},
        ],
    }  # fmt: skip
    seen = set()
    for number in range(200):
        document["order_id"] = f"6f1c0000-0000-0000-0000-{number:012}"
        result = picking_result(document, attempt=0)
        assert result == picking_result(document, attempt=0)
        assert result["result_id"] != picking_result(document, attempt=1)["result_id"]
        statuses = tuple(line["status"] for line in result["items"])
        seen.add(statuses)
        assert "picked" in statuses
        for line in result["items"]:
            if line["sku"] == "C" and line["status"] == "picked":
                assert Decimal("0.25") <= Decimal(line["weight"]) <= Decimal("0.75")
        assert {line["status"] for line in picking_result(document, attempt=1)["items"]} == {"picked"}
    assert len(seen) == 3, "now and then something is not found"
