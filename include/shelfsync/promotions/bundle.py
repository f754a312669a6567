"""bundle: "N of one item for X" as the platform's bundle, which has a number of bought pieces and a number of discounted ones.

At a base price of 8, "3 for 20" is 2 bought and 1 for 4. At 12, it is 1 bought and 2 for 4 each (interface.md 2.4, field notes). As many
pieces as possible are bought, so that fewer than N pieces have the smallest discount. The price is cut, so that N pieces never cost more
than X.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import ROUND_DOWN, Decimal
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.promotions.schemas import ROWS
from shelfsync.rows.alignment import aligned, column
from shelfsync.rows.mask import mask

if TYPE_CHECKING:
    from shelfsync.promotions import quarantine_reason
    from shelfsync.promotions.head import Heads

_GRAIN = Decimal("0.001")


def with_bundles(rows: pa.Table, heads: Heads, assortment: pa.Table, findings: quarantine_reason.Findings) -> pa.Table:
    """The rows (ROWS) with each TOTAL_PRICE as a final price or a percentage under the head of its bundle, or noted in `findings`.

    It counts with the highest base price that is known: the platform's, the one about to be sent, the ERP's.
    """
    together = mask(pc.equal(column(rows, "subtype"), "TOTAL_PRICE"))
    places = np.flatnonzero(together)
    if not len(places):
        return rows
    known = aligned(assortment, column(rows, "sku"), ("price_max",))["price_max"]
    base = pc.max_element_wise(known, column(rows, "base_price"), skip_nulls=True)
    bases = dict(zip(places.tolist(), base.take(pa.array(places)).to_pylist(), strict=True))
    numbers, subtypes, values = (column(rows, name).to_pylist() for name in ("head", "subtype", "value"))
    faulty: dict[str, list[int]] = {}
    for place, each in bases.items():
        head = heads.all[numbers[place]]
        reason, bought, subtype, value = _bundle(head.pieces or 1, values[place], each)
        if reason is not None:
            faulty.setdefault(reason, []).append(place)
            continue
        discounted = (head.pieces or 1) - bought
        numbers[place] = heads.number(
            replace(head, pieces=None, purchased_quantity=bought, discounted_quantity=discounted)
        )
        subtypes[place], values[place] = subtype, value
    for reason, where in faulty.items():
        findings.note(reason, np.isin(np.arange(rows.num_rows), where))
    columns = {name: column(rows, name) for name in ROWS.names} | {
        "head": numbers,
        "subtype": subtypes,
        "value": values,
    }
    arrays = [pa.array(columns[field.name], field.type) for field in ROWS]
    return pa.Table.from_arrays(arrays, schema=ROWS)


def _bundle(pieces: int, total: Decimal, base: Decimal | None) -> tuple[str | None, int, str, Decimal]:
    """(reason why not, bought pieces, subtype, value of each discounted piece)."""
    if base is None:
        return "base_price_unknown", 0, "", total
    if total >= pieces * base:
        return "price_not_below_base", 0, "", total
    bought = int(total // base)
    if bought < 1:
        return "bundle_below_one_piece", 0, "", total
    each = ((total - bought * base) / (pieces - bought)).quantize(_GRAIN, ROUND_DOWN)
    return None, bought, *(("FINAL_PRICE", each) if each > 0 else ("PERCENTAGE", Decimal(100)))
