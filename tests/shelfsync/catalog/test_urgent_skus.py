"""Which of the released rows an urgent run sends."""

from __future__ import annotations

from catalog_rows import FULL_ROW, shelf
from shelfsync.catalog.delta import compute_delta
from shelfsync.catalog.urgent_skus import only_urgent

BEFORE = shelf({"sku": "A", **FULL_ROW}, {"sku": "B", **FULL_ROW})
NOW = shelf({"sku": "A", **FULL_ROW, "quantity": 0}, {"sku": "B", **FULL_ROW, "quantity": 0})


def released():
    return compute_delta(NOW, BEFORE, full=False)


def test_a_run_that_names_no_sku_sends_all_that_is_released():
    assert only_urgent(released(), BEFORE, ()) == released()


def test_only_the_named_skus_are_sent_and_a_single_one_with_its_active():
    assert released()["active"].null_count == 2
    sent = only_urgent(released(), BEFORE, ("B", "unknown"))
    assert sent["sku"].to_pylist() == ["B"]
    assert sent["active"].to_pylist() == [True]
