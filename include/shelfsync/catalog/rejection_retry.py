"""When a rejected SKU is sent again, by the kind of its rejection. Until then a delta leaves it out; a full sync tries it once.

- `for_now`, `unclear`: after a wait, which doubles with each rejection; or with another value in the ERP.
- `invalid_value`, `drifted`: with another value in the ERP, or if a person releases it.
- `unknown_sku`: the same as those, or if a newer export or listing shows the SKU.

`ledger.rejections` has the statements that release, `steps.rejected_skus` and `assortment.unknown_skus` call them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.back_off import waits_s
from shelfsync.rows.alignment import aligned, column, equal, padded
from shelfsync.schemas import DELTA, FIELDS

FOR_NOW = ("for_now", "unclear")
"""The kinds that a wait releases. All others are for good."""
SHORTENED_MAX = 0.25
"""The share by which a wait is shortened at most, by SKU and count, so that SKUs that failed together do not return together."""


@dataclass(frozen=True)
class RetryWaits:
    """The wait after the first rejection for now, and the longest wait, in seconds. It doubles in between."""

    first_s: float = 900.0
    max_s: float = 86_400.0

    def every_s(self) -> list[float]:
        """The wait after the first rejection, the second and so on; the last one stays."""
        return waits_s(self.first_s, self.max_s)


def repeats_rejected(
    rows: pa.Table, baseline: pa.Table, rejected: pa.Table, key: Literal["sku", "barcode"]
) -> pa.Array:
    """Rows that only repeat rejected values, while the ERP still wants every value that was rejected with them."""
    skus = column(rows, "sku")
    wanted_then = _wanted_then(rejected, skus, key)
    before = aligned(baseline, skus, (*FIELDS, "left"))
    repeats = wanted_then["sku"].is_valid()
    came_back = pc.and_(before["left"].fill_null(False), pc.and_(repeats, wanted_then["active"].is_null()))
    wanted_then["active"] = pc.if_else(came_back, True, wanted_then["active"])  # the ERP had no value then either
    for name in FIELDS:
        then, now = wanted_then[name], column(rows, name)
        desired = pc.coalesce(now, before[name])
        nothing_new = pc.or_(now.is_null(), equal(now, before[name]))  # a co-sent field changes nothing either
        repeats = pc.and_(repeats, pc.or_(nothing_new, equal(then, now)))
        repeats = pc.and_(repeats, pc.or_(then.is_null(), equal(then, desired)))
    if "barcode" in wanted_then:
        then, now = padded(wanted_then["barcode"]), padded(column(rows, "barcode"))
        repeats = pc.and_(repeats, pc.equal(then, now).fill_null(True))
    return repeats


def _wanted_then(rejected: pa.Table, skus: pa.Array, key: Literal["sku", "barcode"]) -> dict[str, pa.Array]:
    """The rejected values of these SKUs; all null for a SKU without a rejection."""
    names = ["sku", *FIELDS, *(["barcode"] if key == "barcode" and "barcode" in rejected.column_names else [])]
    table = rejected.select(names).cast(pa.schema([DELTA.field(name) for name in names]))
    return aligned(table, skus, names)
