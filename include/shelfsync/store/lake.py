"""The lake: immutable files named by their content, on any fsspec address.

A file appears whole or not at all: it is written under another name, synced, hashed and then renamed (object stores: put in one request). Writing
the same content twice gives the same path and costs nothing, so every step may be run again. The ledger holds the paths, which are
relative to the lake's root: the lake can be moved.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import errno
import hashlib
import logging
import os
import re
import shutil
import tempfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO, cast
from urllib.parse import quote

from shelfsync.errors import ConfigurationError, DataError, TryAgainError
from shelfsync.store.object_store import ObjectStore

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    import pyarrow as pa

log = logging.getLogger(__name__)

PLAIN_BYTES_MAX = 150
"""A longer name is cut and ends in its digest: a filesystem takes 255 bytes."""

_CUT_BYTES = 120
_CHUNK_BYTES = 1 << 20
_ON_S3 = re.compile(r"s3a?://[^@?]+")
"""An address without credentials and options, which obstore reads; any other is fsspec's."""

_OF_ONE_FOLDER = frozenset(
    (errno.EACCES, errno.EPERM, errno.EEXIST, errno.EISDIR, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG)
)
"""What is wrong with the folder of one store, as of a process that ran as another user; a full disk is not."""

_UNIQUE = frozenset({"sku", "barcode", "row_number"})
"""Columns whose values hardly ever repeat within a vendor: a dictionary of them makes a file larger and both ways slower."""


def how_written(columns: Sequence[str]) -> dict[str, Any]:
    """What Parquet files of these columns have in common, as pyarrow's options: rows are looked for by their SKU alone."""
    return {
        "compression": "zstd",
        "write_page_checksum": True,  # a damaged bit may leave a readable file with another price
        "use_dictionary": [name for name in columns if name not in _UNIQUE],
        "write_statistics": [name for name in columns if name == "sku"],
    }


def segment(name: str) -> str:
    """The name as one part of a path: of this name alone, never a way to another folder, never hidden, at most 255 bytes.

    Whatever is no plain character of a name is written as %XX. A cut name is longer than any that is not cut, so that the two never meet.
    """
    data = name.encode("utf-8", "surrogatepass")
    text = quote(data, safe="") or "_"
    if text.startswith("."):
        text = f"%2E{text[1:]}"
    if name == "_":
        text = "%5F"
    if len(text) <= PLAIN_BYTES_MAX:
        return text
    return f"{text[:_CUT_BYTES]}~{hashlib.sha256(data).hexdigest()}"


class OneFileError(ConfigurationError):
    """One file or folder of the lake cannot be used. Those of other stores can."""


class LostFileError(OneFileError):
    """The lake has no such file, or one that is cut or damaged."""


@dataclass(frozen=True)
class LakeFile:
    """A published file: its path below the root, its length, and when it was last published."""

    path: str
    bytes: int
    modified_at: dt.datetime


@dataclass
class Staged:
    """A file being written; `path` is set when it has been published."""

    file: IO[bytes]
    path: str = ""
    digest: str | None = None
    """Of its content, if who writes it has one at the end: then it is the file's name."""


class Lake:
    """Reads and writes files below `root`: a folder or any fsspec address. No I/O before the first use."""

    def __init__(self, root: str) -> None:
        self.root = root.rstrip("/")

    def write_table(self, kind: str, vendor: str, table: pa.Table, *, digest: str | None = None) -> str:
        """Writes one table as Parquet (zstd, one row group a million rows) and returns its path.

        `digest`: a digest of its content, if the caller has one, and then the file's name; `table_path` has the path without writing.
        """
        import pyarrow.parquet as pq

        with self.staged(kind, vendor, ".parquet", digest) as staged:
            pq.write_table(table, staged.file, row_group_size=1 << 20, **how_written(table.column_names))
        return staged.path

    def table_path(self, kind: str, vendor: str, digest: str) -> str:
        """The path of a table that is written with this digest."""
        return _path(kind, vendor, digest, ".parquet")

    def read_table(self, path: str, columns: list[str] | None = None, begin: str = "") -> pa.Table:
        """Reads a whole table: one vendor's rows, never a chain's. `begin`: only the rows whose SKU begins so."""
        import pyarrow.compute as pc
        import pyarrow.parquet as pq

        with self._whole(path) as file:
            table = pq.ParquetFile(file, page_checksum_verification=True)
            if not begin:
                return table.read(columns=columns)
            begins = pc.starts_with(table.read(["sku"])["sku"], begin)
            if pc.any(begins).as_py():
                return table.read(columns=columns).filter(begins)
            return table.schema_arrow.empty_table().select(columns or table.schema_arrow.names)

    def read_or_empty(
        self, path: str | None, schema: pa.Schema, columns: list[str] | None = None, begin: str = ""
    ) -> pa.Table:
        """As `read_table`; None: there is no such file yet, which is an empty table of the schema."""
        return schema.empty_table() if path is None else self.read_table(path, columns, begin)

    def read_if_kept(self, path: str | None, schema: pa.Schema, columns: list[str] | None = None) -> pa.Table:
        """As `read_or_empty`, also if the file is lost: housekeeping may have removed it."""
        rows = self.read_or_none(path, columns)
        return schema.empty_table() if rows is None else rows

    def read_or_none(self, path: str | None, columns: list[str] | None = None) -> pa.Table | None:
        """A table that helps, and without which work goes on; None: there is none, or it is lost."""
        if path is not None:
            with contextlib.suppress(LostFileError):
                return self.read_table(path, columns)
        return None

    def find(self, path: str, sku: str) -> dict[str, Any] | None:
        """The row of one SKU in a table that is sorted by SKU; only the row groups that can have it are read."""
        import pyarrow.parquet as pq

        with self._whole(path) as file:
            rows = pq.read_table(file, filters=[("sku", "=", sku)], page_checksum_verification=True).to_pylist()
        return rows[0] if rows else None

    def find_all(self, path: str, skus: Collection[str]) -> list[dict[str, Any]]:
        """The same of several SKUs."""
        import pyarrow.parquet as pq

        with self._whole(path) as file:
            rows: list[dict[str, Any]] = pq.read_table(
                file, filters=[("sku", "in", list(skus))], page_checksum_verification=True
            ).to_pylist()
        return rows

    def write_bytes(self, kind: str, vendor: str, suffix: str, content: bytes) -> str:
        """Writes a small file."""
        with self.staged(kind, vendor, suffix) as staged:
            staged.file.write(content)
        return staged.path

    @contextlib.contextmanager
    def staged(self, kind: str, vendor: str, suffix: str, digest: str | None = None) -> Iterator[Staged]:
        """A file to write to. It is published under its digest if the block succeeds, and removed if it fails."""

        def named(written: Path) -> str:
            return _path(kind, vendor, staged.digest or _sha256(written), suffix)

        with self._staged(f"{kind} of vendor {vendor!r}", suffix, named) as staged:
            staged.digest = digest
            yield staged

    def put(self, path: str, source: IO[bytes]) -> None:
        """Publishes a file of another lake under the path that it had there."""
        with self._staged(path, Path(path).suffix, lambda _: inside(path)) as staged:
            shutil.copyfileobj(source, staged.file, _CHUNK_BYTES)

    @contextlib.contextmanager
    def _staged(self, what: str, suffix: str, named: Callable[[Path], str]) -> Iterator[Staged]:
        folder = self._staging_folder()
        handle, name = tempfile.mkstemp(dir=folder, suffix=suffix)
        try:
            with os.fdopen(handle, "w+b") as file:
                staged = Staged(file)
                yield staged
                file.flush()
                os.fsync(file.fileno())
            staged.path = named(Path(name))
            self._publish(name, staged.path)
        except OSError as error:
            if error.errno is None:
                raise
            raise TryAgainError(f"lake {self.root}: {what} could not be written: {error.strerror}") from error
        finally:
            Path(name).unlink(missing_ok=True)

    def open(self, path: str) -> BinaryIO:
        """A published file, for reading."""
        filesystem, root = self._filesystem
        try:
            return cast("BinaryIO", filesystem.open(f"{root}/{inside(path)}", "rb"))
        except FileNotFoundError:
            raise self._lost(path, "no file") from None
        except PermissionError as error:
            raise self._closed(path, "read", error) from error

    @contextlib.contextmanager
    def _whole(self, path: str) -> Iterator[BinaryIO]:
        """A published table, for reading."""
        import pyarrow as pa

        with self.open(path) as file:
            try:
                yield file
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError, UnicodeDecodeError) as error:
                raise self._lost(path, "a damaged file") from error
            except OSError as error:
                if self._may_be_elsewhere or error.errno is not None:
                    raise  # the store did not answer; pyarrow's own about damaged bytes has no number
                raise self._lost(path, "a damaged file") from error

    @property
    def _may_be_elsewhere(self) -> bool:
        """Whether bytes are fetched while a table is read, so that an error may be the network's. ObjectStore fetches them before."""
        filesystem, _ = self._filesystem
        return not (_is_local(filesystem) or isinstance(filesystem, ObjectStore))

    def _closed(self, path: str, verb: str, error: OSError) -> OneFileError:
        return OneFileError(
            "SHELFSYNC_LAKE_URL",
            f"{self.root}: {path!r} cannot be {verb}: {error.strerror or error}",
            "Look who owns the file and its folder, and give them to the user that runs shelfsync.",
        )

    def _lost(self, path: str, has: str) -> LostFileError:
        return LostFileError(
            "SHELFSYNC_LAKE_URL",
            f"{self.root} has {has} {path!r}, which the ledger points to",
            "Point it at the lake that belongs to this database, or restore the file (docs/how-to/backup.md).",
        )

    def exists(self, path: str) -> bool:
        """Whether this path was published."""
        filesystem, root = self._filesystem
        return bool(filesystem.exists(f"{root}/{inside(path)}"))

    def folders(self) -> Iterator[str]:
        """Every folder that holds files, `kind/vendor`, in order."""
        filesystem, root = self._filesystem
        for kind in _listed(filesystem, root, "directory"):
            if not kind.startswith("."):
                yield from (f"{kind}/{vendor}" for vendor in _listed(filesystem, f"{root}/{kind}", "directory"))

    def files(self, folder: str) -> list[LakeFile]:
        """The files of one folder; one without an age is left out, so that it is never removed."""
        filesystem, root = self._filesystem
        found = []
        for info in filesystem.ls(f"{root}/{inside(folder)}", detail=True):
            at = _modified_at(info)
            if info["type"] == "file" and at is not None:
                found.append(LakeFile(f"{folder}/{str(info['name']).rsplit('/', 1)[-1]}", int(info["size"] or 0), at))
        return found

    def remove(self, path: str, *, not_after: dt.datetime) -> bool:
        """Removes a file unless it was published again after this instant; returns whether it was removed.

        On disk it is first taken out of sight, so that one who publishes the same content meanwhile is not undone.
        """
        filesystem, root = self._filesystem
        target = f"{root}/{inside(path)}"
        if not _is_local(filesystem):
            try:
                info = filesystem.info(target)
            except FileNotFoundError:
                return False
            at = _modified_at(info)
            if at is None or at >= not_after:
                return False
            filesystem.rm_file(target)
            return True
        renamed = Path(self._staging_folder() or "") / f"removed-{Path(path).name}"
        try:
            Path(target).replace(renamed)
        except FileNotFoundError:
            return False
        if renamed.stat().st_mtime >= not_after.timestamp():
            renamed.replace(target)
            return False
        renamed.unlink()
        return True

    def clear_staging(self, before: dt.datetime) -> int:
        """Removes incomplete files of dead processes; returns how many."""
        filesystem, root = self._filesystem
        if not _is_local(filesystem):
            return 0
        removed = 0
        for file in Path(root, ".staging").glob("*"):
            with contextlib.suppress(
                FileNotFoundError, PermissionError
            ):  # one that its writer publishes now, or root's
                if file.stat().st_mtime < before.timestamp():
                    file.unlink()
                    removed += 1
        return removed

    def _publish(self, name: str, path: str) -> None:
        filesystem, root = self._filesystem
        target = f"{root}/{path}"
        if _is_local(filesystem):
            try:
                Path(target).parent.mkdir(parents=True, exist_ok=True)
                Path(name).chmod(0o640)
                Path(name).replace(target)
                _sync_folder(Path(target).parent)
            except OSError as error:
                if error.errno not in _OF_ONE_FOLDER:
                    raise
                raise self._closed(path, "written", error) from error
        else:  # also if it exists: its age shows housekeeping that it is in use
            filesystem.put_file(name, target)

    def _staging_folder(self) -> str | None:
        filesystem, root = self._filesystem
        if not _is_local(filesystem):
            return None
        folder = Path(root) / ".staging"
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigurationError(
                "SHELFSYNC_LAKE_URL",
                f"{self.root} cannot be written: {error.strerror}",
                "Name a folder this user may write to.",
            ) from None
        return str(folder)

    @cached_property
    def _filesystem(self) -> tuple[Any, str]:
        if _ON_S3.fullmatch(self.root):
            return ObjectStore(self.root), ""

        import fsspec

        try:
            # other processes write beside this one: a listing of earlier hides their files, or has their older age
            filesystem, root = fsspec.core.url_to_fs(self.root, use_listings_cache=False)
        except (ValueError, ImportError) as error:
            raise ConfigurationError(
                "SHELFSYNC_LAKE_URL", f"{error}", "Name a folder, or install the driver of that address."
            ) from None
        return filesystem, str(root).rstrip("/")


def inside(path: str) -> str:
    """The path, if every storage resolves it below the lake's root. Raises DataError otherwise."""
    parts = path.split("/")
    strange = any(part in {"", ".", ".."} or "\\" in part or not part.isprintable() for part in parts)
    if strange or parts[0].startswith("."):
        raise DataError(
            f"lake: {path[:200]!r} is no path inside the lake, so it is not opened; look at where it comes from"
        )
    return path


def _listed(filesystem: Any, folder: str, kind: str) -> list[str]:
    """The names of one kind in a folder; none if the folder does not exist."""
    try:
        found = filesystem.ls(folder, detail=True)
    except FileNotFoundError:
        return []
    except PermissionError as error:  # as lost+found of a disk
        log.warning("lake: the folder %s cannot be listed: %s", folder, error.strerror)
        return []
    return sorted(str(info["name"]).rstrip("/").rsplit("/", 1)[-1] for info in found if info["type"] == kind)


def _modified_at(info: dict[str, Any]) -> dt.datetime | None:
    """Every kind of store has another name for it."""
    for name in ("mtime", "LastModified", "last_modified", "updated", "modified", "created"):
        at = info.get(name)
        if isinstance(at, int | float):
            return dt.datetime.fromtimestamp(at, dt.UTC)
        if isinstance(at, str):
            at = dt.datetime.fromisoformat(at)
        if isinstance(at, dt.datetime):
            return at if at.tzinfo else at.replace(tzinfo=dt.UTC)
    return None


def _is_local(filesystem: Any) -> bool:
    protocol = filesystem.protocol
    return "file" in (protocol if isinstance(protocol, tuple | list) else (protocol,))


def _path(kind: str, vendor: str, digest: str, suffix: str) -> str:
    return f"{kind}/{segment(vendor)}/{digest}{suffix}"


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


def _sync_folder(folder: Path) -> None:
    """A rename is only durable when the folder is."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
