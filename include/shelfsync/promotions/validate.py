"""validate: canonical rows of one vendor against its catalog and against each other.

A row waits if the vendor may sell its SKU and its base price is unknown: the vendor has no known catalog, or the SKU has no price in it.

A price must be below the base price at every instant of the window: below the platform's price, below the price in flight to it, and
below the lowest that the ERP knows for the window (`base_price`).

"N of one item for X" becomes a bundle first. The platform's bundle has a number of bought pieces and a number of discounted ones
(interface.md 2.4, field notes). At a base price of 8, "3 for 20" is 2 bought and 1 for 4. At 12, it is 1 bought and 2 for 4 each. As many
pieces as possible are bought, so that fewer than N pieces have the smallest discount. The price is cut, so that N pieces never cost more
than X.

Overlap: a SKU is in several campaigns at a time. One rule decides which of them run, so that the price at each instant is known.
The platform lets the later start win (field notes). So two campaigns may both run if the later one is meant to win: it is the better one
by the rule, or its row asks for it. Otherwise the better one runs, and the other waits until it is over.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import ROUND_DOWN, Decimal
from typing import TYPE_CHECKING, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shelfsync import display
from shelfsync.promotions import quarantine_reason
from shelfsync.promotions.schemas import KEPT, ROWS
from shelfsync.rows.alignment import aligned, column
from shelfsync.rows.truth import mask

if TYPE_CHECKING:
    import datetime as dt

    import numpy.typing as npt

    from shelfsync.promotions.head import Head, Heads
    from shelfsync.rows.truth import Mask

Overlap = Literal["earliest", "lowest_price", "highest_discount", "later_start_wins"]
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
    """`assortment` in ASSORTMENT shape; an empty table: the vendor's assortment is unknown. `rule`: which of two campaigns that overlap runs.

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


@dataclass(frozen=True)
class _Row:
    """One row that competes: its place, what it is sent with, and how good it is (less is better)."""

    place: int
    sku: str
    head: Head
    text: str
    rank: tuple[bool, Decimal]

    @property
    def order(self) -> tuple[tuple[bool, Decimal], Head, int]:
        return (self.rank, self.head, self.place)


def decided(
    rows: pa.Table, heads: list[Head], base: pa.Array, valid: Mask, *, rule: Overlap, now: dt.datetime | None = None
) -> tuple[dict[int, str], int]:
    """Place of each row (ROWS) that loses -> the sentence about it; and how many SKUs have several that run.

    `base`: the base price of each row. Only `valid` rows whose campaign is not over at `now` compete.
    """
    numbers = column(rows, "head").to_numpy(zero_copy_only=False)
    codes = np.asarray(column(rows, "sku").dictionary_encode().indices.to_numpy(zero_copy_only=False), dtype=np.int64)
    runs = np.array([now is None or head.end > now for head in heads] or [False], np.bool_)
    competes = valid & runs[numbers] if len(numbers) else valid
    counts = np.bincount(codes[competes], minlength=int(codes.max(initial=0)) + 1)
    places = np.flatnonzero(competes & (counts[codes] > 1)) if len(codes) else np.zeros(0, np.int64)
    if not len(places):
        return {}, 0
    of_sku: dict[int, list[_Row]] = {}
    few = rows.take(pa.array(places)).to_pylist()
    for place, row, each in zip(places.tolist(), few, base.take(pa.array(places)).to_pylist(), strict=True):
        of_sku.setdefault(int(codes[place]), []).append(_row(place, row, heads[row["head"]], each, rule))
    lost: dict[int, str] = {}
    several = 0
    for found in of_sku.values():
        run: list[_Row] = []
        for row in sorted(found, key=lambda row: row.order):
            winner = next((other for other in run if not _both(row, other, rule)), None)
            if winner is None:
                run.append(row)
            else:
                lost[row.place] = _sentence(winner, row, rule)
        several += any(row.head.overlaps(other.head) for row in run for other in run if row is not other)
    return lost, several


def _both(row: _Row, better: _Row, rule: Overlap) -> bool:
    """Whether both can run: they never run at the same time, or the later start is meant to win."""
    if not row.head.overlaps(better.head):
        return True
    if row.head.start == better.head.start:
        return False
    later = max(row, better, key=lambda one: one.head.start)
    return later.head.may_overlap or (rule in ("lowest_price", "highest_discount") and later is better)


def _row(place: int, row: dict[str, Decimal | str | None], head: Head, base: Decimal | None, rule: Overlap) -> _Row:
    value, subtype = Decimal(row["value"] or 0), row["subtype"]
    text = display.discount(str(subtype), value)
    if subtype == "FINAL_PRICE":
        each = value
    elif subtype == "PERCENTAGE":
        each = (base or 0) * (1 - value / 100)
    else:
        each = (base or 0) - value
    bought, discounted = (head.purchased_quantity or 0, head.discounted_quantity or 1)
    if head.type != "SAME_ITEM_BUNDLE":
        bought, discounted = 0, 1
    else:
        text = f"{bought} + {discounted} at {text}"
    unknown = base is None and (subtype != "FINAL_PRICE" or bought > 0 or rule == "highest_discount")
    rank = Decimal(0)
    if rule == "lowest_price" and not unknown:
        rank = ((base or 0) * bought + each * discounted) / (bought + discounted)
    elif rule == "highest_discount" and not unknown:
        rank = (each - (base or 0)) * discounted
    return _Row(place, str(row["sku"]), head, text, (unknown and rule in ("lowest_price", "highest_discount"), rank))


def _sentence(winner: _Row, loser: _Row, rule: Overlap) -> str:
    first, second = (
        f"campaign {row.head.campaign} at {row.text} ({display.span(row.head.start, row.head.end)})"
        for row in (winner, loser)
    )
    return f"SKU {winner.sku}: {first} wins over {second} by the rule {rule} (SHELFSYNC_PROMOTIONS__OVERLAP)"
