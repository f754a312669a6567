"""An extract that leaves nothing on sale."""

from __future__ import annotations

from guard_cases import reasons, split, store


def test_an_extract_that_leaves_nothing_on_sale_is_held_however_small_the_store():
    before = store(range(8))
    assert reasons(split(store(range(8), active=False), before)) == {"empty_feed": 8}
    assert reasons(split(store(range(8), quantity=0), before)) == {"empty_feed": 8}
    assert reasons(split(store(range(4), quantity=0), store(range(4)))) == {}, "four products can be sold out"
