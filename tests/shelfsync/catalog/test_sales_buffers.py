"""Which sales buffer a SKU has."""

from __future__ import annotations

import pyarrow as pa

from shelfsync.catalog.sales_buffers import Rule, known_buffers
from shelfsync.schemas import SNAPSHOT


def snapshot(*rows):
    return pa.Table.from_pylist(list(rows), schema=SNAPSHOT)


def test_the_most_specific_buffer_rule_wins():
    rules = [
        Rule(1),
        Rule(2, vendor="store-001"),
        Rule(3, category="dairy"),
        Rule(4, category="dairy", vendor="store-001"),
        Rule(5, sku="c"),
        Rule(6, sku="c", vendor="store-002"),
        Rule(7, sku="d", category="dairy"),
    ]
    rows = snapshot(
        {"sku": "a"},
        {"sku": "b", "category": "dairy"},
        {"sku": "c", "category": "dairy"},
        {"sku": "d", "category": "dairy"},
        {"sku": "e", "category": "dairy", "sales_buffer": 9},
    )
    assert known_buffers(rows, "store-001", rules)["sales_buffer"].to_pylist() == [2, 4, 5, 7, 9]
    assert known_buffers(rows, "store-002", rules)["sales_buffer"].to_pylist() == [1, 3, 6, 7, 9]
    assert known_buffers(rows, "store-003", [])["sales_buffer"].to_pylist() == [None, None, None, None, 9]


def test_of_two_equal_rules_the_later_holds():
    assert known_buffers(snapshot({"sku": "a"}), "v", [Rule(1, sku="a"), Rule(2, sku="a")])[
        "sales_buffer"
    ].to_pylist() == [2]
