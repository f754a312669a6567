"""The groups of states hold every column of the counts once, so they add up to all rows; a part of a store goes on behind its row."""

from __future__ import annotations

import pytest

from shelfsync.catalog.sku_state import COLUMNS
from shelfsync.catalog.steps.products import GROUPS, Behind, Which, every_part, part
from shelfsync.errors import DataError


def test_each_column_of_the_counts_is_in_one_group():
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(COLUMNS)


def test_a_part_goes_on_behind_a_row_also_of_rows_without_a_sku(world):
    """Quarantined rows may have one SKU or none; each stands once."""
    for sku in ("a", "b"):
        world.erp.put("store-001", sku, "1.00")
    for price in ("x", "y"):
        world.erp.execute("INSERT INTO stock VALUES (?, ?, NULL, ?, 1, 1, NULL)", "store-001", "bad", price)
    for _ in range(2):
        world.erp.execute("INSERT INTO stock VALUES (?, NULL, NULL, '1.00', 1, 1, NULL)", "store-001")
    world.sync("full")
    context = world.app.context
    whole = [row for rows in every_part(context, Which(), most=100) for row in rows]
    for most in (1, 2, 3):
        found, behind = [], None
        while True:
            now = part(context, Which(), behind=behind, most=most)
            found += [{name: value for name, value in row.items() if name != "name"} for row in now.rows]
            if now.behind is None:
                break
            behind = now.behind
        assert found == whole
    first = part(context, Which(vendor="store-001"), most=1)
    assert (sum(first.numbers.values()), first.gone) == (len(whole), [])
    assert first.numbers["quarantined"] == 4
    assert part(context, Which(vendor="store-001"), behind=Behind("store-001", "zzz", 0), most=9).rows == []
    with pytest.raises(DataError, match="'fine' is no state"):
        part(context, Which("fine"), most=1)
