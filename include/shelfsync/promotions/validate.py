"""validate: canonical rows of one vendor against its catalog and against each other.

A row waits if the vendor may sell its SKU and its base price is unknown: the vendor has no known catalog, or the SKU has no price in it.

A price must be below the base price at every instant of the window: below the platform's price, below the price in flight to it, and
below the lowest that the ERP knows for the window (`base_price`). If a SKU is in two campaigns at a time, `overlap` chooses.

"N of one item for X" becomes a bundle first. The platform's bundle has a number of bought pieces and a number of discounted ones
(interface.md 2.4, field notes). At a base price of 8, "3 for 20" is 2 bought and 1 for 4. At 12, it is 1 bought and 2 for 4 each. As many
pieces as possible are bought, so that fewer than N pieces have the smallest discount. The price is cut, so that N pieces never cost more
than X.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import ROUND_DOWN, Decimal
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.alignment import aligned, column
from shelfsync.catalog.number import mask
from shelfsync.promotions import quarantine_reason
from shelfsync.promotions.overlap import decided
from shelfsync.promotions.schemas import KEPT, ROWS

if TYPE_CHECKING:
    import datetime as dt

    import numpy.typing as npt

    from shelfsync.catalog.number import Mask
    from shelfsync.promotions.head import Heads
    from shelfsync.promotions.overlap import Overlap

_GRAIN = Decimal("0.001")


@dataclass(frozen=True)
class Validated:
    """Valid `rows` (ROWS), the `kept` (KEPT) of the others, their `row_numbers` and the numbers of their `reasons`.

    `lost` (KEPT) are not kept: another campaign has the SKU.
    """

    rows: pa.Table
    kept: pa.Table
    lost: pa.Table
    row_numbers: pa.Array
    reasons: npt.NDArray[np.int16]
    messages: dict[int, str]
    """By row number: the whole sentence, where it is more than the reason's."""
    unknown: pa.Array
    """SKUs the vendor does not have, as far as its assortment is known: the platform will report them as missing."""
    intended_overlaps: int
    """SKUs in two campaigns at a time that both run: the later start wins while both last."""


def validate(
    rows: pa.Table, heads: Heads, assortment: pa.Table, *, rule: Overlap = "earliest", now: dt.datetime | None = None
) -> Validated:
    """`assortment` in ASSORTMENT shape; an empty table: the vendor's assortment is unknown. `rule`: see `overlap`.

    Campaigns that are over at `now` compete with no other.
    """
    findings = quarantine_reason.Findings(rows.num_rows)
    rows = _with_bundles(rows, heads, assortment, findings)
    base = base_prices(rows, assortment)
    findings.note("price_not_below_base", _not_below(rows, base))
    known_skus = column(assortment, "sku")
    here = (
        mask(pc.is_in(column(rows, "sku"), value_set=known_skus))
        if assortment.num_rows
        else np.ones(rows.num_rows, np.bool_)
    )
    findings.note("base_price_unknown", here & mask(base.is_null()))
    lost, intended_overlaps = decided(rows, heads.all, base, ~findings.faulty, rule=rule, now=now)
    where = np.zeros(rows.num_rows, np.bool_)
    where[list(lost)] = True
    findings.note("overlap", where)
    faulty = pa.array(findings.faulty)
    quarantined = rows.filter(faulty)
    skus = column(rows, "sku")
    unknown = (
        skus.filter(pc.invert(pc.is_in(skus, value_set=column(assortment, "sku"))))
        if assortment.num_rows
        else skus.slice(0, 0)
    )
    return Validated(
        rows=rows.filter(pc.invert(faulty)),
        kept=rows.filter(pa.array(findings.faulty & ~where)).select(KEPT.names),
        lost=rows.filter(pa.array(where)).select(KEPT.names),
        row_numbers=column(quarantined, "row_number"),
        reasons=findings.numbers[findings.faulty],
        messages={rows["row_number"][place].as_py(): message for place, message in lost.items()},
        unknown=pc.unique(unknown),
        intended_overlaps=intended_overlaps,
    )


def base_prices(rows: pa.Table, assortment: pa.Table) -> pa.Array:
    """The lowest base price known for each row: of the vendor's catalog and of the ERP's window; null if none is known."""
    known = aligned(assortment, column(rows, "sku"), ("price",))["price"]
    return pc.min_element_wise(known, column(rows, "base_price"), skip_nulls=True)


def _not_below(rows: pa.Table, base: pa.Array) -> Mask:
    """A percentage of at least one is always below. A final price must be below, and so must an amount off."""
    amount = pc.invert(pc.is_in(column(rows, "subtype"), value_set=pa.array(["PERCENTAGE", "TOTAL_PRICE"])))
    return mask(pc.and_(amount, pc.greater_equal(column(rows, "value"), base)))


def _with_bundles(rows: pa.Table, heads: Heads, assortment: pa.Table, findings: quarantine_reason.Findings) -> pa.Table:
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
