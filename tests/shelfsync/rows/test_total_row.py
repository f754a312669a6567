# ruff: noqa: RUF001  words of other scripts
"""A total among the rows is told from a product that is called like one."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shelfsync.rows.total_row import Above, headings, may_be, needed, proved, totals
from shelfsync.schemas import RAW

NAMES = RAW.names


def _rows(*rows):
    """RAW rows of (vendor, sku, name, price, quantity)."""
    given = ("vendor", "sku", "name", "price", "quantity")
    records = [
        dict.fromkeys(NAMES) | {"row_number": number} | dict(zip(given, row, strict=True))
        for number, row in enumerate(rows, 1)
    ]
    return pa.Table.from_pylist(records, schema=RAW)


def _found(key, *rows):
    table = _rows(*rows)
    return totals(table, key, may_be(table[key].combine_chunks())).tolist()


ABOVE = [("s1", "100", "Milk", "1.5", "4"), ("s1", "101", "Tea", "2.5", "6")]
WORD_LIST = (
    "Total", "Subtotal", "Sub-Total", "Grand Total", "Summe", "Gesamt", "Zwischensumme", "Somme", "Sous-total", "Totale", "Razem", "Celkem", "Toplam",
    "Итого", "Всего", "ИТОГО:", "*** Summe ***", "Σ Total", "Gesamtsumme",
)  # fmt: skip


@pytest.mark.parametrize("word", WORD_LIST)
def test_a_word_in_place_of_a_sku_with_a_blank_that_no_product_has_is_a_total(word):
    assert _found("sku", *ABOVE, ("s1", word, None, None, "99"), ("s1", "102", "Rye", "1", "1")) == [False] * 2 + [
        True,
        False,
    ]


@pytest.mark.parametrize("odd", ["\ufffd line 3: 7 fields instead of 5: 102;Rye", None, " "])
def test_a_row_without_a_key_does_not_show_what_products_lack(odd):
    rows = [*ABOVE, ("s1", "102", "Rye", "1", "1"), ("s1", odd, None, None, None), ("s1", "Subtotal", None, None, None)]
    assert _found("sku", *rows) == [False] * 4 + [True]


@pytest.mark.parametrize("word", ["Summe", "Total Filiale 1", "Итого 2"])
def test_a_word_whose_figure_is_the_sum_of_its_column_is_a_total(word):
    assert _found("sku", *ABOVE, ("s1", word, None, "9", "10"))[2]
    three = [*ABOVE, ("s1", "102", "Rye", "1", "1")]
    assert _found("sku", *three, ("s1", word, "x", "9", "11"))[3]
    assert _found("sku", *three, ("s1", word, "x", "5.00", "77"))[3]


def test_a_stock_below_zero_is_subtracted():
    assert _found("sku", *ABOVE, ("s1", "102", "Rye", "1", "-3"), ("s1", "Total", "x", "9", "7"))[3]


def test_a_second_subtotal_is_the_sum_since_the_first_and_the_total_that_of_all():
    more = [("s1", "102", "Rye", "1", "2"), ("s1", "103", "Oat", "1", "3")]
    rows = [
        *ABOVE,
        ("s1", "Subtotal", None, "9", "10"),
        *more,
        ("s1", "Subtotal", None, "9", "5"),
        ("s1", "Total", "x", "9", "15"),
    ]
    assert _found("sku", *rows) == [False, False, True, False, False, True, True]


@pytest.mark.parametrize(
    "product",
    [
        ("s1", "Total", "Toothpaste", "2.99", "5"),
        ("s1", "Summe", "A game", "12.00", "3"),
        ("s1", "Total 2", None, None, "7"),
        ("s1", "TOTAL-100", "Cereal", "4", "11"),
        ("s1", "SUM100", None, "4", None),
        ("s1", "Totalreiniger", None, "4", None),
        ("s1", "Gesamtwerk", None, None, "1"),
        ("s1", "Sonic", None, None, "1"),
    ],
)
def test_a_product_that_is_called_so_is_none(product):
    assert not any(_found("sku", *ABOVE, product, ("s1", "104", "Nut", "1", "1")))


def test_where_skus_are_words_a_word_is_a_sku():
    assert not any(
        _found(
            "sku", ("s1", "milk", "Milk", "1", "4"), ("s1", "tea", "Tea", "1", "6"), ("s1", "total", None, None, "10")
        )
    )


def test_a_blank_that_products_have_too_is_no_sign():
    rows = [("s1", "100", None, "1", "4"), ("s1", "101", "Tea", None, "6"), ("s1", "102", "Rye", "1", None)]
    assert not any(_found("sku", *rows, ("s1", "Total", None, None, None)))


@pytest.mark.parametrize(
    ("total", "is_one"),
    [
        (("Summe", "2", None, None, "126"), True),  # two rows
        (("Summe", "2", "x", "7", "126"), False),
        (("Total Nord", "2", "x", "7", "2"), False),
        (("Razem", "55", None, None, "10"), True),
        (("Razem", "55", "x", "7", "10"), False),
        (("Total", "55", "x", "7", "126"), False),
        (("Sumburgh", "2", None, None, "10"), False),
    ],
)
def test_a_word_in_place_of_a_store(total, is_one):
    assert _found("vendor", *ABOVE, total)[2] is is_one


def test_a_store_of_several_rows_that_lack_a_value_is_no_total():
    rows = [*ABOVE, ("s1", "102", "Rye", "1", "1"), *(("Gesamt", sku, "Milk", "1.5", None) for sku in ("100", "101"))]
    assert not any(_found("vendor", *rows))


def test_a_store_with_few_products_is_believed():
    assert not any(_found("sku", ABOVE[0], ("s1", "SUMMA", None, "4", "3")))
    assert not any(_found("sku", *ABOVE, ("s1", "TOTAL Wash", "Powder", "7.99", "10")))


def test_a_list_of_totals_alone_has_none():
    assert not any(_found("sku", ("s1", "Total", None, None, "1")))


def test_a_total_below_a_long_list_is_found():
    rows = 200_001
    texts = {
        "vendor": pa.repeat("s1", rows),
        "sku": pa.array(range(100_000, 100_000 + rows)).cast(pa.string()),
        "price": pa.repeat("1.50", rows),
        "quantity": pa.repeat("2", rows),
    }
    columns = [
        pa.array(range(rows)) if name == "row_number" else texts.get(name, pa.nulls(rows, pa.string()))
        for name in NAMES
    ]
    long = pa.Table.from_arrays(columns, schema=RAW)
    for total in (("s1", "Summe", None, None, "7"), ("s1", "Total 1", "x", None, "400002")):
        every = pa.concat_tables([long, _rows(total)])
        assert totals(every, "sku", may_be(every["sku"].combine_chunks())).nonzero()[0].tolist() == [rows]


def test_a_list_may_come_in_parts_in_any_order():
    below = [("s2", "102", "Rye", "1", "-2"), ("s2", "103", "Oat", "3", "3")]
    table = _rows(*ABOVE, ("Ara toplam", "2", None, None, "10"), *below, ("Summe 2", None, None, None, "11"))
    candidates = may_be(table["vendor"].combine_chunks())
    assert totals(table, "vendor", candidates).tolist() == candidates.tolist()
    above = Above(candidates.nonzero()[0])
    for places in ([4], [0, 1], [3]):
        above.add(table.take(places), np.array(places))
    assert proved(table.filter(pa.array(candidates)), "vendor", above).tolist() == [True, True]


SKUS = st.one_of(
    st.from_regex(r"[0-9]{3,8}", fullmatch=True),
    st.from_regex(r"[A-Z]{1,4}-?[0-9]{2,6}", fullmatch=True),
    st.sampled_from(WORD_LIST),
)


@given(st.lists(st.tuples(SKUS, st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=12))
def test_no_row_with_all_its_values_is_lost_unless_a_figure_is_the_sum(products):
    rows = [("s1", sku, "n", f"{price}.{price}7", str(quantity)) for sku, price, quantity in products]
    for place, found in enumerate(_found("sku", *rows)):
        if found:
            assert place > 1
            assert not rows[place][1].isdigit()


def test_of_the_rows_above_only_the_columns_are_needed_that_can_prove_something():
    def columns(candidate, *above):
        seen, rows = Above(np.array([9])), _rows(*above)
        if above:
            seen.add(rows, rows["row_number"].to_numpy())
        return needed(_rows(candidate), seen)

    others = ["barcode", "active", "category"]
    assert columns(("Total", "x", "Tea", None, None)) == ["row_number", others[0], "price", "quantity", *others[1:]]
    assert columns(("Total", "x", "Tea", "9", "0"), ("s1", "1", None, None, "4")) == ["row_number", "price"]
    assert columns(("Total", "3", None, None, None), ("s1", "1", None, None, None)) == ["row_number"]
    assert columns(("Total", "x", None, None, None), ("s1", "1", None, None, None)) == []


HEADINGS = [
    "Drinks",
    "Getr\u00e4nke",
    "--- Drinks ---",
    "\u041d\u0430\u043f\u0438\u0442\u043a\u0438",
    "Drinks 0-2 l",
    "Group 12: drinks",
]
THREE = [*ABOVE, ("s1", "102", "Rye", "1", "1")]


@pytest.mark.parametrize("word", HEADINGS)
@pytest.mark.parametrize("place", range(4))
def test_a_key_alone_that_looks_otherwise_is_a_heading(word, place):
    rows = [*THREE[:place], ("s1", word, None, " ", None), *THREE[place:]]
    assert headings(_rows(*rows)).tolist() == [number == place for number in range(4)]


def test_a_row_with_the_price_and_the_stock_of_all_others_is_no_heading():
    table = _rows(
        *(("s1", f"a{number}", f"Tea {number}", "1.00", "5") for number in range(5)), ("s1", "new", None, "1.00", "5")
    )
    assert not headings(table).any()


def test_a_constant_beside_the_key_is_no_value_of_the_heading():
    table = _rows(*THREE, ("s1", "Drinks", None, None, None))
    with_active = table.set_column(RAW.names.index("active"), "active", pa.array(["true"] * 4))
    assert headings(with_active).tolist() == [False, False, False, True]


@pytest.mark.parametrize(
    "rows",
    [
        [*THREE, ("s1", "Drinks", "Water", None, None)],
        [*THREE, ("s1", "Drinks", None, None, "3")],
        [*THREE, ("s1", "103", None, None, None)],
        [*ABOVE, ("s1", "Drinks", None, None, None)],
        [("s1", "Tea", "t", "1", "2"), ("s1", "Rye", "r", "1", "2"), ("s1", "Oil", "o", "1", "2"), ("s1", "Drinks", None, None, None)],
        [*(("s1", f"A{number}", "t", "1", "2") for number in range(9)), ("s1", "B7", None, None, None)],
        [("s1", sku, None, None, None) for sku in ("100", "101", "102", "Drinks")],
        [*(("s1", sku, "t", None, None) for sku in ("100", "101", "102", "103")), ("s1", "00-00004K", None, None, None)],
        [*THREE, ("s1", None, None, None, None), ("s1", "\ufffd line 3: Drinks", None, None, None)],
    ],
)  # fmt: skip
def test_a_product_is_no_heading(rows):
    assert not headings(_rows(*rows)).any()
