"""Where the ERP's files are: an address of any fsspec kind, which may be a file, a folder or a pattern, found as a list of files."""

from __future__ import annotations

import datetime as dt
import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shelfsync.erp.text import text
from shelfsync.errors import ConfigurationError, without_stop

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

FILES = "SHELFSYNC_ERP__FILES"
VENDOR = "{vendor}"
"""The placeholder for the vendor in an address; the vendor is then read from the name of the file."""

_GLOB = re.compile(r"[*?\[]")
_NO_TEXT = re.compile("[\ud800-\udfff]")
"""Python reads a byte of a name that is not UTF-8 as such a character, which no other text has."""
_TOKENS = re.compile(
    r"(?P<vendor>\{vendor\})|(?P<deep>\*\*)|(?P<star>\*)|(?P<one>\?)|(?P<set>\[[^\]]+\])|(?P<text>.)", re.DOTALL
)


@dataclass(frozen=True)
class FoundFile:
    """One file, and the vendor if its name contains it."""

    fs: Any
    path: str
    vendor: str | None
    listed: str = field(default="", compare=False)
    """Its size and time as the listing has them, at no further price: the same from day to day as long as it is not written."""

    @property
    def name(self) -> str:
        """For a person."""
        return f"the file {self.path!r}"

    def written(self) -> dt.datetime | None:
        """When it was last written, if the storage tells."""
        try:
            info = self.fs.info(self.path)
        except OSError:
            return None
        for mark in ("mtime", "LastModified", "last_modified", "updated"):
            value = info.get(mark)
            if isinstance(value, (int, float)):
                return dt.datetime.fromtimestamp(value, dt.UTC)
            if isinstance(value, dt.datetime):
                return value if value.tzinfo else value.replace(tzinfo=dt.UTC)
        return None

    @property
    def readable(self) -> str:
        """Its path as a database stores it: the bytes of a disk's name that are not UTF-8 are escaped."""
        return _NO_TEXT.sub(lambda found: f"\\x{ord(found.group()) & 0xFF:02x}", self.path)

    def stamp(self) -> str:
        """Its state at this moment: what changes with any write or replacement while it is read; `gone` without it."""
        self.fs.invalidate_cache()
        try:
            info = self.fs.info(self.path)
        except OSError:
            return "gone"
        return _stamp(info)


_DATE = re.compile(r"(?<!\d)(?:20\d\d([-_.]?)[01]\d\1[0-3]\d|[0-3]\d([-_.]?)[01]\d\2(?:20)\d\d)(?!\d)")


def of_several_days(found: Sequence[FoundFile]) -> tuple[FoundFile, FoundFile] | None:
    """Two files whose names differ by a date alone: the first and the last of them; None if there are none."""
    alike: dict[str, list[FoundFile]] = {}
    for file in found:
        name = file.path.rsplit("/", 1)[-1]
        if _DATE.search(name):
            alike.setdefault(_DATE.sub("", file.path), []).append(file)
    return next(((files[0], files[-1]) for files in alike.values() if len(files) > 1), None)


def shown(address: str) -> str:
    """An address for a person: without user, password and signed parameters."""
    bare = re.sub(r"://[^/@]*@", "://***@", address)
    return re.sub(r"^(https?://[^?]*)\?.*", r"\1?***", bare)


def find(address: str, *, endings: Sequence[str], setting: str = FILES, may_be_empty: bool = False) -> list[FoundFile]:
    """The files of an address, sorted by path, those of a folder by their endings.

    A ConfigurationError when there are none, unless there may be none; on a disk the folder has to be there even then.
    """
    fs, pattern = _filesystem(address, setting)
    try:
        fs.invalidate_cache()  # the ERP has written since this process last looked
        files = sorted(_files(fs, pattern, tuple(endings)), key=lambda file: file.path)
    except Exception as error:  # noqa: BLE001  each kind of storage has its own tree of errors
        raise ConfigurationError(
            setting,
            f"{shown(address)} cannot be read: {_reason(error)}",
            "Correct the address, or the credentials of the storage.",
        ) from None
    if not files and (folder := _closed_folder(fs, pattern)):
        raise ConfigurationError(
            setting,
            f"the folder {folder!r} cannot be read: Permission denied",
            "Let the operating system's user that runs shelfsync read it.",
        )
    if not files and not (may_be_empty and _may_be_there(fs, pattern)):
        raise ConfigurationError(
            setting,
            f"no file is at {shown(address)}",
            "Correct the address, or see that the ERP has written its files.",
        )
    return files


def names_each_file(address: str, found: Sequence[FoundFile]) -> bool:
    """Whether a file that is missing would be missed: the address is one file, or one for each vendor, and no folder or pattern of parts."""
    if _GLOB.search(address.replace(VENDOR, "")):
        return False
    return VENDOR in address or [file.path.rsplit("/", 1)[-1] for file in found] == [
        address.rstrip("/").rsplit("/", 1)[-1]
    ]


def _filesystem(address: str, setting: str) -> tuple[Any, str]:
    from fsspec.core import url_to_fs

    try:
        fs, path = url_to_fs(address, use_listings_cache=False)  # a file of a minute ago counts
    except ImportError as error:
        raise ConfigurationError(
            setting,
            f"the storage of {shown(address)} needs a package that is not installed: {error}",
            "Install it beside shelfsync.",
        ) from None
    except ValueError as error:
        raise ConfigurationError(
            setting,
            f"{shown(address)} is no address: {error}",
            "Write a path, or an address such as s3://bucket/stock/*.csv.",
        ) from None
    return fs, str(path)


def _may_be_there(fs: Any, pattern: str) -> bool:
    """Whether the folder of an address without a file exists. Most storages have no empty folders; a disk has."""
    if not _is_disk(fs):
        return True
    return bool(fs.isdir(_fixed_part(pattern)))


def _fixed_part(pattern: str) -> str:
    """The folder above the first part of an address that stands for several; the whole address if none does."""
    found = _GLOB.search(pattern.replace(VENDOR, "*"))
    return pattern if found is None else pattern[: found.start()].rsplit("/", 1)[0]


def _files(fs: Any, pattern: str, endings: tuple[str, ...]) -> Iterator[FoundFile]:
    if VENDOR in pattern or _GLOB.search(pattern):
        name = _expression(pattern)
        named = VENDOR in pattern.rsplit("/", 1)[-1]
        yield from _in_closed_folders(fs, pattern)
        for path, info in fs.glob(pattern.replace(VENDOR, "*"), detail=True).items():
            fits = name.fullmatch(path)
            is_folder = info.get("type") == "directory" and not (named and _ends(path, endings))
            if (
                fits and not is_folder and not _is_closed(fs, path.rsplit("/", 1)[0])
            ):  # a folder in the place of a store's file is that store's fault, and is read as one
                yield FoundFile(fs, path, text(fits.groupdict().get("vendor")), _lasting(info))
    elif fs.isdir(pattern):
        for info in fs.ls(pattern, detail=True):
            path = str(info["name"])
            hidden = path.rsplit("/", 1)[-1].startswith((".", "_"))
            if info.get("type") != "directory" and not hidden and path.casefold().endswith(endings):
                yield FoundFile(fs, path, None, _lasting(info))
    elif fs.exists(pattern):
        yield FoundFile(fs, pattern, None, _lasting(fs.info(pattern)))


def _in_closed_folders(fs: Any, pattern: str) -> Iterator[FoundFile]:
    """The files of the stores whose own folder cannot be read: a listing passes over it in silence, as if the store had closed."""
    before, vendor, behind = pattern.partition(VENDOR)
    rest, slash, inside = behind.partition("/")
    if not slash or not _is_disk(fs):
        return
    head = before + vendor + rest
    name = _expression(head)
    for path in fs.glob(head.replace(VENDOR, "*")):
        if (fits := name.fullmatch(path)) and _is_closed(fs, path):
            yield FoundFile(fs, f"{path}/{inside.replace(VENDOR, fits['vendor'])}", text(fits["vendor"]))


def _is_closed(fs: Any, path: str) -> bool:
    """Whether it is a folder of a disk that this process may not list or step into."""
    return _is_disk(fs) and not os.access(path, os.R_OK | os.X_OK) and bool(fs.isdir(path))


def _is_disk(fs: Any) -> bool:
    from fsspec.implementations.local import LocalFileSystem

    return isinstance(fs, LocalFileSystem)


def _closed_folder(fs: Any, pattern: str) -> str | None:
    """The first folder on the way to the files that cannot be read."""
    parts = _fixed_part(pattern).split("/")
    folders = ("/".join(parts[:count]) for count in range(2, len(parts) + 1))
    return next((folder for folder in folders if _is_closed(fs, folder)), None)


def _ends(path: str, endings: Sequence[str]) -> bool:
    return any(ending and path.casefold().endswith(ending) for ending in endings)


_MARKS = ("size", "mtime", "LastModified", "last_modified", "updated", "ETag", "etag")
_MARKS_OF_PLACE = ("ino", "created")
"""Of a disk: the inode, and the time at which anything about the file changed."""


def _stamp(info: Mapping[str, Any], marks: Sequence[str] = (*_MARKS, *_MARKS_OF_PLACE)) -> str:
    return " ".join(f"{mark}={info[mark]}" for mark in marks if info.get(mark) is not None)


def _lasting(info: Mapping[str, Any]) -> str:
    """Whether a file is the one of an earlier day: its size and when it was written, or a storage's version of it, as rsync compares.

    New rights, a hard link of a backup, a copy back to the disk and a new mount change the marks of its place and not its content. So these
    count only while it is read, and where nothing else tells the time. The price: a file that is written anew is not noticed if it has the
    same size and the disk's clock did not move since, or if a program set the old time again.
    """
    return _stamp(info, _MARKS) if info.get("mtime") is not None else _stamp(info)


def _expression(pattern: str) -> re.Pattern[str]:
    """The glob pattern as a regular expression that also takes the vendor out of the name.

    As in a shell, only a dot of the pattern itself matches the dot before a name: a file that is still being written has such a name.
    """
    parts, named, begins = [], False, True
    for token in _TOKENS.finditer(pattern):
        match token.lastgroup:
            case "vendor":
                part = "(?P=vendor)" if named else "(?P<vendor>[^/]+?)"
                named = True
            case "deep":
                part = r"(?:(?!/\.).)*"
            case "star":
                part = "[^/]*"
            case "one":
                part = "[^/]"
            case "set":
                part = token.group().replace("[!", "[^", 1)
            case _:
                part = re.escape(token.group())
        hidden = r"(?!\.)" if begins and token.lastgroup != "text" else ""
        parts.append(hidden + part)
        begins = token.group() == "/"
    return re.compile("".join(parts))


def _reason(error: Exception) -> str:
    words = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return shown(without_stop(words, 300)) or type(error).__name__
