"""JSON lines and fixed widths: exact values, and broken lines by their numbers."""

from __future__ import annotations

import gzip
import json

import pytest

from shelfsync.erp.sniff import sniff
from shelfsync.errors import ConfigurationError, DataError, IncompleteExtractError
from shelfsync.rows.quarantine_reason import NO_ROW

PLACES = {"vendor": "1-4", "sku": "5-10", "price": "11-18"}


@pytest.fixture
def path(tmp_path):
    def _path(text, name):
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(tmp_path / name)

    return _path


def test_values_of_json_are_exact(read, path):
    lines = (
        '{"vendor": "v", "sku": "007", "price": 0.10000000000000000001, "active": false, "quantity": 0}\n\n'
        '{"sku": 12345678901234567890, "vendor": "v", "price": "1.50", "active": true}\n'
        '{"vendor": "v", "sku": "Müller", "price": 1e2, "quantity": null, "barcode": ""}'
    )
    rows = read(files=path(lines, "stock.jsonl")).rows
    assert [row["sku"] for row in rows] == ["007", "12345678901234567890", "Müller"]
    assert [row["price"] for row in rows] == ["0.10000000000000000001", "1.50", "100"]
    assert [row["active"] for row in rows] == ["false", "true", None]
    assert [row["quantity"] for row in rows] == ["0", None, None]
    assert len(read(files=path(gzip.compress(lines.encode()), "stock.ndjson.gz")).rows) == 3


@pytest.mark.parametrize("key", ['["1"]', '{"id": "1"}', "true", "12.1", "4.00638E+12", "100005.5"])
@pytest.mark.parametrize("column", ["vendor", "sku"])
def test_a_value_that_is_no_key_is_no_row_of_another_product(read, path, column, key):
    line = {"vendor": '"v"', "sku": '"2"'} | {column: key}
    lines = (
        f'{{"vendor": "v", "sku": "1", "price": 1}}\n{{"vendor": {line["vendor"]}, "sku": {line["sku"]}, "price": 2}}\n'
    )
    reading = read(files=path(lines, "stock.jsonl"))
    assert reading.rows[0]["sku"] == "1"
    assert f"line 2: {column!r} is " in reading.rows[1]["sku"]
    assert reading.rows[1]["vendor"] == (None if column == "vendor" else "v")
    assert ("1 rows could not be read" in reading.proof.how, reading.proof.doubtful) == (
        (True, set()) if column == "vendor" else (False, {"v"})
    )


@pytest.mark.parametrize(
    ("name", "text", "settings", "told"),
    [
        ("s.jsonl", '{"vendor": "v", "sku": 1.5, "price": 1}\n' * 3, {}, "line 1: 'sku' is a number with a point"),
        ("s.txt", "v   1\nv   2\n", {"fixed_width": PLACES}, "FIXED_WIDTH: not one of the 2 rows"),
    ],
)
def test_if_no_row_can_be_read_the_cause_is_that_of_the_rows(read, path, name, text, settings, told):
    with pytest.raises((DataError, ConfigurationError), match=told) as raised:
        read(files=path(text, name), **settings)
    assert "DELIMITER" not in str(raised.value)


ROWS = [{"vendor": "v", "sku": f"{n}", "packs": [{"ean": "7"}], "price": n} for n in range(3)]


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize(
    ("document", "path_of_jq"),
    [
        ({"products": ROWS}, ".products[]"),
        ({"data": {"items": ROWS}}, ".data.items[]"),
        ({"at": "2026", "to do": [], "meta": {"pages": [1, 2]}, "art 1": ROWS}, '."art 1"[]'),
        ({"note": 'a "[{" in a text: [{', "rows": ROWS}, ".rows[]"),
    ],
)
def test_one_document_that_wraps_the_rows_is_named_with_the_way_out(read, path, document, path_of_jq, indent):
    file = path(json.dumps(document, indent=indent) + "\n", "stock.jsonl")
    for reading in (lambda: read(files=file), lambda: sniff(file)):
        with pytest.raises(DataError, match="is one JSON document") as raised:
            reading()
        assert f"jq -c '{path_of_jq}' FILE" in str(raised.value)


def test_one_list_of_json_is_named_with_the_way_out(read, path):
    with pytest.raises(ConfigurationError, match=r"jq -c '\.\[\]' FILE"):
        read(files=path(json.dumps(ROWS), "stock.jsonl"))


def test_lines_with_lists_in_them_are_rows_and_a_missing_column_is_named(read, path):
    lines = "".join(json.dumps(row) + "\n" for row in ROWS)
    assert [row["sku"] for row in read(files=path(lines, "stock.jsonl")).rows] == ["0", "1", "2"]
    with pytest.raises(ConfigurationError, match="has no column 'sku'; it has 'vendor', 'art'"):
        read(files=path(lines.replace('"sku"', '"art"'), "stock.jsonl"))


def test_a_json_text_sequence_is_json_lines(read, path):
    file = path("".join(f'\x1e{{"vendor": "v", "sku": "{sku}", "price": 2}}\n' for sku in ("1", "2")), "stock.json-seq")
    assert [row["sku"] for row in read(files=file, file_format="jsonl").rows] == ["1", "2"]
    proposal = sniff(file)
    assert (proposal.kind, proposal.settings["FILE_FORMAT"]) == ("JSON lines", "jsonl")


def test_a_whole_number_is_its_digits_as_a_program_with_floats_writes_it(read, path):
    lines = '{"vendor": 7.0, "sku": 100005.0, "price": 2.50}\n'
    [row] = read(files=path(lines, "stock.jsonl")).rows
    assert (row["vendor"], row["sku"], row["price"]) == ("7", "100005", "2.50")


@pytest.mark.parametrize("first", [None, 7, 7.5, True, "", "---"])
def test_the_first_value_of_a_line_may_be_of_any_type(read, path, first):
    lines = [
        {"code": first, "vendor": "v", "sku": "1", "price": 1},
        {"code": "a", "vendor": None, "sku": 2, "price": 2},
    ]
    file = path("".join(json.dumps(line) + "\n" for line in lines), "stock.jsonl")
    assert [row["sku"] for row in read(files=file).rows] == ["1", "2"]


def test_the_notation_of_texts_is_not_that_of_json_numbers(read, path):
    lines = '{"vendor": "v", "sku": "1", "price": "1,50"}\n{"vendor": "v", "sku": "2", "price": 1.5}\n'
    assert [row["price"] for row in read(files=path(lines, "a.jsonl"), decimal_mark=",").rows] == ["1.50", "1.5"]


@pytest.mark.parametrize(
    "line",
    [
        "nonsense",
        '{"vendor": "v"',
        '["v", 1]',
        '{"sku": "1", "sku": "2"}',
        "[" * 5000,
    ],
)
@pytest.mark.parametrize("rows", [1, 2, 100])
def test_a_broken_line_costs_itself_and_is_named(read, path, line, rows):
    good = '{"vendor": "v", "sku": "%s", "price": 1.5}\n'
    first = "".join(good % number for number in range(1000))
    found = read(files=path(first + f"{line}\n" + good % "last", "a.jsonl"), chunk_rows=rows * 100).rows
    [bad] = [row for row in found if "\ufffd" in row["sku"]]
    assert bad["sku"].startswith("\ufffd line 1001: ")
    assert len(found) == 1002


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "1e99999999999999999999", "-" + "9" * 5000])
@pytest.mark.parametrize("name", ["max_sales_quantity", "cost", "more"])
def test_a_number_that_is_none_costs_no_row(read, path, value, name):
    row = f'{{"vendor": "v", "sku": "1", "price": 1.5, "quantity": 0, "{name}": {value}}}\n'
    [found] = read(files=path(row, "a.jsonl")).rows
    assert (found["sku"], found["price"], found["quantity"]) == ("1", "1.5", "0")
    assert found.get(name, value)[:9] == value[:9]


@pytest.mark.parametrize("value", ["NaN", "-Infinity", "1e99999999999999999999"])
def test_a_number_that_is_none_is_no_key(read, path, value):
    rows = f'{{"vendor": "v", "sku": "1", "price": 1}}\n{{"vendor": "v", "sku": {value}, "price": 1}}\n'
    found = read(files=path(rows, "a.jsonl")).rows
    assert [row["sku"][:9] for row in found] == ["1", "\ufffd line 2:"]


@pytest.mark.parametrize(
    ("columns", "theirs"),
    [({}, "max_sales_quantity"), ({}, "MAX_SALES_QUANTITY"), ({"max_sales_quantity": "limit"}, "limit")],
)
def test_a_key_that_stands_in_late_lines_alone_is_read(read, path, columns, theirs):
    """Programs leave out what is null: a sales limit of few products begins anywhere."""
    row = '{"vendor": "v", "sku": "%s", "price": 1.5}\n'
    late = f'{{"vendor": "v", "sku": "late", "price": 2, "beside": {{"limits": 4}}, "{theirs}": 3}}\n'
    found = read(files=path("".join(row % number for number in range(1500)) + late, "a.jsonl"), columns=columns).rows
    assert (found[-1]["sku"], found[-1]["price"], found[-1]["max_sales_quantity"]) == ("late", "2", "3")
    assert not [one for one in found if "\ufffd" in one["sku"]]


def test_json_that_was_cut_or_is_no_lines_sends_nothing(read, path):
    with pytest.raises(IncompleteExtractError, match="cut in the middle of the row that begins in line 2"):
        read(files=path('{"vendor": "v", "sku": "1", "price": 1}\n{"vendor": "v", "sku"', "a.jsonl"))
    with pytest.raises(DataError, match="one object a line"):
        read(files=path("vendor,sku\nv,1\n", "a.jsonl"))
    with pytest.raises(ConfigurationError, match=r"set SHELFSYNC_ERP__FILE_FORMAT to jsonl"):
        read(files=path('{"vendor": "v"}\n', "a.csv"))


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_sniff_knows_json_lines(read, path, mark):
    found = sniff(path(mark + '{"Filiale": "v", "Artikel": 1, "Preis": 1.5}\n', "a.log"))
    assert found.settings["FILE_FORMAT"] == "jsonl"
    assert found.settings["COLUMNS"] == '{"vendor": "Filiale", "sku": "Artikel", "price": "Preis"}'


def test_columns_of_fixed_width_are_read_by_their_places(read, path):
    lines = "0101  0071    1,50\r\n0102Müller   12,00\r\n0102\r\n"
    where = path(lines.encode("cp1252"), "stock.dat")
    rows = read(files=where, fixed_width=PLACES, csv_encoding="cp1252", decimal_mark=",").rows
    assert [(row["vendor"], row["sku"], row["price"]) for row in rows[:2]] == [
        ("0101", "0071", "1.50"),
        ("0102", "Müller", "12.00"),
    ]
    assert rows[2]["sku"].startswith("\ufffd line 3: 4 characters, and the last column begins at 11")


@pytest.mark.parametrize(
    "beside",
    [
        "-" * 40,
        "=" * 12,
        "--- ------ --------",
        "Summe     1.249,30",
        "Summe     1.249,30 Kč",
        "Gesamtsumme            1.249,30",
        "Total",
        "2 Zeilen",
    ],
)
@pytest.mark.parametrize("in_the_middle", [False, True])
def test_a_drawn_line_and_a_total_of_fixed_widths_are_no_rows(read, path, beside, in_the_middle):
    lines = ["0101  0071    1,50", "0101  0072    2,50"]
    lines.insert(1 if in_the_middle else 2, beside)
    count = path("2", "stock.rows")
    found = read(
        files=path("\n".join([*lines, ""]), "stock.dat"), fixed_width=PLACES, decimal_mark=",", control_file=count
    )
    good = [row["sku"] for row in found.rows if not row["sku"].startswith(NO_ROW)]
    assert (good, len(found.rows), found.proof.complete) == (["0071", "0072"], 3, True)


def test_a_title_above_fixed_widths_is_left_out_and_a_cut_line_is_reported(read, path):
    body = "storeSKU   PRICE\n" + "0101000071    1.50\n"
    assert len(read(files=path(body, "a.txt"), fixed_width=PLACES, header_row=1).rows) == 1
    with pytest.raises(IncompleteExtractError, match="cut in the middle of the row that begins in line 2"):
        read(files=path("0101000071    1.50\n0101000", "a.dat"), fixed_width=PLACES)
    with pytest.raises(IncompleteExtractError, match="does not end with a line break"):
        read(files=path("0101000071    1.50\n0101000072    1.", "a.dat"), fixed_width=PLACES)
    assert len(read(files=path("0101000071    1.50\n0101000072    1.50", "a.dat"), fixed_width=PLACES).rows) == 2


@pytest.mark.parametrize("place", ["", "0-3", "9-3", "a-b", "-3"])
def test_a_place_that_is_none_is_named(read, path, place):
    with pytest.raises(ConfigurationError, match=r"FIXED_WIDTH: .* is no place"):
        read(files=path("x\n", "a.dat"), fixed_width=PLACES | {"sku": place})


@pytest.mark.parametrize("packed", [bytes, gzip.compress])
def test_a_line_that_is_padded_in_bytes_is_no_row_with_another_price(read, path, packed):
    names = ["Tee", "Käse süß", "Brot", "Öl", "Kaffee"]
    lines = [name.encode().ljust(12) + b"%04d" % number + b"0001250" for number, name in enumerate(names)]
    places = {"name": "1-12", "sku": "13-16", "price": "17-23"}
    where = path(packed(b"\n".join([*lines, b""])), "stock.dat")
    rows = read(files=where, fixed_width=places, constants={"vendor": "v"}).rows
    good = [(row["sku"], row["price"]) for row in rows if "\ufffd" not in row["sku"]]
    assert good == [("0000", "0001250"), ("0002", "0001250"), ("0004", "0001250")]
    bad = [row["sku"] for row in rows if "\ufffd" in row["sku"]]
    assert all("23 bytes as the other lines, and" in text for text in bad)


def test_two_lines_are_enough_to_show_padding_in_bytes(read, path):
    lines = [name.encode().ljust(12) + b"%04d0001250\n" % number for number, name in enumerate(["Tee", "Käse süß"])]
    places = {"name": "1-12", "sku": "13-16", "price": "17-23"}
    rows = read(files=path(b"".join(lines), "stock.dat"), fixed_width=places, constants={"vendor": "v"}).rows
    assert [row["sku"] for row in rows if "\ufffd" not in row["sku"]] == ["0000"]


def test_lines_that_are_padded_in_characters_are_rows_in_any_letters(read, path):
    names = ["Tee", "Käse süß", "Brot", "Öl", "Kaffee"]
    lines = [f"{name:<12}{number:04}0001250" for number, name in enumerate(names)]
    where = path("\n".join([*lines, ""]), "stock.dat")
    places = {"name": "1-12", "sku": "13-16", "price": "17-23"}
    assert [row["name"] for row in read(files=where, fixed_width=places, constants={"vendor": "v"}).rows] == names


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("words", [["€"], [" Stück"], ["да "] * 9 + ["нет"]], ids=["sign", "unit", "words"])
def test_the_same_letter_in_each_line_is_no_padding_in_bytes(read, path, words, encoding):
    lines = [f"{number:06}    0001250{words[number % len(words)]}" for number in range(20)]
    places = {"sku": "1-6", "price": "11-17"}
    text = "\n".join([*lines, ""]).encode(encoding)
    found = read(files=path(text, "stock.dat"), fixed_width=places, constants={"vendor": "v"}, csv_encoding=encoding)
    assert [row["price"] for row in found.rows] == ["0001250"] * 20


def test_a_mark_directly_behind_a_value_is_another_column(read, path):
    lines = [f"{number:08}    1.50{'N' if number % 9 == 0 else ' '}" for number in range(40)]
    where = path("\n".join(lines), "stock.dat")  # the last line has none, and no line break
    rows = read(files=where, fixed_width={"sku": "1-8", "price": "9-16"}, constants={"vendor": "v"}).rows
    assert [row["price"] for row in rows] == ["1.50"] * 40


def test_a_value_that_goes_on_behind_its_place_is_not_cut(read, path):
    lines = [f"01  {number:04} {1.5:8.2f} {12_345_678 if number == 7 else number:>4}" for number in range(20)]
    places = {"vendor": "1-4", "sku": "5-9", "price": "10-17", "quantity": "18-22"}
    rows = read(files=path("\n".join([*lines, ""]), "stock.dat"), fixed_width=places).rows
    [bad] = [row["sku"] for row in rows if "\ufffd" in row["sku"]]
    assert "line 8: the value goes on behind character 22" in bad
    assert len(rows) == 20


PLACED = {"vendor": "1-4", "sku": "6-11", "price": "12-21", "quantity": "22-26", "active": "28-28"}


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("0001  100007      1.50    5 1", "character 27 is no digit in the other lines"),
        ("0001 100007     1.50    5 1 ", "character 27 is no digit in the other lines"),
        ("0001 10000712    1.50    5 1", "a number does not end where its column does ('12    1.50' at 12-21)"),
        ("0001 100007123456789.50    5 1", "a number does not end where its column does ('123456789.' at 12-21)"),
        ("0001\t100007      1.50    5 1", "a tab stands in it"),
    ],
)
def test_a_line_whose_columns_have_moved_is_no_other_row(read, path, line, why):
    lines = [f"0001 {100000 + number} {1.5:9.2f} {number:4} 1" for number in range(7)]
    for place in (0, 7):
        text = "\n".join([*lines[:place], line, *lines[place:], ""])
        rows = read(files=path(text, "stock.dat"), fixed_width=PLACED).rows
        [bad] = [row["sku"] for row in rows if "\ufffd" in row["sku"]]
        assert why in bad
        assert len(rows) == 8


CLOSE = {"sku": "1-6", "price": "7-12", "quantity": "13-16", "active": "17"}


def close(number, flag="J"):
    return f"{number:06}{699 + number:06}{12:04}{flag}"


@pytest.mark.parametrize(
    ("places", "lines", "moved"),
    [
        pytest.param(CLOSE, [close(n) for n in range(9)], "0" + close(9), id="a character more"),
        pytest.param(CLOSE, [close(n) for n in range(120)], close(121)[1:], id="one less before a flag"),
        pytest.param(CLOSE, [close(n) + "   " for n in range(9)], close(9)[1:] + "   ", id="one less before blanks"),
        pytest.param(
            {**CLOSE, "active": "1"}, [close(n, "") for n in range(9)], close(9, "")[1:], id="before a number"
        ),
    ],
)
def test_a_line_of_another_length_has_moved_where_no_blank_parts_the_columns(read, path, places, lines, moved):
    for at in (0, len(lines)):
        text = "\n".join([*lines[:at], moved, *lines[at:], ""])
        rows = read(files=path(text, "stock.dat"), fixed_width=places, constants={"vendor": "v"}).rows
        assert len(rows) == len(lines) + 1
        [bad] = [row["sku"] for row in rows if "\ufffd" in row["sku"]]
        assert any(why in bad for why in ("its columns may have moved", "goes on behind", "the last column begins at"))


@pytest.mark.parametrize("line", ["{:06}{:8.2f}{:4} {:<10}", "{:06}{:8.2f}{:4} {:<10}   ", "{:06}{:8.2f}{:<4} {:<10}"])
@pytest.mark.parametrize("more", ["  ", " " * 40, "\t"])
def test_more_blanks_at_the_end_of_one_line_move_nothing(read, path, line, more):
    lines = [line.format(n, n + 0.99, n + 1, f"Item {n}") for n in range(20)]
    lines[7] += more
    places = {"sku": "1-6", "price": "7-14", "quantity": "15-18"}
    rows = read(files=path("\n".join([*lines, ""]), "s.dat"), fixed_width=places, constants={"vendor": "v"}).rows
    assert [(row["sku"], row["price"], row["quantity"]) for row in rows] == [
        (f"{n:06}", f"{n}.99", str(n + 1)) for n in range(20)
    ]


def test_more_blanks_in_some_lines_hide_no_line_that_has_moved(read, path):
    lines = [f"{n:<8}{n + 100.99:8.2f}{n + 100:9} JItem {n:<10}" for n in range(25)]
    for line in (3, 9):
        lines[line] += "    "
    lines[7] = "9" + lines[7]
    places = {"sku": "1-8", "price": "9-16", "quantity": "17-25", "active": "26-27", "name": "28-60"}
    settings = {"fixed_width": places, "constants": {"vendor": "v"}, "true_words": ["J"], "false_words": ["N"]}
    rows = read(files=path("\n".join([*lines, ""]), "s.dat"), **settings).rows
    assert ["\ufffd" in row["sku"] for row in rows].count(True) == 1
    assert len(rows) == 25


def test_a_line_that_has_moved_into_an_empty_flag_is_found(read, path):
    lines = [f"{n:<8}{n + 100.99:8.2f}{n + 100:9} {'X' if n % 3 else ' '}" for n in range(9)]
    lines[6] = "9" + lines[6]
    places = {"sku": "1-8", "price": "9-16", "quantity": "17-25", "active": "26-27"}
    settings = {"fixed_width": places, "constants": {"vendor": "v"}, "true_words": ["X"]}
    rows = read(files=path("\n".join([*lines, ""]), "s.dat"), **settings).rows
    assert ["\ufffd" in row["sku"] for row in rows].count(True) == 1


@pytest.mark.parametrize("places", [(0, 6), (6, 6), (10, 10), (14, 14)])
def test_a_longer_line_that_ends_with_blanks_has_moved_where_a_column_shows_it(read, path, places):
    start, end = places
    lines = [f"{n:06}{n + 100.99:8.2f}{n + 100:4} Item      " for n in range(20)]
    lines[7] = lines[7][:start] + "0" + lines[7][end if start else 0 :]
    settings = {"fixed_width": {"sku": "1-6", "price": "7-14", "quantity": "15-18"}, "constants": {"vendor": "v"}}
    rows = read(files=path("\n".join([*lines, ""]), "s.dat"), **settings).rows
    assert sum("\ufffd" in row["sku"] for row in rows) == 1


@pytest.mark.parametrize("quantity", ["{}", "{:<4}", "{:>4}"])
def test_values_of_several_lengths_at_the_end_move_nothing(read, path, quantity):
    lines = [f"{n:06}{699 + n:06}{quantity.format(n)}" for n in range(200)]
    places = {name: CLOSE[name] for name in ("sku", "price", "quantity")}
    rows = read(files=path("\n".join([*lines, ""]), "s.dat"), fixed_width=places, constants={"vendor": "v"}).rows
    assert [(row["sku"], row["quantity"]) for row in rows] == [(f"{n:06}", str(n)) for n in range(200)]


def test_blanks_that_group_thousands_and_a_feed_of_a_page_move_nothing(read, path):
    lines = [f"0001 {100000 + number}  1 234,50 {number:4} 1" for number in range(6)]
    text = "\n".join([*lines[:3], "\f" + lines[3], *lines[4:], ""])
    rows = read(files=path(text, "stock.dat"), fixed_width=PLACED, thousands_mark="space", decimal_mark=",").rows
    assert [(row["sku"], row["price"]) for row in rows] == [(str(100000 + number), "1234.50") for number in range(6)]


def test_a_flag_between_two_columns_is_a_column(read, path):
    lines = [
        f"0001 {100000 + number} {1.5:9.2f} {number:4}{'*' if number == 3 else number % 2 or ' '}1"
        for number in range(20)
    ]
    rows = read(files=path("\n".join([*lines, ""]), "stock.dat"), fixed_width=PLACED).rows
    assert [row["quantity"] for row in rows] == [str(number) for number in range(20)]


def test_a_part_of_a_longer_column_may_be_read(read, path):
    lines = [f"01{number:04}{number:06}0150" for number in range(20)]
    places = {"vendor": "1-2", "sku": "3-6", "price": "13-15"}
    rows = read(files=path("\n".join([*lines, ""]), "stock.dat"), fixed_width=places).rows
    assert {row["price"] for row in rows} == {"015"}


def test_a_last_line_with_a_wrong_value_and_no_line_break_is_no_cut(read, path):
    lines = '{"vendor": "v", "sku": "1", "price": 1}\n{"vendor": "v", "sku": 12.5, "price": 2}'
    rows = read(files=path(lines, "stock.jsonl")).rows
    assert rows[0]["sku"] == "1"
    assert "'sku' is a number with a point" in rows[1]["sku"]
    widths = "\n".join(
        [*(f"0001 {100000 + number} {1.5:9.2f} {number:4} 1" for number in range(9)), "0001\t100009      1.50    9 1"]
    )
    rows = read(files=path(widths, "stock.dat"), fixed_width=PLACED).rows
    assert len(rows) == 10
    assert "a tab stands in it" in rows[-1]["sku"]


@pytest.mark.parametrize("number", ["1e1000000", "-1E+999999", "1e99999999999999999999", "9" * 400 + ".0"])
@pytest.mark.parametrize("column", ["price", "sku", "note"])
def test_a_number_beyond_every_bound_costs_its_row_alone(read, path, column, number):
    line = {"sku": '"2"', "price": "2", "note": "0"} | {column: number}
    lines = (
        '{"vendor": "v", "sku": "1", "price": 1, "note": 0}\n'
        f'{{"vendor": "v", "sku": {line["sku"]}, "price": {line["price"]}, "note": {line["note"]}}}\n'
        '{"vendor": "v", "sku": "3", "price": 3, "note": 0}\n'
    )
    rows = read(files=path(lines, "stock.jsonl")).rows
    assert {"1", "3"} <= {row["sku"] for row in rows}
    assert len(rows) == 3


def test_a_tab_in_the_last_column_and_a_point_without_decimals_move_nothing(read, path):
    places = {"vendor": "1-4", "sku": "6-11", "price": "13-16", "quantity": "17-20", "name": "22-40"}
    lines = [
        f"0001 {100000 + number}   {number}.{number:4} name{chr(9) if number == 5 else ' '}of it" for number in range(9)
    ]
    rows = read(files=path("\n".join([*lines, ""]), "stock.dat"), fixed_width=places, columns={"name": "name"}).rows
    assert [row["sku"] for row in rows] == [str(100000 + number) for number in range(9)]
    lines = [f"0001 {100000 + number}   {number}.{5:04} name" for number in range(9)]
    rows = read(files=path("\n".join([*lines, ""]), "stock.dat"), fixed_width=places).rows
    assert [row["quantity"] for row in rows] == ["0005"] * 9


TRIMMED = {"sku": "1-6", "name": "7-16", "price": "17-22", "quantity": "23-26"}


def trimmed(sku, name, price, quantity, shift=""):
    return f"{sku:6}{name + shift:10}{price:>6}{quantity:>4}".rstrip()


def test_a_last_column_that_is_blank_and_left_out_costs_no_row(read, path):
    lines = [trimmed(f"{100000 + n}", f"Item {n}", f"{n + 1}.50", n if n % 3 else "") for n in range(30)]
    settings = {"fixed_width": TRIMMED, "constants": {"vendor": "v"}}
    rows = read(files=path("\n".join([*lines, ""]), "stock.dat"), **settings).rows
    assert [row["price"] for row in rows] == [f"{n + 1}.50" for n in range(30)]
    assert [row["quantity"] for row in rows] == [str(n) if n % 3 else None for n in range(30)]


@pytest.mark.parametrize("line", ["100099Item 99    9.50", "100099Item 99     9", "100099", "1000"])
def test_a_short_line_whose_values_stand_elsewhere_is_quarantined(read, path, line):
    lines = [trimmed(f"{100000 + n}", f"Item {n}", f"{n + 1}.50", n if n % 3 else "") for n in range(30)]
    text = "\n".join([*lines, line, ""])
    rows = read(files=path(text, "stock.dat"), fixed_width=TRIMMED, constants={"vendor": "v"}).rows
    assert [row["sku"][0] for row in rows].count("\ufffd") == 1
    assert len(rows) == 31


def test_a_short_line_is_quarantined_where_the_program_fills_up_its_lines(read, path):
    lines = [trimmed(f"{100000 + n}", f"Item {n}", f"{n + 1}.50", n) for n in range(30)]
    text = "\n".join([*lines, trimmed("100099", "Item 99", "9.50", ""), ""])
    rows = read(files=path(text, "stock.dat"), fixed_width=TRIMMED, constants={"vendor": "v"}).rows
    assert [row["sku"][0] for row in rows].count("\ufffd") == 1


def test_a_short_last_line_without_a_line_break_is_a_cut(read, path):
    lines = [trimmed(f"{100000 + n}", f"Item {n}", f"{n + 1}.50", n if n % 3 else "") for n in range(31)]
    with pytest.raises(IncompleteExtractError, match="does not end with a line break"):
        read(files=path("\n".join(lines), "stock.dat"), fixed_width=TRIMMED, constants={"vendor": "v"})


@pytest.mark.parametrize(
    ("line", "reads"),
    [
        ("100099Item 99      9.50", None),
        ("100099Item 99      9.51234", None),
        ("100099Item 99     9.51 234", ("9.51", "234")),
        ("100099Item 99     9.511234", ("9.51", "1234")),
        ("100099Item 99      9.5 234", ("9.5", "234")),
    ],
)
def test_a_price_whose_last_decimal_stands_in_the_next_column_costs_its_row(read, path, line, reads):
    """Its last digit would be the quantity: 9.5, sold out, for 9.50."""
    lines = [trimmed(f"{100000 + n}", f"Item {n}", f"{n + 1}.50", n if n % 3 else "") for n in range(30)]
    text = "\n".join([*lines, line, ""])
    rows = read(files=path(text, "stock.dat"), fixed_width=TRIMMED, constants={"vendor": "v"}).rows
    found = {row["sku"]: (row["price"], row["quantity"]) for row in rows}
    assert found.get("100099") == reads
    assert len(found) == 31
