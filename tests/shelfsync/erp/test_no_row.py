"""What is a total below a table, and what is a product that is called like one."""

from __future__ import annotations

import pytest

from shelfsync.erp.no_row import is_end, is_total_line, last_is_total, totals_line

TOTALS = [
    ["Total", "", "", "1.234,50", "80"],
    ["", "Summe", "", "12", ""],
    ["3 rows", "", "", "", ""],
    ["Gesamt", "", "Summe", "1,50", ""],
    ["12 Zeilen ausgewählt", "", ""],
]
PRODUCTS = [
    ["SUM-100", "Sumo bar", "", "1.99", "3"],
    ["Total 2", "", "Multivitamin", "1.99", "3"],
    ["100234", "Total", "", "4.99", "3"],
    ["4711 Lines", "Seta Ultra", "", "3.49", "20"],
]


@pytest.mark.parametrize("row", TOTALS)
def test_a_word_for_a_sum_beside_figures_is_a_total(row):
    assert totals_line(row)
    assert last_is_total(row, 0)


@pytest.mark.parametrize("row", PRODUCTS)
def test_a_row_with_a_text_of_its_own_is_a_product(row):
    assert not totals_line(row)
    assert not last_is_total(row, 0)


@pytest.mark.parametrize("sku", ["SUM-100", "Total 2", "SUMMA 5", "sum:7"])
def test_a_sku_with_a_number_is_no_total_even_without_a_name(sku):
    assert not last_is_total([sku, "", "", "1.99", "3"], 0)


@pytest.mark.parametrize("line", ["Gesamtsumme      1.234,50", "3 rows", "TOTAL", "5 records selected."])
def test_a_line_of_a_word_and_figures_is_a_total(line):
    assert is_total_line(line)


@pytest.mark.parametrize(
    "line",
    ["100234  Lines Seta Ultra   3.49  20", "4711 Record Toast 1,29 12", "12 Rows Garden 2.00 1", "7 Zeilen Tee"],
)
def test_a_line_of_a_product_is_none(line):
    assert not is_total_line(line)


@pytest.mark.parametrize(
    "line",
    [
        *("EOF", "<EOF>", "END", "End of file", "Ende der Liste", "Fin", "Seite 1 von 1", "Page 2", "Total: 8 rows"),
        *("Records: 8", "Anzahl Sätze: 8", "Liczba wierszy: 8"),
    ],
)
def test_a_closing_line_is_no_row_and_a_cut_row_is_none_of_them(line):
    assert is_end([line])
    assert not is_end([line, "100001"])


def test_a_word_that_a_cut_line_may_end_in_ends_no_list():
    assert [is_end([cell], is_whole=False) for cell in ("Fine", "END", "*** END ***")] == [False, False, True]


@pytest.mark.parametrize("cell", ["8", "100008", "Endive", "Final", "END-1", "Fino", "page", "Item 3", "A-END 5"])
def test_the_beginning_of_a_row_is_no_closing_line(cell):
    assert not is_end([cell])
