"""Packed bytes are expanded piece by piece, and a missing end shows."""

from __future__ import annotations

import gzip

from hypothesis import given
from hypothesis import strategies as st

from partner_api.expansion import Expander


@given(st.lists(st.binary(max_size=200), max_size=5), st.integers(1, 97))
def test_the_expander_returns_the_packed_bytes_however_they_are_cut(parts, size):
    packed = b"".join(gzip.compress(part) for part in parts)
    expander = Expander()
    out = b"".join(piece for at in range(0, len(packed), size) for piece in expander.feed(packed[at : at + size]))
    assert out == b"".join(parts)
    assert expander.complete


@given(st.binary(min_size=1, max_size=300), st.integers(1, 10_000))
def test_the_expander_detects_a_missing_end(content, cut):
    packed = gzip.compress(content)
    expander = Expander()
    for _ in expander.feed(packed[: max(1, len(packed) - 1 - cut % len(packed))]):
        pass
    assert not expander.complete


def part(seen, send):
    send(b"HTTP/1.1 206 Partial\r\nContent-Length: 3\r\n\r\nsku")
