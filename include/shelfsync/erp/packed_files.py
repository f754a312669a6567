"""How packed files are read, whatever their names say: gz, zst, bz2 and xz are unpacked as a stream, and a zip if it has one file.

A file that is packed in two ways is named (`first_bytes`), not unpacked.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
import zlib
from typing import TYPE_CHECKING, Any

from shelfsync.errors import DataError, IncompleteExtractError, some_of

if TYPE_CHECKING:
    from shelfsync.erp.address import FoundFile

HEAD_BYTES = 512
CUT = (EOFError, zlib.error, lzma.LZMAError, OSError)
"""What reading a packed file that is not whole raises."""
ZIP = b"PK\x03\x04"
ZST = (b"\x28\xb5\x2f\xfd", *(bytes([low]) + b"\x2a\x4d\x18" for low in range(0x50, 0x60)))
"""A frame of zst, and one that a program left for itself before it, as pzstd does."""


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
    if head.startswith(ZST):
        import pyarrow as pa

        return pa.CompressedInputStream(pa.PythonFile(binary, "r"), "zstd")
    if head.startswith(b"BZh"):
        return bz2.BZ2File(binary)
    if head.startswith(b"\xfd7zXZ"):
        return lzma.LZMAFile(binary)
    if head.startswith(ZIP):
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
