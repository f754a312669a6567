from __future__ import annotations

import datetime as dt
import itertools

from hypothesis import given
from hypothesis import strategies as st

from orders_bodies import ORDER_ID, RECEIVED_AT, body, item, version
from shelfsync.orders.order_state import ENDED, RANK, parse_version, state

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


def test_an_order_id_in_capitals_is_that_of_the_same_order():
    """Picking results and commands name an order in lower case; otherwise a store would get it a second time."""
    order_id = "abcdef01-2222-4333-8444-555555555555"
    found = [parse_version(body() | {"order_id": name}, "event", RECEIVED_AT) for name in (order_id, order_id.upper())]
    assert [version.order.order_id for version, _, _ in found] == [order_id] * 2
    assert found[0] == found[1]


@given(st.lists(any_version, min_size=1, max_size=6))
def test_the_status_that_is_furthest_along_applies(versions):
    ruling = state(versions).status
    assert RANK.get(ruling, 0) == max(RANK.get(one.status, 0) for one in versions)


ODD_TIMES = [
    *(None, "", "soon", "0001-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "2026-02-28T23:00:00Z", "2999-01-01T00:00:00Z"),
    *("2026-03-01T10:00:00", "2026-03-01T19:00:00+09:00", "2026-03-01T10:00:00.1234567Z", "2026-03-01T10:05:00-12:00"),
    *("2026-03-01T10:04:00Z", "9999-12-31T23:59:59Z", "2026-03-01T13:04:00Z", 1772359200, 1e300, "2026-03-01"),
]
odd_versions = st.lists(
    st.builds(
        lambda status, at, receipt, total, source: version(
            body(status=status, payment={"order_total": total}) | {"sys": {"created_at": at, "updated_at": at}},
            source,
            RECEIVED_AT + dt.timedelta(minutes=receipt),
        ),
        st.sampled_from(STATUSES),
        st.sampled_from(ODD_TIMES),
        st.integers(0, 30),
        st.integers(1, 3),
        st.sampled_from(["event", "answer", "read_back", "history"]),
    ),
    min_size=1,
    max_size=6,
)


@given(odd_versions, st.randoms())
def test_whatever_the_times_are_the_sequence_and_repeats_change_nothing(versions, chance):
    shuffled = versions + chance.choices(versions, k=len(versions))
    chance.shuffle(shuffled)
    assert state(shuffled) == state(versions)


@given(odd_versions)
def test_the_values_are_those_of_the_latest_time_that_is_believed(versions):
    now = state(versions)
    latest = max(one.believed("updated_at") or one.received_at for one in versions)
    assert now.updated_at == latest
    assert now.order_total in {one.order.order_total for one in versions if one.at == latest}
    last_receipt = max(one.received_at for one in versions)
    times = [now.updated_at, now.placed_at, now.fulfilled_at, now.cancelled_at]
    assert all(at <= last_receipt + dt.timedelta(minutes=10) for at in times if at)


@given(odd_versions, st.sampled_from(sorted(ENDED)), st.sampled_from(ODD_TIMES))
def test_an_end_is_never_left(versions, end, at):
    ended = version(body(status=end) | {"sys": {"updated_at": at}})
    wanted = max({end, *(one.status for one in versions)} & ENDED, key=RANK.__getitem__)
    assert state([*versions, ended]).status == wanted


def test_an_end_in_another_spelling_is_the_end():
    """A late report of an earlier status opens no delivered order again, and takes no cancellation back."""
    for word, wanted in {"CANCELED": "CANCELLED", "canceled": "CANCELLED", "Cancelled ": "CANCELLED"}.items():
        ended, late = at_minute(10, word, 1), at_minute(40, "READY_FOR_PICKUP", 2)
        assert {state(both).status for both in ([ended, late], [late, ended])} == {wanted}
    for word in ("DELIVERED", "delivered", "Picked_up", "picked up", "picked-up"):
        ended, late = at_minute(10, word, 1), at_minute(40, "RECEIVED", 2)
        now = state([ended, late])
        assert (now.status in ENDED, now.is_open) == (True, False)
    assert state([at_minute(10, "CANCELLED", 1), at_minute(40, "DELIVERED", 2)]).status == "CANCELLED"


def test_zones_decide_only_which_instant_it_is():
    """One instant in several zones and spellings; the cancellation is a minute later in each."""
    zones = (
        "{}T12:{:02}:00Z",
        "{}T12:{:02}:00.000+00:00",
        "{}T17:{:02}:00+05:00",
        "{}T05:{:02}:00-0700",
        "{} 12:{:02}:00",
    )
    for one, other in itertools.product(zones, repeat=2):
        before = version(body(at=one.format("2026-03-01", 10)))
        after = version(body(status="CANCELLED", at=other.format("2026-03-01", 11)))
        now = state([after, before])
        assert (now.status, str(now.cancelled_at), now.has_odd_time) == (
            "CANCELLED",
            "2026-03-01 12:11:00+00:00",
            False,
        )


def test_a_clock_that_is_ahead_or_behind_takes_no_later_step_away():
    for skew in (-7200, -599, 599, 7200, 10**9):
        at = (RECEIVED_AT + dt.timedelta(seconds=skew)).isoformat()
        first = version(body(at=at))
        later = version(body(status="CANCELLED", at=RECEIVED_AT.isoformat()), received_at=RECEIVED_AT)
        assert {state(both).status for both in ([first, later], [later, first])} == {"CANCELLED"}


def at_minute(minute, status, total, source="event", received=None):
    raw = body(status=status, at=minute and f"2026-03-01T12:{minute:02}:00Z", payment={"order_total": total})
    return version(raw, source, RECEIVED_AT + dt.timedelta(minutes=received or 0))


def test_a_status_that_is_not_in_the_interface_takes_no_known_one_away():
    """What it means is not known, and its clock may be ahead: the order stays as open, or as far along, as it was."""
    for known in RANK:
        now = state([at_minute(10, known, 1), at_minute(59, "PREPARING", 2)])
        assert (now.status, now.order_total) == (known, 2)
    assert state([at_minute(10, "PREPARING", 1), at_minute(59, "PAUSED", 2)]).status == "PAUSED"


def test_new_prices_apply_though_an_earlier_answer_is_further_along():
    now = state([at_minute(40, "DISPATCHED", 10, "answer"), at_minute(59, "READY_FOR_PICKUP", 9)])
    assert (now.status, now.order_total) == ("DISPATCHED", 9)


def test_a_version_without_a_time_is_as_old_as_its_receipt():
    now = state([at_minute(40, "READY_FOR_PICKUP", 10), at_minute(None, "READY_FOR_PICKUP", 9, received=5)])
    assert (now.order_total, now.updated_at) == (9, RECEIVED_AT + dt.timedelta(minutes=5))


def test_of_two_reports_of_one_instant_and_status_the_one_received_later_applies():
    for totals in ((9, 10), (10, 9)):
        now = state([at_minute(40, "RECEIVED", total, received=number) for number, total in enumerate(totals)])
        assert now.order_total == totals[1]


def test_a_cancellation_that_names_no_items_takes_none_away():
    bare = version({"order_id": ORDER_ID, "status": "CANCELLED"})
    now = state([version(body(item("MILK", 1))), bare])
    assert (now.status, [one.sku for one in now.items], now.order_total is None) == ("CANCELLED", ["MILK"], False)


def test_a_report_without_a_status_takes_none_away():
    assert state([version(body()), version({"order_id": ORDER_ID})]).status == "RECEIVED"


def test_the_reason_of_a_cancellation_stays():
    why = {"reason": "TOO_BUSY", "cancelled_by": "VENDOR"}
    versions = [version(body(status="CANCELLED", cancellation=why)), at_minute(59, "CANCELLED", 1, "history")]
    assert state(versions).cancellation == why


def test_a_time_is_believed_from_61_days_before_the_receipt_to_10_minutes_after_it():
    for offset, is_believed in (
        (dt.timedelta(minutes=10), True),
        (dt.timedelta(minutes=10, milliseconds=1), False),
        (-dt.timedelta(days=61), True),
        (-dt.timedelta(days=61, milliseconds=1), False),
    ):
        at = (RECEIVED_AT + offset).isoformat()
        one = version(body(status="CANCELLED", promised_for=None) | {"sys": {"created_at": at, "updated_at": at}})
        now = state([one])
        assert [value is not None for value in (now.placed_at, now.cancelled_at)] == [is_believed] * 2
        assert now.updated_at == (RECEIVED_AT + offset if is_believed else RECEIVED_AT)
        assert sorted(one.not_believed) == ([] if is_believed else ["created_at", "updated_at"])
        assert now.has_odd_time is not is_believed


def test_a_promise_may_be_ahead_and_is_not_believed_for_ever():
    for at, is_believed in (("1970-01-01T00:00:00Z", False), ("2026-04-01T10:00:00Z", True), ("2999-01-01", False)):
        now = state([version(body(promised_for=at, accepted_for=at))])
        assert [value is not None for value in (now.promised_for, now.accepted_for)] == [is_believed] * 2


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
