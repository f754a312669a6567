"""interface.md 2.7, 4.9, 4.10: one order, and the orders of a vendor."""

from __future__ import annotations

import datetime as dt

import pytest

from order_picker import CHAIN, STORE

DAY_S = 86_400
VENDOR = f"{CHAIN}/vendors/{STORE}"
UNKNOWN = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
def history(picker):
    """Requests the vendor's orders of a range, given in seconds from now."""

    def ask(path: str = VENDOR, start_s: float = -DAY_S, end_s: float = DAY_S, **parameters):
        now = dt.datetime.fromisoformat(picker.platform.control("GET", "state")["now"]).replace(tzinfo=None)
        ends = {"start_time": start_s, "end_time": end_s}
        given = {name: (now + dt.timedelta(seconds=after)).isoformat() for name, after in ends.items()}
        with picker.platform.partner() as partner:
            return partner.get(path, params={**given, **parameters})

    return ask


def ids(answer) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [order["order_id"] for order in answer.json()["orders"]]


def test_one_order_is_the_order_object(picker):
    order = picker.place("MILK")
    assert picker.get(order) == order


@pytest.mark.parametrize("order_id", ["4711", "not-a-uuid", "0000"])
def test_the_identifier_must_be_a_uuid(picker, partner, order_id):
    answer = partner.get(f"{CHAIN}/orders/{order_id}")
    assert (answer.status_code, "UUID" in answer.json()["message"]) == (400, True)


def test_an_unknown_order_is_404(picker, partner):
    assert partner.get(f"{CHAIN}/orders/{UNKNOWN}").status_code == 404


def test_only_orders_of_the_past_60_days_are_available(picker, history):
    order = picker.place("MILK")
    picker.platform.advance(60 * DAY_S)
    with picker.platform.partner() as partner:
        assert partner.get(f"{CHAIN}/orders/{order['order_id']}").status_code == 200
        assert ids(history(start_s=-60 * DAY_S, end_s=0)) == [order["order_id"]]
        picker.platform.advance(1)
        assert partner.get(f"{CHAIN}/orders/{order['order_id']}").status_code == 404
        assert ids(history(start_s=-60 * DAY_S - 1, end_s=-1)) == []


def test_the_list_has_orders_and_the_fields_of_its_pages(picker, history):
    made = [picker.place("MILK")["order_id"] for _ in range(5)]
    pages = [history(page=number, page_size=2).json() for number in (1, 2, 3, 4)]
    assert [[order["order_id"] for order in page["orders"]] for page in pages] == [made[:2], made[2:4], made[4:], []]
    assert [page["page_number"] for page in pages] == [1, 2, 3, 4]
    assert [page["page_size"] for page in pages] == [2, 2, 1, 0]
    assert {page["total_pages"] for page in pages} == {3}


def test_orders_come_in_the_order_in_which_they_were_made(picker, history):
    made = []
    for _ in range(4):
        made.append(picker.place("MILK")["order_id"])
        picker.platform.advance(1)
    assert ids(history()) == made


@pytest.mark.slow
def test_a_page_has_20_orders_by_default_and_begins_with_page_1(picker, history):
    for _ in range(21):
        picker.place("MILK")
    answer = history().json()
    assert (len(answer["orders"]), answer["page_number"], answer["total_pages"]) == (20, 1, 2)


@pytest.mark.parametrize(("size", "status"), [(0, 400), (1, 200), (500, 200), (501, 400), ("many", 400)])
def test_a_page_has_1_to_500_orders(history, size, status):
    assert history(page_size=size).status_code == status


@pytest.mark.parametrize("page", [0, -1, "two"])
def test_pages_count_from_1(history, page):
    assert history(page=page).status_code == 400


def test_the_range_is_at_most_60_days(history):
    assert history(start_s=-60 * DAY_S, end_s=0).status_code == 200
    assert "60 days" in history(start_s=-60 * DAY_S, end_s=1).json()["message"]


def test_the_range_ends_after_it_began(history):
    assert history(start_s=0, end_s=-1).status_code == 400


def test_only_orders_made_in_the_range_are_listed(picker, history):
    early = picker.place("MILK")["order_id"]
    picker.platform.advance(3600)
    late = picker.place("MILK")["order_id"]
    assert ids(history(start_s=-3600, end_s=-1)) == [early]
    assert ids(history(start_s=-3599, end_s=0)) == [late]


@pytest.mark.parametrize("suffix", ["Z", "+00:00", "+02:00"])
def test_times_have_no_zone_suffix(picker, partner, suffix):
    given = {"start_time": f"2026-01-01T00:00:00{suffix}", "end_time": "2026-01-02T00:00:00"}
    answer = partner.get(VENDOR, params=given)
    assert (answer.status_code, answer.json()["message"].startswith("start_time")) == (400, True)


def test_a_dialect_takes_times_with_the_suffix_of_utc(picker, partner):
    picker.platform.control("PUT", "settings", {"order_history_zone": "accept"})
    given = {"start_time": "2026-01-01T00:00:00Z", "end_time": "2026-01-02T00:00:00+00:00"}
    assert partner.get(VENDOR, params=given).status_code == 200
    assert partner.get(VENDOR, params={**given, "end_time": "2026-01-02T00:00:00+02:00"}).status_code == 400


@pytest.mark.parametrize("given", [{}, {"start_time": "2026-01-01T00:00:00"}, {"end_time": "2026-01-01T00:00:00"}])
def test_without_a_whole_range_the_list_is_empty(picker, partner, given):
    picker.place("MILK")
    answer = partner.get(VENDOR, params=given)
    assert answer.status_code == 200
    assert answer.json() == {"orders": [], "page_number": 1, "page_size": 0, "total_pages": 0}


def test_a_vendor_is_named_by_its_own_identifier_where_it_has_one(picker, history):
    picker.platform.control("PUT", f"chains/demo-chain/vendors/{STORE}", {"external_partner_config_id": "till-9"})
    order = picker.place("MILK")
    assert ids(history(f"{CHAIN}/vendors/till-9")) == [order["order_id"]]
    assert ids(history(VENDOR)) == [order["order_id"]]
    assert ids(history(f"{CHAIN}/vendors/store-002")) == []


def test_the_partners_identifier_goes_before_the_platforms(picker, history):
    picker.platform.control("PUT", f"chains/demo-chain/vendors/{STORE}", {"external_partner_config_id": "store-002"})
    order = picker.place("MILK")
    assert ids(history(f"{CHAIN}/vendors/store-002")) == [order["order_id"]]


def test_an_unknown_vendor_is_404(history):
    assert history(f"{CHAIN}/vendors/store-999").status_code == 404


@pytest.mark.parametrize(("served", "there"), [("both", (200, 200)), ("vendor", (200, 404)), ("orders", (404, 200))])
def test_the_path_is_the_one_of_the_dialect(picker, history, served, there):
    picker.place("MILK")
    picker.platform.control("PUT", "settings", {"order_history_path": served})
    answers = [history(VENDOR), history(f"{VENDOR}/orders")]
    assert tuple(answer.status_code for answer in answers) == there
    assert all(answer.content == b"" for answer in answers if answer.status_code == 404)


def test_an_order_may_be_placed_in_the_past_for_a_history(picker, history):
    long_ago = picker.place("MILK", placed_at="2020-01-01T00:00:00Z")
    now = dt.datetime.fromisoformat(picker.platform.control("GET", "state")["now"])
    recent = picker.place("MILK", placed_at=(now - dt.timedelta(days=2)).isoformat())
    assert ids(history(start_s=-3 * DAY_S)) == [recent["order_id"]]
    assert long_ago["sys"]["created_at"] == "2020-01-01T00:00:00.000Z"
