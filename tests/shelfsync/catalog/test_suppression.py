"""Which quantities are suppressed because they change nothing for a customer."""

from __future__ import annotations

import pyarrow as pa
import pytest

from catalog_rows import fields_by_sku, shelf
from shelfsync.catalog.baseline import with_delta_applied
from shelfsync.catalog.delta import compute_delta
from shelfsync.catalog.sales_buffers import KNOWN_BUFFERS, Buffers
from shelfsync.catalog.suppression import suppress_no_ops, with_buffers


def buffers(at="activates", **of):
    rows = [{"sku": sku, "sales_buffer": pieces} for sku, pieces in sorted(of.items())]
    return Buffers(pa.Table.from_pylist(rows, schema=KNOWN_BUFFERS), at)


def row(sku="a", quantity=10, active=True, price="1.00", buffer=2):
    return {"sku": sku, "quantity": quantity, "active": active, "price": price, "sales_buffer": buffer}


def split(now, before, of=None):
    baseline, wanted = shelf(*before), shelf(*now)
    return suppress_no_ops(compute_delta(wanted, baseline, full=False), baseline, wanted, of or buffers(a=2, b=2))


@pytest.mark.parametrize(("before", "now"), [(10, 9), (10, 2), (2, 40), (1, 0), (0, 1)])
def test_a_quantity_on_the_same_side_of_the_buffer_is_suppressed(before, now):
    found = split([row(quantity=now)], [row(quantity=before)])
    assert fields_by_sku(found.delta) == {}
    assert fields_by_sku(found.suppressed) == {"a": {"quantity": now}}


@pytest.mark.parametrize(("before", "now"), [(10, 1), (2, 1), (1, 2), (0, 10)])
def test_a_quantity_that_crosses_the_buffer_is_sent(before, now):
    assert fields_by_sku(split([row(quantity=now)], [row(quantity=before)]).delta)["a"]["quantity"] == now


def test_a_buffer_that_deactivates_at_equality_is_crossed_one_piece_earlier():
    deactivates = buffers("deactivates", a=2)
    assert fields_by_sku(split([row(quantity=2)], [row(quantity=3)], deactivates).delta)["a"]["quantity"] == 2
    assert fields_by_sku(split([row(quantity=1)], [row(quantity=2)], deactivates).delta) == {}


def test_a_price_goes_without_the_quantity_that_changed_beside_it():
    found = split([row(quantity=9, price="2.00")], [row()])
    assert fields_by_sku(found.delta)["a"].keys() == {"price"}
    assert fields_by_sku(found.suppressed) == {"a": {"quantity": 9}}


def test_a_later_crossing_is_compared_with_the_quantity_sent_not_with_the_suppressed_one():
    baseline = shelf(row(quantity=10))
    for wanted in (shelf(row(quantity=3)), shelf(row(quantity=2))):
        found = suppress_no_ops(compute_delta(wanted, baseline, full=False), baseline, wanted, buffers(a=2))
        baseline = with_delta_applied(found.delta, baseline)
        assert found.delta.num_rows == 0
    wanted = shelf(row(quantity=1))
    crossing = suppress_no_ops(compute_delta(wanted, baseline, full=False), baseline, wanted, buffers(a=2)).delta
    assert fields_by_sku(crossing)["a"]["quantity"] == 1
    baseline = with_delta_applied(crossing, baseline)
    wanted = shelf(row(quantity=10))  # it was sent before the crossing, and the baseline no longer has it
    again = suppress_no_ops(compute_delta(wanted, baseline, full=False), baseline, wanted, buffers(a=2)).delta
    assert fields_by_sku(again)["a"]["quantity"] == 10


def test_the_quantity_of_an_inactive_product_is_suppressed_and_sent_when_it_is_switched_on():
    assert fields_by_sku(split([row(quantity=3, active=False)], [row(active=False)]).delta) == {}
    assert fields_by_sku(split([row(quantity=7)], [row(active=False)]).delta)["a"] == {"active": True, "quantity": 7}


def test_a_product_that_was_off_when_its_quantity_crossed_is_on_sale_once_active_comes_without_a_quantity():
    before = shelf(row(quantity=0, active=False))
    crossing = split([row(quantity=7, active=False)], [row(quantity=0, active=False)]).delta
    assert fields_by_sku(crossing)["a"] == {"active": False, "quantity": 7}
    wanted = shelf(row(quantity=None))
    on = compute_delta(wanted, with_delta_applied(crossing, before), full=False)
    assert fields_by_sku(on)["a"] == {"active": True, "quantity": 7}


def test_a_product_that_is_switched_off_is_sent_with_its_quantity():
    assert fields_by_sku(split([row(quantity=9, active=False)], [row()]).delta)["a"] == {"active": False, "quantity": 9}


@pytest.mark.parametrize("unknown", [{"buffer": None}, {"quantity": None}, {"active": None}])
def test_an_unconfirmed_quantity_or_one_sent_against_an_unknown_buffer_is_sent_again(unknown):
    assert fields_by_sku(split([row(quantity=9)], [row(**unknown)]).delta)["a"]["quantity"] == 9


def test_a_quantity_without_a_known_buffer_is_never_suppressed():
    assert fields_by_sku(split([row("c", quantity=9)], [row("c")]).delta)["c"]["quantity"] == 9


def test_a_buffer_that_moved_sends_the_same_quantity_again_where_it_now_does_something_else():
    found = split(
        [row(quantity=10), row("b", quantity=10)], [row(quantity=10), row("b", quantity=10)], buffers(a=12, b=3)
    )
    assert fields_by_sku(found.delta, "sales_buffer") == {"a": {"quantity": 10, "active": True, "sales_buffer": 12}}


def test_a_moved_buffer_sends_nothing_for_an_inactive_or_rejected_product():
    assert fields_by_sku(split([row(active=False)], [row(active=False)], buffers(a=12)).delta) == {}
    same = shelf(row())
    rejected = shelf(row()).select(["sku", "price", "quantity", "active", "max_sales_quantity"])
    assert (
        suppress_no_ops(
            compute_delta(same, same, full=False), same, same, buffers(a=12), rejected=rejected
        ).delta.num_rows
        == 0
    )


def test_the_quantity_sent_before_is_compared_with_the_buffer_of_that_time():
    """Quantity 3 was sent against a buffer of 2: on. The buffer is 5 now, so 4 pieces switch off, although 3 and 4 are both below 5."""
    found = split([row(quantity=4)], [row(quantity=3, buffer=2)], buffers(a=5))
    assert fields_by_sku(found.delta)["a"]["quantity"] == 4


def test_a_single_crossing_is_sent_with_a_suppressed_quantity_as_a_second_item():
    found = split([row(quantity=1), row("b", quantity=9)], [row(), row("b")])
    assert fields_by_sku(found.delta) == {"a": {"quantity": 1}, "b": {"quantity": 9}}
    assert found.suppressed.num_rows == 0
    off = split([row(quantity=1), row("b", quantity=9, active=False)], [row(), row("b", active=False)])
    assert fields_by_sku(off.delta)["b"] == {"quantity": 9, "active": False}


def test_a_new_barcode_is_sent_with_the_quantity():
    before, now = row() | {"barcode": "96385074"}, row(quantity=9) | {"barcode": "4006381333931"}
    assert fields_by_sku(split([now], [before]).delta)["a"]["quantity"] == 9
    assert fields_by_sku(split([row(quantity=9) | {"barcode": "0096385074"}], [before]).delta) == {}


def test_a_full_delta_suppresses_nothing_and_has_the_buffers():
    wanted = shelf(row(quantity=9))
    sent = with_buffers(compute_delta(wanted, shelf(row()), full=True), buffers(a=3))
    assert fields_by_sku(sent, "sales_buffer")["a"] == fields_by_sku(wanted)["a"] | {"sales_buffer": 3}
