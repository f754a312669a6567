from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from orders_bodies import body, item, version
from shelfsync.orders.order_state import RANK, state

STATUSES = [*RANK, "PAUSED"]
any_version = st.builds(
    lambda status, minute, source: version(
        body(item("MILK", 1), status=status, at=None if minute is None else f"2026-03-01T10:{minute:02}:00Z"), source
    ),
    st.sampled_from(STATUSES),
    st.one_of(st.none(), st.integers(0, 5)),
    st.sampled_from(["event", "answer", "read_back", "history"]),
)


@given(st.lists(any_version, min_size=1, max_size=6), st.randoms())
def test_the_state_is_the_same_whatever_came_first_and_however_often(versions, chance):
    shuffled = versions + chance.choices(versions, k=len(versions))
    chance.shuffle(shuffled)
    assert state(shuffled) == state(versions)


@given(st.lists(any_version, min_size=1, max_size=6))
def test_the_latest_updated_at_applies(versions):
    dated = [one.updated_at for one in versions if one.updated_at]
    ruling = state(versions)
    if ruling.updated_at is not None:
        assert ruling.updated_at == max(dated)
    else:
        latest = (
            max((one for one in versions if one.updated_at == max(dated)), key=lambda one: RANK.get(one.status, 0))
            if dated
            else None
        )
        assert latest is None or RANK.get(ruling.status, 0) > RANK.get(latest.status, 0)


def test_a_cancellation_that_comes_before_what_it_cancels_still_cancels():
    received = version(body(status="RECEIVED", at="2026-03-01T10:00:00Z"))
    cancelled = version(body(status="CANCELLED", at="2026-03-01T10:05:00Z"))
    for versions in itertools.permutations([received, cancelled]):
        assert state(versions).status == "CANCELLED"


def test_a_later_event_of_a_known_order_is_never_a_duplicate():
    events = [
        version(body(status=status, at=f"2026-03-01T10:0{number}:00Z"))
        for number, status in enumerate(["RECEIVED", "READY_FOR_PICKUP", "DISPATCHED", "CANCELLED"])
    ]
    assert [state(events[:count]).status for count in range(1, 5)] == [one.status for one in events]


def test_the_first_event_may_be_that_it_is_ready():
    ready = state([version(body(status="READY_FOR_PICKUP"))])
    assert (ready.status, ready.is_open) == ("READY_FOR_PICKUP", False)


def test_one_put_reported_as_ready_by_its_event_and_as_dispatched_by_get_is_dispatched():
    at = "2026-03-01T10:20:00Z"
    both = [
        version(body(status="READY_FOR_PICKUP", at=at, transport_type="VENDOR_DELIVERY")),
        version(body(status="DISPATCHED", at=at, transport_type="VENDOR_DELIVERY"), "read_back"),
    ]
    assert state(both).status == state(both[::-1]).status == "DISPATCHED"


def test_the_vendor_in_a_read_back_goes_before_that_in_an_event():
    wrong = body(client={"id": "store-002", "store_id": "store-002"}, at="2026-03-01T10:30:00Z")
    assert state([version(wrong), version(body(), "read_back")]).vendor == "store-001"


def test_times_come_from_versions_and_are_never_guessed():
    picked_up = version(body(status="PICKED_UP", at="2026-03-01T12:00:00Z"), "history")
    received = version(body(at="2026-03-01T10:00:00Z"))
    assert state([received, picked_up]).fulfilled_at is None
    ready = version(body(status="READY_FOR_PICKUP", at="2026-03-01T10:20:00Z"))
    assert str(state([picked_up, ready, received]).fulfilled_at) == "2026-03-01 10:20:00+00:00"
