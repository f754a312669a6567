"""What a format shows of a number, and which formats show something else than a plain number."""

from __future__ import annotations

import io

import pytest

from shelfsync.erp.cell_formats import CellFormat, of_cells, of_code


@pytest.mark.parametrize(
    ("code", "value", "shown"),
    [
        ("0.00", 7.995, "8.00"),
        ("0.00", 1.005, "1.01"),
        ("#,##0.00\\ [$€-407];[Red]-0", 1234.565, "1234.57"),
        ('_-* #,##0.00 "kr"_-', -2.675, "-2.68"),
        ("0", 0.5, "1"),
        ("0.0#", 1.256, "1.26"),
        ("0%", 0.125, "13"),
        ("0.0%", 1, "100.0"),
        ("0.00", 1e26, "1E+26"),
    ],
)
def test_a_format_shows_so_many_decimals(code, value, shown):
    assert str(of_code(code).shown(value)) == shown


@pytest.mark.parametrize(
    "code",
    [
        "General",
        "@",
        "yyyy-mm-dd",
        "# ?/?",
        "0.00E+00",
        "0.00,",
        "",
        '"x"',
        "[h]:mm",
        "[>=100]#,##0;0.00",
        "[=0]0;0.00",
    ],
)
def test_what_is_no_plain_number_has_no_format(code):
    assert of_code(code) is None


@pytest.mark.parametrize(("code", "digits"), [("000000", 6), ("000-000", 6), ("0", 1), ("#,##0", 0), ("0.00", 1)])
def test_zeros_in_front_fill_so_many_digits(code, digits):
    assert of_code(code).digits == digits


def test_cells_are_found_in_each_piece_of_a_sheet():
    rows = b"".join(
        b'<row r="%d"><c r="A%d" s="1"><v>1</v></c><c s=\'2\' r=\'B%d\'/></row>' % (n, n, n) for n in (1, 2)
    )
    one = CellFormat("0.00", 2, is_percentage=False, digits=1)
    assert of_cells(io.BytesIO(rows), ["A", "B"], {b"1": one}) == {"A": {0: one, 1: one}, "B": {}}
    assert of_cells(io.BytesIO(rows), ["B"], {b"2": one}) == {"B": {0: one, 1: one}}
