"""Sales buffers: which one a SKU has, and which quantities switch a product off by it.

The ERP's own value goes first, then the most specific rule: by SKU, then by category, then by vendor. Whether a quantity equal to the buffer
activates the product is a setting: the interface says so, and other sources disagree (field notes).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.rows.alignment import aligned, column
from shelfsync.schemas import SNAPSHOT, completed

if TYPE_CHECKING:
    from collections.abc import Iterable


KNOWN_BUFFERS = pa.schema([pa.field("sku", pa.string(), nullable=False), pa.field("sales_buffer", pa.int64())])
"""SKUs with their sales buffer in pieces, null if it is unknown; in the order of the snapshot."""

AtBuffer = Literal["activates", "deactivates"]
"""What a quantity equal to the buffer does."""


def too_little(quantity: pa.Array, buffer: pa.Array, at_buffer: AtBuffer) -> pa.Array:
    """A mask of the rows whose quantity switches them off by their buffer; null where one of the two is unknown."""
    below = pc.less if at_buffer == "activates" else pc.less_equal
    return below(quantity, buffer)


@dataclass(frozen=True)
class Buffers:
    """The sales buffers that are known now. `known`: sku and sales_buffer (pieces), unique by sku.

    `at_buffer`: what a quantity equal to the buffer does; the sources disagree (field notes).
    """

    known: pa.Table
    at_buffer: AtBuffer = "activates"

    @property
    def unknown(self) -> bool:
        """True when nothing is known of any SKU."""
        return bool(self.known["sales_buffer"].null_count == self.known.num_rows)

    def of(self, skus: pa.Array) -> pa.Array:
        """The buffer of each, null where it is not known."""
        return aligned(self.known, skus, ["sales_buffer"])["sales_buffer"]

    def switches_on(self, quantity: pa.Array, buffer: pa.Array) -> pa.Array:
        """Whether a quantity is enough for a buffer; null where one of them is unknown."""
        return pc.invert(too_little(quantity, buffer, self.at_buffer))


@dataclass(frozen=True)
class Rule:
    """A buffer in pieces for all SKUs that match; None matches any. The most specific rule wins: SKU, then category, then vendor."""

    sales_buffer: int
    vendor: str | None = None
    category: str | None = None
    sku: str | None = None

    @property
    def rank(self) -> tuple[bool, bool, bool]:
        """Greater is more specific."""
        return (self.sku is not None, self.category is not None, self.vendor is not None)


def known_buffers(snapshot: pa.Table, vendor: str, rules: Iterable[Rule]) -> pa.Table:
    """The buffers of a snapshot's SKUs (KNOWN schema): the ERP's own value, else the most specific rule; of equal rules the last."""
    snapshot = completed(snapshot, SNAPSHOT)
    skus, categories = column(snapshot, "sku"), column(snapshot, "category")
    found = column(snapshot, "sales_buffer")
    fitting = [rule for rule in rules if rule.vendor in {None, vendor}]
    for rank in sorted({rule.rank for rule in fitting}, reverse=True):
        level = [rule for rule in fitting if rule.rank == rank]
        found = pc.coalesce(found, _by_level(level, skus, categories))
    return pa.Table.from_arrays([skus, found], schema=KNOWN_BUFFERS)


def _by_level(level: list[Rule], skus: pa.Array, categories: pa.Array) -> pa.Array:
    """The buffer of each SKU by rules of one rank; many rules cost no more than a look-up."""
    by_sku, by_category, _ = level[0].rank
    if not by_sku and not by_category:
        return pa.repeat(pa.scalar(level[-1].sales_buffer, pa.int64()), len(skus))
    if by_sku and by_category:
        return _looked_up({(rule.sku, rule.category): rule.sales_buffer for rule in level}, skus, categories)
    keys = {rule.sku if by_sku else rule.category: rule.sales_buffer for rule in level}
    places = pc.index_in(skus if by_sku else categories, value_set=pa.array(list(keys), pa.string()), skip_nulls=True)
    return pa.array(list(keys.values()), pa.int64()).take(places)


def _looked_up(rules: dict[tuple[str | None, str | None], int], skus: pa.Array, categories: pa.Array) -> pa.Array:
    pairs = zip(skus.to_pylist(), categories.to_pylist(), strict=True)
    return pa.array([rules.get(pair) for pair in pairs], pa.int64())
