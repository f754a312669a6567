"""overlap: a SKU is in several campaigns at a time. One rule decides which of them run, so that the price at each instant is known.

The platform lets the later start win (field notes). So two campaigns may both run if the later one is meant to win: it is the better one
by the rule, or its row asks for it. Otherwise the better one runs, and the other waits until it is over.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Literal

import numpy as np
import pyarrow as pa

from shelfsync import display
from shelfsync.rows.alignment import column

if TYPE_CHECKING:
    import datetime as dt

    from shelfsync.promotions.head import Head
    from shelfsync.rows.mask import Mask

Overlap = Literal["earliest", "lowest_price", "highest_discount", "later_start_wins"]


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
