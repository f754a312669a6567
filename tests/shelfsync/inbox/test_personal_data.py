"""The harmless part has no personal data, and the two parts together are complete."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from orders_bodies import body, item
from shelfsync.inbox.personal_data import split_personal_data
from shelfsync.orders.order_state import as_json

CANARY = "+447700900123"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def joined(kept: Any, rest: Any) -> Any:
    if isinstance(kept, dict) and isinstance(rest, dict):
        return {
            name: joined(kept[name], rest[name]) if name in kept and name in rest else {**rest, **kept}[name]
            for name in {*kept, *rest}
        }
    if isinstance(kept, list) and isinstance(rest, list):
        return [joined(one, other) for one, other in zip(kept, rest, strict=True)]
    return kept


@given(st.dictionaries(st.sampled_from(["customer", "comment", "notes", "replacement_preferences", "x"]), JSON))
def test_the_two_parts_are_the_whole(more):
    raw = (
        body(
            item("MILK", 1) | {"note": "ring twice"},
            cancellation={"reason": "I moved away", "cancelled_by": "CUSTOMER"},
        )
        | more
    )
    kept, rest = split_personal_data(raw)
    assert joined(kept, rest) == raw


@given(st.dictionaries(st.text(max_size=12), JSON, max_size=4))
def test_an_unknown_field_is_personal(more):
    unforeseen = {f"{name}_": value for name, value in more.items()}
    kept, rest = split_personal_data(body() | unforeseen)
    assert not set(unforeseen) & set(kept)
    assert set(unforeseen) <= set(rest)


def test_no_field_that_can_name_a_customer_is_kept():
    raw = body(
        item("MILK", 1) | {"comment": CANARY, "customer_note": {"x": CANARY}},
        customer={"phone_number": CANARY, "first_name": CANARY, "delivery_address": {"street": CANARY}},
        client={"id": "store-001", "name": CANARY, "contact": CANARY},
        payment={"type": "PAID", "payer": CANARY, "discounts": [{"name": CANARY}]},
        loyalty_program={"loyalty_card": CANARY},
        comment=CANARY,
        phone=CANARY,
        replacement_preferences={"text": CANARY},
        cancellation={"reason": CANARY, "cancelled_by": "CUSTOMER"},
        status={"word": CANARY},
    )
    kept, rest = split_personal_data(raw)
    assert CANARY not in as_json(kept)
    assert as_json(rest).count(CANARY) == as_json(raw).count(CANARY)
    assert kept["cancellation"] == {"cancelled_by": "CUSTOMER"}


def test_the_code_of_a_cancellation_is_kept():
    kept, _ = split_personal_data(body(cancellation={"reason": "ITEM_UNAVAILABLE", "cancelled_by": "VENDOR"}))
    assert kept["cancellation"] == {"reason": "ITEM_UNAVAILABLE", "cancelled_by": "VENDOR"}
