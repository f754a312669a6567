"""What a text's own bytes say of its encoding; and small files as a Windows program writes them."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shelfsync.erp.single_select import read_statement
from shelfsync.erp.text_encoding import decode, encoding_of, of
from shelfsync.erp.vendor_ids import VendorIds
from shelfsync.settings import ErpSettings

WIDE = ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"]
SQL = "SELECT vendor, sku, price FROM stock"


@pytest.mark.parametrize("encoding", WIDE)
@pytest.mark.parametrize(
    "text",
    [
        "20",
        "vendor;sku\r\n1;2\r\n",
        "\u05de\u05e7\u05d8;\u05de\u05d7\u05d9\u05e8\r\n100001;4,90\r\n",
        "\u043a\u043e\u0434,\u0446\u0435\u043d\u0430\n1,2\n",
        "Cena;Ābols\n1;2\n",
    ],
)
def test_a_wide_encoding_is_known_without_a_mark(encoding, text):
    assert of(text.encode(encoding)) == encoding
    assert decode(text.encode(encoding)) == text


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig", "utf-8"])
def test_a_mark_is_believed_and_is_no_part_of_the_text(encoding):
    assert decode(SQL.encode(encoding)) == SQL


@given(st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0\ufeff")))
def test_no_text_in_utf_8_is_taken_for_another(text):
    assert of(text.encode()) is None


@pytest.mark.parametrize(
    "head", [b"", b"a\0", b"sku,price\n1\0,2\n", b"\0" * 40, b"1\0\0\0\0\0\0\0,2\0\0\n", b"abc\0\0\0\0def\0\0\0"]
)
def test_a_stray_or_padding_nul_makes_no_encoding_of_three_bytes_or_more(head):
    assert of(head) is None or len(head) == 2


@pytest.mark.parametrize("encoding", ["utf-16", *WIDE])
def test_statements_and_store_ids_that_windows_wrote_are_read(tmp_path, encoding):
    (tmp_path / "a.sql").write_bytes(SQL.encode(encoding))
    assert read_statement(("SQL", None), ("SQL_FILE", tmp_path / "a.sql")) == SQL
    (tmp_path / "ids.csv").write_bytes("erp,platform\r\nST1,store-001\r\n".encode(encoding))
    assert VendorIds.of(ErpSettings(vendor_ids_file=tmp_path / "ids.csv")).platform_id("ST1") == "store-001"


def test_a_control_file_in_utf_16_is_read(tmp_path, read):
    (tmp_path / "stock.csv").write_bytes(codecs.BOM_UTF16_LE + "vendor,sku,price\nv,1,2\n".encode("utf-16-le"))
    (tmp_path / "stock.csv.count").write_bytes("1\r\n".encode("utf-16-le"))
    given = {"files": str(tmp_path / "stock.csv"), "csv_encoding": "utf-16"}
    assert len(read(**given, control_file=str(tmp_path / "stock.csv.count")).rows) == 1
    (tmp_path / "stock.csv.count").write_bytes("2\r\n".encode("utf-16-le"))
    with pytest.raises(Exception, match="2"):
        read(**given, control_file=str(tmp_path / "stock.csv.count"))


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
@pytest.mark.parametrize("nuls", ["a\0b,1\n", "\0" * 40])
def test_a_text_with_few_empty_bytes_is_a_text_with_a_doubt(encoding, nuls):
    text = "sku,price\n" + "Käse,1\n" * 100
    found = encoding_of((text + nuls).encode(encoding))
    assert found.name == encoding_of(text.encode(encoding)).name
    assert found.doubts[-1].startswith("line 102 has an empty byte")
    assert encoding_of(bytes(range(256)) * 4) is None
