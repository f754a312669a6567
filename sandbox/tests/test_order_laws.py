"""Properties of the changes of a picker to an order, over random changes (interface.md 4.8.4, 4.8.5)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from order_picker import picked
from partner_sandbox.money import total_milli
from partner_sandbox.orders.payload import CartError, SentPricing
from partner_sandbox.orders.pricing import changed
from partner_sandbox.orders.store import Pricing

milli = st.integers(0, 50_000)
decimals = st.none() | st.decimals(0, 60, places=3)


@st.composite
def pricings(draw: st.DrawFn, kind: str) -> Pricing:
    """A pricing of an order."""
    unit = draw(milli)
    quantity = 1 if kind == "KG" else draw(st.integers(1, 20))
    weight_g = draw(st.integers(1, 5000)) if kind == "KG" else None
    amount = weight_g or quantity
    return Pricing(
        pricing_type=kind,
        quantity=quantity,
        weight_g=weight_g,
        unit_price_milli=unit,
        total_price_milli=total_milli(kind, unit, quantity, weight_g),
        list_price_milli=unit,
        least=draw(st.integers(1, amount)),
        most=draw(st.integers(amount, 3 * amount)),
    )


@st.composite
def sent_pricings(draw: st.DrawFn) -> SentPricing:
    """A pricing that a picker may send."""
    quantity = draw(st.none() | st.integers(0, 30).map(Decimal) | st.decimals(0, 30, places=1))
    values = {"quantity": quantity, **{name: draw(decimals) for name in ("weight", "unit_price", "total_price")}}
    return SentPricing.model_construct(pricing_type=None, **values)


def outcome(held: Pricing, sent: SentPricing) -> Pricing | None:
    try:
        return changed("item", held, sent, weighing=True)
    except CartError:
        return None


@pytest.mark.slow
@pytest.mark.proof
@given(pricings("UNIT"), sent_pricings())
def test_law_pieces_stay_within_their_bounds_and_their_price_never_rises(held, sent):
    after = outcome(held, sent)
    if after is not None:
        assert held.least <= after.quantity <= held.most
        assert after.unit_price_milli <= held.unit_price_milli
        assert sent.weight is None
        changed_unit = after.unit_price_milli != held.unit_price_milli
        assert not changed_unit or after.total_price_milli == after.unit_price_milli * after.quantity


@given(pricings("KG"), sent_pricings())
def test_law_the_price_of_what_is_weighed_follows_its_weight(held, sent):
    after = outcome(held, sent)
    if after is not None:
        assert after.quantity == 1
        assert after.unit_price_milli == held.unit_price_milli
        assert held.least <= after.weight_g <= held.most
        assert after.total_price_milli == total_milli("KG", held.unit_price_milli, 1, after.weight_g)


@given(st.sampled_from(["UNIT", "KG"]).flatmap(pricings))
def test_law_what_is_sent_back_as_it_came_changes_nothing(held):
    kilograms = None if held.weight_g is None else Decimal(held.weight_g) / 1000
    same = SentPricing.model_construct(
        pricing_type=held.pricing_type,
        quantity=Decimal(held.quantity),
        weight=kilograms,
        unit_price=Decimal(held.unit_price_milli) / 1000,
        total_price=Decimal(held.total_price_milli) / 1000,
    )
    assert outcome(held, same) == held


def test_of_many_concurrent_fulfilments_one_succeeds(picker):
    order = picker.place("MILK")
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: picker.put(order, "READY_FOR_PICKUP", picked(order["items"][0])), range(8)))
    assert sorted(answer.status_code for answer in answers) == [200] + [400] * 7
    assert picker.event_names() == ["RECEIVED", "READY_FOR_PICKUP"]
