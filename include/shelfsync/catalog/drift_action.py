"""What follows from each difference: the action that the settings name for its cause, or a rejection after too many resends.

A value that is resent becomes unknown in the baseline.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.rows.alignment import column
from shelfsync.schemas import BASELINE, FIELDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shelfsync.settings.catalog import DriftSettings


def with_action(drift: pa.Table, resent: Mapping[tuple[str, str], int], settings: DriftSettings) -> pa.Table:
    """The differences (sku, field, cause) with their `action`. `resent`: how often each SKU's field was sent again lately."""
    actions = []
    for sku, name, cause in zip(*(drift[each].to_pylist() for each in ("sku", "field", "cause")), strict=True):
        action = str(getattr(settings, cause))
        if action == "resend" and resent.get((sku, name), 0) >= settings.resends_max:
            action = "reject"
        actions.append(action)
    return drift.append_column("action", pa.array(actions, pa.string()))


def with_resends(baseline: pa.Table, drift: pa.Table) -> pa.Table:
    """The baseline (BASELINE schema) in which drifted values (`drift`, DRIFT schema) are null, so that the next delta sends them again.

    A null is no acknowledgement: the next delta sends what the ERP wants by then. With `active` the quantity is sent again, because the
    platform derives one from the other. A SKU that the platform does not show is sent again whole.
    """
    skus = column(baseline, "sku")
    columns = {name: column(baseline, name) for name in BASELINE.names}
    for name in FIELDS:
        because = {"quantity": ["active", "sku"]}.get(name, [name, "sku"])
        of_field = drift.filter(pc.is_in(drift["field"], value_set=pa.array(because)))
        drifted = pc.is_in(skus, value_set=column(of_field, "sku"))
        columns[name] = pc.if_else(drifted, pa.scalar(None, columns[name].type), columns[name])
    return pa.Table.from_arrays([columns[name] for name in BASELINE.names], schema=BASELINE)
