"""When a product counts as sold out."""

from __future__ import annotations

import pyarrow as pa
import pytest

from shelfsync.catalog.sold_out import sold_out


@pytest.mark.parametrize(
    ("quantity", "buffer", "activates", "deactivates"),
    [
        (0, None, True, True),
        (-1, None, True, True),
        (1, None, False, False),
        (0, 0, True, True),
        (2, 3, True, True),
        (3, 3, False, True),
        (4, 3, False, False),
        (None, None, False, False),
        (None, 3, False, False),
    ],
)
def test_it_is_without_stock_or_with_too_little_for_its_buffer(quantity, buffer, activates, deactivates):
    values = pa.array([quantity], pa.int64()), pa.array([buffer], pa.int64())
    assert sold_out(*values, "activates").to_pylist() == [activates]
    assert sold_out(*values, "deactivates").to_pylist() == [deactivates]
