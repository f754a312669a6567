"""The proof of completeness: whether an extract has everything that the ERP has, so that an absent SKU has left it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from shelfsync.errors import IncompleteExtractError, some_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True)
class Claim:
    """The number of rows that a source expects, after its last chunk; None if it is unknown.

    `how` names the origin of `expected` for a person. `caveat`: why an absent SKU may be in the ERP although the numbers agree. `failed`:
    the ERP's id of each store that has a source of its own and failed alone -> why; `expected` is without it.
    """

    expected: int | None
    how: str
    caveat: str | None = None
    failed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Proof:
    """Whether the extract has everything that the ERP has.

    `rows` are rows read from the ERP, before any hook; `expected` is their true number, None if it is unknown. Only if `complete` is true,
    an absent SKU has left the ERP (design: I9). `how` gives the reason for a person. `doubtful`: vendors with rows that name no product, so that of
    them nothing is proven.
    """

    complete: bool
    rows: int
    expected: int | None
    how: str
    doubtful: frozenset[str] = frozenset()

    def of_doubtful(self) -> Proof:
        """What is proven of the doubtful vendors."""
        how = f"{self.how}; a row of the store names no product that can be read, so an absent SKU may be in it"
        return replace(self, complete=False, how=how)


class Read(NamedTuple):
    """What an extract has read to its end. `rows`: of the ERP, before any hook; `rows_out`: handed on, after it.

    `left_out`: the ERP's id of a store that is not on the platform -> its rows. `unreadable`: rows that name neither a product nor a store.
    """

    rows: int
    rows_out: int
    left_out: Mapping[str, int]
    unreadable: int
    doubtful: frozenset[str]


def proof_of(claim: Claim, read: Read, *, may_be_empty: bool, named: Callable[[str], str]) -> Proof:
    """The proof. IncompleteExtractError if there is no row at all, or if the rows are not as many as expected.

    `may_be_empty`: no row is believed if the true number is zero too. `named`: a sentence with the names of these settings.
    """
    if not read.rows and not claim.expected and not (may_be_empty and claim.expected == 0):
        raise IncompleteExtractError(
            "The ERP gave no row at all. An empty ERP is taken for a broken one: nothing was sent. Look at the SELECT or the files."
        )
    if claim.expected is not None and claim.expected != read.rows:
        raise IncompleteExtractError(
            f"{read.rows} rows were read, and {claim.how} gives {claim.expected}: the extract is not the whole of the ERP, and nothing was sent. "
            "Run it again; if it stays so, compare the two numbers in the ERP."
        )
    if not read.rows_out and read.left_out:
        raise IncompleteExtractError(
            f"SHELFSYNC_ERP__VENDOR_IDS names none of the ERP's {len(read.left_out)} stores ({some_of(sorted(read.left_out))}): nothing was sent. "
            "Correct the ERP's ids in it."
        )
    if not read.rows_out and read.rows:
        raise IncompleteExtractError(
            f"The mapping hook left none of {read.rows} rows. That is taken for a mistake: nothing was sent. Look at the hook."
        )
    caveats = [claim.caveat] if claim.caveat is not None else []
    if read.unreadable:
        caveats.append(f"{read.unreadable} rows could not be read, so an absent SKU may be in one of them")
    complete = claim.expected is not None and not caveats
    how = named("; ".join([claim.how, *caveats]))
    return Proof(complete, read.rows, claim.expected, how, read.doubtful)
