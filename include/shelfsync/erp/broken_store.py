"""The files of each store: one whose files are broken fails alone, and the others are read (I10)."""

from __future__ import annotations

import contextlib
import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shelfsync.erp.address import shown
from shelfsync.errors import in_one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from shelfsync.erp.address import FoundFile

log = logging.getLogger(__name__)


@dataclass
class StoreFiles:
    """The files of one store, or of all where the address does not name it, and what was read of them.

    `unterminated` are files without a line break at their end.
    """

    files: list[FoundFile] = field(default_factory=list)
    rows: int = 0
    metadata_rows: int = 0
    unterminated: list[str] = field(default_factory=list)


class FilesByStore(dict[str | None, StoreFiles]):
    """The stores of an address by the ERP's id (None: all in one), each with a net of its own: whatever it raises, it fails alone (I10)."""

    def __init__(self, found: Sequence[FoundFile], named: Callable[[str], str]) -> None:
        super().__init__()
        self._named = named
        for file in found:
            self.setdefault(file.vendor, StoreFiles()).files.append(file)
        self.errors: dict[str, Exception] = {}

    @contextlib.contextmanager
    def net(self, vendor: str | None) -> Iterator[None]:
        """Where no store is named, an error is about all rows and goes on."""
        try:
            yield
        except Exception as error:
            if vendor is None:
                raise
            self.errors[vendor] = error

    def good(self) -> list[tuple[str | None, StoreFiles]]:
        """The stores without an error."""
        return [(vendor, store) for vendor, store in self.items() if vendor not in self.errors]

    def failed(self) -> dict[str, str]:
        """The ERP's id -> why. If every store failed, its first error is raised."""
        reasons = {vendor: self._named(shown(in_one_line(error))) for vendor, error in self.errors.items()}
        if self.errors and not self.good():
            first, *others = self.errors
            for vendor in others:
                log.error("%s", reasons[vendor])
            raise self.errors[first]
        return reasons
