"""What a file is by its first bytes, whatever its name says: unpacked where it is packed, named where it is of another kind.

gz, zst, bz2 and xz are unpacked as a stream. A zip is unpacked if it has one file. A file that is packed in two ways is named, not unpacked.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import zipfile
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shelfsync.errors import ConfigurationError, DataError, IncompleteExtractError, some_of

if TYPE_CHECKING:
    from shelfsync.erp.address import FoundFile

FILE_FORMAT = "SHELFSYNC_ERP__FILE_FORMAT"
HEAD_BYTES = 512
CUT = (EOFError, zlib.error, lzma.LZMAError, OSError)
"""What reading a packed file that is not whole raises."""
_ZIP = b"PK\x03\x04"
_ZST = (b"\x28\xb5\x2f\xfd", *(bytes([low]) + b"\x2a\x4d\x18" for low in range(0x50, 0x60)))
"""A frame of zst, and one that a program left for itself before it, as pzstd does."""


@dataclass(frozen=True)
class Kind:
    """A kind of file: how it begins, its name with an article, what the operator does about it, and the FILE_FORMAT that may read it."""

    beginnings: tuple[bytes, ...]
    name: str
    remedy: str
    format: str = ""


_SAVE = "Let the ERP write CSV, Parquet, JSON lines or a workbook."
KINDS = (
    Kind((b"PAR1",), "a Parquet file", f"Set {FILE_FORMAT} to parquet.", "parquet"),
    Kind(
        (_ZIP,),
        "a workbook or another zip archive",
        f"If it is a workbook, set {FILE_FORMAT} to workbook.",
        "workbook",
    ),
    Kind(
        (b"\xd0\xcf\x11\xe0",),
        "a document of an old Office program",
        f"If it is a workbook, set {FILE_FORMAT} to workbook.",
        "workbook",
    ),
    Kind((b"%PDF",), "a PDF", _SAVE),
    Kind(
        (b"SQLite format 3",),
        "a database of SQLite",
        "Name it by SHELFSYNC_ERP__URL=sqlite:////PATH, and give a SELECT.",
    ),
    Kind(
        (b"<!DOCTYPE", b"<!doctype", b"<html", b"<HTML"),
        "a page of HTML",
        "Look at it: it may be the error page of a server, or a table that an ERP names .xls. Let the ERP write CSV or a real workbook.",
    ),
    Kind((b"<?xml",), "XML", _SAVE),
    Kind(
        (b'{"', b"{ ", b"{\n", b"{\r", b"{\t", b"{}"),
        "JSON",
        f"If each line is one row, set {FILE_FORMAT} to jsonl.",
        "jsonl",
    ),
    Kind(
        (b'[{"', b"[{ ", b"[{\n", b"[ ", b"[\n", b"[\r", b"[\t", b"[]"),
        "one list of JSON",
        f"{_SAVE} Or make JSON lines of it: jq -c '.[]' FILE > FILE.jsonl.",
    ),
    Kind((b"7z\xbc\xaf", b"Rar!"), "an archive", "Let the ERP write gz, zst or zip."),
    Kind((b"PK\x05\x06",), "a zip archive without a file", "Let the ERP write it again."),
    Kind((b"\x1f\x8b", *_ZST, b"BZh", b"\xfd7zXZ"), "a file that is packed twice", "Pack it once."),
)
"""The kinds that are named; what is packed once is unpacked before."""
RECORD_MARK = b"\x1e"
"""Begins each value of a JSON text sequence."""
_TAR = Kind((), "a tar archive", "Let the ERP pack each file by itself, as gz, zst or zip.")
_TAR_MARK = slice(257, 265)


def of(head: bytes) -> Kind | None:
    """The kind of a file that begins so; None for one that may be text."""
    begins = head.removeprefix(codecs.BOM_UTF8).lstrip(RECORD_MARK)
    if head[_TAR_MARK].startswith((b"ustar\0", b"ustar  \0")):  # of POSIX and of GNU
        return _TAR
    return next((kind for kind in KINDS if begins.startswith(kind.beginnings)), None)


def reject(found: FoundFile, head: bytes, *allowed: str) -> None:
    """Raises ConfigurationError if the file is of a kind that is not one of the `allowed` names."""
    kind = of(head)
    if kind is not None and kind.name not in allowed:
        raise ConfigurationError(FILE_FORMAT, f"{found.name} is {kind.name}, by its first bytes", kind.remedy)


def open_unpacked(found: FoundFile) -> io.BufferedReader:
    """The file as a binary stream, unpacked where its first bytes say that it is packed. Raises OSError if it cannot be opened."""
    binary = found.fs.open(found.path, "rb")
    try:
        head = binary.read(HEAD_BYTES)
        binary.seek(0)
        return io.BufferedReader(_unpacked(found, binary, head))
    except BaseException:
        binary.close()
        raise


def _unpacked(found: FoundFile, binary: Any, head: bytes) -> Any:
    if head.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=binary)
    if head.startswith(_ZST):
        import pyarrow as pa

        return pa.CompressedInputStream(pa.PythonFile(binary, "r"), "zstd")
    if head.startswith(b"BZh"):
        return bz2.BZ2File(binary)
    if head.startswith(b"\xfd7zXZ"):
        return lzma.LZMAFile(binary)
    if head.startswith(_ZIP):
        return _member(found, binary)
    return binary


def _member(found: FoundFile, binary: Any) -> Any:
    """The one file of a zip archive; a workbook as it is. Raises DataError if the archive has several files, or a password."""
    try:
        archive = zipfile.ZipFile(binary)
    except zipfile.BadZipFile:
        raise IncompleteExtractError(
            f"{found.name} is no whole zip archive, and so no whole workbook either. Nothing was sent; let the ERP write it again."
        ) from None
    if "[Content_Types].xml" in archive.namelist() or "content.xml" in archive.namelist():
        binary.seek(0)
        return binary
    every = [one for one in archive.infolist() if not one.is_dir()]
    files = [one for one in every if not _is_of_system(one.filename)] or every
    if len(files) != 1:
        raise DataError(
            f"{found.name} is a zip archive of {len(files)} files ({some_of([one.filename for one in files])}). Nothing was sent; let the ERP pack"
            " one file in each."
        )
    if files[0].flag_bits & 1:
        raise DataError(
            f"{found.name} is a zip archive with a password. Nothing was sent; let the ERP pack it without one."
        )
    return archive.open(files[0])


def _is_of_system(name: str) -> bool:
    """Whether a system wrote this member beside the files that were packed."""
    return name.startswith("__MACOSX/") or name.rpartition("/")[2].startswith(".") or name.endswith("Thumbs.db")
