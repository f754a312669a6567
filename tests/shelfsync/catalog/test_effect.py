"""Which quantities are worth a request."""

from __future__ import annotations

import pyarrow as pa
import pytest

from catalog_rows import said, shelf
from shelfsync.catalog.buffer import KNOWN, Rule, known
from shelfsync.catalog.diff import apply, diff
from shelfsync.catalog.effect import INTERVAL, Buffers, spare, stamped
from shelfsync.columns import SNAPSHOT


def buffers(at="activates", learned=(), **of):
    rows = [{"sku": sku, "sales_buffer": pieces} for sku, pieces in sorted(of.items())]
    seen = pa.Table.from_pylist([dict(zip(INTERVAL.names, row, strict=True)) for row in learned], schema=INTERVAL)
    return Buffers(pa.Table.from_pylist(rows, schema=KNOWN), seen, at)


def row(sku="a", quantity=10, active=True, price="1.00", buffer=2):
    return {"sku": sku, "quantity": quantity, "active": active, "price": price, "sales_buffer": buffer}


def split(now, before, of=None):
    told, wanted = shelf(*before), shelf(*now)
    return spare(diff(wanted, told, full=False), told, wanted, of or buffers(a=2, b=2))


@pytest.mark.parametrize(("before", "now"), [(10, 9), (10, 2), (2, 40), (1, 0), (0, 1)])
def test_a_quantity_on_the_same_side_of_the_buffer_is_spared(before, now):
    found = split([row(quantity=now)], [row(quantity=before)])
    assert said(found.delta) == {}
    assert said(found.spared) == {"a": {"quantity": now}}


@pytest.mark.parametrize(("before", "now"), [(10, 1), (2, 1), (1, 2), (0, 10)])
def test_a_quantity_that_crosses_the_buffer_is_sent(before, now):
    assert said(split([row(quantity=now)], [row(quantity=before)]).delta)["a"]["quantity"] == now


def test_a_buffer_that_deactivates_at_equality_is_crossed_one_piece_earlier():
    deactivates = buffers("deactivates", a=2)
    assert said(split([row(quantity=2)], [row(quantity=3)], deactivates).delta)["a"]["quantity"] == 2
    assert said(split([row(quantity=1)], [row(quantity=2)], deactivates).delta) == {}


def test_a_price_goes_without_the_quantity_that_changed_beside_it():
    found = split([row(quantity=9, price="2.00")], [row()])
    assert said(found.delta)["a"].keys() == {"price"}
    assert said(found.spared) == {"a": {"quantity": 9}}


def test_a_later_crossing_is_compared_with_what_the_platform_was_told_not_with_what_was_spared():
    told = shelf(row(quantity=10))
    for wanted in (shelf(row(quantity=3)), shelf(row(quantity=2))):
        found = spare(diff(wanted, told, full=False), told, wanted, buffers(a=2))
        told = apply(found.delta, told)
        assert found.delta.num_rows == 0
    wanted = shelf(row(quantity=1))
    crossing = spare(diff(wanted, told, full=False), told, wanted, buffers(a=2)).delta
    assert said(crossing)["a"]["quantity"] == 1
    told = apply(crossing, told)
    wanted = shelf(row(quantity=10))  # what was told before the crossing: it must not be taken for known
    assert said(spare(diff(wanted, told, full=False), told, wanted, buffers(a=2)).delta)["a"]["quantity"] == 10


def test_a_product_that_is_off_spares_its_quantity_and_takes_it_along_when_it_is_switched_on():
    assert said(split([row(quantity=0, active=False)], [row(active=False)]).delta) == {}
    assert said(split([row(quantity=7)], [row(active=False)]).delta)["a"] == {"active": True, "quantity": 7}


def test_a_product_that_is_switched_off_says_its_quantity_too():
    assert said(split([row(quantity=9, active=False)], [row()]).delta)["a"] == {"active": False, "quantity": 9}


@pytest.mark.parametrize("unknown", [{"buffer": None}, {"quantity": None}, {"active": None}])
def test_what_was_told_in_doubt_or_against_an_unknown_buffer_is_said_again(unknown):
    assert said(split([row(quantity=9)], [row(**unknown)]).delta)["a"]["quantity"] == 9


def test_a_sku_without_a_known_buffer_spares_nothing():
    assert said(split([row("c", quantity=9)], [row("c")]).delta)["c"]["quantity"] == 9


def test_a_buffer_that_moved_sends_the_same_quantity_again_where_it_now_does_something_else():
    found = split(
        [row(quantity=10), row("b", quantity=10)], [row(quantity=10), row("b", quantity=10)], buffers(a=12, b=3)
    )
    assert said(found.delta, "sales_buffer") == {"a": {"quantity": 10, "active": True, "sales_buffer": 12}}


def test_a_moved_buffer_says_nothing_of_a_product_that_is_off_or_refused():
    assert said(split([row(active=False)], [row(active=False)], buffers(a=12)).delta) == {}
    told = shelf(row())
    refused = shelf(row()).select(["sku", "price", "quantity", "active", "max_sales_quantity"])
    assert spare(diff(told, told, full=False), told, told, buffers(a=12), refused=refused).delta.num_rows == 0


def test_a_quantity_is_compared_by_the_buffer_of_the_time_when_it_was_told():
    """Told 3 against a buffer of 2: on. The buffer is 5 now, so 4 pieces switch off, although 3 and 4 lie on one side of 5."""
    found = split([row(quantity=4)], [row(quantity=3, buffer=2)], buffers(a=5))
    assert said(found.delta)["a"]["quantity"] == 4


def test_a_single_crossing_takes_a_spared_one_along_because_alone_it_may_switch_nothing_off():
    found = split([row(quantity=1), row("b", quantity=9)], [row(), row("b")])
    assert said(found.delta) == {"a": {"quantity": 1}, "b": {"quantity": 9}}
    assert found.spared.num_rows == 0
    off = split([row(quantity=1), row("b", quantity=9, active=False)], [row(), row("b", active=False)])
    assert said(off.delta)["b"] == {"quantity": 9, "active": False}


def test_a_new_barcode_says_the_quantity_too():
    before, now = row() | {"barcode": "96385074"}, row(quantity=9) | {"barcode": "4006381333931"}
    assert said(split([now], [before]).delta)["a"]["quantity"] == 9
    assert said(split([row(quantity=9) | {"barcode": "0096385074"}], [before]).delta) == {}


def test_a_full_delta_spares_nothing_and_notes_the_buffers():
    wanted = shelf(row(quantity=9))
    sent = stamped(diff(wanted, shelf(row()), full=True), buffers(a=3))
    assert said(sent, "sales_buffer")["a"] == said(wanted)["a"] | {"sales_buffer": 3}


def test_learned_intervals_spare_what_lies_on_one_side_for_certain():
    seen = buffers(learned=[("a", 2, 8), ("b", None, 8)])
    told = [row(buffer=None), row("b", buffer=None)]
    assert said(split([row(quantity=8, buffer=None), told[1]], told, seen).delta) == {}
    assert "a" in said(split([row(quantity=5, buffer=None), told[1]], told, seen).delta)
    assert "a" in said(split([row(quantity=2, buffer=None), told[1]], told, seen).delta)
    assert "b" in said(split([told[0], row("b", quantity=0, buffer=None)], told, seen).delta)


def snapshot(*rows):
    return pa.Table.from_pylist(list(rows), schema=SNAPSHOT)


def test_the_more_special_word_about_a_buffer_wins():
    rules = [
        Rule(1),
        Rule(2, vendor="store-001"),
        Rule(3, category="dairy"),
        Rule(4, category="dairy", vendor="store-001"),
        Rule(5, sku="c"),
        Rule(6, sku="c", vendor="store-002"),
        Rule(7, sku="d", category="dairy"),
    ]
    rows = snapshot(
        {"sku": "a"},
        {"sku": "b", "category": "dairy"},
        {"sku": "c", "category": "dairy"},
        {"sku": "d", "category": "dairy"},
        {"sku": "e", "category": "dairy", "sales_buffer": 9},
    )
    assert known(rows, "store-001", rules)["sales_buffer"].to_pylist() == [2, 4, 5, 7, 9]
    assert known(rows, "store-002", rules)["sales_buffer"].to_pylist() == [1, 3, 6, 7, 9]
    assert known(rows, "store-003", [])["sales_buffer"].to_pylist() == [None, None, None, None, 9]


def test_of_two_equal_rules_the_later_holds():
    assert known(snapshot({"sku": "a"}), "v", [Rule(1, sku="a"), Rule(2, sku="a")])["sales_buffer"].to_pylist() == [2]
