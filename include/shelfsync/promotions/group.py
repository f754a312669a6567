"""group: vendors with the same SKUs at the same prices share a promotion; vendors with different ones do not.

Works a vendor at a time: each vendor gives the contents of its promotions, and what is remembered of them is a hash.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.alignment import column
from shelfsync.promotions.shape import ENTRY, EVERY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from shelfsync.promotions.head import Head


@dataclass
class Group:
    """Vendors that share a promotion, and where its entries lie."""

    head: Head
    entries_path: str
    skus: int
    vendors: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Wanted:
    """A promotion as the platform should hold it: its identity, its head, its vendors (sorted), and where its entries lie."""

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
    for place, start in enumerate(starts.tolist()):
        end = int(starts[place + 1]) if place + 1 < len(starts) else order.num_rows
        entries = pa.Table.from_arrays([column(order, name) for name in ENTRY.names], schema=ENTRY).slice(
            start, end - start
        )
        yield int(numbers[start]), entries


def filled(entries: pa.Table, kept: pa.Array, told: pa.Table) -> pa.Table:
    """Entries with what the platform was told of the kept SKUs that they do not name."""
    held = told.filter(pc.is_in(told["sku"], value_set=kept)).select(ENTRY.names)
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
    """Collects the vendors of a run. `write` stores entries once and returns where; it is called for each distinct content alone."""

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
        """Every promotion, by start and campaign; and campaigns that nobody can tell from others, with why.

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
                    f"it has the name, vendors, start and end of campaign {other.head.campaign}, and the platform tells promotions"
                    " apart by these alone; give one of them another name"
                )
                continue
            found[identity] = Wanted(identity, group.head, vendors, group.entries_path, group.skus)
        return [one for one in found.values() if one.head.campaign not in clashes], clashes
