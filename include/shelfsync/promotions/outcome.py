"""outcome: what became of each SKU x vendor pair of a request, by the lists of its job's status (interface.md 2.2; field notes, Promotions).

Per job: pairs sent = accepted + refused + unaccounted. DUPLICATE says that the platform has it already as it was sent: accepted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.alignment import column, positions
from shelfsync.promotions.shape import REFUSED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ENDED = ("COMPLETED", "FAILED", "DUPLICATE")

_SAID = ["sku", "active", "subtype", "value"]
INVALID_VENDOR = "invalid vendor"
MISSING = "missing SKU"
INVALID = "invalid discounted SKU"


@dataclass(frozen=True)
class Outcomes:
    """`refused` pairs (REFUSED); items by what became of them at all vendors together (ITEM each); counts of pairs."""

    refused: pa.Table
    accepted_items: pa.Table
    """Taken by at least one vendor."""
    refused_items: pa.Table
    """Taken by none."""
    silent_items: pa.Table
    """Nobody knows."""
    pairs: int
    accepted: int
    unaccounted: int

    @property
    def refused_count(self) -> int:
        return int(self.refused.num_rows)


def outcomes(
    items: pa.Table, vendors: Sequence[str], status: str | None, result: Mapping[str, Any] | None, *, action: str
) -> Outcomes:
    """`items` in ITEM shape, `vendors` the real ones (never `*`), `status` the platform's last word (None or another: nobody knows).

    `result`: {invalid_vendors [..], missing_skus {vendor: [sku]}, invalid_discounted_skus {vendor: [sku]}}; what it says of SKUs or
    vendors that were not sent is passed over. A FAILED whose lists do not name every pair says nothing of the rest.
    """
    pairs = items.num_rows * len(vendors)
    if status not in ENDED or (status == "FAILED" and action == "end"):
        return _silent(items, pairs)
    refused, gone = _refused(items, vendors, result or {})
    if status == "FAILED" and refused.num_rows + gone < pairs:
        return _silent(items, pairs)
    counts = refused.group_by("sku").aggregate([("vendor", "count")])
    nobody = counts.filter(pc.equal(counts["vendor_count"], len(vendors)))["sku"].combine_chunks()
    rejected = pc.is_in(items["sku"], value_set=nobody)
    return Outcomes(
        refused=refused,
        accepted_items=items.filter(pc.invert(rejected)),
        refused_items=items.filter(rejected),
        silent_items=items.slice(0, 0),
        pairs=pairs,
        accepted=pairs - refused.num_rows,
        unaccounted=0,
    )


def rows(items: pa.Table, outcome: Outcomes) -> pa.Table:
    """The same for the warehouse: sku, active, subtype, value, vendor, state, reason.

    One row a SKU for all vendors alike (vendor `*`), unless none took it, and one for each vendor that was told otherwise.
    """
    parts = []
    for state, of in (("accepted", outcome.accepted_items), ("unaccounted", outcome.silent_items)):
        parts.append(_stated(of.select(_SAID), pa.repeat("*", of.num_rows), state, pa.nulls(of.num_rows, pa.string())))
    refused = outcome.refused
    named = items.select(_SAID).take(positions(column(refused, "sku"), column(items, "sku")))
    parts.append(_stated(named, column(refused, "vendor"), "refused", column(refused, "reason")))
    return pa.concat_tables([part for part in parts if part.num_rows] or parts[:1]).combine_chunks()


def _stated(table: pa.Table, vendors: pa.Array, state: str, reasons: pa.Array) -> pa.Table:
    table = table.append_column("vendor", vendors)
    table = table.append_column("state", pa.repeat(pa.scalar(state), table.num_rows))
    return table.append_column("reason", reasons)


def _silent(items: pa.Table, pairs: int) -> Outcomes:
    nothing = items.slice(0, 0)
    return Outcomes(REFUSED.empty_table(), nothing, nothing, items, pairs, 0, pairs)


def _refused(items: pa.Table, vendors: Sequence[str], result: Mapping[str, Any]) -> tuple[pa.Table, int]:
    """Each refused pair once, with the first reason; and how many pairs that leave are named, which is what was asked for: they are gone."""
    active = column(items, "active")
    staying = column(items, "sku").filter(active)
    leaving = column(items, "sku").filter(pc.invert(active))
    left = 0
    invalid_vendors = set(result.get("invalid_vendors") or ())
    missing, invalid = result.get("missing_skus") or {}, result.get("invalid_discounted_skus") or {}
    parts = []
    for vendor in vendors:
        if vendor in invalid_vendors:
            parts.append(_pairs(vendor, staying, INVALID_VENDOR))
            left += len(leaving)
            continue
        gone = _among(missing.get(vendor), staying)
        bad = _among(invalid.get(vendor), staying)
        bad = bad.filter(pc.invert(pc.is_in(bad, value_set=gone)))
        parts += [_pairs(vendor, gone, MISSING), _pairs(vendor, bad, INVALID)]
        left += len(_among([*(missing.get(vendor) or ()), *(invalid.get(vendor) or ())], leaving))
    return (pa.concat_tables(parts).combine_chunks() if parts else REFUSED.empty_table()), left


def _among(named: Sequence[str] | None, skus: pa.Array) -> pa.Array:
    return skus.filter(pc.is_in(skus, value_set=pa.array(list(named or ()), pa.string())))


def _pairs(vendor: str, skus: pa.Array, reason: str) -> pa.Table:
    count = len(skus)
    return pa.Table.from_arrays(
        [pa.repeat(pa.scalar(vendor), count), skus, pa.repeat(pa.scalar(reason), count)], schema=REFUSED
    )
