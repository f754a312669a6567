"""What a file is by its first bytes, whatever its name says: a kind that shelfsync does not read here is named, with the way out."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shelfsync.erp.packed_files import ZIP, ZST
from shelfsync.errors import ConfigurationError

if TYPE_CHECKING:
    from shelfsync.erp.address import FoundFile

FILE_FORMAT = "SHELFSYNC_ERP__FILE_FORMAT"


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
        (ZIP,),
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
    Kind((b"\x1f\x8b", *ZST, b"BZh", b"\xfd7zXZ"), "a file that is packed twice", "Pack it once."),
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
