from __future__ import annotations

from catalog_rows import delta, log, said, shelf
from shelfsync.catalog.acknowledge import acknowledge, in_doubt
from shelfsync.catalog.confirm import match
from shelfsync.catalog.diff import diff

BEFORE = shelf({"sku": "A", "price": "1", "quantity": 1}, {"sku": "C", "price": "3"})
ITEMS = delta(
    {"sku": "A", "price": "2"},
    {"sku": "B", "barcode": "1", "price": "5", "change": "new"},
    {"sku": "C", "active": False},
)


def after(**states):
    return acknowledge(
        BEFORE, ITEMS, match(ITEMS, log(*({"sku": sku, "state": state} for sku, state in states.items())))
    )


def test_only_the_fields_that_were_sent_move():
    assert after(A="accepted").equals(shelf({"sku": "A", "price": "2", "quantity": 1}, {"sku": "C", "price": "3"}))


def test_a_new_sku_takes_its_place_in_the_order():
    assert after(B="accepted")["sku"].to_pylist() == ["A", "B", "C"]


def test_a_sku_switched_off_stays_known():
    assert after(C="accepted").to_pylist()[1]["active"] is False


def test_refused_and_unaccounted_move_nothing():
    assert after(A="refused", B="unaccounted").equals(BEFORE)


def test_once_or_twice_is_the_same():
    outcomes = match(ITEMS, log(*({"sku": sku} for sku in "ABC")))
    once = acknowledge(BEFORE, ITEMS, outcomes)
    assert acknowledge(once, ITEMS, outcomes).equals(once)


def test_an_outcome_of_a_sku_that_was_not_sent_moves_nothing():
    stranger = match(delta({"sku": "Z", "price": "9"}), log({"sku": "Z"}))
    assert acknowledge(BEFORE, ITEMS, stranger).equals(BEFORE)


def test_two_outcomes_that_contradict_each_other_move_nothing():
    import pyarrow as pa

    good, bad = (match(ITEMS, log({"sku": "A", "state": state})) for state in ("accepted", "refused"))
    assert acknowledge(BEFORE, ITEMS, pa.concat_tables([good, bad])).equals(BEFORE)


def doubted(**states):
    return in_doubt(BEFORE, ITEMS, match(ITEMS, log(*({"sku": sku, "state": state} for sku, state in states.items()))))


def test_the_fields_that_were_sent_and_not_accounted_for_are_unknown():
    told = doubted(B="accepted", C="refused")
    assert said(told) == {"A": {"quantity": 1}, "C": {"price": BEFORE["price"][1].as_py()}}


def test_a_new_sku_that_is_not_accounted_for_is_known_without_a_value():
    told = doubted(A="accepted", C="accepted")
    assert said(told, "barcode")["B"] == {"barcode": "1"}
    assert told["sku"].to_pylist() == ["A", "B", "C"]


def test_what_is_unknown_is_said_again_also_when_the_erp_has_gone_back():
    wanted = shelf({"sku": "A", "price": "1"}, {"sku": "B", "price": "5"}, {"sku": "C", "price": "3", "active": True})
    assert said(diff(wanted, doubted(), full=False)).keys() == {"A", "B", "C"}


def test_accepted_and_refused_leave_no_doubt():
    assert doubted(A="accepted", B="refused", C="accepted").equals(BEFORE)
