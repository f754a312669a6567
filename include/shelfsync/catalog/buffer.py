"""buffer: which sales buffer holds for which SKU, from what the ERP says and from rules by SKU, category and vendor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.alignment import column
from shelfsync.columns import SNAPSHOT, completed

if TYPE_CHECKING:
    from collections.abc import Iterable

KNOWN = pa.schema([pa.field("sku", pa.string(), nullable=False), pa.field("sales_buffer", pa.int64())])
"""SKUs with the buffer that holds for each, null where nobody says; in the order of the snapshot."""

AtBuffer = Literal["activates", "deactivates"]
"""What a quantity equal to the buffer does."""


def sold_out(quantity: pa.Array, buffer: pa.Array, at_buffer: AtBuffer) -> pa.Array:
    """Rows whose quantity switches them off: nothing there, or too little for the buffer where one knows it. No null in it."""
    below = pc.less if at_buffer == "activates" else pc.less_equal
    nothing = pc.less_equal(quantity, 0).fill_null(False)
    return pc.or_(nothing, below(quantity, buffer).fill_null(False))


@dataclass(frozen=True)
class Rule:
    """A buffer in whole pieces for all SKUs that fit; None fits any. The most special rule wins: SKU, then category, then vendor."""

    sales_buffer: int
    vendor: str | None = None
    category: str | None = None
    sku: str | None = None

    @property
    def rank(self) -> tuple[bool, bool, bool]:
        """Greater is more special."""
        return (self.sku is not None, self.category is not None, self.vendor is not None)


def known(snapshot: pa.Table, vendor: str, rules: Iterable[Rule]) -> pa.Table:
    """The buffers of a snapshot's SKUs (KNOWN shape): the ERP's own word, else the most special rule; of equal rules the last."""
    snapshot = completed(snapshot, SNAPSHOT)
    skus, categories = column(snapshot, "sku"), column(snapshot, "category")
    found = column(snapshot, "sales_buffer")
    fitting = [rule for rule in rules if rule.vendor in {None, vendor}]
    for rank in sorted({rule.rank for rule in fitting}, reverse=True):
        level = [rule for rule in fitting if rule.rank == rank]
        found = pc.coalesce(found, _by_level(level, skus, categories))
    return pa.Table.from_arrays([skus, found], schema=KNOWN)


def _by_level(level: list[Rule], skus: pa.Array, categories: pa.Array) -> pa.Array:
    """What rules of one rank say about each SKU; many rules cost no more than a look-up."""
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
