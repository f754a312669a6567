"""What brings documents to the stores: one channel of an installation, whichever it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

URL = "SHELFSYNC_ORDERS__HAND_OVER_URL"


@dataclass(frozen=True)
class Document:
    """A document for a store. `text`: JSON; it may hold customer data, so it is not in the repr."""

    hand_over_id: int
    order_id: str
    kind: str
    vendor: str
    text: str = field(repr=False)


class HandOverChannel(Protocol):
    """One channel. Every method may raise a ShelfsyncError and can be called again: a document is not written twice."""

    def write(self, document: Document) -> bool:
        """Makes the document visible to the store, durably; True if the store has taken it by that."""

    def taken(self, written: Sequence[tuple[int, str, str]]) -> Collection[int]:
        """The numbers that the stores have taken. `written`: (number, vendor, kind) of written documents."""

    def remove_customers(self, documents: Sequence[tuple[int, str, str]]) -> int:
        """Removes the customer from these (number, vendor, kind) where they still exist; returns how many had one."""

    def close(self) -> None:
        """Closes its connections."""
