"""Alert `store_failed`: the last run of a store failed, and nothing else explains it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shelfsync import outages

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def store_failed(row: Mapping[str, Any], times: Mapping[int, Any], away: Callable[..., bool]) -> str | None:
    """The sentence about a store's row of the status; None: its run did not fail, or the service was away that its step needs."""
    if row["last_state"] != "failed" or _explained(row, times, away):
        return None
    return f"{row['vendor']}: run {row['last_run']} failed in the step {row['failed_step']}: {row['error']}"


def _explained(row: Mapping[str, Any], times: Mapping[int, Any], away: Callable[..., bool]) -> bool:
    begun = times.get(row["last_run"])
    service = outages.ERP if row["failed_step"] == "extract" else outages.PLATFORM
    return begun is not None and away((service,), begun.started_at, begun.finished_at)
