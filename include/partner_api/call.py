"""One call of the interface: what is requested, and what a repeat of it may do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from partner_api.sender import Receiver, StreamedBody


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the interface. `safe_to_repeat`: a repeat changes nothing. `personal`: its answers hold personal data of customers."""

    operation: str
    priority: str
    vendors: tuple[str, ...]
    """The vendors that the request names, `*` for all of the chain; the gate receives them."""
    method: str
    url: str
    body: bytes | StreamedBody = field(default=b"", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    safe_to_repeat: bool = False
    personal: bool = False
    bearer: bool = True
    admitted: bool = False
    """The caller has already passed the gate."""
    to_platform: bool = True
    """Goes to the platform itself. The gate receives no report of what a storage host answers."""
    connect_to: str | None = None
    deadline_s: float | None = None
    """Seconds for the whole answer; None: DEADLINE_TIMEOUTS times the timeout of one read."""
    head_s: float | None = None
    """Seconds for the head of the answer, where its speed counts; None: as long as for the whole."""
    attempts_max: int | None = None
    """None: that of the client."""
    receiver: Callable[[], Receiver] | None = None
