"""The hook that every request passes before it leaves: here a shared request budget is plugged in."""

from __future__ import annotations

from typing import Protocol

OPERATIONS = (
    "token",
    "put_catalog",
    "list_catalog",
    "categories",
    "export",
    "create_products",
    "job_status",
    "download",
    "put_promotion",
    "promotion_status",
    "put_order",
    "get_order",
    "list_orders",
    "outlet_status",
)
"""What `admit` and `report` name."""

LANES = ("order", "stop_sell", "price", "catalog", "promotion", "export", "history")
"""By what starving costs, dearest first. Each call has a default and takes another by `lane=`."""


class Gate(Protocol):
    """Asked before every attempt, told after every answer. An async client awaits coroutine methods and runs others in a thread."""

    def admit(self, operation: str, lane: str) -> object:
        """Returns when one request may leave; raises to forbid it (the exception reaches the caller as it is)."""

    def report(self, operation: str, status: int, retry_after_s: float | None, blocked: bool) -> object:
        """An answer of the platform came; `blocked`: its edge refuses this whole address.

        Answers of storage hosts are not reported: their 403 is a dead link, not a pause.
        """

    def done(self, operation: str, lane: str, used: bool) -> object:
        """A leave is through without a word of the platform: a storage host answered (`used`), or nothing was sent after all."""


class OpenGate:
    """Lets everything through: for tools and tests; a flow brings a budget."""

    def admit(self, operation: str, lane: str) -> None:
        """Nothing to ask."""

    def report(self, operation: str, status: int, retry_after_s: float | None, blocked: bool) -> None:
        """Nothing to remember."""

    def done(self, operation: str, lane: str, used: bool) -> None:
        """Nothing to give back."""
