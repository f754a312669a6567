"""unrestored: what the guards would have done with an extract had there been no restoration, so that its end is no accident to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shelfsync.ledger import runs

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

    from shelfsync.catalog.guard import Slice
    from shelfsync.catalog.guards.case import Case
    from shelfsync.flow.house import Parts
    from shelfsync.ledger.vendor_runs import VendorRun


@dataclass(frozen=True)
class Unrestored:
    """What is remembered of an extract while a restoration makes a difference."""

    path: str | None = None
    """Lake: UNRESTORED shape; None: no restoration makes a difference any more."""
    rules: frozenset[str] = frozenset()
    """The guards that would hold something of the ERP's own changes."""
    carried: frozenset[int] = frozenset()
    """Holds that a person rejected, or let expire, and whose values the ERP still says beneath the restoration."""


def read(parts: Parts, path: str | None) -> pa.Table | None:
    """What the extract before left; None where that is nothing, or a file that is gone."""
    return None if path is None or not parts.lake.exists(path) else parts.lake.read_table(path)


def is_concerned(row: VendorRun, case: Case) -> bool:
    """Whether a restoration lies over the snapshot, or did so lately and the platform does not show the ERP's values yet."""
    return bool(row.restorations) or case.unrestored is not None


def follow(
    parts: Parts, row: VendorRun, case: Case, *, approved: Iterable[pa.Table], rejected: Iterable[Slice]
) -> Unrestored:
    """Asks the guards about the ERP's own changes. What they release moves what would be acknowledged; what they hold does not."""
    from shelfsync.catalog.guard import guard as pure
    from shelfsync.catalog.unrestored import moved, without

    if not is_concerned(row, case):
        return Unrestored()
    erp = parts.lake.read_table(row.erp_path or row.snapshot_path or "")
    quarantined = None if row.quarantine_path is None else parts.lake.read_table(row.quarantine_path)
    with parts.engine.connect() as connection:
        complete = runs.is_complete(connection, row.extract_id)
    plain = without(case, erp, quarantined=quarantined, complete=complete, key=parts.settings.platform.key)
    verdict = pure(plain, approved=approved, rejected=rejected)
    left = moved(case, erp, verdict.released, row.restorations or [])
    return Unrestored(
        parts.lake.write_table("unrestored", row.vendor, left) if left.num_rows else None,
        frozenset(one.rule for one in verdict.slices),
        frozenset(one.carried for one in verdict.slices if one.carried is not None),
    )
