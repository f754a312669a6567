from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from shelfsync.catalog.changed_rows import of_last_file
from shelfsync.schemas import CHANGED

files = st.lists(st.lists(st.sampled_from(["a", "a ", "b", None]), max_size=4), max_size=4)


@given(files=files, numbers=st.data())
def test_of_each_sku_the_rows_of_the_last_file_remain_whatever_their_numbers(files, numbers):
    rows = [
        {"row_number": numbers.draw(st.integers(1, 9)), "vendor": "v", "sku": sku, "stamp": str(number)}
        for number, skus in enumerate(files)
        for sku in skus
    ]
    last = {(row["sku"] or "").strip(): row["stamp"] for row in rows}
    table = pa.Table.from_pylist(rows, schema=CHANGED)
    expected = [row for row in table.to_pylist() if row["stamp"] == last[(row["sku"] or "").strip()]]
    assert of_last_file(table).to_pylist() == expected
