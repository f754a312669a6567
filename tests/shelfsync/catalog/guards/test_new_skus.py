"""Many unknown SKUs."""

from __future__ import annotations

from guard_cases import BEFORE, reasons, split, store
from shelfsync.catalog.guards.case import History


def test_many_new_products_are_held_and_the_first_sync_is_not():
    assert reasons(split(store(range(1300)), BEFORE)) == {"new_skus": 300}
    assert reasons(split(store(range(1250)), BEFORE)) == {}
    assert reasons(split(BEFORE, {})) == {}
    assert reasons(split(BEFORE, store(range(3)), history=History(first=True))) == {}, (
        "single SKUs were tried before it"
    )
