"""What follows from each difference: the action that the settings name for its cause, or a rejection after too many resends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shelfsync.settings.catalog import DriftSettings


def with_action(drift: pa.Table, resent: Mapping[tuple[str, str], int], settings: DriftSettings) -> pa.Table:
    """The differences (sku, field, cause) with their `action`. `resent`: how often each SKU's field was sent again lately."""
    actions = []
    for sku, name, cause in zip(*(drift[column].to_pylist() for column in ("sku", "field", "cause")), strict=True):
        action = str(getattr(settings, cause))
        if action == "resend" and resent.get((sku, name), 0) >= settings.resends_max:
            action = "reject"
        actions.append(action)
    return drift.append_column("action", pa.array(actions, pa.string()))
