"""Random results through inbox, ledger, rules, client and sandbox, compared with a naive implementation of section 4.8.

A legal result ends by the rules with one request. An illegal one is never sent, as the sandbox's journal shows.
"""

from __future__ import annotations

from collections import Counter
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from order_picker import ASSORTMENT, STORE
from picking_model import IllegalError, exact, judged
from picking_strategies import results

CATALOG = {row["sku"]: row for row in ASSORTMENT}
BASKETS = [
    [{"sku": "MILK", "quantity": 2}, {"sku": "JAM", "quantity": 1}],
    [{"sku": "CHEESE"}, {"sku": "HONEY", "quantity": 1}],
    [{"sku": "MILK", "quantity": 1}, {"sku": "MILK", "quantity": 1}, {"sku": "BREAD", "quantity": 3}],
    [{"sku": "BREAD", "quantity": 3, "min_quantity": 2}, {"sku": "CHEESE"}],
]
KINDS = [
    ("LOGISTICS_DELIVERY", "DELIVERY"),
    ("VENDOR_DELIVERY", "DELIVERY"),
    ("VENDOR_DELIVERY", "PICKUP"),
    ("LOGISTICS_DELIVERY", "PICKUP"),
]


@pytest.mark.parametrize("examples", [20, pytest.param(250, marks=[pytest.mark.slow, pytest.mark.proof])])
def test_legal_results_end_by_the_rules_and_illegal_ones_are_never_sent(world, examples):
    sent: dict[str, int] = {}
    seen: Counter[str] = Counter()

    @settings(max_examples=examples)
    @given(st.data())
    def law(data):
        transport, kind = data.draw(st.sampled_from(KINDS))
        body = {"items": data.draw(st.sampled_from(BASKETS)), "transport_type": transport, "order_type": kind}
        placed = world.platform.control("POST", f"chains/demo-chain/vendors/{STORE}/orders", body)
        world.receive_events()
        raw = data.draw(results(placed))
        assert world.app.orders.report(placed["order_id"], raw) == "new"
        try:
            expected = judged(placed, raw, CATALOG)
        except IllegalError:
            expected = None
        last = until_ended(world, placed["order_id"])
        shown = world.shown(placed)
        sent[placed["order_id"]] = 0 if expected is None else 1
        seen["illegal" if expected is None else "legal"] += 1
        seen.update(last["rules"])
        if expected is None:
            assert (last["state"], shown["status"]) == ("rejected", "RECEIVED"), (raw, last)
            assert last["messages"]
            return
        assert (last["state"], last["messages"]) == ("done", []), (raw, last)
        by_store = (transport, kind) == ("VENDOR_DELIVERY", "DELIVERY")
        assert shown["status"] == ("DISPATCHED" if by_store else "READY_FOR_PICKUP")
        assert_as_expected(shown, expected)

    law()
    entries = [one for one in world.platform.journal()["entries"] if one["operation"] == "put_order"]
    puts = Counter(one["route"].split("/")[5] for one in entries)
    assert {order_id: puts[order_id] for order_id in sent} == sent
    print(dict(seen))
    assert min(seen["legal"], seen["illegal"]) >= examples // 50, seen  # twenty may be all of one kind


def until_ended(world, order_id):
    for _ in range(5):
        world.app.orders.fulfil([order_id])
        (last,) = world.app.orders.results(order_id)
        if last["state"] in {"done", "rejected"}:
            return last
        world.receive_events()
    raise AssertionError(last)


def assert_as_expected(shown, expected):
    old = {item["_id"]: item for item in shown["items"] if item["_id"] in expected.items}
    assert {name: item["status"] for name, item in old.items()} == {
        name: status for name, (status, _) in expected.items.items()
    }
    for name, (status, price) in expected.items.items():
        if status == "IN_CART":
            assert exact(old[name]["pricing"]["total_price"]) == price
    new = {item["replaced_id"]: item for item in shown["items"] if item.get("replaced_id")}
    assert {
        name: (item["sku"], exact(item["pricing"]["total_price"])) for name, item in new.items()
    } == expected.replacing
    assert sorted(item["sku"] for item in shown["items"] if item["status"] == "ADDITION") == sorted(expected.added)
    total = shown["payment"]["order_total"] if "order_total" in shown["payment"] else shown["order_total"]
    assert exact(total) == expected.total.quantize(Decimal("0.001"))
