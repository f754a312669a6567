"""group: vendors with the same SKUs at the same prices share a promotion; vendors with different ones do not.

Campaigns of one vendor with the same offer (all that is sent but the SKUs) are merged into one promotion.

It reads one vendor at a time, and keeps a hash of the contents of each promotion.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.promotions.head import EVERY, instant
from shelfsync.promotions.identity import identity
from shelfsync.promotions.promotion_name import Named, derived_name, numbered, numbers
from shelfsync.promotions.schemas import ENTRY
from shelfsync.rows.alignment import column

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from shelfsync.promotions.head import Head


@dataclass
class Group:
    """Vendors that share a promotion, its campaigns, and the path of its entries."""

    head: Head
    entries_path: str
    skus: int
    vendors: list[str] = field(default_factory=list)
    campaigns: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Wanted:
    """A wanted promotion: its identity, its head, its vendors (sorted), the path of its entries, and other campaigns that are merged into it."""

    identity: str
    head: Head
    vendors: tuple[str, ...]
    entries_path: str
    skus: int
    also: tuple[str, ...] = ()

    @property
    def campaigns(self) -> tuple[str, ...]:
        """All its campaigns."""
        return (self.head.campaign, *self.also)

    @property
    def header(self) -> dict[str, object]:
        """For the ledger."""
        return self.head.as_json() | ({"also": list(self.also)} if self.also else {})


def same_offers(rows: pa.Table, heads: list[Head]) -> dict[int, int]:
    """Number of a head of the rows -> that of the head with the same offer whose campaign comes first."""
    first: dict[Head, int] = {}
    numbers = pc.unique(column(rows, "head")).to_pylist()
    ordered = sorted(numbers, key=lambda number: heads[number].campaign)
    return {number: first.setdefault(heads[number].offer, number) for number in ordered}


def contents(rows: pa.Table) -> Iterator[tuple[int, pa.Table, str]]:
    """The promotions of one vendor: (head, its entries in ENTRY shape, their signature), the heads in their order.

    `rows` have at least head and ENTRY.
    """
    if rows.num_rows == 0:
        return
    order = rows.sort_by([("head", "ascending"), ("sku", "ascending")])
    numbers = column(order, "head").to_numpy(zero_copy_only=False)
    starts = np.flatnonzero(np.diff(numbers, prepend=numbers[0] - 1)).tolist()
    entries = pa.Table.from_arrays([column(order, name) for name in ENTRY.names], schema=ENTRY)
    ends = [*starts[1:], order.num_rows]
    for start, end, digest in zip(starts, ends, _signatures(entries, starts, ends), strict=True):
        yield int(numbers[start]), entries.slice(start, end - start), digest


def filled(entries: pa.Table, kept: pa.Array, acknowledged: pa.Table) -> pa.Table:
    """The entries, with the acknowledged entries of the kept SKUs that they do not name."""
    held = acknowledged.filter(pc.is_in(acknowledged["sku"], value_set=kept)).select(ENTRY.names)
    held = held.filter(pc.invert(pc.is_in(held["sku"], value_set=column(entries, "sku"))))
    if held.num_rows == 0:
        return entries
    return pa.concat_tables([entries, held.cast(ENTRY)]).sort_by("sku").combine_chunks()


def signature(entries: pa.Table) -> str:
    """A hash of SKUs and discounts: equal contents have equal signatures."""
    return next(_signatures(entries, [0], [entries.num_rows]))


def _signatures(entries: pa.Table, starts: list[int], ends: list[int]) -> Iterator[str]:
    """The signatures of these parts of a table; the columns become text once for all of them."""
    columns = []
    for name in ENTRY.names:
        values = column(entries, name)
        text = values if pa.types.is_string(values.type) else values.cast(pa.string())
        text = text.fill_null("\x00")
        _, offsets, data = pa.concat_arrays([text]).buffers()  # one array that begins at its own first byte
        places = np.frombuffer(offsets, dtype=np.int32, count=len(text) + 1)
        columns.append((places, np.diff(places), memoryview(b"" if data is None else data)))
    for start, end in zip(starts, ends, strict=True):
        digest = hashlib.sha256()
        for places, lengths, texts in columns:
            digest.update(lengths[start:end].tobytes())
            digest.update(texts[places[start] : places[end]])
        yield digest.hexdigest()


class Groups:
    """Collects the vendors of a run. `write` stores entries under their signature and returns their path; it is called once a head and content."""

    def __init__(self, write: Callable[[str, pa.Table], str]) -> None:
        self._write = write
        self._groups: dict[tuple[int, str], Group] = {}

    def add(
        self,
        number: int,
        head: Head,
        vendor: str,
        entries: pa.Table,
        also: Iterable[str] = (),
        digest: str | None = None,
    ) -> None:
        """One promotion of one vendor; `also` are further campaigns with the same offer whose SKUs it has. `digest`: its signature, if known."""
        if entries.num_rows == 0:
            return
        key = (number, digest or signature(entries))
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = Group(head, self._write(key[1], entries), entries.num_rows)
        group.vendors.append(vendor)
        group.campaigns.update(also)

    def wanted(
        self, *, star: frozenset[str] | None = None, known: Iterable[Named] = ()
    ) -> tuple[list[Wanted], list[str]]:
        """Every promotion, by start and campaign; and a line for each that has a derived name.

        `star`: all vendors of the chain, when a promotion of all of them goes out as `*`. `known`: what the platform has. Promotions that
        the platform would not distinguish get a number in their name, which stays as long as they run.
        """
        alike: dict[str, list[tuple[Group, tuple[str, ...]]]] = {}
        for group in sorted(self._groups.values(), key=lambda group: (group.head, group.vendors)):
            vendors = tuple(sorted(group.vendors))
            if star and len(vendors) == len(star) and star == frozenset(vendors):
                vendors = (EVERY,)
            alike.setdefault(identity(group.head, vendors), []).append((group, vendors))
        by_name = numbered(known)
        found: dict[str, Wanted] = {}
        lines = []
        for groups in alike.values():
            head, vendors = groups[0][0].head, groups[0][1]
            there = by_name.get((head.display_name, vendors, instant(head.start), instant(head.end)), {})
            for (group, _), number in zip(groups, numbers([group for group, _ in groups], there), strict=True):
                named = replace(group.head, display_name=derived_name(group.head.display_name, number))
                key = identity(named, vendors)
                while key in found or (number > 1 and key in alike):
                    number += 1  # noqa: PLW2901
                    named = replace(group.head, display_name=derived_name(group.head.display_name, number))
                    key = identity(named, vendors)
                also = tuple(sorted(group.campaigns - {group.head.campaign}))
                found[key] = Wanted(key, named, vendors, group.entries_path, group.skus, also)
                if number > 1:
                    lines.append(
                        f"campaign {group.head.campaign}: shown as {named.name!r}, because another promotion has its name, vendors, start and end"
                    )
        return sorted(found.values(), key=lambda want: (want.head, want.vendors)), lines
