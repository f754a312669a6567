"""Packed files are unpacked by their first bytes, whole or not at all."""

from __future__ import annotations

import bz2
import gzip
import lzma

import pyarrow as pa
import pytest

from shelfsync.errors import ConfigurationError, DataError, IncompleteExtractError
from zip_archive import zipped

CSV = "vendor,sku,price\n" + "".join(f"v,{number:05},1.5\n" for number in range(5000))


PACKED = {
    "gz": gzip.compress,
    "zst": lambda data: bytes(pa.Codec("zstd").compress(data)),
    "zst behind a frame of pzstd": lambda data: (
        b"\x50\x2a\x4d\x18\x04\0\0\0size" + bytes(pa.Codec("zstd").compress(data))
    ),
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zip": lambda data: zipped(("__MACOSX/._stock.csv", b"x"), (".DS_Store", b"y"), ("out/stock.csv", data)),
}


@pytest.mark.parametrize("kind", PACKED)
@pytest.mark.parametrize("name", ["stock.csv", "stock.csv.gz"])
def test_a_packed_file_is_unpacked_whatever_its_name_is(read, path, kind, name):
    assert len(read(files=path(PACKED[kind](CSV.encode()), name)).rows) == 5000
    assert len(read(files=path(CSV.encode(), name)).rows) == 5000


@pytest.mark.slow
@pytest.mark.parametrize("kind", PACKED)
@pytest.mark.parametrize("share", [0.999, 0.5, 0.1])
def test_a_packed_file_that_was_cut_is_no_shorter_file(read, path, kind, share):
    whole = PACKED[kind](CSV.encode())
    for chunk_rows in (10, 5000):
        with pytest.raises(IncompleteExtractError, match=r"broke off|no whole zip"):
            read(files=path(whole[: int(len(whole) * share)]), chunk_rows=chunk_rows)


def test_an_archive_has_one_file_and_no_password(read, path):
    with pytest.raises(DataError, match=r"zip archive of 2 files \(a.csv, b.csv\)"):
        read(files=path(zipped(("a.csv", CSV), ("b.csv", CSV))))
    with pytest.raises(DataError, match="with a password"):
        read(files=path(zipped(("a.csv", CSV), password=True)))
    with pytest.raises(ConfigurationError, match="packed twice"):
        read(files=path(gzip.compress(gzip.compress(CSV.encode()))))


def test_a_hidden_file_is_read_if_the_zip_has_no_other(read, path):
    assert len(read(files=path(zipped((".export.csv", CSV)))).rows) == len(read(files=path(CSV.encode())).rows)
