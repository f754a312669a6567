"""The gate that every request passes before it leaves: a shared rate limit plugs in here."""

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
"""The operations that `admit` and `report` name."""

PRIORITIES = ("order", "stop_sell", "price", "catalog", "promotion", "export", "history")
"""The priorities of requests, highest first. Each call has a default and takes another by `priority=`."""


class Gate(Protocol):
    """Admits every attempt before it leaves and receives a report of every answer."""

    def admit(self, operation: str, priority: str, vendors: tuple[str, ...]) -> None:
        """Returns when one request may leave; raises to forbid it (the exception reaches the caller as it is).

        `vendors`: those that the request names, `*` for all of the chain; empty where it names none (a token, a job, an order).
        """

    def report(self, operation: str, status: int, retry_after_s: float | None, blocked: bool) -> None:
        """Reports an answer of the platform; `retry_after_s`: the wait it asks for, in seconds; `blocked`: its edge blocks this whole address.

        The client does not report answers of storage hosts: their 403 is an expired link, not a pause.
        """

    def done(self, operation: str, priority: str, used: bool) -> None:
        """Ends a permit without an answer of the platform: a storage host answered (`used`), or the client sent nothing."""


class OpenGate:
    """Admits every request: for tools and tests. A sync brings a gate with a rate limit."""

    def admit(self, operation: str, priority: str, vendors: tuple[str, ...]) -> None:
        """Admits at once."""

    def report(self, operation: str, status: int, retry_after_s: float | None, blocked: bool) -> None:
        """Records nothing."""

    def done(self, operation: str, priority: str, used: bool) -> None:
        """Returns no permit."""
