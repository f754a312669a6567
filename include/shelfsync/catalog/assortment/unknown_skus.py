"""SKUs that the platform rejected as unknown, and their release once a listing shows them."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from shelfsync.catalog.ledger import rejections

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shelfsync.context import Context

log = logging.getLogger(__name__)


def unknown_now(context: Context, vendor: str) -> dict[str, int]:
    """SKUs rejected as unknown -> the job that rejected them. Read before the listing that may release them is requested."""
    with context.engine.connect() as connection:
        return rejections.unknown_now(connection, vendor)


def release_listed(context: Context, vendor: str, before: dict[str, int], shown: Iterable[str | None]) -> None:
    """Releases SKUs that were unknown before the listing was requested, and are in it. A wrong listing costs one try."""
    known = {sku: before[sku] for sku in shown if sku in before}
    if not known:
        return
    with context.engine.begin() as connection:
        released = rejections.let_go_unchanged(connection, vendor, known, "listing")
    log.info("vendor %s: %d SKUs that were unknown are in the listing and are sent again", vendor, released)
