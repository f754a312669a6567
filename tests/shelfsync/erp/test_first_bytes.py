"""A file of a kind that is not read is named by its first bytes, with the way out."""

from __future__ import annotations

import gzip

import pytest

from shelfsync.errors import ConfigurationError
from zip_archive import zipped


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"PAR1\x15\x04", r"FILE_FORMAT: .*is a Parquet file, by its first bytes. Set .*FILE_FORMAT to parquet"),
        (zipped(("[Content_Types].xml", b""), ("xl/workbook.xml", b"")), "a workbook.*FILE_FORMAT to workbook"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "old Office program.*FILE_FORMAT to workbook"),
        (b"%PDF-1.7\n", "is a PDF"),
        (b"SQLite format 3\0", "sqlite:////PATH"),
        (b"<!DOCTYPE html><title>502</title>", "error page of a server"),
        (b'<?xml version="1.0"?>\n<list/>', "is XML"),
        (b'{"vendor": "v"}\n', "is JSON, by its first bytes. If each line is one row, set .*FILE_FORMAT to jsonl"),
        (b'[{"vendor": "v"}]', "one list of JSON, by its first bytes. Let the ERP write CSV"),
        (zipped(), "is a zip archive without a file"),
        (b"s.csv".ljust(257, b"\0") + b"ustar".ljust(255, b"\0"), "is a tar archive"),
        (gzip.compress(b"s.csv".ljust(257, b"\0") + b"ustar".ljust(255, b"\0"), mtime=0), "is a tar archive"),
        (b"Rar!\x1a\x07\x01\x00", "is an archive"),
    ],
)
def test_a_file_of_another_kind_is_named_with_the_way_out(read, path, data, told):
    with pytest.raises(ConfigurationError, match=told):
        read(files=path(data))


def test_a_word_of_a_text_is_no_mark_of_an_archive(read, path):
    head = "vendor,sku,price,name\n"
    text = head + "v,1,1.00," + "x" * (256 - len(head) - 9) + "mustard\n"
    assert text.encode()[257:262] == b"ustar"
    assert [row["sku"] for row in read(files=path(text.encode())).rows] == ["1"]
