"""An error about a file names the likely cause and its setting, and no row of a program's own is taken for a product."""

from __future__ import annotations

import re

import pytest

from shelfsync.erp.address import FoundFile, of_several_days
from shelfsync.erp.open import open_source
from shelfsync.errors import ConfigurationError, ShelfsyncError
from shelfsync.rows.quarantine_reason import NO_ROW
from shelfsync.settings import ErpSettings

ROWS = "vendor;sku;price;quantity\nv;1;1.89;10\nv;2;2.89;10\n"


@pytest.fixture
def failure(tmp_path):
    """Why a file cannot be read, by `check` and by a reading: both say the same."""

    def _failure(text, *, checked=True, **settings):
        (tmp_path / "stock.csv").write_text(text, encoding="utf-8")
        given = ErpSettings(files=str(tmp_path / "stock.csv"), **settings)
        with pytest.raises(ShelfsyncError) as read, open_source(given).read() as extract:
            list(extract)
        if checked:
            with pytest.raises(ShelfsyncError) as seen:
                open_source(given).check()
            assert str(seen.value) == str(read.value)
        return str(read.value)

    return _failure


@pytest.mark.parametrize(
    ("text", "settings", "told"),
    [
        (
            ROWS,
            {},
            "CSV_DELIMITER: is ',', and .* seems to have ';', in line 1: 'vendor;sku;price;quantity'. Set it to ';'. `shelfsync sniff /",
        ),
        (ROWS.replace(".", ","), {}, "CSV_DELIMITER: is ',', .*Set it to ';'"),
        (ROWS.replace(";", "\t"), {"csv_delimiter": ";"}, "CSV_DELIMITER: is ';', .*seems to have tab.*Set it to tab"),
        (ROWS.replace(";", "|"), {}, "seems to have pipe.*Set it to pipe"),
        (ROWS.replace(";", ","), {"csv_delimiter": ";"}, "CSV_DELIMITER: is ';', .*seems to have ','"),
        (f"sep=;\n{ROWS}", {}, r"Set it to ';', and SHELFSYNC_ERP__HEADER_ROW to 2\."),
        (
            f"sep=;\n{ROWS}",
            {"csv_delimiter": ";"},
            r"HEADER_ROW: is 1, and line 2 .*line 1 \(sep=\) is for Excel alone. Set it to 2",
        ),
        (
            f"Stock of today\n\n{ROWS}",
            {"csv_delimiter": ";"},
            "HEADER_ROW: is 1, and line 3 .*above it is a title. Set it to 3",
        ),
        (ROWS, {"csv_delimiter": ";", "header_row": 2}, "HEADER_ROW: is 2, and line 1 "),
        (
            ROWS.replace("quantity\n", "quantity;\n"),
            {"csv_delimiter": ";"},
            "ends with ';', so it has 5 cells and each row has 4",
        ),
        (ROWS.split("\n", 1)[1], {"csv_delimiter": ";"}, "No line at the beginning of .* it begins with 'v;1;1.89;10'"),
        (ROWS, {"constants": {"vendor": "v"}, "columns": {"sku": "Nr"}}, "CSV_DELIMITER: is ','"),
    ],
)
def test_the_cause_of_a_file_that_cannot_be_read_is_named(failure, text, settings, told):
    assert re.search(told, failure(text, checked="so it has" not in told, **settings))


def test_a_column_that_is_really_missing_is_still_that(failure):
    assert failure("vendor,nr,price\nv,1,1.5\nv,2,2.5\n").startswith("SHELFSYNC_ERP__COLUMNS: ")


@pytest.mark.parametrize("rows", [1, 2, 3, 50])
@pytest.mark.parametrize(
    "line",
    [
        "vendor,sku,price,quantity",
        "Total,,,20",
        "Summe:,,4.78,20",
        ",Total,,20",
        "(2 rows affected)",
        "Total: 2",
        "2 Zeilen",
        "Итого,,,20",
    ],
)
def test_a_line_of_a_program_is_no_row_and_no_lost_one(read, tmp_path, line, rows):
    (tmp_path / "stock.csv").write_text(f"{ROWS.replace(';', ',')}{line}\n", encoding="utf-8")
    (tmp_path / "stock.count").write_text("2", encoding="utf-8")
    found = read(files=str(tmp_path / "stock.csv"), control_file=str(tmp_path / "stock.count"), chunk_rows=rows)
    assert found.proof.complete, found.proof.how
    assert [row["sku"] for row in found.rows[:2]] == ["1", "2"]
    assert found.rows[2]["sku"].startswith(f"{NO_ROW}line 4: ")


def test_a_header_in_the_middle_and_a_total_without_a_line_break_cost_no_row(read, tmp_path):
    rows = ROWS.replace(";", ",")
    (tmp_path / "stock.csv").write_text(f"{rows}{rows.replace('v,', 'w,')}Total,,,40", encoding="utf-8")
    found = read(files=str(tmp_path / "stock.csv"))
    good = [row for row in found.rows if "\ufffd" not in row["sku"]]
    assert [(row["vendor"], row["sku"]) for row in good] == [("v", "1"), ("v", "2"), ("w", "1"), ("w", "2")]
    assert len(found.rows) == 6


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ("vendor,sku,price\n------,---,-----\nv,1,1.5\nv,2,2.5\n", {}),
        ("vendor;sku;price\n======;===;=====\nv;1;1.5\nv;2;2.5\n", {"csv_delimiter": ";"}),
        (
            " vendor | sku | price\n--------+-----+-------\n v | 1 | 1.5\n v | 2 | 2.5\n(2 rows)\n",
            {"csv_delimiter": "|"},
        ),
        ("+--+\n|vendor|sku|price|\n+----+\n|v|1|1.5|\n|v|2|2.5|\n+----+\n", {"csv_delimiter": "|", "header_row": 2}),
        ("|vendor|sku|price|\n|:---|---|---:|\n|v|1|1.5|\n|v|2|2.5|\n", {"csv_delimiter": "|"}),
    ],
)
def test_a_line_that_a_program_draws_costs_no_row_and_no_proof(read, tmp_path, text, settings):
    (tmp_path / "stock.txt").write_text(text, encoding="utf-8")
    (tmp_path / "stock.rows").write_text("2", encoding="utf-8")
    found = read(
        files=str(tmp_path / "stock.txt"), file_format="csv", control_file=str(tmp_path / "stock.rows"), **settings
    )
    good = [row for row in found.rows if not row["sku"].startswith("\ufffd")]
    assert [(row["vendor"].strip(), row["sku"].strip()) for row in good] == [("v", "1"), ("v", "2")]
    assert any(f"{NO_ROW}line " in row["sku"] and "a drawn line" in row["sku"] for row in found.rows)
    assert (found.proof.complete, found.proof.rows) == (True, 2)


def test_a_store_or_product_of_dashes_is_no_drawn_line(read, tmp_path):
    rows = "vendor,sku,price\n--,---,1.5\nv,-,-\n"
    (tmp_path / "stock.csv").write_text(rows, encoding="utf-8")
    assert [row["sku"] for row in read(files=str(tmp_path / "stock.csv")).rows] == ["---", "-"]


def test_a_product_that_is_called_total_is_a_product(read, tmp_path):
    rows = "vendor,sku,barcode,price\nTotal,1,,1.5\nTotal,2,,2.5\n"
    (tmp_path / "stock.csv").write_text(rows, encoding="utf-8")
    assert [row["sku"] for row in read(files=str(tmp_path / "stock.csv")).rows] == ["1", "2"]


@pytest.mark.parametrize(
    ("names", "days"),
    [
        (["stock-2026-11-26.csv", "stock-2026-11-27.csv"], True),
        (["a_20261126.csv", "a_20261127.csv", "b.csv"], True),
        (["26.11.2026_stock.csv", "27.11.2026_stock.csv"], True),
        (["0101-2026-11-27.csv", "0102-2026-11-27.csv"], False),
        (["part-0001.csv", "part-0002.csv"], False),
        (["10002345.csv", "10002346.csv"], False),
    ],
)
def test_files_of_several_days_are_found_by_their_names(names, days):
    assert (of_several_days([FoundFile(None, name, None) for name in names]) is not None) is days


def test_a_store_of_its_own_file_fails_alone_with_its_cause(tmp_path):
    (tmp_path / "a.csv").write_text(ROWS.replace(";", ","), encoding="utf-8")
    (tmp_path / "b.csv").write_text(ROWS, encoding="utf-8")
    failed = open_source(ErpSettings(files=str(tmp_path / "{vendor}.csv"), columns={})).check()
    assert list(failed) == ["b"]
    assert "CSV_DELIMITER" in failed["b"]
    with pytest.raises(ConfigurationError, match="vendor"):
        ErpSettings(files="x") and open_source(
            ErpSettings(files=str(tmp_path / "{vendor}.csv"), constants={"vendor": "v"})
        )


@pytest.mark.parametrize("rule", ["", "-" * 60 + "\n"])
def test_a_list_of_fixed_widths_that_is_read_as_csv_is_named(read, tmp_path, rule):
    form = "{:<6}{:<8}{:<20}{:>10} {:>8}\n".format
    names = form("Werk", "Artikel", "Text", "Preis", "Bestand")
    goods = ("Milch 3,5 %", "Bio Eier", "Tee", "Brot 1,5 kg")
    rows = [form("0101", f"10000{place}", name, f"{place},49", place) for place, name in enumerate(goods)]
    for title in ("", "Bestandsliste Werk / Lager\n"):
        (tmp_path / "stock.txt").write_text(f"{title}{rule}{names}{rule}{''.join(rows)}", encoding="utf-8")
        with pytest.raises(ConfigurationError, match=r"FIXED_WIDTH: is not set, .* fixed width: Werk, Artikel"):
            read(files=str(tmp_path / "stock.txt"), file_format="csv")


@pytest.mark.parametrize(
    ("names", "proposed"),
    [
        ("Filiale,Artikel,Preis", '{"vendor": "Filiale", "sku": "Artikel", "price": "Preis"}'),
        ("Magasin,Code article,Prix TTC", '{"vendor": "Magasin", "sku": "Code article", "price": "Prix TTC"}'),
        ("vendor,Artikel,Preis", '{"sku": "Artikel", "price": "Preis"}'),
        (
            "\u043c\u0430\u0433\u0430\u0437\u0438\u043d,sku,price",
            '{"vendor": "\u043c\u0430\u0433\u0430\u0437\u0438\u043d"}',
        ),
    ],
)
def test_names_in_another_language_are_proposed(read, tmp_path, names, proposed):
    (tmp_path / "stock.csv").write_text(f"{names}\n0101,7,1.50\n", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="has no column") as raised:
        read(files=str(tmp_path / "stock.csv"))
    assert f"may be it: SHELFSYNC_ERP__COLUMNS='{proposed}'" in str(raised.value)


@pytest.mark.parametrize("ending", ["xls", "xlsx", "ods"])
@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"vendor;sku;price\n0101;7;1,50\n", "is text and no workbook.* Set it to csv"),
        ("vendor\tsku\tprice\n0101\t7\tK\u00e4se\n".encode("utf-16"), "is text and no workbook.* Set it to csv"),
        (b"<html><table><tr><td>vendor</td></tr></table></html>", "is a page of HTML"),
        (b"\r\n<html><table></table></html>", "is a page of HTML"),
        (b"<?xml version='1.0'?><Workbook/>", "is XML"),
        (b"%PDF-1.7", "is a PDF"),
    ],
)
def test_what_an_erp_only_calls_a_workbook_is_named(read, tmp_path, ending, data, told):
    (tmp_path / f"stock.{ending}").write_bytes(data)
    with pytest.raises(ConfigurationError, match=told):
        read(files=str(tmp_path / f"stock.{ending}"))
