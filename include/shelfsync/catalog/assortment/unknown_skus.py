"""SKUs that the platform rejected as unknown, and their release once a listing or an export that was requested later shows them."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from shelfsync.catalog.ledger import observations, rejections, vendors
from shelfsync.schemas import OBSERVED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy.engine import Connection

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


def release_seen(context: Context, connection: Connection, vendor: str) -> None:
    """Releases SKUs that were unknown to the platform and are in its newest listing or export, in a transaction of its own.

    The next delta sends them again.
    """
    seen = observations.newest(connection, vendor)
    unknown = [] if seen is None else rejections.unknown_before(connection, seen)
    if seen is None or not unknown:
        return
    shown = set(context.lake.read_if_kept(seen.path, OBSERVED, ["sku"])["sku"].to_pylist())
    known = [sku for sku in unknown if sku in shown]
    with context.engine.begin() as writing:
        vendors.lock(writing, vendor)  # before its rejections, as every other writer does
        rejections.looked_at(writing, seen, unknown)
        rejections.let_go(writing, vendor, known, seen.how)
    if known:
        log.info("diff: vendor %s: %d SKUs that were unknown are in the newest %s", vendor, len(known), seen.how)
