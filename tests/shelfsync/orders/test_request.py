"""Random results against the live platform: a legal one is accepted and ends by the rules, an illegal one makes no request."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

from order_picker import ASSORTMENT, STORE
from orders_bodies import version
from partner_api import ClientCredentials, PartnerClient
from picking_strategies import results
from sandbox_fixture import LiveSandbox
from shelfsync.errors import DataError
from shelfsync.orders import cart
from shelfsync.orders.cart import Product, matched
from shelfsync.orders.order_state import state
from shelfsync.orders.picking_result import read
from shelfsync.orders.picking_rules import problems
from shelfsync.orders.request import request

PRODUCTS = {
    row["sku"]: Product(row["sku"], Decimal(str(row["price"])), bool(row.get("is_sold_by_weight")))
    for row in ASSORTMENT
}
BASKETS = [
    [{"sku": "MILK", "quantity": 2}, {"sku": "JAM", "quantity": 1}],
    [{"sku": "CHEESE"}, {"sku": "HONEY", "quantity": 1}],
    [{"sku": "MILK", "quantity": 1}, {"sku": "MILK", "quantity": 1}, {"sku": "BREAD", "quantity": 3}],
]
ORDER = "6f1c0000-0000-4000-8000-000000000001"
KINDS = [
    ("LOGISTICS_DELIVERY", "DELIVERY"),
    ("VENDOR_DELIVERY", "DELIVERY"),
    ("VENDOR_DELIVERY", "PICKUP"),
    ("LOGISTICS_DELIVERY", "PICKUP"),
]


@pytest.fixture(scope="module")
def platform():
    with LiveSandbox() as live:
        live.put_products(STORE, ASSORTMENT)
        yield live


@pytest.fixture(scope="module")
def client(platform):
    credentials = ClientCredentials(platform.client_id, SecretStr(platform.client_secret))
    with PartnerClient(platform.base_url, platform.chain_id, credentials) as made:
        yield made


@pytest.mark.slow
def test_legal_results_end_by_the_rules_and_illegal_ones_make_no_request(platform, client):
    seen: Counter[str] = Counter()

    @settings(max_examples=250)
    @given(st.data())
    def law(data):
        transport, kind = data.draw(st.sampled_from(KINDS))
        body = {"items": data.draw(st.sampled_from(BASKETS)), "transport_type": transport, "order_type": kind}
        placed = platform.control("POST", f"chains/demo-chain/vendors/{STORE}/orders", body)
        order = state([version(client.get_order(placed["order_id"]).raw, "read_back")])
        result = read(order.order_id, data.draw(results(placed)))
        broken = problems(order, result, PRODUCTS)
        if broken:
            seen.update({one.rule for one in broken})
            with pytest.raises(DataError):
                request(order, result, PRODUCTS)
            return
        seen["legal"] += 1
        update = request(order, result, PRODUCTS)
        feedback = client.put_order(request(order, result, PRODUCTS, only_check=True))
        assert (feedback.status, feedback.order_total) == ("RECEIVED", order.order_total)
        client.put_order(update)
        after = client.get_order(order.order_id)
        assert after.status == (
            "DISPATCHED" if (transport, kind) == ("VENDOR_DELIVERY", "DELIVERY") else "READY_FOR_PICKUP"
        )
        _assert_ended_as_reported(order, result, after, seen)

    law()
    print(dict(seen))
    assert seen["legal"] >= 25, seen
    assert len(seen) >= 12, seen


def _assert_ended_as_reported(order, result, after, seen):
    parts = matched(order, result)
    of_id = {item.item_id: item for item in after.items}
    for line, item in parts.pairs:
        ended = of_id[item.item_id]
        assert ended.status == {"picked": "IN_CART", "not_found": "NOT_FOUND", "replaced": "REPLACED"}[line.status]
        seen[line.status] += 1
        if line.status == "picked":
            assert ended.pricing.total_price == cart.picked_value(item, line.goods)
            assert ended.pricing.quantity == (
                item.pricing.quantity if line.goods.quantity is None else line.goods.quantity
            )
            if line.goods.weight is not None:
                assert ended.pricing.weight == line.goods.weight
        if line.status == "replaced":
            (other,) = [one for one in after.items if one.replaced_id == item.item_id]
            (goods,) = line.replaced_by
            assert (other.sku, other.status) == (goods.sku, "IN_CART")
            assert other.pricing.total_price <= item.pricing.total_price
    assert sorted(item.sku for item in after.items if item.status == "ADDITION") == sorted(
        line.goods.sku for line in parts.added
    )
    total = cart.total(order, parts, PRODUCTS)
    assert after.order_total == (total if result.confirmed_amount is None else result.confirmed_amount)


def decimals(lowest="0.0001"):
    """Prices and weights as the platform may have them: with more decimals than a result has."""
    return st.decimals(Decimal(lowest), Decimal(1000), allow_nan=False, places=None).map(lambda one: one.normalize())


@st.composite
def pricings(draw):
    unit, total, amount = draw(decimals()), draw(decimals()), draw(decimals())
    if draw(st.booleans()):
        return {
            "pricing_type": "KG",
            "quantity": 1,
            "weight": amount,
            "min_quantity": amount,
            "max_quantity": amount,
        } | {
            "unit_price": unit,
            "total_price": total,
        }
    quantity = draw(st.integers(1, 9))
    whole = draw(st.sampled_from([total, unit * quantity, (unit * quantity).quantize(Decimal("0.001"))]))
    return {"pricing_type": "UNIT", "quantity": quantity, "unit_price": unit, "total_price": whole}


def ordered(pricing):
    item = {"_id": "9a41", "sku": "MILK", "pricing": pricing}
    raw = {"order_id": ORDER, "status": "RECEIVED", "transport_type": "LOGISTICS_DELIVERY", "order_type": "DELIVERY"}
    return state([version({**raw, "client": {"store_id": STORE}, "items": [item]})])


def fulfilled(order, **values):
    line = {"sku": "MILK", "status": "picked", **values}
    return read(order.order_id, {"action": "fulfil", "result_id": "r", "items": [line]})


@pytest.mark.parametrize(
    "pricing",
    [
        {
            "pricing_type": "UNIT",
            "quantity": 1,
            "unit_price": "2.1999999999999997",
            "total_price": "2.1999999999999997",
        },
        {"pricing_type": "UNIT", "quantity": 3, "unit_price": "1.3333", "total_price": "4.0"},
        {
            "pricing_type": "KG",
            "weight": "0.3335",
            "min_quantity": "0.3335",
            "max_quantity": "0.5",
            "unit_price": "9.9999",
        },
    ],
)
def test_a_value_that_is_sent_back_unchanged_changes_nothing_beyond_three_decimals_too(pricing):
    exact = {name: value if name == "pricing_type" else Decimal(value) for name, value in pricing.items()}
    _assert_unchanged(exact)


@pytest.mark.slow
@given(pricings())
def test_any_values_that_are_sent_back_unchanged_change_nothing(pricing):
    _assert_unchanged(pricing)


def _assert_unchanged(pricing):
    order = ordered(pricing)
    names = ("quantity", "weight", "unit_price", "total_price")
    echoed = fulfilled(order, **{name: pricing[name] for name in names if name in pricing})
    assert problems(order, echoed, {}) == ()
    as_ordered = fulfilled(order)
    assert request(order, echoed, {}) == request(order, as_ordered, {})
    assert cart.total(order, matched(order, echoed), {}) == cart.total(order, matched(order, as_ordered), {})


def test_a_total_that_is_the_ordered_price_times_another_quantity_is_no_other_price():
    order = ordered({"pricing_type": "UNIT", "quantity": 3, "unit_price": Decimal("1.3333"), "total_price": Decimal(4)})
    fewer = fulfilled(order, quantity=2, unit_price=Decimal("1.333"), total_price=Decimal("2.666"))
    assert problems(order, fewer, {}) == ()
    assert request(order, fewer, {}) == request(order, fulfilled(order, quantity=2), {})
