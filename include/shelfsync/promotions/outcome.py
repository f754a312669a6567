"""outcome: the outcome of each SKU x vendor pair of a request, by the lists of its job's status (interface.md 2.2; field notes, Promotions).

Per job: pairs sent = accepted + rejected + unaccounted. DUPLICATE means that the platform already has it as sent: accepted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.promotions.schemas import REJECTED
from shelfsync.rows.alignment import column, positions

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

ENDED = ("COMPLETED", "FAILED", "DUPLICATE")

LISTS = ("invalid_vendors", "missing_skus", "invalid_discounted_skus")
_SENT = ["sku", "active", "subtype", "value"]
INVALID_VENDOR = "invalid vendor"
MISSING = "missing SKU"
INVALID = "invalid discounted SKU"


@dataclass(frozen=True)
class Outcomes:
    """`rejected` pairs (REJECTED); items by their outcome at all vendors together (ITEM each); counts of pairs."""

    rejected: pa.Table
    accepted_items: pa.Table
    """Accepted at one vendor or more."""
    rejected_items: pa.Table
    """Rejected at every vendor."""
    unaccounted_items: pa.Table
    """Outcome unknown."""
    pairs: int
    accepted: int
    unaccounted: int

    @property
    def rejected_count(self) -> int:
        return int(self.rejected.num_rows)


def outcomes(
    items: pa.Table, vendors: Sequence[str], status: str | None, result: Mapping[str, Any] | None, *, action: str
) -> Outcomes:
    """`items` in ITEM shape, `vendors` the real ones (never `*`), `status` the last one that the platform reported (None or another: unknown).

    `result`: {invalid_vendors [..], missing_skus {vendor: [sku]}, invalid_discounted_skus {vendor: [sku]}}; SKUs and
    vendors that were not sent are ignored. If the lists of a FAILED job do not name every pair, the outcome of all pairs is unknown.
    """
    pairs = items.num_rows * len(vendors)
    if status not in ENDED or (status == "FAILED" and action == "end"):
        return _unaccounted(items, pairs)
    lists = result or {}
    if status != "FAILED" and not any(lists.get(name) for name in LISTS):
        nothing = items.slice(0, 0)
        return Outcomes(REJECTED.empty_table(), items, nothing, nothing, pairs, pairs, 0)
    rejected, gone = _rejected(items, vendors, lists)
    if status == "FAILED" and rejected.num_rows + gone < pairs:
        return _unaccounted(items, pairs)
    counts = rejected.group_by("sku").aggregate([("vendor", "count")])
    everywhere = counts.filter(pc.equal(counts["vendor_count"], len(vendors)))["sku"].combine_chunks()
    is_rejected = pc.is_in(items["sku"], value_set=everywhere)
    return Outcomes(
        rejected=rejected,
        accepted_items=items.filter(pc.invert(is_rejected)),
        rejected_items=items.filter(is_rejected),
        unaccounted_items=items.slice(0, 0),
        pairs=pairs,
        accepted=pairs - rejected.num_rows,
        unaccounted=0,
    )


def rows(judged: Iterable[tuple[int, pa.Table, Outcomes]]) -> pa.Table:
    """The same of many jobs (number, items, outcomes) for the warehouse: sku, active, subtype, value, job_id, vendor, state, reason.

    One row a SKU for all vendors alike (vendor `*`), unless every vendor rejected it, and one for each vendor with another outcome.
    """
    accepted, unaccounted, rejected = list[pa.Table](), list[pa.Table](), list[pa.Table]()
    for job_id, items, outcome in judged:
        accepted.append(_of_job(outcome.accepted_items, job_id))
        unaccounted.append(_of_job(outcome.unaccounted_items, job_id))
        if outcome.rejected.num_rows:
            places = positions(column(outcome.rejected, "sku"), column(items, "sku"))
            named = _of_job(items.take(places), job_id)
            rejected.append(_stated(named, column(outcome.rejected, "vendor"), "rejected", outcome.rejected["reason"]))
    parts = []
    for state, of in (("accepted", accepted), ("unaccounted", unaccounted)):
        part = pa.concat_tables(of)
        count = part.num_rows
        parts.append(_stated(part, pa.repeat("*", count), state, pa.nulls(count, pa.string())))
    return pa.concat_tables([*parts, *rejected]).combine_chunks()


def _of_job(items: pa.Table, job_id: int) -> pa.Table:
    return items.select(_SENT).append_column("job_id", pa.repeat(pa.scalar(job_id, pa.int64()), items.num_rows))


def _stated(table: pa.Table, vendors: pa.Array, state: str, reasons: pa.Array) -> pa.Table:
    table = table.append_column("vendor", vendors)
    table = table.append_column("state", pa.repeat(pa.scalar(state), table.num_rows))
    return table.append_column("reason", reasons)


def _unaccounted(items: pa.Table, pairs: int) -> Outcomes:
    nothing = items.slice(0, 0)
    return Outcomes(REJECTED.empty_table(), nothing, nothing, items, pairs, 0, pairs)


def _rejected(items: pa.Table, vendors: Sequence[str], result: Mapping[str, Any]) -> tuple[pa.Table, int]:
    """Each rejected pair once, with the first reason; and how many removed pairs the lists name: removing them is what the request wanted."""
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
    return (pa.concat_tables(parts).combine_chunks() if parts else REJECTED.empty_table()), left


def _among(named: Sequence[str] | None, skus: pa.Array) -> pa.Array:
    return skus.filter(pc.is_in(skus, value_set=pa.array(list(named or ()), pa.string())))


def _pairs(vendor: str, skus: pa.Array, reason: str) -> pa.Table:
    count = len(skus)
    return pa.Table.from_arrays(
        [pa.repeat(pa.scalar(vendor), count), skus, pa.repeat(pa.scalar(reason), count)], schema=REJECTED
    )
