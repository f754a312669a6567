"""Bisection: a batch that the platform rejects as a whole is cut in two, until each bad row is alone (I10).

Properties: in any order, each part of a body is sent once. So n rows of which b are bad cost at most 2n - 1 requests, and at most
1 + 2b⌈log2 n⌉. Every good row is sent, and every bad row is found. The order decides what is known early. A request **fails** if it
brings an outcome for no SKU. After PROBE_EVERY consecutive failures the search continues in another part of the body.
"""

from __future__ import annotations

import bisect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

import pyarrow as pa

from shelfsync.catalog.state import PRIORITIES
from shelfsync.rows.alignment import column

if TYPE_CHECKING:
    from collections.abc import Iterable

FAILURES_PER_STEP = 25
"""Failed requests after which a step ends; the schedule starts the next one. A single bad row of 16 million is found within 25."""
PROBE_EVERY = 20
"""Consecutive failures after which the largest batch is next: good rows must not wait for a long stretch of bad ones."""
FAILED_JOBS = 3
"""Consecutive failed jobs after which the batch of a failed job is cut: an hour of trouble on the platform is not caused by rows."""


class WaitingBatch(Protocol):
    """A batch that is to be sent; `halved_from`: the number of the batch that it was cut from, None if it was not cut."""

    @property
    def priority(self) -> str: ...

    @property
    def sequence(self) -> int: ...

    @property
    def item_count(self) -> int: ...

    @property
    def halved_from(self) -> int | None: ...


T = TypeVar("T", bound=WaitingBatch)


def next_batch(waiting: Iterable[T], failures: int) -> T:
    """The batch to send next after this number of consecutive failures; a ValueError if none is waiting.

    After a failure the halves of the last cut are next within their priority, so that a bad row is found in as few requests as
    possible. After a success the batches that were never cut are next, then the largest half: a job takes as long for one row as for a
    thousand.
    """

    def order(batch: T) -> tuple[int, ...]:
        priority = PRIORITIES.index(batch.priority) if batch.priority in PRIORITIES else len(PRIORITIES)
        parent = batch.halved_from or 0
        if not failures:
            return priority, min(parent, 1), -batch.item_count if parent else 0, batch.sequence
        if failures % PROBE_EVERY == 0:
            return -batch.item_count, priority, batch.sequence
        return priority, -parent, batch.sequence

    return min(waiting, key=order)


def halves(items: pa.Table) -> tuple[pa.Table, pa.Table]:
    """The first and the second half of two rows or more."""
    middle = items.num_rows // 2
    return items.slice(0, middle), items.slice(middle)


@dataclass(frozen=True)
class SuspectBatch:
    """A batch of an interrupted bisection that is still to be sent, as its first and its last SKU."""

    first: str
    last: str
    halved_from: int


def split_at(rows: pa.Table, suspects: Iterable[SuspectBatch]) -> list[tuple[pa.Table, int | None]]:
    """The rows (sorted by sku) cut at the suspect batches of an earlier delta, so that its bisection goes on.

    First the rows of no suspect batch, with None; then those of each suspect batch, with its `halved_from`. No table is empty.
    """
    skus = column(rows, "sku")
    suspected: list[tuple[pa.Table, int | None]] = []
    others: list[pa.Table] = []
    done = 0
    for one in sorted(suspects, key=lambda suspect: suspect.first):
        start = max(done, _position(skus, one.first, bisect.bisect_left))
        end = max(start, _position(skus, one.last, bisect.bisect_right))
        others.append(rows.slice(done, start - done))
        suspected.append((rows.slice(start, end - start), one.halved_from))
        done = end
    others.append(rows.slice(done))
    return [(part, number) for part, number in [(pa.concat_tables(others), None), *suspected] if part.num_rows]


def _position(skus: pa.Array, sku: str, side: _Bisect) -> int:
    return side(_Texts(skus), sku)


class _Texts:
    """An array as a sequence of texts; a text is made when it is read."""

    def __init__(self, values: pa.Array) -> None:
        self._values = values

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, index: int) -> str:
        return str(self._values[index].as_py())


class _Bisect(Protocol):
    def __call__(self, texts: _Texts, sku: str, /) -> int: ...
