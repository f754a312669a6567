"""Which fields are sent together: the platform derives one from another, so such co-sent fields are in one item."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.rows.alignment import aligned, column, with_column

if TYPE_CHECKING:
    from collections.abc import Mapping

_FLAG, _COUNT = "active", "quantity"


def with_co_sent_fields(sent: Mapping[str, pa.Array], before: Mapping[str, pa.Array]) -> dict[str, pa.Array]:
    """The columns of `sent` with the co-sent fields of a delta of any size. `before`: the baseline's values of the same SKUs.

    Both mappings hold arrays of equal length by field name. The rules are in docs/explanation/data-path.md, Diff.
    """
    on = pc.coalesce(sent[_FLAG], before[_FLAG])
    count = pc.coalesce(sent[_COUNT], before[_COUNT])
    switched_on = sent[_FLAG].fill_null(False)
    stays_off = pc.and_(sent[_COUNT].is_valid(), pc.invert(on.fill_null(True)))
    return {
        **sent,
        _COUNT: pc.if_else(switched_on, count, sent[_COUNT]),
        _FLAG: pc.if_else(stays_off, on, sent[_FLAG]),
    }


def with_active_if_single(delta: pa.Table, baseline: pa.Table) -> pa.Table:
    """The delta (DELTA schema) for one request: a single row with a quantity gets the baseline's `active`, if the baseline has it."""
    if delta.num_rows != 1 or delta[_COUNT].null_count or not delta[_FLAG].null_count:
        return delta
    on = aligned(baseline, column(delta, "sku"), [_FLAG])[_FLAG]
    return with_column(delta, _FLAG, on)
