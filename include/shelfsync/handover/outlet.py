"""What every way to a store can do, and which of them is configured."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from shelfsync.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from shelfsync.settings import Settings

URL = "SHELFSYNC_ORDERS__HAND_OVER_URL"


@dataclass(frozen=True)
class Document:
    """What a store is told. `text`: JSON; it may tell who the customer is, so it shows in no repr."""

    hand_over_id: int
    order_id: str
    kind: str
    vendor: str
    text: str = field(repr=False)


class Outlet(Protocol):
    """One way. Every method may raise ShelfsyncError in one line, and be called again: a number that is there is not written twice."""

    def write(self, document: Document) -> bool:
        """Makes it visible to the store, durably; True when the store has taken it with that."""

    def taken(self, written: Sequence[tuple[int, str, str]]) -> Collection[int]:
        """The numbers that the store has taken, out of (number, vendor, kind) of those written."""

    def remove_customers(self, documents: Sequence[tuple[int, str, str]]) -> int:
        """Takes the customer out of those (number, vendor, kind) that still lie where we wrote them; how many had one."""

    def close(self) -> None:
        """Lets go of connections."""


def open_outlet(settings: Settings) -> Outlet | None:
    """The configured way, or None where there is none; ConfigurationError for what it lacks. Connects to nothing yet."""
    chosen = settings.orders
    if not chosen.hands_over:
        return None
    if chosen.hand_over == "outbox":
        from shelfsync.handover.outbox import Outbox

        url = chosen.hand_over_url or settings.erp.url
        if url is None:
            raise ConfigurationError(URL, "is not set, and neither is the ERP's", "Name the database of the outbox.")
        return Outbox(url.get_secret_value(), chosen.hand_over_table, chosen.hand_over_timeout_s)
    if chosen.hand_over_url is None:
        what = "the address to call" if chosen.hand_over == "http" else "the folder"
        raise ConfigurationError(URL, "is not set", f"Name {what}.")
    if chosen.hand_over == "files":
        from shelfsync.handover.files import Files

        return Files(chosen.hand_over_url.get_secret_value())
    from shelfsync.handover.signed import SignedCalls

    if chosen.hand_over_secret is None:
        raise ConfigurationError(
            "SHELFSYNC_ORDERS__HAND_OVER_SECRET", "is not set", "Choose one, and give it to the store's system."
        )
    return SignedCalls(
        chosen.hand_over_url.get_secret_value(),
        chosen.hand_over_secret,
        chosen.hand_over_timeout_s,
        settings.platform.private_hosts,
    )
