"""Fields that must not travel alone, because the platform derives one from the other (interface.md 2.1, field notes).

- `active` true takes the quantity along: true without it is undefined where a store works with quantities.
- A quantity takes `active` false along while the product is meant to be off: at or above the sales buffer a quantity switches it on.
- In a request of a single item a quantity switches nothing off, so there it takes `active` along whatever it is.

A companion repeats a value that the platform already has, so it changes nothing about where a delta leads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.alignment import aligned, column

if TYPE_CHECKING:
    from collections.abc import Mapping

_FLAG, _COUNT = "active", "quantity"


def accompanied(sent: Mapping[str, pa.Array], before: Mapping[str, pa.Array]) -> dict[str, pa.Array]:
    """The columns sent, with the companions that the first two rules ask for; `before` is what the baseline says of the same SKUs."""
    on = pc.coalesce(sent[_FLAG], before[_FLAG])
    count = pc.coalesce(sent[_COUNT], before[_COUNT])
    switched_on = sent[_FLAG].fill_null(False)
    stays_off = pc.and_(sent[_COUNT].is_valid(), pc.invert(on.fill_null(True)))
    return {
        **sent,
        _COUNT: pc.if_else(switched_on, count, sent[_COUNT]),
        _FLAG: pc.if_else(stays_off, on, sent[_FLAG]),
    }


def alone(delta: pa.Table, baseline: pa.Table) -> pa.Table:
    """The delta, where it is a single row with a quantity, with `active` beside it when that is known. For any request of one item."""
    if delta.num_rows != 1 or delta[_COUNT].null_count or not delta[_FLAG].null_count:
        return delta
    on = aligned(baseline, column(delta, "sku"), [_FLAG])[_FLAG]
    return delta.set_column(delta.column_names.index(_FLAG), delta.field(_FLAG), on)
