"""The ERP as the other packages see it: a source that can be checked, and read once from its first row to its last with a proof."""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, Self

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.erp.completeness_proof import Claim, Proof, Read, proof_of
from shelfsync.erp.two_number_styles import first_other_style
from shelfsync.errors import DataError, IncompleteExtractError, in_one_line
from shelfsync.rows import quarantine_reason

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from shelfsync.erp.changes_query import Changes
    from shelfsync.erp.columns import Chunk, Layout, Look
    from shelfsync.erp.two_number_styles import Styles

log = logging.getLogger(__name__)


class ErpSource(Protocol):
    """One configured ERP."""

    def check(self) -> dict[str, str]:
        """Raises ConfigurationError with the setting and the remedy, before anything is read in bulk: connection, credentials, columns.

        Returns the stores whose own source is broken while others are in order: the ERP's id -> why.
        """

    def read(self, vendors: Sequence[str] = ()) -> Extract:
        """The present rows; of these vendors alone (platform ids), if the source can select them. Nothing is read before the first chunk.

        The extract ends in a DataError if the ERP has none of these vendors.
        """

    def followed(self) -> FollowedErp | None:
        """The same ERP, if it can be asked for no more than what changed."""

    def stores(self) -> dict[str, str | None]:
        """The ERP's id of each store -> the platform's, sorted by the latter; None: `vendor_ids` leaves the store out.

        The source reads as little for it as it can.
        """

    def unused_columns(self) -> tuple[str, ...]:
        """The ERP's columns that shelfsync does not read, in the ERP's order; found without reading a row."""

    def absent_columns(self) -> tuple[str, ...]:
        """The columns of shelfsync that the ERP does not give, at least in one file; found without reading a row."""


class FollowedErp(Protocol):
    """An ERP that reports what changed since a cursor."""

    @property
    def feed(self) -> str:
        """The name under which its position is kept: catalog, or files."""

    @property
    def dumped(self) -> bool:
        """Whether all rows are those of a dump, so that the changes since belong over them in each reading, whatever it is for."""

    def read_with(self, changes: Changes, vendors: Sequence[str] = ()) -> Extract:
        """All present rows; after the last chunk `changes` is filled, as of the same instant where the database has snapshots.

        `vendors`: of these alone, as `ErpSource.read` does it.
        """

    def read_changes(self, changes: Changes) -> None:
        """Fills `changes` with the rows that changed since its cursor; with no row of these either, it is a success."""

    def mark(self, cursor: str) -> str:
        """A text that differs from that of the last reading if rows changed since its cursor; it costs one query and no rows."""


class Extract:
    """One extract. Iterating returns `pyarrow.Table` chunks in the RAW schema, `row_number` counted on from 1; memory holds one chunk.

    It ends in an IncompleteExtractError, never in a short extract, when the connection or the file breaks off, when the ERP gives no row at
    all, or when the rows are not as many as expected. Use it as a context manager: leaving it closes connection and files.
    """

    def __init__(self, chunks: Generator[Chunk, None, Claim], layout: Layout, *, may_be_empty: bool = False) -> None:
        self._chunks = chunks
        self._layout = layout
        self._may_be_empty = may_be_empty
        self._tables = self._read()
        self._styles: list[tuple[str | None, Styles]] = []
        """Those of each file, with the vendor that its name gives."""
        self._proof: Proof | None = None
        self.look: Look | None = None
        """Sees each column of each chunk, if it is set before the first one."""
        self._columns: dict[str | None, dict[str, str]] = {}
        self.rows = 0
        """Rows read from the ERP so far, before any hook."""
        self.rows_out = 0
        """Rows handed on so far, after the hook; the highest `row_number`."""
        self.left_out: Counter[str] = Counter()
        """The ERP's id of a store that is not on the platform (`vendor_ids`) -> its rows so far."""
        self.failed: dict[str, str] = {}
        """After the last chunk: vendor -> why its own source failed. Rows of it may have been handed on before; none of them counts."""
        self._rows_of: Counter[str | None] = Counter()
        self._doubtful: set[str] = set()
        self._unreadable = 0
        """Rows that name neither a product nor a store."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[pa.Table]:
        return self._tables

    def close(self) -> None:
        """Closes connection and files, also before the end of the extract."""
        self._tables.close()
        self._chunks.close()

    def proof(self) -> Proof:
        """The proof, after the last chunk; before it, or after a reading that failed, an IncompleteExtractError."""
        if self._proof is None:
            raise IncompleteExtractError(
                f"The extract was not read to its end ({self.rows} rows so far), so nothing is proven about it. Read it again."
            )
        return self._proof

    def columns(self) -> dict[str | None, dict[str, str]]:
        """After the last chunk: vendor whose own files were read, or None -> the source's columns by name -> type.

        A type is `text` or `a value` where the source states no more. A vendor whose files failed is not among them.
        """
        found = list(self._columns.items())
        ids = self._layout.vendor_ids.platform_ids(pa.array([name for name, _ in found], pa.string())).to_pylist()
        known = [(vendor, name, columns) for vendor, (name, columns) in zip(ids, found, strict=True)]
        return {
            vendor: columns
            for vendor, name, columns in known
            if name is None or (vendor is not None and vendor not in self.failed)
        }

    def stores(self) -> dict[str, str | None]:
        """What `ErpSource.stores` returns, from all rows; it reads and closes the extract."""
        with self:
            vendors = {
                name for chunk in self for name in pc.unique(pc.utf8_trim_whitespace(chunk["vendor"])).to_pylist()
            }
        found = {self._layout.vendor_ids.erp_ids([name])[0]: name for name in sorted(vendors - {None, ""})}
        return found | dict.fromkeys(sorted(self.left_out))

    def _read(self) -> Generator[pa.Table, None, None]:
        number, error = 0, None
        while True:
            try:
                chunk = next(self._chunks) if error is None else self._chunks.throw(error)
            except StopIteration as end:
                claim = self._without_two_styles(end.value)
                self._leave_failed_out(claim)
                self._proof = proof_of(
                    claim,
                    Read(
                        self.rows,
                        self.rows_out,
                        self.left_out,
                        self._unreadable,
                        frozenset(self._doubtful - self.failed.keys()),
                    ),
                    may_be_empty=self._may_be_empty,
                    named=self._layout.named,
                )
                return
            number, error = number + 1, None
            if not self._styles or chunk.where != self._styles[-1][1].where:
                plain = {name: "a value" if name in chunk.typed else "text" for name in chunk.names}
                self._columns.setdefault(chunk.vendor, {}).update(chunk.types or plain)
                self._styles.append((chunk.vendor, self._layout.styles(chunk.where)))
            first, styles = self.rows_out + 1, self._styles[-1][1]
            try:
                table = self._layout.raw(
                    chunk, number=number, first_row=first, left_out=self.left_out, styles=styles, look=self.look
                )
            except Exception as raised:
                if chunk.vendor is None:
                    raise
                error = raised  # the source knows what else is the store's
                continue
            self.rows += chunk.rows - chunk.no_rows
            self._rows_of[chunk.vendor] += chunk.rows - chunk.no_rows
            self.rows_out += table.num_rows
            self._note_unreadable(table)
            del chunk
            if table.num_rows:
                yield table

    def _note_unreadable(self, table: pa.Table) -> None:
        rows = table.filter(pa.array(quarantine_reason.of_no_product(table, self._layout.constants)))
        if not rows.num_rows:
            return
        vendors = pc.utf8_trim_whitespace(rows["vendor"]).combine_chunks()
        nameless = quarantine_reason.unusable(vendors)
        if self._layout.hook is not None:  # it may give the rows of one store to another
            nameless[:] = True
        self._unreadable += int(nameless.sum())
        self._doubtful |= set(vendors.filter(pa.array(~nameless)).to_pylist())

    def check_styles(self) -> None:
        """Raises DataError if a file has numbers in two styles, by the rows so far of all files."""
        elsewhere = first_other_style(styles for _, styles in self._styles)
        for _, styles in self._styles:
            styles.check(elsewhere)

    def _without_two_styles(self, claim: Claim) -> Claim:
        """The claim without the stores whose own file has numbers in two styles. Raises DataError if no other store is left, or if a file is of no store."""
        errors: dict[str, DataError] = {}
        elsewhere = first_other_style(styles for _, styles in self._styles)
        for vendor, styles in self._styles:
            if vendor in claim.failed:
                continue
            try:
                styles.check(elsewhere)
            except DataError as error:
                if vendor is None:
                    raise
                errors.setdefault(vendor, error)
        if not errors:
            return claim
        if not {vendor for vendor, _ in self._styles} - errors.keys() - claim.failed.keys():
            raise next(iter(errors.values()))
        rows = sum(self._rows_of[vendor] for vendor in errors)
        failed = {**claim.failed, **{vendor: in_one_line(error) for vendor, error in errors.items()}}
        return replace(claim, expected=None if claim.expected is None else claim.expected - rows, failed=failed)

    def _leave_failed_out(self, claim: Claim) -> None:
        self.rows -= sum(self._rows_of[vendor] for vendor in claim.failed)
        ids = self._layout.vendor_ids.platform_ids(pa.array(claim.failed, pa.string()))
        for vendor, why in zip(ids.to_pylist(), claim.failed.values(), strict=True):
            if vendor is not None:
                self.failed[vendor] = self._layout.named(why)
            else:
                line = f"extract: a store that SHELFSYNC_ERP__VENDOR_IDS leaves out cannot be read: {why}"
                log.warning("%s", self._layout.named(line))


def none_of(vendors: Sequence[str], have: str) -> DataError:
    """The ERP has other vendors alone; `have` is what it has, counted."""
    return DataError(
        f"extract: none of the vendors asked for ({', '.join(vendors)}) is among the {have} of the ERP."
        " Check the vendors of the run, SHELFSYNC_SYNC__VENDORS, SHELFSYNC_ERP__VENDOR_IDS, and the ERP's vendor column."
    )
