"""`sniff`: what it proposes is what reads the file, and what a file does not show is told."""

from __future__ import annotations

import contextlib
import functools
import gzip
import http.server
import json
import tarfile
import threading
import zipfile
from decimal import Decimal

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shelfsync.erp.sniff import sniff
from shelfsync.errors import ConfigurationError, DataError, ShelfsyncError

ROWS = [
    ("0101", "100001", "Müller Käse", "1234.50", "1200"),
    ("0101", "100002", "Öl", "4.99", "3"),
    ("0102", "100003", "Tee", "0.89", "17"),
]
NAMES = ("Filiale", "Artikelnr.", "Bezeichnung", "VK-Preis", "Bestand")


@pytest.fixture
def proposed(tmp_path):
    def _proposed(data, name="stock.csv"):
        (tmp_path / name).write_bytes(data)
        return sniff(str(tmp_path / name))

    return _proposed


def values(proposal):
    """The proposed settings as `ErpSettings` takes them."""
    return {
        name.lower(): json.loads(value) if value[:1] in "[{" else value for name, value in proposal.settings.items()
    }


def said(proposal):
    return "\n".join(proposal.unsure)


def written(delimiter, decimal, group, *, title=""):
    def number(text):
        whole, _, part = text.partition(".")
        whole = whole if len(whole) < 4 else f"{whole[:-3]}{group}{whole[-3:]}"
        return f"{whole}{decimal}{part}" if part else whole

    cells = [NAMES, *((*row[:3], number(row[3]), number(row[4])) for row in ROWS)]
    return title + "".join(
        delimiter.join(f'"{cell}"' if delimiter in cell else cell for cell in row) + "\n" for row in cells
    )


STYLES = st.sampled_from([(".", ""), (",", ""), (",", "."), (".", ","), (".", "'"), (",", "\u00a0")])
ENCODINGS = st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"])


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.sampled_from(",;\t|~"), STYLES, ENCODINGS, st.booleans())
def test_a_file_is_read_with_the_settings_that_are_proposed_for_it(
    read, tmp_path_factory, delimiter, style, encoding, titled
):
    path = tmp_path_factory.getbasetemp() / "written.csv"
    path.write_bytes(written(delimiter, *style, title="Bestandsliste\n" if titled else "").encode(encoding))
    found = sniff(str(path))
    rows = read(**values(found)).rows
    assert [(row["vendor"], row["sku"]) for row in rows] == [row[:2] for row in ROWS]
    assert [Decimal(row["price"]) for row in rows] == [Decimal(row[3]) for row in ROWS]
    assert [row["quantity"] for row in rows] == [row[4] for row in ROWS]
    assert found.settings.get("HEADER_ROW") == ("2" if titled else None)


@pytest.mark.parametrize(
    ("encoding", "word"),
    [("cp1250", "Żółty ser"), ("cp1251", "Молоко"), ("cp1252", "Crème brûlée"), ("cp850", "Käse"), ("cp1255", "חלב")],
)
def test_an_encoding_that_no_mark_proves_is_shown_beside_others(proposed, encoding, word):
    names = {"cp1251": "магазин;артикул;цена", "cp1255": "סניף;מקט;מחיר"}.get(encoding, "vendor;sku;price")
    found = proposed(f"{names};name\nv;1;4,99;{word}\nv;2;5,99;{word}\n".encode(encoding))
    assert found.settings["CSV_ENCODING"] == encoding
    assert "its encoding cannot be proven" in said(found)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("vendor,sku,price\nv,1,1.299\nv,2,2.500\n", "price '1.299' may be 1299 or 1.299"),
        ('vendor,sku,price\nv,1,"1,299"\n', "price '1,299' may be 1299 or 1.299"),
        ("vendor,sku,price,quantity\nv,1,1.99,1.200\n", "quantity '1.200' is read with three decimals"),
        ("vendor;sku;price\nv;1;1.99\nv;2;1,99\n", "two styles: price '1.99' beside price '1,99'"),
        ("sep=;\nvendor;sku;price\nv;1;1.99\n", "line 1 is for Excel alone"),
        ("vendor;sku;price;\nv;1;1.99\nv;2;1.99\n", "ends with a delimiter, which the rows do not have"),
        ("vendor,sku,price\nv,1,1\nv,2,2\nvendor,sku,price\nv,3,3\n", "stand again in line 4"),
        ("vendor,sku,active\nv,1,X\nv,2,\nv,3,\n", "2 of 3 cells of active are empty, which is no statement"),
        ("vendor,sku,price\nv,1,1\nv,2,2\nVENDOR, SKU, PRICE\nv,3,3\n", "stand again in line 4"),
        ("vendor,sku,price\nv,1,1\nTotal,,1\n", "the last line looks like a total"),
        ("vendor,sku,price\nv,1,1\n\n(1 rows affected)\n", "the last line looks like a total"),
        ("vendor,sku,price\nv,1,1", "does not end with a line break"),
        ("v,1,1.99\nv,2,2.99\n", "no line looks like the names"),
        ("sku,price\n1,1.99\n2,2.99\n", "no column has the name of a store"),
        (
            "vendor,nr,price\nv,1,1.99\nv,2,2.99\n",
            "no column has the name of a SKU ('nr' has another value in each row)",
        ),
        ("vendor,sku,price,vk\nv,1,1.99,3\n", "2 columns may be price: 'price', 'vk'"),
        ("vendor,sku,active\nv,1,ja\nv,2,vielleicht\n", "does not know 'vielleicht'"),
        ('vendor,sku,name,quantity\nv,1,TV 24",3\nv,2,"jam,3\nv,3,x,3\n', "a quote stands inside cells"),
        ("vendor,sku,code,price\nv,1,4006381333931,3\n", "'code' has barcodes with right check digits"),
        (
            "vendor;sku;price\nv;1;1,23,456.50\nv;2;12.00\n",
            "1 of 2 numbers of 'price' are not read with these settings",
        ),
        ("vendor;sku;price\nv;1;12 50\nv;2;3 20\n", "2 of 2 numbers of 'price' are not read with these settings"),
        ("vendor;sku;price\nv;1;١٢\n", "1 of 1 numbers of 'price' are not read with these settings"),
        ("vendor;sku;price\nv;1;1250 c\n", "price '1250 c' has 'c' beside the number, which is no currency"),
        ("vendor;sku;price\nv;1;1½\n", "price '1½' has '½' beside the number"),
        ("vendor;sku;quantity\nv;1;>100\n", "quantity '>100' has '>' beside the number"),
        ("vendor;sku;price_cents\nv;1;150\n", "its name has 'cents': shelfsync reads 150 as 150.00"),
        ("vendor;sku;VK netto\nv;1;1,50\n", "its name has 'netto': the platform shows the price as it is sent"),
        ("vendor;sku;price\nv;4,00638E+12;1,50\n", "its values are rounded, as a spreadsheet shows long numbers"),
        ("vendor;sku;price\n------;---;-----\nv;1;1,50\n", "line 2 is drawn between rows"),
        ("vendor;sku;price\nv;1;1,50;\nv;2;2,50;\n", "the rows end with a delimiter, which the line with the names"),
        ("vendor,sku,price\nv,1,1,50\nv,2,2,50\n", "has 3 cells and the rows have 4; a decimal comma"),
        (
            "vendor,sku,price\n" + "".join(f"v,{n},{99 + 50 * n}\n" for n in range(20)),
            "each 'price' is whole. If the ERP counts in cents, shelfsync would send 150 as 150.00",
        ),
        ('"vendor", "sku", "price"\n"v", "1", "1.50"\n', "a quote stands behind a blank and encloses no cell"),
    ],
)
def test_what_a_file_does_not_show_is_told(proposed, text, told):
    assert told in said(proposed(text.encode()))


def test_a_short_name_of_the_description_is_known(proposed):
    settings = proposed(b"STORE,ITEM,DESCR,PRICE\nv,1,Tea,1.50\n").settings
    assert json.loads(settings["COLUMNS"])["name"] == "DESCR"


def test_a_euro_behind_each_price_shows_the_encoding(read, proposed):
    rows = "".join(f"v;{place};Käse {place};{place}.490,50 €\n" for place in range(1, 40))
    found = proposed(f"vendor;sku;name;price\n{rows}".encode("cp1252"))
    assert (found.settings["CSV_ENCODING"], found.settings["CURRENCIES"]) == ("cp1252", '["€"]')
    assert read(**values(found)).rows[0]["price"] == "1490.50"


@pytest.mark.parametrize("prices", [["1250 c"], ["99¢"], ["1½"], ["12%"], ["~12"], ["12.50/kg"], ["5 pcs"], [">100"]])
def test_what_is_no_currency_is_not_proposed_as_one(read, proposed, prices):
    found = proposed(
        "".join(["vendor;sku;price\n", *(f"v;{place};{price}\n" for place, price in enumerate(prices))]).encode()
    )
    assert "CURRENCIES" not in found.settings
    assert not any(row["price"].replace(".", "").isdigit() for row in read(**values(found)).rows), "read as no number"


@pytest.mark.parametrize(
    "price",
    ["CHF 12.50", "R$ 12.50", "12.50 \u0440\u0443\u0431.", "Fr. 12.50", "12.50 Kč", "kr 12.50", "₪12.50", "US$12.50"],
)
def test_a_currency_of_any_country_is_proposed(read, proposed, price):
    found = proposed(f"vendor;sku;price\nv;1;{price}\n".encode())
    [row] = read(**values(found)).rows
    assert row["price"] == "12.50"


def test_of_a_gross_and_a_net_price_the_gross_one_is_proposed(proposed):
    found = proposed(b"vendor;sku;net price;gross price;old price\nv;1;1.50;1.79;2.00\n")
    assert json.loads(found.settings["COLUMNS"])["price"] == "gross price"


def test_words_currencies_and_a_minus_behind_are_proposed(read, proposed):
    text = "Markt;EAN;Artikel;Preis;Bestand;aktiv\n1;4006381333931;7;4,99 €;3-;J\n1;NULL;8;5,99 €;NULL;N\n"
    found = proposed(text.encode())
    assert (found.settings["CURRENCIES"], found.settings["MINUS"], found.settings["NULL_WORDS"]) == (
        '["€"]',
        "any",
        '["NULL"]',
    )
    first, second = read(**values(found)).rows
    assert (first["price"], first["quantity"], first["active"], first["barcode"]) == (
        "4.99",
        "-3",
        "true",
        "4006381333931",
    )
    assert (second["quantity"], second["barcode"]) == (None, None)


def test_the_proposed_address_is_found_from_any_folder(tmp_path, monkeypatch):
    (tmp_path / "0101.csv").write_text("sku,price\n7,1.99\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert sniff("0101.csv").settings["FILES"] == str(tmp_path / "0101.csv")
    assert sniff("{vendor}.csv").settings["FILES"] == f"{tmp_path}/{{vendor}}.csv"
    assert sniff(f"file://{tmp_path}/0101.csv").settings["FILES"] == f"file://{tmp_path}/0101.csv"


def test_a_packed_file_and_a_parquet_file_of_another_name_are_understood(read, proposed, tmp_path):
    found = proposed(gzip.compress(written(";", ",", "").encode()), "stock.dat")
    assert found.settings["FILE_FORMAT"] == "csv"
    assert len(read(**values(found)).rows) == 3
    pq.write_table(pa.table({"vendor": ["v"], "SKU": [7], "price": [1.5]}), tmp_path / "stock.bin")
    found = sniff(str(tmp_path / "stock.bin"))
    assert found.settings["FILE_FORMAT"] == "parquet"
    assert [row["sku"] for row in read(**values(found)).rows] == ["7"]


def test_a_huge_file_costs_its_beginning_and_its_end(proposed):
    body = "".join(f"v,{number:07},1.5\n" for number in range(200_000))
    found = proposed(f"vendor,sku,price\n{body}Total,,300000\n".encode())
    assert found.rows_seen < 1000
    assert "the last line looks like a total" in said(found)


@pytest.mark.parametrize(
    ("data", "error", "told"),
    [
        (b"", DataError, "is empty"),
        (b"\xef\xbb\xbf", DataError, "is empty"),
        (b"\xff\xfe", DataError, "is empty"),
        (b" \r\n\r\n", DataError, "is empty"),
        (b"%PDF-1.7", ConfigurationError, "is a PDF"),
        (b"\0\1\2" * 50, DataError, "is no text"),
        (b"hello\nworld\n", DataError, "no delimiter"),
        (gzip.compress(b"a,b\n" * 99, mtime=0)[:20], DataError, "cannot be read"),
        (b"PK\x03\x04 and no archive", ShelfsyncError, "zip archive"),
    ],
)
def test_a_file_that_nothing_can_be_said_about_is_named(proposed, data, error, told):
    with pytest.raises(error, match=told):
        proposed(data)


def test_keys_that_a_run_quarantines_are_named(proposed):
    found = proposed("vendor,sku,price\nstore-001,100001\u00a0,1.99\nstore-001,100002,2.99\n".encode())
    assert any("1 of 2 cells of 'sku'" in line and "NO-BREAK SPACE (U+00A0)" in line for line in found.unsure)
    assert not any("vendor" in line and "another key" in line for line in found.unsure)


_TEXTS = st.text("0123456789.,;:|\t\"'\n\r -()€äאЖ\0\ufeffvendorskuprice=\x1a", max_size=300)
_BEGINNINGS = st.sampled_from(
    [
        b"",
        b"PK\x03\x04",
        b"PAR1",
        b"\x1f\x8b\x08",
        b"\xff\xfe",
        b"\xfe\xff",
        b"sep=;\n",
        b"BZh9",
        b"vendor,sku\n",
        b"\xd0\xcf\x11\xe0",
    ]
)


@settings(max_examples=80, deadline=None)
@given(st.one_of(st.binary(max_size=300), _TEXTS.map(lambda text: text.encode("utf-8", "replace"))), _BEGINNINGS)
def test_any_bytes_give_an_answer_or_one_plain_line(tmp_path_factory, data, beginning):
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_bytes(beginning + data)
    with contextlib.suppress(ShelfsyncError):  # any other error is a defect
        found = sniff(str(path))
        assert all("\n" not in line for line in found.unsure)
        assert json.loads(json.dumps(found.as_dict()))["file"] == str(path)


def test_a_workbook_names_its_second_header_and_its_total(tmp_path):
    book = openpyxl.Workbook()
    for row in (["Bestandsliste"], NAMES, *ROWS, NAMES, *ROWS, ["Summe", None, None, None, 2440]):
        book.active.append(row)
    book.save(tmp_path / "stock.xlsx")
    proposal = sniff(str(tmp_path / "stock.xlsx"))
    assert proposal.settings["HEADER_ROW"] == "2"
    assert "the last row, row 10, looks like a total and no row: 'Summe, 2440'" in said(proposal)
    assert "the names of the columns stand again in row 6" in said(proposal)
    assert proposal.verdict.startswith("With these settings shelfsync reads")
    assert all(column.guess.sure for column in proposal.columns if column.used)


@pytest.mark.parametrize(
    "names",
    [None, ("Filial", "Artikel", "Bezeichnung", "VK-Preis", "Bestand"), ("vendor", "sku", "name", "price", "quantity")],
)
@pytest.mark.parametrize("total", [None, "Summe                                   1240,39   1220"])
def test_columns_of_fixed_width_are_proposed_by_their_blanks(proposed, names, total):
    rows = [(*row[:3], row[3].replace(".", ","), row[4]) for row in ROWS]
    form = "{:<8}{:<10}{:<18}{:>10} {:>8}".format
    text = "\r\n".join(
        [*([form(*names)] if names else []), *(form(*row) for row in rows), *([total] if total else []), ""]
    )
    proposal = proposed(text.encode("cp1252"), "stock.txt")
    assert proposal.kind == "a text with columns of fixed width"
    assert proposal.settings.get("HEADER_ROW") == ("1" if names else None)
    assert "compare them with the description" in said(proposal)
    assert ("looks like a total" in said(proposal)) == (total is not None)
    places = json.loads(proposal.settings["FIXED_WIDTH"])
    cells = [
        [line[int(place.split("-")[0]) - 1 : int(place.split("-")[1])].strip() for place in places.values()]
        for line in (form(*row) for row in rows)
    ]
    assert cells == [list(row) for row in rows]
    if names:
        assert proposal.verdict.startswith("With these settings shelfsync reads")


def test_names_that_stand_beside_their_columns_of_fixed_width_are_taken_in_their_order(read, proposed):
    rows = [
        "0101   100001     1,49   1200 1\n",
        "0101   100002 1.234,50     30 1\n",
        "0102   100003     0,45      0 0\n",
    ]
    found = proposed(f"FILIALE ARTIKEL PREIS BESTAND AKTIV\n{''.join(rows)}".encode(), "stock.txt")
    assert list(json.loads(found.settings["FIXED_WIDTH"])) == ["FILIALE", "ARTIKEL", "PREIS", "BESTAND", "AKTIV"]
    assert [(row["sku"], row["price"], row["active"]) for row in read(**values(found)).rows] == [
        ("100001", "1.49", "1"),
        ("100002", "1234.50", "1"),
        ("100003", "0.45", "0"),
    ]


@pytest.mark.parametrize("names", ["WERK ARTNR BEZEICHNUNG PREIS MENGE", "WERK ARTNR NAME VK-Preis MENGE"])
@pytest.mark.parametrize(
    "goods",
    [
        ("Bio Milch", "Bio Käse", "Bio Tee grün"),
        ("Bio Milch", "Alt Bier", "Rot Wein"),
        ("Schokolade Milch", "Schokolade Nuss", "Schokolade Kirsche"),
        ("Cola 330", "Cola 500", "Cola 150"),
        ("Bio Die Milch", "Bio Der Käse", "Bio Das Eis"),
    ],
)
def test_a_first_word_of_one_length_is_no_column_of_fixed_width(read, proposed, names, goods):
    form = "{:<4} {:<7} {:<18} {:>8} {:>6}\n".format
    rows = [("0101", f"A0000{place}", name, f"{place},49", 100 * place) for place, name in enumerate(goods, 8)]
    text = form(*names.split()) + "".join(form(*row) for row in rows)
    found = proposed(text.encode(), "stock.txt")
    assert list(json.loads(found.settings["FIXED_WIDTH"])) == names.split()
    assert [(row["sku"], row["price"]) for row in read(**values(found)).rows] == [
        (row[1], row[3].replace(",", ".")) for row in rows
    ]
    assert [column.samples for column in found.columns][2] == goods


def test_a_name_of_two_words_stays_with_its_column_of_fixed_width(read, proposed):
    form = "{:<8}{:<9}{:<20}{:>10} {:>8}\n".format
    rows = [
        ("0101", f"10000{place}", f"Bio {name}", f"{place},49", place)
        for place, name in enumerate(["Tee", "Öl", "Eis"])
    ]
    names = ("FILIALE", "ARTIKEL", "TEXT", "VK PREIS", "BESTAND")
    found = proposed((form(*names) + "".join(form(*row) for row in rows)).encode(), "stock.txt")
    assert tuple(json.loads(found.settings["FIXED_WIDTH"])) == names
    assert [row["price"] for row in read(**values(found)).rows] == ["0.49", "1.49", "2.49"]


def test_texts_beside_numbers_show_the_decimal_mark_and_numbers_are_read_as_they_are(read, proposed):
    rows = [
        {"vendor": "v", "sku": "1", "price": "1,50", "quantity": 1.5},
        {"vendor": "v", "sku": "2", "price": 2.25, "quantity": 2},
        {"vendor": "v", "sku": "3", "price": "1.234,50", "quantity": 3},
    ]
    found = proposed("".join(json.dumps(row) + "\n" for row in rows).encode(), "stock.jsonl")
    assert (found.settings["DECIMAL_MARK"], found.settings["THOUSANDS_MARK"]) == (",", ".")
    assert "1 of 3 cells of 'price' are numbers and no texts; shelfsync reads those as they are" in said(found)
    assert "'quantity'" not in said(found)
    assert [row["price"] for row in read(**values(found)).rows] == ["1.50", "2.25", "1234.50"]


def test_texts_beside_numbers_of_a_workbook_show_the_decimal_mark(read, tmp_path):
    book = openpyxl.Workbook()
    for row in (["vendor", "sku", "price"], ["v", "1", "1,50"], ["v", "2", 2.25], ["v", "3", None]):
        book.active.append(row)
    book.save(tmp_path / "stock.xlsx")
    found = sniff(str(tmp_path / "stock.xlsx"))
    assert found.settings["DECIMAL_MARK"] == ","
    assert "1 of 2 cells of 'price' are numbers and no texts" in said(found)
    assert [row["price"] for row in read(**values(found)).rows] == ["1.50", "2.25", None]


@pytest.mark.parametrize("rule", ["-" * 70, "---- -------- ---------", "=" * 70])
def test_a_list_for_people_is_read_by_what_is_proposed_for_it(read, proposed, rule):
    form = "{:<5}{:<9}{:<24}{:>9}{:>9}  {:<4}".format
    title = ["Bestandsliste  Werk / Lager              Seite 1", "Datum: 28.11.2026   Uhrzeit: 05:00"]
    names = form("Werk", "Material", "Bezeichnung", "Preis", "Bestand", "Einh")
    rows = [
        ("0101", "100001", "Milch 3,5 %", "1.234,50", "40", "ST"),
        ("0102", "100002", "Bio Eier", "2,49", "3-", "ST"),
    ]
    page = [rule, names, rule, *(form(*row) for row in rows), form(*rows[0]).replace("100001", "100003")]
    total = "Gesamtsumme                              1.236,99       37"
    found = proposed("\r\n".join([*title, *page, *page[:3], rule, total, ""]).encode("cp1252"), "zmm_best.txt")
    assert found.settings["HEADER_ROW"] == "4"
    assert json.loads(found.settings["COLUMNS"])["vendor"] == "Werk"
    for told in ("is drawn between rows", "has the names of the columns again", "looks like a total"):
        assert told in said(found)
    good = [row for row in read(**values(found)).rows if not row["sku"].startswith("\ufffd")]
    assert [(row["vendor"], row["sku"], row["price"], row["quantity"]) for row in good] == [
        ("0101", "100001", "1234.50", "40"),
        ("0102", "100002", "2.49", "-3"),
        ("0101", "100003", "1234.50", "40"),
    ]


@pytest.mark.parametrize("title", ["Lager;Werk;Markt", "Preis;VK;Nettopreis"])
def test_a_title_of_known_words_is_not_taken_for_the_names(proposed, title):
    found = proposed(f"{title}\nWerk;Artikel;Preis\n0101;7;1,50\n0101;8;2,50\n".encode())
    assert found.settings["HEADER_ROW"] == "2"


@pytest.mark.parametrize(
    ("name", "true", "false", "kind"),
    [
        ("verfügbar", "ja", "nein", "active"),
        ("lieferbar", "J", "N", "active"),
        ("Disponible", "oui", "non", "active"),
        ("available", "yes", "no", "active"),
        ("available", "12", "0", "quantity"),
        ("Disponible", "12", "3", "quantity"),
    ],
)
def test_a_column_that_means_available_is_a_truth_or_a_stock_by_its_values(read, proposed, name, true, false, kind):
    found = proposed(f"vendor;sku;price;{name}\nv;1;1,50;{true}\nv;2;2,50;{false}\n".encode())
    assert json.loads(found.settings["COLUMNS"])[kind] == name
    first, second = (row[kind] for row in read(**values(found)).rows)
    assert first in {"true", true}
    assert second in {"false", false}
    assert ("TRUE_WORDS" in found.settings) == (true in {"ja", "J", "oui"})


@pytest.mark.parametrize("price", ["1.95", "CHF 1\u2019234.50", "1,50 €", "€ 3", "0.250"])
def test_a_column_like_prices_under_an_unknown_name_is_named(proposed, price):
    found = proposed(f"vendor;sku;quantity;Wert A;Gewicht\nv;1;3;{price};7\n".encode())
    assert "no column has the name of a price, and 'Wert A' has numbers like prices" in said(found)


@pytest.mark.parametrize("name", ["gesperrt", "Kennz", "blocked"])
def test_a_column_of_truth_words_that_is_not_used_is_named_with_its_words(proposed, name):
    found = proposed(f"vendor;sku;price;{name}\nv;1;1,50;ja\nv;2;2,50;nein\n".encode())
    assert "active" not in json.loads(found.settings.get("COLUMNS", "{}"))
    assert f"'{name}' has 'ja' and 'nein'. If it says whether a product is on sale, name it in" in said(found)


def test_a_letter_has_no_columns_of_fixed_width(proposed):
    with pytest.raises(DataError, match="no character is blank in every line"):
        proposed(b"Dear team\nthe stock of today is complete\nbest regards\nthe warehouse\n", "stock.txt")


@pytest.fixture
def served(tmp_path):
    """The address of a folder behind HTTP."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_an_address_of_http_is_looked_at_and_read_alike(served, tmp_path):
    text = written(";", ",", ".").encode("cp1252")
    (tmp_path / "stock.csv").write_bytes(text)
    (tmp_path / "stock.csv.gz").write_bytes(gzip.compress(text))
    here = sniff(str(tmp_path / "stock.csv"))
    for name in ("stock.csv", "stock.csv.gz", "stock.csv?signature=secret"):
        there = sniff(f"{served}/{name}")
        assert "secret" not in there.file
        for setting in ("COLUMNS", "DECIMAL_MARK", "THOUSANDS_MARK", "CSV_DELIMITER", "CSV_ENCODING"):
            assert there.settings[setting] == here.settings[setting]
        assert there.verdict.startswith("With these settings shelfsync reads")
    with pytest.raises(ConfigurationError, match="no file is at"):
        sniff(f"{served}/other.csv")


@pytest.mark.parametrize(
    ("prices", "wanted"),
    [
        (["($2.00)", "$1,234.50"], {"MINUS": "any", "THOUSANDS_MARK": ",", "CURRENCIES": '["$"]'}),
        (["-$2.00", "$3.00"], {"CURRENCIES": '["$"]'}),
        (["2,00- EUR", "(3,00 EUR)"], {"MINUS": "any", "DECIMAL_MARK": ",", "CURRENCIES": '["EUR"]'}),
    ],
)
def test_a_currency_inside_brackets_or_behind_a_minus_is_proposed_as_it_is_read(read, proposed, prices, wanted):
    rows = "".join(f"s1;{place};{price};1\n" for place, price in enumerate(prices))
    proposal = proposed(f"vendor;sku;price;quantity\n{rows}".encode())
    assert {
        name: value for name, value in proposal.settings.items() if name not in {"FILES", "CSV_DELIMITER"}
    } == wanted
    assert all(Decimal(row["price"]) for row in read(**values(proposal)).rows)


def test_a_dash_in_place_of_decimals_is_no_minus(read, proposed):
    proposal = proposed(b"vendor;sku;price;quantity\ns1;1;19,-;1\ns1;2;4,99;1\n")
    assert "MINUS" not in proposal.settings
    assert "price '19,-' has a dash in place of decimals" in said(proposal)
    prices = [row["price"] for row in read(**values(proposal) | {"minus": "any"}).rows]
    assert prices == ["19,- (decimal mark ,)", "4.99"]


def test_the_sheet_with_known_names_is_proposed_and_not_the_cover(read, tmp_path):
    book = openpyxl.Workbook()
    book.active.append(["Export of the night"])
    sheet = book.create_sheet("Bestand")
    sheet.append(["as of today"])
    sheet.append(list(NAMES))
    for row in ROWS:
        sheet.append(row)
    book.save(tmp_path / "stock.xlsx")
    proposal = sniff(str(tmp_path / "stock.xlsx"))
    assert (proposal.settings["SHEET"], proposal.settings["HEADER_ROW"]) == ("Bestand", "2")
    assert [row["sku"] for row in read(**values(proposal)).rows] == [row[1] for row in ROWS]
    (tmp_path / "packed.xlsx.gz").write_bytes(gzip.compress((tmp_path / "stock.xlsx").read_bytes()))
    packed = sniff(str(tmp_path / "packed.xlsx.gz"))
    assert "FILE_FORMAT" not in packed.settings
    assert [row["sku"] for row in read(**values(packed)).rows] == [row[1] for row in ROWS]


def test_a_zip_inside_another_packing_is_no_workbook(proposed, tmp_path):
    with zipfile.ZipFile(tmp_path / "inner.zip", "w") as archive:
        archive.writestr("stock.csv", "vendor,sku,price\n")
    data = (tmp_path / "inner.zip").read_bytes()
    with pytest.raises(DataError, match=r"is a zip archive and no workbook; it holds stock\.csv\..*pack it once"):
        proposed(gzip.compress(data), "stock.csv.gz")


def test_a_tar_archive_is_named(tmp_path):
    (tmp_path / "stock.csv").write_text("vendor,sku,price\nv,1,1\n")
    with tarfile.open(tmp_path / "stock.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "stock.csv", "stock.csv")
    with pytest.raises(ConfigurationError, match=r"is a tar archive, by its first bytes\. Let the ERP pack each file"):
        sniff(str(tmp_path / "stock.tar.gz"))
