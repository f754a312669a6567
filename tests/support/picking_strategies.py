"""Random picking results, most of them wrong in one way or another, for an order as the platform shows it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

NEW = ["MILK", "BREAD", "JAM", "HONEY", "CHEESE", "GOUDA", "OLD", "NOWHERE"]
"""Of the order picker's assortment, counted, weighed and inactive; and one that no store has."""
WEIGHED = {"CHEESE", "GOUDA"}


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


pieces = st.sampled_from([Decimal(one) for one in ("0", "1", "2", "3", "5", "9", "1.5")])
kilos = st.sampled_from([Decimal(one) for one in ("0", "0.2", "0.5", "0.9999", "1", "1.2345", "1.5", "1.6", "4")])
prices = st.sampled_from([Decimal(one) for one in ("0", "0.5", "1", "1.5", "1.4999", "2", "3", "9", "12", "13.5")])


def values() -> st.SearchStrategy[dict[str, Any]]:
    """Anything."""
    return st.fixed_dictionaries(
        {"quantity": maybe(pieces), "weight": maybe(kilos), "unit_price": maybe(prices), "total_price": maybe(prices)}
    )


@st.composite
def goods(draw: st.DrawFn, *, sane: bool) -> dict[str, Any]:
    """A product and how much of it; a sane one is counted or weighed as it should be."""
    sku = draw(st.sampled_from(NEW))
    if not sane:
        return {"sku": sku} | draw(values())
    amount = {"weight": Decimal("0.3")} if sku in WEIGHED else {"quantity": Decimal(1)}
    return {"sku": sku} | amount | draw(st.sampled_from([{}, {"unit_price": Decimal("0.9")}]))


def lines_of(item: dict[str, Any], *, sane: bool) -> st.SearchStrategy[list[dict[str, Any]]]:
    """The possible lines for one item of an order: none, one, or two."""
    weighed = item["pricing"]["pricing_type"] == "KG"
    named = {"sku": item["sku"], "item_id": item["_id"]}
    names = [named] * 6 + [{"sku": item["sku"]}, {"item_id": item["_id"]}, {"sku": "JAM", "item_id": item["_id"]}]
    name = st.just(named) if sane else st.sampled_from(names)
    counted = {
        "quantity": st.sampled_from([None, Decimal(1), Decimal(2)]),
        "unit_price": maybe(st.just(Decimal("1.4999"))),
    }
    measured = {"weight": st.sampled_from([None, Decimal("0.5"), Decimal("0.9999"), Decimal("1.5"), Decimal("1.6")])}
    own = st.fixed_dictionaries(measured if weighed else counted) if sane else values()
    picked = st.builds(lambda one, more: one | {"status": "picked"} | more, name, own)
    missing = st.builds(lambda one: one | {"status": "not_found"}, name)
    replaced = st.builds(
        lambda one, by: one | {"status": "replaced", "replaced_by": by},
        name,
        st.lists(goods(sane=sane), min_size=1, max_size=1) if sane else st.lists(goods(sane=False), max_size=2),
    )
    one = st.one_of(picked, picked, missing, replaced).map(lambda line: [line])
    return one if sane else st.one_of(one, one, one, st.just([]), st.builds(lambda a, b: a + b, one, one))


@st.composite
def results(draw: st.DrawFn, order: dict[str, Any]) -> dict[str, Any]:
    """A fulfilment as a store would post it: JSON-like, numbers exact."""
    sane = draw(st.booleans())
    lines = [line for item in order["items"] for line in draw(lines_of(item, sane=sane))]
    if draw(st.integers(0, 3)) == 0:
        lines.append({"status": "added"} | draw(goods(sane=sane)))
    body: dict[str, Any] = {"action": "fulfil", "items": lines}
    if draw(st.integers(0, 7)) == 0:
        body["confirmed_amount"] = draw(st.sampled_from([Decimal(one) for one in ("3", "8", "17", "20", "26.5")]))
    for line in lines:
        for one in (line, *line.get("replaced_by", [])):
            for name in [name for name, value in one.items() if value is None]:
                del one[name]
    return body
