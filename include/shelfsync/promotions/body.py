"""body: a promotion's items as requests (interface.md 2.4, 4.7), each within the byte limit and the limit of pairs.

A body begins with `{"active":true,`. To end a promotion, shelfsync changes this flag and repeats the rest as it was at creation. SKUs
with the same discount share an entry. Pieces of one promotion differ only in their SKUs, and each adds to the others in any order.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.errors import DataError
from shelfsync.promotions.head import EVERY, instant
from shelfsync.rows import item
from shelfsync.rows.alignment import column

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from shelfsync.promotions.head import Head

ACTIVE, INACTIVE = b'{"active":true,', b'{"active":false,'


@dataclass(frozen=True)
class Frame:
    """The parts of a body before and after its entries."""

    before: bytes
    after: bytes

    @property
    def bytes(self) -> int:
        return len(self.before) + len(self.after)


@dataclass(frozen=True)
class Piece:
    """One request: its items (ITEM) and its bytes."""

    items: pa.Table
    body: bytes


def frame(head: Head, vendors: Sequence[str]) -> Frame:
    """All of the body but its entries."""
    conditions: dict[str, Any] = {"start_time": instant(head.start), "end_time": instant(head.end)}
    for name in ("purchased_quantity", "discounted_quantity"):
        if getattr(head, name) is not None:
            conditions[name] = getattr(head, name)
    limits = []
    if head.max_discount_per_order is not None:
        limits.append(f'"max_discount_per_order":{_plain(f"{head.max_discount_per_order:f}")}')
    if head.max_items_per_order is not None:
        limits.append(f'"max_items_per_order":{head.max_items_per_order}')
    fields = [
        f'"vendors":{_text(list(vendors))}',
        f'"type":{_text(head.type)}',
        f'"reason":{_text(head.reason)}',
        f'"display_name":{_text(dict(head.display_name))}',
        f'"conditions":{_text(conditions)}',
        *([f'"limits":{{{",".join(limits)}}}'] if limits else []),
        '"discount":[',
    ]
    return Frame(ACTIVE + ",".join(fields).encode(), b"]}")


def cut(
    items: pa.Table,
    around: Frame,
    *,
    vendors: int,
    body_max_bytes: int,
    pairs_max: int,
) -> Iterator[Piece]:
    """The items (in the order of `diff.ORDER`) as requests, each as long as possible; together they are all items.

    `vendors`: how many the promotion has. DataError if an item does not fit even alone.
    """
    if items.num_rows == 0:
        return
    skus_max = pairs_max // max(1, vendors)
    room = body_max_bytes - around.bytes
    ends, overhead, begins = _sizes(items)
    start = 0
    while start < items.num_rows:
        used = int(ends[start - 1]) if start else 0
        extra = 0 if begins[start] else int(overhead[start])
        end = int(
            np.searchsorted(ends, used + room - extra + 1, side="right")
        )  # the last comma of the discounts is not sent
        end = min(end, start + skus_max)
        if end <= start:
            raise DataError(
                f"plan: SKU {items['sku'][start].as_py()!r} does not fit into a request: its promotion has {vendors} vendors and a frame of"
                f" {around.bytes} bytes; {body_max_bytes} bytes and {pairs_max} pairs are allowed (SHELFSYNC_PROMOTIONS__BODY_MAX_BYTES, __PAIRS_MAX)"
            )
        piece = items.slice(start, end - start)
        yield Piece(piece, around.before + _entries(piece) + around.after)
        start = end


def ended(body: bytes) -> bytes:
    """The same body with the flag that ends the promotion."""
    if not body.startswith(ACTIVE):
        raise ValueError("the body is not one of a creation")
    return INACTIVE + body[len(ACTIVE) :]


def vendor_count(vendors: Sequence[str], of_chain: int) -> int:
    """The number of vendors in a promotion's list."""
    return max(1, of_chain) if EVERY in vendors else len(vendors)


def _sizes(items: pa.Table) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """For each item: the bytes up to its end, the cost of a separate entry, and whether it begins one."""
    begins = _begins(items)
    quoted = item.quoted(column(items, "sku"))
    own = np.asarray(pc.binary_length(quoted).to_numpy(zero_copy_only=False), dtype=np.int64) + 1
    before, after = _wrapping(items.filter(pa.array(begins)))
    costs = np.asarray(pc.binary_length(before).to_numpy(zero_copy_only=False), dtype=np.int64) + len(after)
    overhead = costs[
        np.cumsum(begins) - 1
    ]  # the last SKU's comma gives way to the bracket's; the entry's own comma is counted
    return np.cumsum(own + np.where(begins, overhead, 0)), overhead, begins


def _entries(items: pa.Table) -> bytes:
    """The entries of a body: one for each run of items that differ in their SKU alone."""
    begins = _begins(items)
    starts = np.flatnonzero(begins)
    offsets = pa.array(np.append(starts, items.num_rows).astype(np.int32))
    skus = pc.binary_join(pa.ListArray.from_arrays(offsets, item.quoted(column(items, "sku"))), ",")
    before, after = _wrapping(items.take(pa.array(starts)))
    texts = pc.binary_join_element_wise(before, skus, after, "")
    whole = pc.binary_join(pa.ListArray.from_arrays(pa.array([0, len(texts)], pa.int32()), texts), ",")
    return bytes(whole[0].as_buffer())


def _begins(items: pa.Table) -> npt.NDArray[np.bool_]:
    begins = np.zeros(items.num_rows, np.bool_)
    begins[:1] = True
    for name in ("active", "subtype", "value", "max_quantity"):
        codes = column(items, name).dictionary_encode(null_encoding="encode").indices.to_numpy(zero_copy_only=False)
        begins[1:] |= codes[1:] != codes[:-1]
    return begins


def _wrapping(firsts: pa.Table) -> tuple[pa.Array, str]:
    """The text before and after the SKUs of the entries that begin with these items."""
    value = column(firsts, "value").cast(pa.string())
    value = pc.ascii_rtrim(pc.ascii_rtrim(value, characters="0"), characters=".")
    most = column(firsts, "max_quantity").cast(pa.string())
    most = pc.if_else(most.is_valid(), pc.binary_join_element_wise(',"max_quantity":', most.fill_null(""), ""), "")
    before = pc.binary_join_element_wise(
        '{"discount_subtype":"',
        column(firsts, "subtype"),
        '","discount_value":',
        value,
        most,
        ',"active":',
        column(firsts, "active").cast(pa.string()),
        ',"sku":[',
        "",
    )
    return before, "]}"


def _plain(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
