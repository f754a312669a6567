"""An urgent run sends the SKUs that a person or a DAG named, and no other; the guards have seen all rows of the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.co_sent_fields import with_active_if_single

if TYPE_CHECKING:
    from collections.abc import Sequence


def only_urgent(released: pa.Table, baseline: pa.Table, skus: Sequence[str]) -> pa.Table:
    """The released rows (DELTA schema) of an urgent run's SKUs; all rows if the run names none."""
    if not skus:
        return released
    named = pc.is_in(released["sku"], value_set=pa.array(skus, pa.string()))
    return with_active_if_single(released.filter(named), baseline)
