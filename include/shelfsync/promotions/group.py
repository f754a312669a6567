"""group: vendors with the same SKUs at the same prices share a promotion; vendors with different ones do not.

It reads one vendor at a time, and keeps a hash of the contents of each promotion.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.alignment import column
from shelfsync.promotions.schemas import ENTRY, EVERY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from shelfsync.promotions.head import Head


@dataclass
class Group:
    """Vendors that share a promotion, and the path of its entries."""

    head: Head
    entries_path: str
    skus: int
    vendors: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Wanted:
    """A wanted promotion: its identity, its head, its vendors (sorted), and the path of its entries."""

    identity: str
    head: Head
    vendors: tuple[str, ...]
    entries_path: str
    skus: int


def contents(rows: pa.Table) -> Iterator[tuple[int, pa.Table]]:
    """The promotions of one vendor: (head, its entries in ENTRY shape), the heads in their order. `rows` have at least head and ENTRY."""
    if rows.num_rows == 0:
        return
    order = rows.sort_by([("head", "ascending"), ("sku", "ascending")])
    numbers = column(order, "head").to_numpy(zero_copy_only=False)
    starts = np.flatnonzero(np.diff(numbers, prepend=numbers[0] - 1))
    for position, start in enumerate(starts.tolist()):
        end = int(starts[position + 1]) if position + 1 < len(starts) else order.num_rows
        entries = pa.Table.from_arrays([column(order, name) for name in ENTRY.names], schema=ENTRY).slice(
            start, end - start
        )
        yield int(numbers[start]), entries


def filled(entries: pa.Table, kept: pa.Array, acknowledged: pa.Table) -> pa.Table:
    """The entries, with the acknowledged entries of the kept SKUs that they do not name."""
    held = acknowledged.filter(pc.is_in(acknowledged["sku"], value_set=kept)).select(ENTRY.names)
    held = held.filter(pc.invert(pc.is_in(held["sku"], value_set=column(entries, "sku"))))
    if held.num_rows == 0:
        return entries
    return pa.concat_tables([entries, held.cast(ENTRY)]).sort_by("sku").combine_chunks()


def signature(entries: pa.Table) -> str:
    """A hash of SKUs and discounts: equal contents have equal signatures."""
    digest = hashlib.sha256()
    for name in ENTRY.names:
        values = column(entries, name)
        text = values if pa.types.is_string(values.type) else values.cast(pa.string())
        text = text.fill_null("\x00")
        _, offsets, data = pa.concat_arrays([text]).buffers()  # one array that begins at its own first byte
        ends = np.frombuffer(offsets, dtype=np.int32, count=len(text) + 1)
        digest.update(np.diff(ends).tobytes())
        digest.update(b"" if data is None else memoryview(data)[ends[0] : ends[-1]])
    return digest.hexdigest()


class Groups:
    """Collects the vendors of a run. `write` stores entries and returns their path; it is called once for each distinct content."""

    def __init__(self, write: Callable[[Head, pa.Table], str]) -> None:
        self._write = write
        self._groups: dict[tuple[int, str], Group] = {}

    def add(self, number: int, head: Head, vendor: str, entries: pa.Table) -> None:
        """One promotion of one vendor."""
        if entries.num_rows == 0:
            return
        key = (number, signature(entries))
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = Group(head, self._write(head, entries), entries.num_rows)
        group.vendors.append(vendor)

    def wanted(self, *, star: frozenset[str] | None = None) -> tuple[list[Wanted], dict[str, str]]:
        """Every promotion, by start and campaign; and campaigns that the platform cannot distinguish from others, with the reason.

        `star`: all vendors of the chain, when a promotion of all of them goes out as `*`.
        """
        found: dict[str, Wanted] = {}
        clashes: dict[str, str] = {}
        for group in sorted(self._groups.values(), key=lambda group: (group.head, group.vendors)):
            vendors = tuple(sorted(group.vendors))
            if star and len(vendors) == len(star) and star == frozenset(vendors):
                vendors = (EVERY,)
            identity = group.head.identity(vendors)
            other = found.get(identity)
            if other is not None:
                clashes[group.head.campaign] = (
                    f"it has the name, vendors, start and end of campaign {other.head.campaign}, and the platform distinguishes"
                    " promotions only by these; give one of them another name"
                )
                continue
            found[identity] = Wanted(identity, group.head, vendors, group.entries_path, group.skus)
        return [wanted for wanted in found.values() if wanted.head.campaign not in clashes], clashes
