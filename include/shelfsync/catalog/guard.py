"""guard: rows of a delta that look like an accident are held for a person; all others flow (I9).

A guard is a function of delta and baseline that returns a Finding: which rows, why in a word, why in a sentence; None when it
finds nothing. `guard` asks each in turn; a row is held by the first that names it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog import companion
from shelfsync.catalog.alignment import column
from shelfsync.columns import HELD

if TYPE_CHECKING:
    from collections.abc import Iterable

REMOVED_ROWS_FREE = 5
"""So many removals always flow: a share of next to nothing says nothing."""


@dataclass(frozen=True)
class Finding:
    """What one guard holds. `rows` is a mask over the delta without nulls."""

    rows: pa.Array
    reason: str
    message: str


@dataclass(frozen=True)
class Guarded:
    """`released` in DELTA shape, `held` in HELD shape; together they are the delta, each sorted by sku."""

    released: pa.Table
    held: pa.Table


def guard(
    delta: pa.Table, baseline: pa.Table, *, removed_share_max: float, removed_rows_free: int = REMOVED_ROWS_FREE
) -> Guarded:
    """Splits a delta into what may be sent and what a person has to look at first."""
    findings = [mass_removal(delta, baseline, share_max=removed_share_max, rows_free=removed_rows_free)]
    return _split(delta, baseline, (finding for finding in findings if finding is not None))


def mass_removal(delta: pa.Table, baseline: pa.Table, *, share_max: float, rows_free: int) -> Finding | None:
    """Holds all removals of a vendor when they are more than `share_max` of the SKUs not known to be inactive, and more than `rows_free`."""
    rows = pc.equal(column(delta, "change"), "removed")
    removed = pc.sum(rows).as_py() or 0
    on_sale = pc.sum(column(baseline, "active").fill_null(True)).as_py() or 0
    if removed <= rows_free or removed <= Fraction(str(share_max)) * on_sale:
        return None
    message = (
        f"{removed} of {on_sale} SKUs on sale are missing from the extract, more than the share of {share_max:g} that"
        " SHELFSYNC_SYNC__REMOVED_SHARE_MAX allows; switching them off waits for a person"
    )
    return Finding(rows, "mass_removal", message)


def _split(delta: pa.Table, baseline: pa.Table, findings: Iterable[Finding]) -> Guarded:
    reason = message = pa.nulls(delta.num_rows, pa.string())
    for finding in findings:
        free = pc.and_(finding.rows, reason.is_null())
        reason = pc.if_else(free, finding.reason, reason)
        message = pc.if_else(free, finding.message, message)
    keep_back = reason.is_valid()
    if not pc.any(keep_back).as_py():
        return Guarded(companion.alone(delta, baseline), HELD.empty_table())
    told = delta.append_column("reason", reason).append_column("message", message)
    released = delta.filter(pc.invert(keep_back))
    return Guarded(companion.alone(released, baseline), told.filter(keep_back).cast(HELD))
