"""The hot path against the same written from the rules alone, a dictionary a row: byte for byte, for any two shelves and any limit."""

from __future__ import annotations

import json
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from benchmarks import slow
from catalog_strategies import shelves
from shelfsync.catalog.baseline import with_delta_applied
from shelfsync.catalog.bodies import cut, stream
from shelfsync.catalog.delta import compute_delta

SHELVES = shelves()
NAMES = {"key": "sku", "sales_limit_name": "maximum_sales_quantity"}


@given(SHELVES, SHELVES, st.booleans(), st.integers(200, 2000))
def test_the_bodies_are_byte_for_byte_those_of_the_slow_path(snapshot, baseline, full, limit):
    delta = compute_delta(snapshot, baseline, full=full)
    fast = [bytes(batch.body) for batch in cut(delta, body_max_bytes=limit, **NAMES)]
    assert fast == slow.bodies(slow.changes(snapshot, baseline, full=full), limit)


@given(SHELVES, SHELVES, st.integers(200, 2000))
def test_the_stream_contains_the_delta_and_nothing_else(snapshot, baseline, limit):
    delta = compute_delta(snapshot, baseline, full=False)
    items = [
        item
        for batch in cut(delta, body_max_bytes=limit, **NAMES)
        for item in json.loads(bytes(stream(batch.items, **NAMES)), parse_float=Decimal)["products"]
    ]
    assert items == slow.items(slow.changes(snapshot, baseline))
    assert slow.changes(snapshot, with_delta_applied(delta, baseline)) == {}
