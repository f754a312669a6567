"""The control file: the ERP writes the true number of rows beside its files, which proves that nothing of them is missing.

One file gives the number of all rows; with `{vendor}` in its address, each store has one of its own.
"""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING

from shelfsync.erp import address, text_encoding
from shelfsync.erp.address import FILES, VENDOR, shown
from shelfsync.errors import ConfigurationError, IncompleteExtractError

if TYPE_CHECKING:
    from shelfsync.erp.address import FoundFile
    from shelfsync.erp.broken_store import FilesByStore
    from shelfsync.erp.file_time_limit import TimeLimit
    from shelfsync.settings import SourceSettings

CONTROL_FILE = "SHELFSYNC_ERP__CONTROL_FILE"
_BYTES_MAX = 4096


def is_for_all(settings: SourceSettings) -> bool:
    """Whether one number is about the rows of all stores."""
    return settings.control_file is not None and VENDOR not in settings.control_file


def check_address(settings: SourceSettings) -> None:
    """Raises ConfigurationError if each store has a number of its own, and not its own files."""
    named = settings.control_file is not None and VENDOR in settings.control_file
    if named and VENDOR not in (settings.files or ""):
        raise ConfigurationError(
            CONTROL_FILE,
            f"it holds {VENDOR}, which {FILES} does not",
            f"Name the vendor in {FILES} too, or one file for all.",
        )


def true_rows(
    where: str | None, stores: FilesByStore, limit: TimeLimit, *, some: bool = False
) -> dict[str | None, int] | None:
    """Store -> its true number of rows; None for all together; no dictionary without control files. `some`: of these stores alone.

    A store with files and without a control file, or the other way round, fails alone.
    """
    if where is None:
        return None
    controls = limit.answer(shown(where), lambda: address.find(where, endings=("",), setting=CONTROL_FILE))
    numbers: dict[str | None, int] = defaultdict(int)
    if VENDOR not in where:
        for control in controls:
            numbers[None] += limit.answer(control, partial(_number, control))
        return numbers
    for control in controls:
        if control.vendor in stores and control.vendor not in stores.errors:
            with stores.net(control.vendor):
                numbers[control.vendor] = limit.answer(control, partial(_number, control))
    theirs = {control.vendor for control in controls}
    alone = stores.keys() ^ theirs if not some else stores.keys() - theirs
    for vendor in sorted(alone - stores.errors.keys(), key=str):
        there, missing = (CONTROL_FILE, FILES) if vendor in theirs else (FILES, CONTROL_FILE)
        with stores.net(vendor):
            raise IncompleteExtractError(
                f"Vendor {vendor!r} is in {there} but not in {missing}: a file is missing, and nothing was sent. Let the ERP write both."
            )
    return numbers


def check_rows(vendor: str | None, rows: int, true: dict[str | None, int]) -> None:
    """Raises IncompleteExtractError if other rows of a store were read than its own control file gives."""
    if vendor is not None and vendor in true and rows != true[vendor]:
        raise IncompleteExtractError(
            f"{rows} rows of vendor {vendor!r} were read, and its control file ({CONTROL_FILE}) gives "
            f"{true[vendor]}: nothing was sent. Let the ERP write both again."
        )


def _number(control: FoundFile) -> int:
    """The number in a control file."""
    try:
        with control.fs.open(control.path, "rb") as file:
            data = file.read(_BYTES_MAX)
    except OSError as error:
        raise IncompleteExtractError(
            f"{control.name} ({CONTROL_FILE}) cannot be read: {error.strerror or error}. Run it again."
        ) from None
    text = data.decode(text_encoding.of(data) or "utf-8-sig", "replace").strip()
    if not text.isascii() or not text.isdigit():
        raise ConfigurationError(
            CONTROL_FILE,
            f"{control.path!r} holds {text[:40]!r}",
            "Let the ERP write one whole number there: the rows without the header.",
        )
    return int(text)
