"""A total in place of a store is no store; one that the ledger or the settings know stays one."""

from __future__ import annotations

import pyarrow as pa
import pytest

from shelfsync.catalog.steps.total_rows import of_no_store
from shelfsync.schemas import RAW

PRODUCTS = [("s1", "100", "4", 1), ("s1", "101", "6", 2), ("s2", "100", "5", 4)]


@pytest.fixture
def found(world):
    """`found(rows, stores)`: the names that are no store, and their marked rows; a row is (vendor, sku, quantity, number)."""

    def look(rows, stores=()):
        files = {}
        for vendor in {row[0] for row in rows}:
            table = pa.Table.from_pylist(
                [
                    dict.fromkeys(RAW.names)
                    | {"vendor": vendor, "sku": sku, "quantity": quantity, "row_number": number}
                    for name, sku, quantity, number in rows
                    if name == vendor
                ],
                schema=RAW,
            )
            files[vendor] = (world.app.context.lake.write_table("raw", vendor, table), table.num_rows)
        names, marked = of_no_store(world.app.context, files, lambda: stores)
        return names, marked["sku"].to_pylist()

    return look


def test_a_subtotal_and_a_total_are_no_stores(found):
    names, marked = found([*PRODUCTS, ("Zwischensumme", "2", "10", 3), ("Summe", "3", "15", 5)])
    assert names == ["Summe", "Zwischensumme"]
    assert [text.split(": ", 1)[1] for text in marked] == [
        "row 3: a total among the rows: Zwischensumme; 2; 10",
        "row 5: a total among the rows: Summe; 3; 15",
    ]


@pytest.mark.parametrize(
    ("row", "stores"),
    [(("Total", "100", "15", 5), ("Total",)), (("Total", "100", "7", 5), ()), (("Sumburgh", "3", "15", 5), ())],
)
def test_a_store_that_is_known_or_has_figures_of_its_own_is_one(found, row, stores):
    assert found([*PRODUCTS, row], stores) == ([], [])


def test_a_store_with_one_row_that_is_no_total_is_one(found):
    assert found([*PRODUCTS, ("Total", "3", "15", 5), ("Total", "102", "9", 6)]) == ([], [])
