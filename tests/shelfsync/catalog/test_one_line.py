"""The names of products are for people: they change nothing that is sent, and are known of products that have left."""

from __future__ import annotations

import pyarrow as pa
import pytest

from catalog_rows import normalised, raw
from shelfsync.catalog.assortment.product_names import laid_over
from shelfsync.catalog.changed_rows import lay_over
from shelfsync.catalog.one_line import NAME_CHARACTERS_MAX
from shelfsync.schemas import BASELINE, CHANGED, DELTA, NAMES, RAW, SNAPSHOT, completed

ROW = {"price": "1.00", "quantity": "3", "active": "1"}


def names(**given: str) -> pa.Table:
    return pa.Table.from_pylist([{"sku": sku, "name": name} for sku, name in given.items()], schema=NAMES)


def test_no_table_that_is_compared_or_sent_has_a_name():
    for schema in (SNAPSHOT, BASELINE, DELTA):
        assert "name" not in schema.names


def test_a_snapshot_is_the_same_with_and_without_names():
    plain = normalised({"sku": "b", **ROW}, {"sku": "a", **ROW})
    named = normalised({"sku": "b", **ROW, "name": "Butter"}, {"sku": "a", **ROW, "name": "Apple"})
    assert named.snapshot.equals(plain.snapshot)
    assert plain.names.num_rows == 0
    assert named.names.to_pylist() == [{"sku": "a", "name": "Apple"}, {"sku": "b", "name": "Butter"}]


@pytest.mark.parametrize(
    ("came", "kept"),
    [
        ("  whole milk 1 l ", "whole milk 1 l"),
        ("two\nlines\tand \x1b[31mred", "two lines and  [31mred"),
        ("Größe „XL“ 🥛", "Größe „XL“ 🥛"),
        ("<b>milk</b> | *x*", "<b>milk</b> | *x*"),
        ("é" * 500, "é" * NAME_CHARACTERS_MAX),
        ("   ", None),
        ("", None),
        (None, None),
    ],
)
def test_a_name_is_one_line_of_bounded_length_and_quarantines_no_row(came, kept):
    found = normalised({"sku": "a", **ROW, "name": came})
    assert (found.snapshot.num_rows, found.quarantine.num_rows) == (1, 0)
    assert [row["name"] for row in found.names.to_pylist()] == ([] if kept is None else [kept])


def test_rows_that_differ_in_the_name_alone_are_one_row_with_the_first_name():
    found = normalised({"sku": "a", **ROW, "name": "Milk"}, {"sku": "a", **ROW, "name": "MILK 1L"})
    assert (found.snapshot.num_rows, found.quarantine.num_rows, found.repeated) == (1, 0, 1)
    assert found.names.to_pylist() == [{"sku": "a", "name": "Milk"}]


def test_a_name_is_kept_of_a_product_that_has_left_or_has_none_any_more():
    known = names(a="Apple", b="Butter")
    assert laid_over(known, names(b="Butter 250 g", c="Cream")).to_pylist() == [
        {"sku": "a", "name": "Apple"},
        {"sku": "b", "name": "Butter 250 g"},
        {"sku": "c", "name": "Cream"},
    ]
    assert laid_over(known, names(b="Butter")) is None, "nothing is new, so nothing is written"


def test_a_product_that_was_renamed_is_no_change_in_the_figures_of_freshness():
    def changed(at: str, **values: str) -> pa.Table:
        row = {"row_number": 1, "vendor": "store-001", "changed_at": at, "stamp": at, **ROW, **values}
        return pa.Table.from_pylist([row], schema=CHANGED)

    base = raw({"sku": "a", **ROW, "name": "Milk"})
    renamed = lay_over(base, changed("2026-03-01T10:00:00+00:00", sku="a", name="Milk 1 l"))
    assert renamed is not None
    assert renamed.rows["name"].to_pylist() == ["Milk 1 l"]
    assert renamed.changed_at is None
    repriced = lay_over(base, changed("2026-03-01T10:00:00+00:00", sku="a", name="Milk 1 l", price="2.00"))
    assert repriced is not None
    assert repriced.changed_at is not None


def test_rows_that_were_read_before_names_existed_are_read_without():
    old = raw({"sku": "a", **ROW}).drop_columns(["name"])
    assert completed(old, RAW).schema.equals(RAW)
