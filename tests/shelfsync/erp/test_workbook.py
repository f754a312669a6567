from __future__ import annotations

import bz2
import datetime as dt
import gzip
import io
import lzma
import tempfile
import zipfile
from decimal import Decimal
from pathlib import Path

import openpyxl
import pyarrow as pa
import pytest
import xlwt
from hypothesis import given, settings
from hypothesis import strategies as st

from ods_file import ERROR, write_ods
from shelfsync.erp.address import find
from shelfsync.erp.columns import ExtractSchema, Layout
from shelfsync.erp.open import open_source
from shelfsync.erp.sniff import sniff
from shelfsync.erp.text import MARK, text
from shelfsync.erp.workbook import Workbook, _number, number_texts
from shelfsync.errors import ConfigurationError, DataError, IncompleteExtractError
from shelfsync.promotions.schemas import RAW as PROMOTIONS
from shelfsync.promotions.schemas import REQUIRED
from shelfsync.settings import ErpSettings

HEADER = ["vendor", "sku", "barcode", "price", "quantity", "active"]


def write(path, *rows, title="Stock", header=HEADER, above=0):
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = title
    for _ in range(above):
        sheet.append(["Price list of the day"])
    for row in (header, *rows):
        sheet.append(row)
    book.save(path)
    return str(path)


def changed(path, old, new):
    """The workbook with another text in its sheet, once the XML is written in one way."""
    source = zipfile.ZipFile(io.BytesIO(Path(path).read_bytes()))
    with zipfile.ZipFile(path, "w") as archive:
        for name in source.namelist():
            data = source.read(name)
            if name.endswith("sheet1.xml"):
                data = data.replace(b" />", b"/>").replace(b"<v></v>", b"<v/>")
                assert old in data
                data = data.replace(old, new)
            archive.writestr(name, data)


_texts = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Cn"), exclude_characters="_"), min_size=1
).filter(lambda text: text == text.strip() and not text.startswith("="))
_cells = {
    "sku": _texts | st.integers(0, 10**15 - 1),
    "barcode": st.none() | _texts | st.integers(0, 10**14),
    "price": st.none() | st.decimals(0, 10**9, places=3) | st.integers(0, 10**6),
    "quantity": st.none() | st.integers(-(10**6), 10**9),
    "active": st.none() | st.booleans(),
}


@pytest.mark.slow
@settings(deadline=None, max_examples=25)
@given(st.lists(st.fixed_dictionaries(_cells), min_size=1, max_size=8), st.integers(0, 3), st.integers(1, 4))
def test_what_excel_holds_comes_back_exactly(read, rows, above, chunk_rows):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stock.xlsx"
        write(path, *(["v", *(row[name] for name in HEADER[1:])] for row in rows), above=above)
        found = read(files=str(path), header_row=above + 1, chunk_rows=chunk_rows).rows
    assert [row["sku"] for row in found] == [str(row["sku"]) for row in rows]
    for name, plain in (("barcode", str), ("price", Decimal), ("quantity", Decimal), ("active", lambda value: value)):
        came = [row[name] if name in {"barcode", "active"} else row[name] and Decimal(row[name]) for row in found]
        wanted = [None if row[name] is None else plain(row[name]) for row in rows]
        assert came == [
            {True: "true", False: "false"}.get(value, value) if name == "active" else value for value in wanted
        ]


def test_an_error_is_no_empty_cell(read, tmp_path):
    """calamine gives the empty text for both, which would read as "no statement"."""
    path = write(
        tmp_path / "stock.xlsx",
        ["v", "1", None, "#N/A", 3, True],
        ["v", "2", None, None, 3, True],
        ["v", "3", None, 4.5, "=1+1", True],
        ["v", "4", None, 4.5, 7, True],
    )
    rows = {row["sku"]: row for row in read(files=path).rows}
    assert rows["1"]["price"].startswith(MARK)
    assert rows["2"]["price"] is None
    assert rows["3"]["quantity"].startswith(MARK), "a formula that no program has calculated"
    assert (rows["4"]["price"], rows["4"]["quantity"]) == ("4.5", "7")


def test_errors_below_the_names_are_counted_by_sniff_with_the_first_cell(tmp_path):
    path = tmp_path / "stock.xlsx"
    write(path, ["v", "s1", None, "=1+1", 1, 1], ["v", "s2", None, 1.5, "#N/A", 1], above=1)
    assert "2 cells have an error, or a formula that no program has calculated, such as D3" in str(
        sniff(str(path)).unsure
    )
    write(path, ["v", "s1", None, 1.5, 1, 1], above=1)
    assert "have an error" not in str(sniff(str(path)).unsure)


def test_a_formula_with_its_value_is_the_value(read, tmp_path):
    path = write(tmp_path / "stock.xlsx", ["v", "1", None, "=2*2.25", "=3", True], ["v", "2", None, 5, 1, True])
    changed(path, b"<f>2*2.25</f><v/>", b"<f>2*2.25</f><v>4.5</v>")
    changed(path, b'<c r="E2"><f>3</f><v/></c>', b'<c r="E2" t="str"><f>3</f><v/></c>')
    [first, _] = read(files=path).rows
    assert (first["price"], first["quantity"]) == ("4.5", None), "a text that was calculated to be empty is empty"


def test_a_broken_cell_without_its_place_stops_the_file(read, tmp_path):
    path = write(tmp_path / "stock.xlsx", ["v", "1", None, "#N/A", 3, True])
    changed(path, b'<c r="D2" t="e">', b'<c t="e">')
    with pytest.raises(DataError, match="does not say in which cell"):
        read(files=path)


@pytest.mark.parametrize("sheet_at", ["A1", "C4"])
def test_a_table_may_begin_anywhere_in_its_sheet(read, tmp_path, sheet_at):
    book = openpyxl.Workbook()
    column, row = (0, 1) if sheet_at == "A1" else (2, 4)
    for down, cells in enumerate([HEADER, ["v", "1", None, "#REF!", 3, True], ["v", "2", None, 2, 3, True]]):
        for right, cell in enumerate(cells):
            book.active.cell(row + down, column + right + 1, cell)
    book.save(tmp_path / "stock.xlsx")
    first, second = read(files=str(tmp_path / "stock.xlsx"), header_row=row).rows
    assert first["price"].startswith(MARK)
    assert second["price"] == "2"


def test_a_code_is_its_digits_as_long_as_excel_keeps_them(read, tmp_path):
    path = write(
        tmp_path / "stock.xlsx",
        ["v", 4006381333931, 4006381333931, 0.1 + 0.2, 3, True],
        ["v", 123456789012345, None, 1.1, 3, True],
        ["v", 12345678901234567890, 12345678901234567890, 1.1, 3, True],
        ["v", "0012", "00400638133393", 1.1, 3, True],
    )
    rows = read(files=path).rows
    assert [row["sku"] for row in rows[:2]] == ["4006381333931", "123456789012345"]
    assert rows[0]["price"] == "0.3"
    assert (rows[2]["sku"], rows[2]["barcode"]) == ("1.234567890123457e+19",) * 2, "no digits that nobody wrote"
    assert (rows[3]["sku"], rows[3]["barcode"]) == ("0012", "00400638133393")


@pytest.mark.parametrize(
    ("key", "why"),
    [
        (dt.datetime(2026, 12, 10), "no text, but a date"),
        (dt.time(10, 12), "no text, but a date or a time"),
        (True, "a truth value"),
        (12.1, "decimals, whose last zeros are lost"),
        ("#REF!", "an error, or a formula"),
        ("=1+1", "a formula that no program has calculated"),
    ],
)
@pytest.mark.parametrize("column", ["vendor", "sku"])
def test_a_cell_that_is_no_key_is_no_row_of_another_product(read, tmp_path, column, key, why):
    cells = {"vendor": "v", "sku": "3"} | {column: key}
    rows = [
        ["v", "1", None, 1, 3, True],
        [cells["vendor"], cells["sku"], None, 2, 3, True],
        ["v", "2", None, 3, 3, True],
    ]
    path = write(tmp_path / "stock.xlsx", *rows)
    (tmp_path / "stock.count").write_text("3")
    for chunk_rows in (1, 10):
        reading = read(files=path, control_file=str(tmp_path / "stock.count"), chunk_rows=chunk_rows)
        assert [row["sku"] for row in reading.rows if MARK not in row["sku"]] == ["1", "2"]
        [broken] = [row["sku"] for row in reading.rows if MARK in row["sku"]]
        assert broken.startswith(f"{MARK} row 3: {column} is ")
        assert why in broken
        [vendor] = [row["vendor"] for row in reading.rows if MARK in row["sku"]]
        if column == "sku":  # the row costs its store alone
            assert (vendor, reading.proof.doubtful, reading.proof.complete) == ("v", {"v"}, True)
        else:
            assert (vendor, reading.proof.doubtful, reading.proof.complete) == (None, set(), False)
            assert "1 rows could not be read, so an absent SKU may be in one of them" in reading.proof.how


def test_a_sku_with_decimals_is_told_with_its_column(read, tmp_path):
    path = write(tmp_path / "stock.xlsx", ["v", 100.25, None, 1, 3, True], header=["store", "Artikel", *HEADER[2:]])
    columns = {"vendor": "store", "sku": "Artikel"}
    [row] = read(files=path, columns=columns).rows
    why = "sku (column 'Artikel') is 100.25, a number with decimals, whose last zeros are lost; let the ERP write texts"
    assert (row["vendor"], row["sku"]) == ("v", f"{MARK} row 2: {why}: v, 100.25, 1, 3, True")


def formatted(path, *cells, header=HEADER):
    """A workbook with one row; a cell may have a format: (value, format)."""
    book = openpyxl.Workbook()
    book.active.append(header)
    for column, cell in enumerate(cells, 1):
        value, code = cell if isinstance(cell, tuple) else (cell, "General")
        book.active.cell(2, column, value).number_format = code
    book.save(path)
    return str(path)


@pytest.mark.parametrize(
    ("price", "shown"),
    [
        ((7.995, "0.00"), "8"),
        ((7.995, "#,##0.00 \u20ac"), "8"),
        ((1234.565, '#,##0.00_-;[Red]-"x"0.0'), "1234.57"),
        ((2.675, "0.0"), "2.7"),
        ((7.4, "0"), "7"),
        ((4.99, "0.00"), "4.99"),
        ((7.995, "General"), "7.995"),
        ((7.995, "0.000"), "7.995"),
        ((0.2, "0%"), "0.2"),
        ((7995.5, "0.00,"), "7995.5"),
        ((7.9955, "# ?/?"), "7.9955"),
    ],
)
def test_a_price_is_what_its_format_shows(read, tmp_path, price, shown):
    [row] = read(files=formatted(tmp_path / "stock.xlsx", "v", "1", None, price, 2.75, True)).rows
    assert (row["price"], row["quantity"]) == (shown, "2.75")


def test_a_price_is_what_its_format_shows_in_any_part_of_the_sheet(read, tmp_path, caplog):
    book = openpyxl.Workbook()
    book.active.append(HEADER)
    for number in range(50):
        book.active.append(["v", f"s{number}", None, 1 + number / 1000, 1, True])
        book.active.cell(number + 2, 4).number_format = "0.00" if number % 2 else "General"
    book.save(tmp_path / "stock.xlsx")
    rows = read(files=str(tmp_path / "stock.xlsx"), chunk_rows=7).rows
    exact = [(1000 + number, 1000 + (number + 5) // 10 * 10)[number % 2] / 1000 for number in range(50)]
    assert [row["price"] for row in rows] == [f"{number:g}" for number in exact]
    assert (
        "25 cells of 'price' have more than they show, and shelfsync reads what they show, as in D3 (1.001 as 1.00)"
        in caplog.text
    )
    caplog.clear()
    source = open_source(ErpSettings(files=str(tmp_path / "stock.xlsx"), chunk_rows=7))
    assert (source.stores(), caplog.text) == ({"v": "v"}, "")
    with source.read() as first_rows:
        next(iter(first_rows))
    assert "cells of 'price' have more" not in caplog.text, "the one source tells once"
    with open_source(ErpSettings(files=str(tmp_path / "stock.xlsx"), chunk_rows=7)).read() as first_rows:
        next(iter(first_rows))
    assert "3 cells of 'price' have more than they show" in caplog.text
    assert any(
        "25 cells of 'price' have more than they show" in line for line in sniff(str(tmp_path / "stock.xlsx")).unsure
    )


def test_a_percentage_of_a_campaign_is_what_the_cell_shows(tmp_path):
    header = ["campaign", "vendor", "sku", "price", "name", "start_time", "end_time", "discount_type"]
    day = dt.date(2027, 3, 1)
    for value, shown in ((1, "100"), (0.2, "20"), (0.125, "13")):
        cells = ["C1", "v", "1", (value, "0%"), "Spring", day, day, "PERCENTAGE"]
        path = formatted(tmp_path / "promos.xlsx", *cells, header=header)
        assert promotions_of(path)[0]["price"] == shown


def test_a_percentage_of_one_is_none_where_the_cell_may_show_a_hundred(tmp_path):
    header = ["campaign", "vendor", "sku", "price", "name", "start_time", "end_time", "discount_type"]
    rows = [("C1", 1, "PERCENTAGE"), ("C2", 20, "percentage"), ("C3", 1, "FINAL_PRICE")]
    lines = [
        header,
        *([name, "v", "1", price, "Spring", "2027-03-01", "2027-03-02", kind] for name, price, kind in rows),
    ]
    write_ods(tmp_path / "promos.ods", lines)
    prices = [row["price"] for row in promotions_of(str(tmp_path / "promos.ods"))]
    assert prices[0].startswith("1 (or 100 %: .xls and .ods do not show which")
    assert prices[1:] == ["20", "1"]


def test_a_key_whose_format_shows_zeros_in_front_is_told(read, tmp_path, caplog):
    [row] = read(files=formatted(tmp_path / "stock.xlsx", "v", (123, "000000"), None, 2, 2, True)).rows
    assert row["sku"] == "123"
    assert (
        "1 cells of 'sku' have the format 000000, as B2: it shows zeros in front that are not in the file"
        in caplog.text
    )


@pytest.mark.parametrize(("other", "right"), [(4.99, False), (1299, False), (1.255, True)])
def test_a_text_beside_numbers_whose_mark_may_group_is_no_price(read, tmp_path, other, right):
    path = write(tmp_path / "stock.xlsx", ["v", "1", None, other, 1, True], ["v", "2", None, "1.299", 1, True])
    found = read(files=path).rows[1]["price"]
    assert (found == "1.299") == right
    assert right or found.startswith("1.299 (a text beside numbers")
    german = read(files=path, decimal_mark=",", thousands_mark=".").rows
    assert german[1]["price"] == "1299"


def test_a_code_of_sixteen_digits_is_a_float_beside_texts_too(read, tmp_path):
    rows = [["v", 1234567890123456, None, 1, 3, True], ["v", "2", None, 3, 3, True]]
    for taken in (rows, rows[:1]):
        found = read(files=write(tmp_path / "stock.xlsx", *taken)).rows
        assert found[0]["sku"] == "1.234567890123456e+15"


def promotions_of(path):
    with open_source(ErpSettings(files=path), ExtractSchema(PROMOTIONS, REQUIRED, ("price",))).read() as extract:
        return [row for chunk in extract for row in chunk.to_pylist()]


def test_dates_are_dates(tmp_path):
    header = ["campaign", "vendor", "sku", "price", "name", "start_time", "end_time"]
    row = ["C1", "v", "1", 1.49, "Spring", dt.date(2027, 3, 1), dt.datetime(2027, 3, 8, 23, 59)]
    [found] = promotions_of(write(tmp_path / "promos.xlsx", row, header=header))
    assert (found["start_time"], found["end_time"]) == ("2027-03-01", "2027-03-08T23:59:00")


def test_the_old_formats_cannot_tell_an_error_from_an_empty_cell(read, tmp_path):
    rows = [HEADER, ["v", "1", None, 1.5, 3, 1], ["v", "2", None, None, 3, 1], ["v", "4006381333931", None, 2, 3, 1]]
    old = xlwt.Workbook()
    sheet = old.add_sheet("Stock")
    for down, row in enumerate(rows):
        for right, cell in enumerate(row):
            if cell is not None:
                sheet.write(down, right, cell)
    old.save(str(tmp_path / "stock.xls"))
    write_ods(tmp_path / "stock.ods", [*rows, ["v", "5", None, ERROR, 3, 1]])
    for ending in ("xls", "ods"):
        found = {row["sku"]: row for row in read(files=str(tmp_path / f"stock.{ending}")).rows}
        assert found["1"]["price"] == "1.5"
        assert found["1"]["barcode"] is None
        assert found["2"]["price"].startswith(MARK)
        assert found["4006381333931"]["price"] == "2"
    assert found["5"]["price"].startswith(MARK)


def test_the_sheet_is_named_or_the_only_one(read, tmp_path):
    path = write(tmp_path / "stock.xlsx", ["v", "1", None, 1.5, 3, True])
    book = openpyxl.load_workbook(path)
    book.create_sheet("Notes").sheet_state = "hidden"
    book["Notes"]["A1"] = "hidden"
    book.create_sheet("Empty")
    book.save(path)
    assert len(read(files=path).rows) == 1
    book["Empty"]["A1"] = "x"
    book.save(path)
    with pytest.raises(ConfigurationError, match=r"SHEET: .*has the sheets Stock, Empty"):
        read(files=path)
    assert len(read(files=path, sheet="Stock").rows) == 1
    with pytest.raises(ConfigurationError, match="has no sheet 'stock'"):
        read(files=path, sheet="stock")
    with pytest.raises(ConfigurationError, match="HEADER_ROW: row 9 of"):
        read(files=path, sheet="Stock", header_row=9)


@pytest.mark.parametrize("packing", ["gz", "zst", "bz2", "xz", "zip"])
@pytest.mark.parametrize("kind", ["xlsx", "xls"])
def test_a_packed_workbook_is_found_by_its_ending(read, tmp_path, kind, packing):
    path = Path(write(tmp_path / "one.xlsx", ["v", "1", None, 1.5, 3, True]))
    if kind == "xls":
        old = xlwt.Workbook()
        sheet = old.add_sheet("Stock")
        for across, cells in enumerate([("vendor", "v"), ("sku", "1"), ("price", 1.5)]):
            for down, cell in enumerate(cells):
                sheet.write(down, across, cell)
        old.save(str(path))
    data = path.read_bytes()
    path.unlink()
    (tmp_path / "export").mkdir()
    packed = tmp_path / "export" / f"Stock.{kind.upper()}.{packing}"
    if packing == "zip":
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr(f"Stock.{kind}", data)
    elif packing == "zst":
        packed.write_bytes(pa.compress(data, "zstd", asbytes=True))
    else:
        packed.write_bytes({"gz": gzip, "bz2": bz2, "xz": lzma}[packing].compress(data))
    for address in (packed, packed.parent):
        assert [(row["sku"], row["price"]) for row in read(files=str(address)).rows] == [("1", "1.5")]
    proposal = sniff(str(packed))
    assert "FILE_FORMAT" not in proposal.settings
    assert proposal.verdict.startswith("With these settings shelfsync reads")


def test_what_is_no_whole_workbook_is_no_empty_one(read, tmp_path):
    path = Path(write(tmp_path / "stock.xlsx", ["v", "1", None, 1.5, 3, True]))
    whole = path.read_bytes()
    for data in (whole[: len(whole) // 2], b"", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600):
        path.write_bytes(data)
        with pytest.raises(IncompleteExtractError, match="no whole workbook"):
            read(files=str(path))
    path.write_bytes(whole)
    for bytes_max in (1_000, len(whole)):
        [found] = find(str(path), endings=(".xlsx",))
        with pytest.raises(DataError, match="unpacked, the most that a workbook may have"):
            Workbook(found, Layout({}, {}), None, 1, bytes_max).names()


@pytest.mark.parametrize("chunk_rows", [1, 2, 50])
def test_the_names_again_and_a_total_are_no_rows(read, tmp_path, chunk_rows):
    rows = [["v", f"s{place}", None, "1.50", place, 1] for place in range(3)]
    total = ["Total", None, None, "4.50", 3, None]
    again = [name.upper() if name else name for name in HEADER]
    path = write(tmp_path / "stock.xlsx", *rows[:2], again, rows[2], total, above=1)
    reading = read(files=path, header_row=2, chunk_rows=chunk_rows)
    good = [row for row in reading.rows if not row["sku"].startswith(MARK)]
    assert [row["sku"] for row in good] == ["s0", "s1", "s2"]
    texts = "\n".join(row["sku"] for row in reading.rows if row["sku"].startswith(MARK))
    assert "beside the rows: row 5: the names of the columns again: VENDOR, SKU" in texts
    assert "beside the rows: row 7: a total or a count of the rows: Total, 4.50, 3" in texts


@pytest.mark.parametrize("ending", ["xlsx", "ods"])
@pytest.mark.parametrize("word", [None, "Summe"])
def test_a_total_below_a_sheet_is_no_row_whatever_the_format_tells_of_empty_cells(read, tmp_path, ending, word):
    path = tmp_path / f"stock.{ending}"
    rows = [["v", f"{n}", None, 1.5, 2, 1] for n in range(4)]
    table = [["vendor", "sku", "name", "price", "quantity", "active"], *rows, [None, word, None, 6, None, None]]
    if ending == "ods":
        write_ods(path, table)
    else:
        book = openpyxl.Workbook()
        for row in table:
            book.active.append(row)
        book.save(path)
    skus = [row["sku"] for row in read(files=str(path)).rows]
    assert ["a total" in sku for sku in skus] == [False] * 4 + [True]
    assert "error" not in skus[-1]


def test_a_product_that_is_called_total_is_one(read, tmp_path):
    path = write(tmp_path / "stock.xlsx", ["v", "s1", None, "1.50", 1, 1], ["Total", "s2", None, "2.50", 1, 1])
    assert [row["sku"] for row in read(files=path).rows] == ["s1", "s2"]


def test_a_title_above_the_names_is_named(read, tmp_path):
    path = write(tmp_path / "stock.xlsx", ["v", "s1", None, "1.50", 1, 1], above=1)
    with pytest.raises(
        ConfigurationError, match=r"HEADER_ROW: is 1, and row 2 .*'vendor, sku.*above it is a title. Set it to 2"
    ):
        read(files=path)


@given(
    st.lists(
        st.none()
        | st.floats(allow_nan=False)
        | st.integers(-(10**17), 10**17).map(float)
        | st.integers(-(10**9), 10**9).map(lambda cents: cents / 100)
        | st.tuples(st.floats(0, 100), st.floats(0, 100)).map(sum),
        max_size=30,
    )
)
def test_a_column_of_numbers_has_the_texts_of_its_cells_one_by_one(numbers):
    one_by_one = [None if number is None else text(_number(number)) for number in numbers]
    assert number_texts(numbers).to_pylist() == one_by_one


def test_a_number_that_decimal_and_binary_differ_in_is_what_excel_shows():
    numbers = [0.1 + 0.2, 1e15, 123456789012345.0, 1234567890123456.0, -0.0, 5e-7, 19.99, 0.00012345678901234567]
    shown = ["0.3", "1.000000000000000e+15", "123456789012345", "1.234567890123456e+15", "0", "0.0000005", "19.99"]
    assert number_texts(numbers).to_pylist() == [*shown, "0.000123456789012346"]


def _of_several_kinds(path, *, hidden=(), merged=None, sheets=()):
    """A sheet with a title, the names in row 2 and three rows."""
    book = openpyxl.Workbook()
    for row in (["Prices"], HEADER, *(["v", f"s{place}", None, "1.50", place, 1] for place in range(3))):
        book.active.append(row)
    for row in hidden:
        book.active.row_dimensions[row].hidden = True
    if merged is not None:
        book.active.merge_cells(merged)
    for name, state in sheets:
        sheet = book.create_sheet(name)
        sheet.append(["other"])
        sheet.sheet_state = state
    book.save(path)
    return str(path)


@pytest.mark.parametrize(
    ("made", "told"),
    [
        ({"hidden": (4, 5)}, "the sheet has hidden rows (2)"),
        ({"hidden": (1,)}, None),
        ({"merged": "A3:A4"}, "the table has merged cells (1)"),
        ({"merged": "A1:E1"}, None),
    ],
)
def test_hidden_rows_and_merged_cells_are_told_and_read(read, tmp_path, caplog, made, told):
    path = _of_several_kinds(tmp_path / "stock.xlsx", **made)
    found = read(files=path, header_row=2)
    assert [row["sku"] for row in found.rows] == ["s0", "s1", "s2"]
    assert [told in line for line in caplog.messages] == ([True] if told else [])
    doubts = "".join(sniff(path).unsure)
    assert told in doubts if told else "hidden" not in doubts and "merged" not in doubts


def test_hidden_sheets_are_not_read_and_named(read, tmp_path):
    path = _of_several_kinds(tmp_path / "stock.xlsx", sheets=[("Old", "hidden"), ("Older", "veryHidden")])
    assert len(read(files=path, header_row=2).rows) == 3
    assert any("hidden sheets: Old, Older" in line for line in sniff(path).unsure)


def test_a_workbook_whose_hidden_sheet_alone_has_cells_names_it(read, tmp_path):
    book = openpyxl.Workbook()
    book.create_sheet("Stock").append(HEADER)
    book["Stock"].sheet_state = "hidden"
    book.save(tmp_path / "stock.xlsx")
    with pytest.raises(IncompleteExtractError, match="has no cell beside its hidden sheets Stock"):
        read(files=str(tmp_path / "stock.xlsx"))
    with pytest.raises(DataError, match="has no cell beside its hidden sheets Stock"):
        sniff(str(tmp_path / "stock.xlsx"))


def test_of_several_workbooks_the_first_is_told(read, tmp_path, caplog):
    for name in ("a", "b"):
        _of_several_kinds(tmp_path / f"{name}.xlsx", hidden=(4,))
    read(files=f"{tmp_path}/*.xlsx", header_row=2)
    assert len(caplog.messages) == 1


@pytest.mark.parametrize(
    ("cell", "told"),
    [(123, "'sku' has numbers, so zeros in front"), (dt.date(2026, 5, 1), "its values are dates"), ("123", None)],
)
def test_sniff_tells_what_a_spreadsheet_makes_of_a_code(tmp_path, cell, told):
    found = sniff(write(tmp_path / "stock.xlsx", ["v", cell, None, 1.5, 3, True]))
    assert any(told in line for line in found.unsure) if told else not any("'sku'" in line for line in found.unsure)


def test_rows_come_in_their_order_whatever_stands_between_them(read, tmp_path):
    """More rows than are taken at once, with an empty row, the names again, a broken cell and a text among numbers."""
    book = openpyxl.Workbook()
    book.active.append(HEADER)
    for place in range(2500):
        extra = {700: [], 1400: HEADER}.get(place)
        if extra is not None:
            book.active.append(extra)
        price = {3: "#N/A", 2100: "x"}.get(place, place / 4)
        book.active.append(["v", f"s{place}", None, price, None if place % 5 else place, True])
    book.save(tmp_path / "stock.xlsx")
    found = [row for row in read(files=str(tmp_path / "stock.xlsx"), chunk_rows=300).rows if row["vendor"] == "v"]
    assert [row["sku"] for row in found] == [f"s{place}" for place in range(2500)]
    assert [row["quantity"] for row in found] == [None if place % 5 else str(place) for place in range(2500)]
    assert found[3]["price"].startswith(MARK)
    assert (found[2100]["price"], found[5]["price"], found[8]["price"]) == ("x", "1.25", "2")
