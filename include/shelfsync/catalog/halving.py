"""halving: what the platform does not take whole is cut in two, until the rows that do it stand alone (I10).

Laws: whatever the order, each piece of a body is sent once, so n rows of which b are bad cost at most 2n - 1 requests, and at most
1 + 2b⌈log2 n⌉; every good row is sent, every bad one found. The order decides what is known early: a request **in vain** is one that
brought no word about any SKU, and after at most PROBE of them in a row another place is tried.
"""

from __future__ import annotations

import bisect
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from shelfsync.catalog.alignment import column
from shelfsync.catalog.urgency import LANES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pyarrow as pa

STEP = 25
"""Requests in vain that one step follows up; the schedule goes on from there. A single row of 16 million is found in so many."""
PROBE = 20
"""After so many in vain, the largest piece is next: where every row of one place is bad, those elsewhere must not wait for it."""
PATIENCE = 50
"""So many in vain in a row are not the fault of some rows: the vendor waits."""
TRY = 10
"""Requests in vain after which a vendor that has waited waits again, twice as long."""
FAILURES = 3
"""Jobs in vain in a row after which one that failed is cut: an hour of trouble on the platform is no matter of rows."""


class Waiting(Protocol):
    """A piece that is to be sent; `halved_from`: the number of what it was cut from, null where it was not."""

    @property
    def lane(self) -> str: ...

    @property
    def sequence(self) -> int: ...

    @property
    def item_count(self) -> int: ...

    @property
    def halved_from(self) -> int | None: ...


T = TypeVar("T", bound=Waiting)


def next_of(waiting: Iterable[T], in_vain: int) -> T:
    """The piece to send next after so many requests in vain in a row.

    The halves of what was cut last go on in their lane, so that a row is found in as few requests as can be. After a request that
    brought something: what nobody suspects, then the largest half, as a job that succeeds takes the vendor as long for one row as for
    a thousand.
    """

    def place(piece: T) -> tuple[int, ...]:
        lane = LANES.index(piece.lane) if piece.lane in LANES else len(LANES)
        parent = piece.halved_from or 0
        if not in_vain:
            return lane, min(parent, 1), -piece.item_count if parent else 0, piece.sequence
        if in_vain % PROBE == 0:
            return -piece.item_count, lane, piece.sequence
        return lane, -parent, piece.sequence

    return min(waiting, key=place)


def halves(items: pa.Table) -> tuple[pa.Table, pa.Table]:
    """The first and the second half of two rows or more."""
    middle = items.num_rows // 2
    return items.slice(0, middle), items.slice(middle)


def wait_s(in_vain: int, first_s: float, max_s: float) -> float:
    """How long after the last of so many requests in vain the next may follow: no time, or twice as long with every TRY in vain."""
    tries, rest = divmod(in_vain - PATIENCE, TRY)
    if tries < 0 or rest:
        return 0.0
    return min(math.ldexp(first_s, min(tries, TRY)), max_s)


@dataclass(frozen=True)
class Suspect:
    """A piece that is still to be sent, as its first and its last SKU."""

    first: str
    last: str
    halved_from: int


def parted(rows: pa.Table, suspects: Iterable[Suspect]) -> list[tuple[pa.Table, int | None]]:
    """Rows (sorted by sku) cut where an earlier delta had come to: first those that nobody suspects, then each suspect's, with its number."""
    skus = column(rows, "sku")
    found: list[tuple[pa.Table, int | None]] = []
    free: list[pa.Table] = []
    done = 0
    for one in sorted(suspects, key=lambda suspect: suspect.first):
        start = max(done, _place(skus, one.first, bisect.bisect_left))
        end = max(start, _place(skus, one.last, bisect.bisect_right))
        free.append(rows.slice(done, start - done))
        found.append((rows.slice(start, end - start), one.halved_from))
        done = end
    free.append(rows.slice(done))
    return [(piece, number) for piece, number in [(_joined(free), None), *found] if piece.num_rows]


def _place(skus: pa.Array, sku: str, side: _Bisect) -> int:
    return side(_Texts(skus), sku)


class _Texts:
    """An array as a sequence of texts of which only those that are looked at are made."""

    def __init__(self, values: pa.Array) -> None:
        self._values = values

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, place: int) -> str:
        return str(self._values[place].as_py())


class _Bisect(Protocol):
    def __call__(self, texts: _Texts, sku: str, /) -> int: ...


def _joined(tables: Sequence[pa.Table]) -> pa.Table:
    import pyarrow as pa

    return pa.concat_tables(tables)
