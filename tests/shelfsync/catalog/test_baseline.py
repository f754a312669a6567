from __future__ import annotations

from hypothesis import given

from catalog_rows import FULL_ROW, delta, fields_by_sku, log, shelf
from catalog_strategies import shelves
from shelfsync.catalog.baseline import (
    changed_rows,
    gone_everywhere,
    known,
    with_accepted,
    with_delta_applied,
    with_unconfirmed,
)
from shelfsync.catalog.delta import compute_delta
from shelfsync.catalog.outcome import match
from shelfsync.schemas import BASELINE, FIELDS

BEFORE = shelf({"sku": "A", "price": "1", "quantity": 1}, {"sku": "C", "price": "3"})
ITEMS = delta(
    {"sku": "A", "price": "2"},
    {"sku": "B", "barcode": "1", "price": "5", "change": "new"},
    {"sku": "C", "active": False},
)


def after(**states):
    return with_accepted(
        BEFORE, ITEMS, match(ITEMS, log(*({"sku": sku, "state": state} for sku, state in states.items())))
    )


def test_only_the_fields_that_were_sent_move():
    assert after(A="accepted").equals(shelf({"sku": "A", "price": "2", "quantity": 1}, {"sku": "C", "price": "3"}))


def test_a_new_sku_takes_its_place_in_the_order():
    assert after(B="accepted")["sku"].to_pylist() == ["A", "B", "C"]


def test_a_sku_switched_off_stays_known():
    assert after(C="accepted").to_pylist()[1]["active"] is False


def test_rejected_and_unaccounted_outcomes_move_nothing():
    assert after(A="rejected", B="unaccounted").equals(BEFORE)


def test_once_or_twice_is_the_same():
    outcomes = match(ITEMS, log(*({"sku": sku} for sku in "ABC")))
    once = with_accepted(BEFORE, ITEMS, outcomes)
    assert with_accepted(once, ITEMS, outcomes).equals(once)


def test_an_outcome_of_a_sku_that_was_not_sent_moves_nothing():
    outcomes = match(delta({"sku": "Z", "price": "9"}), log({"sku": "Z"}))
    assert with_accepted(BEFORE, ITEMS, outcomes).equals(BEFORE)


def test_two_outcomes_that_contradict_each_other_move_nothing():
    import pyarrow as pa

    good, bad = (match(ITEMS, log({"sku": "A", "state": state})) for state in ("accepted", "rejected"))
    assert with_accepted(BEFORE, ITEMS, pa.concat_tables([good, bad])).equals(BEFORE)


def test_a_delta_leaves_fields_that_it_does_not_have():
    before = shelf({"sku": "A", "barcode": "1", **FULL_ROW}, {"sku": "B", "price": "2"})
    after = shelf({"sku": "A", "price": "5"}, {"sku": "AA", "price": "1"}, {"sku": "B"})
    held = with_delta_applied(compute_delta(after, before, full=False), before)
    assert held.equals(
        shelf(
            {"sku": "A", "barcode": "1", **FULL_ROW, "price": "5"},
            {"sku": "AA", "price": "1"},
            {"sku": "B", "price": "2"},
        )
    )


def unconfirmed(**states):
    outcomes = match(ITEMS, log(*({"sku": sku, "state": state} for sku, state in states.items())))
    return with_unconfirmed(BEFORE, ITEMS, outcomes)


def test_the_fields_that_were_sent_and_not_accounted_for_are_unknown():
    baseline = unconfirmed(B="accepted", C="rejected")
    assert fields_by_sku(baseline) == {"A": {"quantity": 1}, "C": {"price": BEFORE["price"][1].as_py()}}


def test_a_new_sku_that_is_not_accounted_for_is_known_without_a_value():
    baseline = unconfirmed(A="accepted", C="accepted")
    assert fields_by_sku(baseline, "barcode")["B"] == {"barcode": "1"}
    assert baseline["sku"].to_pylist() == ["A", "B", "C"]


def test_an_unknown_value_is_sent_again_even_if_the_erp_has_reverted():
    wanted = shelf({"sku": "A", "price": "1"}, {"sku": "B", "price": "5"}, {"sku": "C", "price": "3", "active": True})
    assert fields_by_sku(compute_delta(wanted, unconfirmed(), full=False)).keys() == {"A", "B", "C"}


def test_accepted_and_rejected_outcomes_leave_nothing_unconfirmed():
    assert unconfirmed(A="accepted", B="rejected", C="accepted").equals(BEFORE)


def test_changed_rows_are_those_with_another_value_and_new_ones():
    blank = shelf({"sku": "A", "price": "1", "quantity": None}, {"sku": "C", "price": "3"}, {"sku": "D"})
    assert changed_rows(blank, BEFORE)["sku"].to_pylist() == ["A", "D"]
    assert changed_rows(BEFORE, blank)["sku"].to_pylist() == ["A"]
    assert changed_rows(BEFORE, BEFORE).num_rows == 0


def test_a_removal_without_a_result_is_undone_when_the_sku_comes_back():
    before = shelf({"sku": "a", "price": "1", "quantity": 3}, {"sku": "b", "price": "1"})
    items = compute_delta(shelf({"sku": "b", "price": "1"}), before, full=False)
    after = with_unconfirmed(before, items, match(items, log()))
    assert fields_by_sku(compute_delta(before, after, full=False)) == {"a": {"active": True, "quantity": 3}}


@given(now=shelves(), before=shelves())
def test_what_is_known_is_the_baseline_with_its_gaps_filled_and_nothing_else(now, before):
    now, before = now.select(BASELINE.names), before.select(BASELINE.names)
    filled = known(now, before)
    assert filled.schema == BASELINE
    assert filled["sku"] == now["sku"]
    was = {row["sku"]: row for row in before.to_pylist()}
    for row, after in zip(now.to_pylist(), filled.to_pylist(), strict=True):
        for name in FIELDS:
            assert after[name] == (was.get(row["sku"], {}).get(name) if row[name] is None else row[name])
    assert known(filled, before) == filled


def test_a_sales_buffer_comes_with_the_quantity_that_was_sent_against_it():
    before = shelf({"sku": "a", "quantity": 5, "sales_buffer": 3}, {"sku": "b", "quantity": 5, "sales_buffer": 3})
    now = shelf({"sku": "a", "sales_buffer": 9}, {"sku": "b", "quantity": 7, "sales_buffer": 9})
    assert [(row["quantity"], row["sales_buffer"]) for row in known(now, before).to_pylist()] == [(5, 3), (7, 9)]


def test_of_several_the_first_that_knows_a_value_is_asked():
    nothing = shelf({"sku": "a"}, {"sku": "b"})
    acknowledged, sent = (
        shelf({"sku": "a", "price": "1.00"}),
        shelf({"sku": "a", "price": "2.00"}, {"sku": "b", "price": "3.00"}),
    )
    assert [str(row["price"]) for row in known(nothing, acknowledged, sent).to_pylist()] == ["1.000", "3.000"]


def test_a_sku_is_gone_everywhere_if_it_was_switched_off_unknown_and_not_in_the_erp():
    off = {"sku": "LEFT", "active": False, "reason": "product not found"}
    others = [off | {"sku": "ON", "active": True}, off | {"sku": "BUSY", "reason": "try again"}, off | {"sku": "BACK"}]
    assert gone_everywhere([off, *others], {}, lambda: ["BACK"]) == ["LEFT"]
    assert gone_everywhere([off | {"reason": "weg"}], {"unknown_sku": ["weg"]}, list) == ["LEFT"]
