"""Columns of truth values for numpy."""

from __future__ import annotations

import pyarrow as pa

from shelfsync.rows.mask import mask


def test_what_is_unknown_is_false():
    assert mask(pa.array([True, None, False])).tolist() == [True, False, False]
    assert mask(pa.chunked_array([[True], [None]])).tolist() == [True, False]
    assert mask(pa.array([], pa.bool_())).dtype == bool
