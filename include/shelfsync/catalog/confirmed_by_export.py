"""A value whose sending has no outcome is confirmed by an export that was requested after it and shows exactly that value (I2)."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.rows.alignment import aligned, column
from shelfsync.schemas import BASELINE, SHOWN


def is_confirmed(sent: str | None, shown: str | None, *, outcome: str, unconfirmed: bool, late: bool) -> bool:
    """Whether the export confirms the value that was `sent` last. `outcome`: of that sending; `unconfirmed`: no value is acknowledged.

    `late`: a request about it was sent too late for this export to show it.
    """
    return unconfirmed and not late and outcome == "unaccounted" and sent is not None and sent == shown


def with_confirmed(baseline: pa.Table, observed: pa.Table, values: tuple[tuple[str, str], ...]) -> pa.Table:
    """The baseline (BASELINE schema) with the values of these (SKU, field) from the observed state (OBSERVED schema)."""
    skus = column(baseline, "sku")
    shown = aligned(observed, skus, SHOWN)
    columns = {name: column(baseline, name) for name in BASELINE.names}
    for name in SHOWN:
        confirmed = pa.array([sku for sku, which in values if which == name], pa.string())
        columns[name] = pc.if_else(pc.is_in(skus, value_set=confirmed), shown[name], columns[name])
    return pa.Table.from_arrays([columns[name] for name in BASELINE.names], schema=BASELINE)
