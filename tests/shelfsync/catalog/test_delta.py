from __future__ import annotations

from decimal import Decimal

import pytest

from catalog_rows import FULL_ROW, changes, fields_by_sku, normalised, quarantined, shelf, two
from shelfsync.catalog.baseline import with_delta_applied
from shelfsync.catalog.delta import compute_delta
from shelfsync.schemas import FIELDS


def test_only_what_changed_is_sent():
    assert changes(shelf({"sku": "A", **FULL_ROW, "price": "5"}), shelf({"sku": "A", **FULL_ROW})) == {
        "A": ("changed", {"price": Decimal(5)})
    }


def test_a_price_that_differs_after_the_third_decimal_is_no_change():
    before = normalised({"sku": "A", "price": "4.5551"}).snapshot
    assert changes(normalised({"sku": "A", "price": "4.5559"}).snapshot, before) == {}


def test_a_new_sku_is_sent_with_all_its_values():
    assert changes(shelf({"sku": "A", "price": "1", "quantity": 2}), shelf()) == {
        "A": ("new", {"price": Decimal(1), "quantity": 2})
    }


def test_a_new_sku_without_a_value_is_not_sent():
    assert changes(shelf({"sku": "A"}), shelf()) == {}
    assert changes(shelf({"sku": "A"}), shelf(), full=True) == {}


def test_null_is_no_change():
    assert changes(shelf({"sku": "A"}), shelf({"sku": "A", **FULL_ROW})) == {}


def test_a_sku_that_left_the_extract_is_switched_off():
    assert changes(shelf(), shelf({"sku": "A", **FULL_ROW}, {"sku": "B"})) == {
        "A": ("removed", {"active": False}),
        "B": ("removed", {"active": False}),
    }


def test_a_sku_that_left_and_is_off_already_is_repeated_by_a_full_sync_alone():
    gone = shelf({"sku": "A", "active": False})
    assert changes(shelf(), gone) == {}
    assert changes(shelf(), gone, full=True) == {"A": ("same", {"active": False})}


def test_a_sku_that_comes_back_is_switched_on_with_its_quantity():
    assert changes(two({"sku": "A", **FULL_ROW}), two({"sku": "A", **FULL_ROW, "active": False})) == {
        "A": ("changed", {"active": True, "quantity": 3})
    }


def test_a_sku_that_comes_back_without_active_is_switched_on_if_leaving_had_switched_it_off():
    before = two({"sku": "A", "price": "4.5", "quantity": 3})
    gone = with_delta_applied(compute_delta(two(), before, full=False), before)
    after = two({"sku": "A", "price": "4.5", "quantity": 3})
    for full in (False, True):
        repeated = with_delta_applied(compute_delta(two(), gone, full=full), gone)  # a full sync switches it off again
        back = compute_delta(after, repeated, full=False)
        assert fields_by_sku(back) == {"A": {"active": True, "quantity": 3}}
        assert back["change"].to_pylist() == ["changed"]
        assert compute_delta(after, with_delta_applied(back, repeated), full=False).num_rows == 0


def test_a_sku_that_the_erp_had_switched_off_stays_off_without_active():
    off = two({"sku": "A", **FULL_ROW, "active": False})
    left = with_delta_applied(compute_delta(two(), off, full=True), off)
    assert changes(two({"sku": "A", "price": "4.5", "quantity": 3}), left) == {}
    on = two({"sku": "A", **FULL_ROW})
    gone = with_delta_applied(compute_delta(two(), on, full=False), on)
    stated = with_delta_applied(compute_delta(off, gone, full=True), gone)  # it comes back, and the ERP has it as off
    assert changes(two({"sku": "A", "price": "4.5", "quantity": 3}), stated) == {}


def test_a_sku_that_comes_back_is_not_sent_with_the_values_that_were_rejected_then():
    before = two({"sku": "A", "price": "4.5", "quantity": 3})
    gone = with_delta_applied(compute_delta(two(), before, full=False), before)
    rejected = shelf({"sku": "A", "price": "4.5", "quantity": 3}).select(["sku", *FIELDS])
    assert changes(two({"sku": "A", "price": "4.5", "quantity": 3}), gone, rejected=rejected) == {}
    assert "A" in changes(two({"sku": "A", "price": "5", "quantity": 3}), gone, rejected=rejected)


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


def test_rejected_values_are_not_sent_again_until_the_erp_has_others():
    before = shelf({"sku": "A", **FULL_ROW})
    rejected = shelf({"sku": "A", **FULL_ROW, "price": "5"}).select(["sku", *FIELDS])
    assert changes(shelf({"sku": "A", **FULL_ROW, "price": "5"}), before, rejected=rejected) == {}
    assert changes(shelf({"sku": "A", **FULL_ROW, "price": "6"}), before, rejected=rejected)["A"][1] == {
        "price": Decimal(6)
    }


def test_a_rejection_may_hold_only_the_fields_that_were_sent():
    before = shelf({"sku": "A", **FULL_ROW})
    rejected = shelf({"sku": "A", "price": "5"}).select(["sku", *FIELDS])
    assert changes(shelf({"sku": "A", **FULL_ROW, "price": "5"}), before, rejected=rejected) == {}
    assert "A" in changes(shelf({"sku": "A", **FULL_ROW, "price": "5", "quantity": 4}), before, rejected=rejected)


def test_a_change_that_was_rejected_beside_another_is_sent_once_the_erp_reverts_the_other():
    before = shelf({"sku": "A", **FULL_ROW})
    rejected = shelf({"sku": "A", **FULL_ROW, "price": "5", "quantity": 1}).select(["sku", *FIELDS])
    after = shelf({"sku": "A", **FULL_ROW, "quantity": 1})
    assert changes(after, before, rejected=rejected)["A"][1]["quantity"] == 1


def test_a_co_sent_field_does_not_make_rejected_values_look_new():
    before = two({"sku": "A", "quantity": 7, "active": False})
    rejected = shelf({"sku": "A", "active": True}).select(["sku", *FIELDS])
    assert changes(two({"sku": "A", "active": True}), before, rejected=rejected) == {}


def test_a_rejected_deactivation_is_not_repeated():
    rejected = shelf({"sku": "A", "active": False}).select(["sku", *FIELDS])
    assert changes(shelf(), shelf({"sku": "A", **FULL_ROW}), rejected=rejected) == {}


def test_by_barcode_a_rejection_ends_when_the_barcode_is_corrected():
    before, after = shelf(), shelf({"sku": "A", "barcode": "2", "price": "5"})
    rejected = shelf({"sku": "A", "barcode": "1", "price": "5"})
    assert changes(after, before, rejected=rejected, key="sku") == {}
    assert "A" in changes(after, before, rejected=rejected, key="barcode")


def test_by_barcode_a_sku_with_a_new_barcode_is_sent_whole():
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


@pytest.mark.parametrize("rows", [["B", "A"], ["A", "A"]])
def test_a_table_out_of_order_raises_instead_of_being_compared(rows):
    ordered, broken = (
        shelf({"sku": "A"}),
        shelf(*({"sku": sku} for sku in sorted(rows))).take([0, 1] if rows[0] == rows[1] else [1, 0]),
    )
    with pytest.raises(ValueError, match="snapshot is not sorted"):
        compute_delta(broken, ordered, full=False)
    with pytest.raises(ValueError, match="baseline is not sorted"):
        compute_delta(ordered, broken, full=False)


def test_skus_are_in_byte_order_not_in_that_of_utf_16():
    skus = ["\uffee", "😀"]  # in UTF-16 the other way round
    rows = [{"sku": sku, "price": "1"} for sku in reversed(skus)]
    assert compute_delta(normalised(*rows).snapshot, shelf(), full=False)["sku"].to_pylist() == skus
