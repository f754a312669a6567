"""What the platform's pictures betray of its sales buffers: learned from each one, used only when the settings ask for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.flow.evidence import skus_not_shown_yet
from shelfsync.ledger import vendors

if TYPE_CHECKING:
    import pyarrow as pa

    from shelfsync.flow.house import Parts
    from shelfsync.ledger.observations import Observation


def known_intervals(parts: Parts, vendor: str) -> pa.Table:
    """What was learned of a vendor's buffers (INTERVAL shape); nothing unless SHELFSYNC_EFFECT__SPARE is `learned`."""
    from shelfsync.catalog.effect import INTERVAL

    if parts.settings.effect.spare != "learned":
        return INTERVAL.empty_table()
    return _read(parts, vendor)


def learned(parts: Parts, seen: Observation, baseline: pa.Table, observed: pa.Table, drift: pa.Table) -> str | None:
    """The lake's path of what is known after this picture; None when it taught nothing.

    A SKU that was sent too lately for the picture to show it, or whose `active` drifted (`drift`: sku, field), teaches
    nothing.
    """
    import pyarrow.compute as pc

    from shelfsync.catalog.alignment import column
    from shelfsync.catalog.interval import learn

    late = skus_not_shown_yet(parts, seen)
    if late is None:
        return None
    by_hand = drift.filter(pc.equal(drift["field"], "active"))
    known = _read(parts, seen.vendor)
    now = learn(known, baseline, observed, unsure=[*late, column(by_hand, "sku")])
    return None if now.equals(known) else parts.lake.write_table("intervals", seen.vendor, now)


def _read(parts: Parts, vendor: str) -> pa.Table:
    from shelfsync.catalog.effect import INTERVAL

    with parts.engine.connect() as connection:
        path = vendors.intervals_path(connection, vendor)
    return INTERVAL.empty_table() if path is None else parts.lake.read_table(path)
