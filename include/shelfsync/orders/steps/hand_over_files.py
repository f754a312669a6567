"""Files for stores: `{vendor}/{number}-{kind}.json`. A store takes one by moving or removing it."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fsspec

from shelfsync.errors import TryAgainError
from shelfsync.orders.customer_for_store import without_customer
from shelfsync.store.lake import segment

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from shelfsync.orders.hand_over_channel import Document


log = logging.getLogger(__name__)


class Files:
    """A folder at any fsspec address. A file appears complete: it is written under another name first, and renamed.

    The operator creates the folder: where it is missing, a share is not mounted. shelfsync creates the stores' folders in it.
    """

    def __init__(self, address: str) -> None:
        self._address = address.rstrip("/")

    def write(self, document: Document) -> bool:
        """Writes the file. A repeat writes the same file again."""
        system, root = self._open()
        target = f"{root}/{_name(document.hand_over_id, document.vendor, document.kind)}"
        try:
            _make_folder(system, target.rpartition("/")[0])
            _put(system, target, document.text)
        except OSError as error:
            raise _trouble(error) from None
        return False

    def remove_customers(self, documents: Sequence[tuple[int, str, str]]) -> int:
        """Rewrites the files that still exist. Files that the store has taken belong to the store.

        TryAgainError: the folder is missing, or a file cannot be used. The others are rewritten before it is raised.
        """
        if not documents:
            return 0
        removed, failure = 0, None
        system, root = self._open()
        for number, vendor, kind in documents:
            target = f"{root}/{_name(number, vendor, kind)}"
            try:
                with contextlib.suppress(FileNotFoundError):
                    system.rm_file(_partial(target))  # of a writer that died
                with contextlib.suppress(FileNotFoundError):
                    removed += _without_customer(system, target)
            except OSError as error:
                failure = error
        if failure is not None:
            raise _trouble(failure) from None
        return removed

    def taken(self, written: Sequence[tuple[int, str, str]]) -> Collection[int]:
        """The numbers whose files no longer exist. Lists each store's folder once; one that cannot be listed hides no other's.

        TryAgainError: the folder of all stores is missing, so nothing is known.
        """
        system, root = self._open()
        present: set[str] = set()
        hidden: set[str] = set()
        for vendor in {vendor for _, vendor, _ in written}:
            folder = segment(vendor)
            try:
                names = system.ls(f"{root}/{folder}", detail=False)
            except FileNotFoundError:  # a store may remove its empty folder
                self._open()  # unless all folders went away meanwhile
            except OSError as error:
                log.warning("hand_over: what vendor %s has taken cannot be seen: %s", vendor, _trouble(error))
                hidden.add(vendor)
            else:
                present |= {f"{folder}/{str(name).rpartition('/')[2]}" for name in names}
        return [
            number
            for number, vendor, kind in written
            if vendor not in hidden and _name(number, vendor, kind) not in present
        ]

    def close(self) -> None:
        """It has no connections."""

    def _open(self) -> tuple[Any, str]:
        """The file system without what it remembers of folders, and the root. TryAgainError: the root is missing."""
        try:
            system, root = fsspec.core.url_to_fs(self._address)
            system.invalidate_cache()
            if _has_folders(system) and not system.isdir(root):
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        except OSError as error:
            raise _trouble(error) from None
        return system, root


_WITH_FOLDERS = frozenset({"file", "sftp", "smb", "ftp", "hdfs", "webhdfs"})
"""The file systems in which a folder exists without a file in it. In an object store it does not."""


def _protocols(system: Any) -> set[str]:
    return set(system.protocol) if isinstance(system.protocol, tuple | list) else {system.protocol}


def _has_folders(system: Any) -> bool:
    return not _WITH_FOLDERS.isdisjoint(_protocols(system))


def _make_folder(system: Any, path: str) -> None:
    """Creates a store's folder, and never the root: on an unmounted share it would hide that the share is missing."""
    if not _has_folders(system):
        system.makedirs(path, exist_ok=True)
    elif not system.isdir(path):
        with contextlib.suppress(FileExistsError):
            system.mkdir(path, create_parents=False)


def _without_customer(system: Any, target: str) -> bool:
    """Rewrites a file; whether it had a customer. One that a store has made unreadable is removed: it may have one."""
    content = system.cat_file(target)
    try:
        text = without_customer(content.decode("utf-8-sig"))
    except (ValueError, TypeError):
        log.warning("hand_over: %s is no document any more; it is removed, because it may hold a customer", target)
        system.rm_file(target)
        return True
    if text is not None:
        _put(system, target, text)
    return text is not None


def _put(system: Any, target: str, text: str) -> None:
    """Writes the file completely or not at all."""
    with system.open(_partial(target), "wb") as file:
        file.write(text.encode())
    _keep_private(system, _partial(target))
    system.mv(_partial(target), target)


def _partial(target: str) -> str:
    return f"{target}.partial"


def _name(number: int, vendor: str, kind: str) -> str:
    return f"{segment(vendor)}/{number:012}-{kind}.json"


def _keep_private(system: Any, path: str) -> None:
    """Lets only the user and the group of shelfsync read a file with customer data, whatever the umask is."""
    if "file" in _protocols(system):
        Path(path).chmod(0o640)


def _trouble(error: OSError) -> TryAgainError:
    return TryAgainError(
        f"the folder of SHELFSYNC_ORDERS__HAND_OVER_URL cannot be used: {error.strerror or type(error).__name__}. "
        "Check that its share is mounted, that it exists (shelfsync does not create it) and that shelfsync may write to it."
    )
