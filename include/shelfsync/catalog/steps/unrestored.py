"""Unrestored: what the guards would do with an extract without restorations, so that the end of a restoration trips no guard."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shelfsync.catalog.ledger import runs

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

    from shelfsync.catalog.guard import HeldChanges
    from shelfsync.catalog.guards.case import Case
    from shelfsync.catalog.ledger.vendor_runs import VendorRun
    from shelfsync.context import Context


@dataclass(frozen=True)
class Unrestored:
    """What is recorded of an extract while a restoration changes it."""

    path: str | None = None
    """Lake: UNRESTORED schema; None: no restoration changes anything any more."""
    rules: frozenset[str] = frozenset()
    """The guards that would hold some of the ERP's own changes."""
    carried: frozenset[int] = frozenset()
    """Declined or expired holds whose values the ERP still has beneath the restoration."""


def read(context: Context, path: str | None) -> pa.Table | None:
    """The record of the extract before; None if there is none, or its file is gone."""
    return None if path is None or not context.lake.exists(path) else context.lake.read_table(path)


def is_concerned(row: VendorRun, case: Case) -> bool:
    """Whether a restoration changes the snapshot, or did so lately and the platform does not have the ERP's values yet."""
    return bool(row.restorations) or case.unrestored is not None


def follow(
    context: Context, row: VendorRun, case: Case, *, approved: Iterable[pa.Table], declined: Iterable[HeldChanges]
) -> Unrestored:
    """Applies the guards to the ERP's own changes. Released changes move what would be acknowledged; held ones do not."""
    from shelfsync.catalog.guard import guard as pure
    from shelfsync.catalog.unrestored import next_unrestored, without_restorations

    if not is_concerned(row, case):
        return Unrestored()
    erp = context.lake.read_table(row.erp_path or row.snapshot_path or "")
    quarantined = None if row.quarantine_path is None else context.lake.read_table(row.quarantine_path)
    with context.engine.connect() as connection:
        complete = runs.is_complete(connection, row.extract_id)
    plain = without_restorations(
        case, erp, quarantined=quarantined, complete=complete, key=context.settings.platform.item_key
    )
    verdict = pure(plain, approved=approved, declined=declined)
    left = next_unrestored(case, erp, verdict.released, row.restorations or [])
    return Unrestored(
        context.lake.write_table("unrestored", row.vendor, left) if left.num_rows else None,
        frozenset(one.rule for one in verdict.held_changes),
        frozenset(one.carried for one in verdict.held_changes if one.carried is not None),
    )
