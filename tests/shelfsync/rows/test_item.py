from __future__ import annotations

import json

import pyarrow as pa

from shelfsync.rows import item

EVERY_CONTROL = "".join(map(chr, range(0x20)))


def test_a_string_is_what_the_standard_library_writes():
    texts = ["plain", 'q"', "\\", '\\"', EVERY_CONTROL, "\x7f\x85\u2028é😀", "", None]
    expected = [None if text is None else json.dumps(text, ensure_ascii=False) for text in texts]
    assert item.quoted(pa.array(texts)).to_pylist() == expected


def test_a_part_of_a_column_is_looked_at_by_itself():
    texts = pa.array(["a", 'b"', "c", 'd"'])
    assert item.escaped(texts.slice(2, 1)).to_pylist() == ["c"]
    assert item.escaped(texts.slice(3)).to_pylist() == ['d\\"']
    assert item.escaped(texts.slice(1, 0)).to_pylist() == []


def test_an_object_keeps_order_repeats_and_nulls():
    columns = [pa.array(["x", None]), pa.array([1, None]), pa.array(["y", '"'])]
    texts = item.objects(['a"', "n", "a"], columns).to_pylist()
    assert texts == ['{"a\\"":"x","n":1,"a":"y"}', '{"a\\"":null,"n":null,"a":"\\""}']
