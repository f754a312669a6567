from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from shelfsync.vendors.shards import shards


@given(count=st.integers(1, 500), size=st.integers(1, 20), most=st.integers(1, 40))
def test_shards_hold_every_vendor_once_and_are_never_more_than_allowed(count, size, most):
    names = [f"v{number:03}" for number in range(count)]
    cut = shards(names, 1, size, most)
    assert [vendor for shard in cut for vendor in shard["vendors"]] == names
    assert len(cut) <= most
    assert [shard["shard"] for shard in cut] == list(range(len(cut)))
