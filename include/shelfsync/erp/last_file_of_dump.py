"""Which files of changes a dump has: the name of the last one, as the ERP writes it beside the dump, and the files that must be laid over it."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING

from shelfsync.erp import address, text_encoding
from shelfsync.erp.address import VENDOR
from shelfsync.erp.change_file_state import REST_S, ChangeFile, FileState
from shelfsync.erp.changes_query import CHANGES_FILES, CHANGES_SINCE_FILE, Changes
from shelfsync.errors import ConfigurationError, IncompleteExtractError, TryAgainError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from shelfsync.erp.address import FoundFile
    from shelfsync.erp.file_time_limit import TimeLimit
    from shelfsync.settings import ErpSettings

_NAME_BYTES_MAX = 4096


def last_of_dump(settings: ErpSettings, limit: TimeLimit) -> Callable[[str], str]:
    """Sequence -> the name of the last file that the dump has. It raises what is wrong with the text of that sequence."""
    where = settings.changes_since_file or ""
    if VENDOR in where and VENDOR not in (settings.changes_files or ""):
        raise ConfigurationError(
            CHANGES_SINCE_FILE,
            f"it holds {VENDOR}, which {CHANGES_FILES} does not",
            "Name one file for all stores.",
        )
    texts = {
        file.vendor or "": file
        for file in limit.answer(
            address.shown(where), lambda: address.find(where, endings=("",), setting=CHANGES_SINCE_FILE)
        )
    }

    @cache
    def read(sequence: str) -> str:
        if not sequence and VENDOR in where:
            return ""  # what was set aside is of no vendor
        if (file := texts.get(sequence)) is None:
            raise IncompleteExtractError(
                f"No file of {CHANGES_SINCE_FILE} is about vendor {sequence!r}, which has files of changes. Nothing was sent."
                " Let the ERP write it for each store."
            )
        return limit.answer(file, partial(_text, file))

    if VENDOR not in where:
        read("")
    return lambda sequence: read(sequence if VENDOR in where else "")


def check_landed(landed: Sequence[ChangeFile], changes: Changes, settings: ErpSettings) -> None:
    """Raises a DataError or a TryAgainError if rows that have landed cannot be laid over the dump: their older values would come back."""
    for known in landed:
        now = changes.files[known.path]
        if known.path in changes.present and now.state == FileState.TAKEN:
            continue
        if known.path in changes.present and now.state != FileState.QUARANTINED:
            raise TryAgainError(f"{known.path!r} is not whole: {now.reason}", after_s=REST_S)
        why = now.reason if known.path in changes.present else "it is not in the folder any more"
        raise IncompleteExtractError(
            f"{known.path!r} {why.removeprefix('it ') if why else 'cannot be read'}, and {settings.files!r} has not its rows."
            " Nothing was sent. Put the file back as it was, or let the ERP write all rows anew,"
            f" with this name or a later one in {CHANGES_SINCE_FILE}."
        )


def _text(file: FoundFile) -> str:
    """The name in a file, without the spaces around it. Raises an error unless it is one line of text, because what sorts high loses changes."""
    try:
        with file.fs.open(file.path, "rb") as binary:
            data: bytes = binary.read(_NAME_BYTES_MAX + 1)
    except OSError as error:
        raise TryAgainError(f"{file.name} ({CHANGES_SINCE_FILE}) cannot be read: {error.strerror or error}") from None
    name = data.decode(text_encoding.of(data) or "utf-8-sig", "replace").strip()
    if len(data) > _NAME_BYTES_MAX or "\ufffd" in name or not name.isprintable():
        raise IncompleteExtractError(
            f"{file.name} ({CHANGES_SINCE_FILE}) is not one line of text. Nothing was sent."
            " Let the ERP write the name of the last file of changes that the dump has."
        )
    return name
