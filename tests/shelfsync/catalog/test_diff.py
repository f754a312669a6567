from __future__ import annotations

from decimal import Decimal

import pytest

from catalog_rows import normalised, quarantined, said, shelf
from shelfsync.catalog.diff import apply, diff
from shelfsync.columns import FIELDS

FULL_ROW = {"price": "4.5", "quantity": 3, "active": True, "max_sales_quantity": 10}


def changes(snapshot, baseline, **options):
    """sku -> (kind of change, the fields sent)."""
    table = diff(snapshot, baseline, **{"full": False, **options})
    fields = said(table)
    return {row["sku"]: (row["change"], fields[row["sku"]]) for row in table.to_pylist()}


def two(*rows):
    """A shelf with one more SKU, that no delta has only one row because there is only one."""
    return shelf({"sku": "zz", "price": "1"}, *rows)


def test_only_what_changed_is_sent():
    assert changes(shelf({"sku": "A", **FULL_ROW, "price": "5"}), shelf({"sku": "A", **FULL_ROW})) == {
        "A": ("changed", {"price": Decimal(5)})
    }


def test_a_price_that_differs_after_the_third_decimal_is_no_change():
    before = normalised({"sku": "A", "price": "4.5551"}).snapshot
    assert changes(normalised({"sku": "A", "price": "4.5559"}).snapshot, before) == {}


def test_a_new_sku_says_all_it_has():
    assert changes(shelf({"sku": "A", "price": "1", "quantity": 2}), shelf()) == {
        "A": ("new", {"price": Decimal(1), "quantity": 2})
    }


def test_a_new_sku_of_which_nothing_is_said_is_not_sent():
    assert changes(shelf({"sku": "A"}), shelf()) == {}
    assert changes(shelf({"sku": "A"}), shelf(), full=True) == {}


def test_null_is_silence_not_a_change():
    assert changes(shelf({"sku": "A"}), shelf({"sku": "A", **FULL_ROW})) == {}


def test_a_sku_that_left_the_extract_is_switched_off():
    assert changes(shelf(), shelf({"sku": "A", **FULL_ROW}, {"sku": "B"})) == {
        "A": ("removed", {"active": False}),
        "B": ("removed", {"active": False}),
    }


def test_a_sku_that_left_and_is_off_already_is_left_alone():
    gone = shelf({"sku": "A", "active": False})
    assert changes(shelf(), gone) == {}
    assert changes(shelf(), gone, full=True) == {}


def test_a_sku_that_comes_back_is_switched_on_with_its_quantity():
    assert changes(two({"sku": "A", **FULL_ROW}), two({"sku": "A", **FULL_ROW, "active": False})) == {
        "A": ("changed", {"active": True, "quantity": 3})
    }


def test_on_takes_along_the_last_known_quantity_where_the_erp_says_none():
    before = two({"sku": "A", "quantity": 7, "active": False})
    assert changes(two({"sku": "A", "active": True}), before)["A"][1] == {"active": True, "quantity": 7}


def test_a_quantity_never_switches_on_what_is_meant_to_be_off():
    before = two({"sku": "A", "quantity": 0, "active": False})
    assert changes(two({"sku": "A", "quantity": 9, "active": False}), before)["A"][1] == {
        "quantity": 9,
        "active": False,
    }
    assert changes(two({"sku": "A", "quantity": 9}), before)["A"][1] == {"quantity": 9, "active": False}


def test_a_quantity_of_what_is_on_goes_alone_among_others():
    before = shelf({"sku": "A", **FULL_ROW}, {"sku": "B", **FULL_ROW})
    after = shelf({"sku": "A", **FULL_ROW, "quantity": 1}, {"sku": "B", **FULL_ROW, "quantity": 1})
    assert changes(after, before) == {"A": ("changed", {"quantity": 1}), "B": ("changed", {"quantity": 1})}


def test_a_quantity_that_is_all_there_is_to_say_takes_active_along():
    assert changes(shelf({"sku": "A", **FULL_ROW, "quantity": 0}), shelf({"sku": "A", **FULL_ROW})) == {
        "A": ("changed", {"quantity": 0, "active": True})
    }


def test_a_full_delta_repeats_what_is_the_same():
    before = shelf({"sku": "A", **FULL_ROW}, {"sku": "B", **FULL_ROW}, {"sku": "C", "active": True})
    after = shelf({"sku": "A", **FULL_ROW}, {"sku": "B", "price": "5"})
    everything = {**FULL_ROW, "price": Decimal("4.5")}
    assert changes(after, before, full=True) == {
        "A": ("same", everything),
        "B": ("changed", {"price": Decimal(5)}),
        "C": ("removed", {"active": False}),
    }


def test_a_sku_in_quarantine_has_not_left():
    before = shelf({"sku": "A", "active": True}, {"sku": "B", "active": True})
    assert changes(shelf(), before, quarantined=quarantined("A")) == {"B": ("removed", {"active": False})}


def test_what_was_refused_waits_until_the_erp_wants_something_else():
    before = shelf({"sku": "A", **FULL_ROW})
    refused = shelf({"sku": "A", **FULL_ROW, "price": "5"}).select(["sku", *FIELDS])
    assert changes(shelf({"sku": "A", **FULL_ROW, "price": "5"}), before, refused=refused) == {}
    assert changes(shelf({"sku": "A", **FULL_ROW, "price": "6"}), before, refused=refused)["A"][1] == {
        "price": Decimal(6)
    }


def test_what_was_refused_may_be_remembered_as_it_was_sent():
    before = shelf({"sku": "A", **FULL_ROW})
    refused = shelf({"sku": "A", "price": "5"}).select(["sku", *FIELDS])
    assert changes(shelf({"sku": "A", **FULL_ROW, "price": "5"}), before, refused=refused) == {}
    assert "A" in changes(shelf({"sku": "A", **FULL_ROW, "price": "5", "quantity": 4}), before, refused=refused)


def test_a_change_that_was_refused_beside_another_is_sent_once_that_one_is_taken_back():
    before = shelf({"sku": "A", **FULL_ROW})
    refused = shelf({"sku": "A", **FULL_ROW, "price": "5", "quantity": 1}).select(["sku", *FIELDS])
    after = shelf({"sku": "A", **FULL_ROW, "quantity": 1})
    assert changes(after, before, refused=refused)["A"][1]["quantity"] == 1


def test_a_companion_does_not_make_a_refusal_look_new():
    before = two({"sku": "A", "quantity": 7, "active": False})
    refused = shelf({"sku": "A", "active": True}).select(["sku", *FIELDS])
    assert changes(two({"sku": "A", "active": True}), before, refused=refused) == {}


def test_a_switching_off_that_was_refused_is_not_repeated():
    refused = shelf({"sku": "A", "active": False}).select(["sku", *FIELDS])
    assert changes(shelf(), shelf({"sku": "A", **FULL_ROW}), refused=refused) == {}


def test_by_barcode_a_refusal_ends_when_the_barcode_is_corrected():
    before, after = shelf(), shelf({"sku": "A", "barcode": "2", "price": "5"})
    refused = shelf({"sku": "A", "barcode": "1", "price": "5"})
    assert changes(after, before, refused=refused, key="sku") == {}
    assert "A" in changes(after, before, refused=refused, key="barcode")


def test_by_barcode_a_new_barcode_makes_everything_be_said_again():
    before, after = two({"sku": "A", "barcode": "1", **FULL_ROW}), two({"sku": "A", "barcode": "2", **FULL_ROW})
    assert changes(after, before, key="sku") == {}
    assert changes(after, before, key="barcode") == {"A": ("changed", {**FULL_ROW, "price": Decimal("4.5")})}


def test_by_barcode_padding_is_no_new_barcode():
    before, after = (
        shelf({"sku": "A", "barcode": "96385074", **FULL_ROW}),
        shelf({"sku": "A", "barcode": "00000096385074", **FULL_ROW}),
    )
    assert changes(after, before, key="barcode") == {}


def test_by_barcode_a_product_that_changed_its_sku_is_not_switched_off():
    before, after = (
        shelf({"sku": "A", "barcode": "1", "active": True}),
        shelf({"sku": "B", "barcode": "01", "active": True}),
    )
    assert set(changes(after, before, key="sku")) == {"A", "B"}
    assert set(changes(after, before, key="barcode")) == {"B"}


def test_by_barcode_what_has_none_cannot_be_switched_off():
    assert changes(shelf(), shelf({"sku": "A", "active": True}), key="barcode") == {}


def test_apply_keeps_what_is_not_talked_about():
    before = shelf({"sku": "A", "barcode": "1", **FULL_ROW}, {"sku": "B", "price": "2"})
    after = shelf({"sku": "A", "price": "5"}, {"sku": "AA", "price": "1"}, {"sku": "B"})
    held = apply(diff(after, before, full=False), before)
    assert held.equals(
        shelf(
            {"sku": "A", "barcode": "1", **FULL_ROW, "price": "5"},
            {"sku": "AA", "price": "1"},
            {"sku": "B", "price": "2"},
        )
    )


@pytest.mark.parametrize("rows", [["B", "A"], ["A", "A"]])
def test_a_table_out_of_order_is_refused_not_compared(rows):
    ordered, broken = (
        shelf({"sku": "A"}),
        shelf(*({"sku": sku} for sku in sorted(rows))).take([0, 1] if rows[0] == rows[1] else [1, 0]),
    )
    with pytest.raises(ValueError, match="snapshot is not sorted"):
        diff(broken, ordered, full=False)
    with pytest.raises(ValueError, match="baseline is not sorted"):
        diff(ordered, broken, full=False)


def test_skus_are_in_byte_order_not_in_that_of_utf_16():
    skus = ["\uffee", "😀"]  # in UTF-16 the other way round
    rows = [{"sku": sku, "price": "1"} for sku in reversed(skus)]
    assert diff(normalised(*rows).snapshot, shelf(), full=False)["sku"].to_pylist() == skus
