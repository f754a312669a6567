"""What an ERP is to the rest of the house: something that can be checked, and read once from its first row to its last with a proof."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self

from shelfsync.erp.layout import CATALOG, Layout
from shelfsync.errors import ConfigurationError, IncompleteExtractError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from types import TracebackType

    import pyarrow as pa

    from shelfsync.erp.layout import Chunk, Shape
    from shelfsync.settings import ErpSettings


@dataclass(frozen=True)
class Claim:
    """What a source says, after its last chunk, about how many rows there should have been.

    `how` tells a person where `expected` comes from; `doubt` is a reason not to believe absence although the numbers agree.
    """

    expected: int | None
    how: str
    doubt: str | None = None


@dataclass(frozen=True)
class Proof:
    """Whether what was read is the whole of what the ERP holds.

    `rows` are rows read from the ERP, before any hook; `expected` is their true number, as far as anybody said it. Only where `complete` is
    true may something be concluded from a SKU's absence (design: I9); `how` says in words why, or why not.
    """

    complete: bool
    rows: int
    expected: int | None
    how: str


class ErpSource(Protocol):
    """One configured ERP."""

    def check(self) -> None:
        """Raises ConfigurationError with the setting and the remedy, before anything is read in bulk: connection, credentials, columns."""

    def read(self) -> Extract:
        """The rows of now. Nothing happens before the first chunk is asked for."""


class Extract:
    """One reading. Iterating gives `pyarrow.Table` chunks in the RAW schema, `row_number` counted on from 1; memory holds one chunk.

    It ends in an IncompleteExtractError, never in a short extract, when the connection or the file breaks off, when the ERP gives no row at
    all, or when the rows are not as many as expected. Use it as a context manager: leaving it closes connection and files.
    """

    def __init__(self, chunks: Generator[Chunk, None, Claim], layout: Layout, *, may_be_empty: bool = False) -> None:
        self._chunks = chunks
        self._layout = layout
        self._may_be_empty = may_be_empty
        self._tables = self._read()
        self._proof: Proof | None = None
        self.rows = 0
        """Rows read from the ERP so far, before any hook."""
        self.rows_out = 0
        """Rows handed on so far, after the hook; the highest `row_number`."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __iter__(self) -> Iterator[pa.Table]:
        return self._tables

    def close(self) -> None:
        """Gives connection and files back, wherever the reading stands."""
        self._tables.close()
        self._chunks.close()

    def proof(self) -> Proof:
        """The proof, after the last chunk; before it, or after a reading that failed, an IncompleteExtractError."""
        if self._proof is None:
            raise IncompleteExtractError(
                f"The extract was not read to its end ({self.rows} rows so far), so nothing is proven about it. Read it again."
            )
        return self._proof

    def _read(self) -> Generator[pa.Table, None, None]:
        number = 0
        while True:
            try:
                chunk = next(self._chunks)
            except StopIteration as end:
                self._proof = self._prove(end.value)
                return
            number += 1
            table = self._layout.raw(chunk, number=number, first_row=self.rows_out + 1)
            self.rows += chunk.rows
            self.rows_out += table.num_rows
            del chunk
            if table.num_rows:
                yield table

    def _prove(self, claim: Claim) -> Proof:
        if not self.rows and not claim.expected and not (self._may_be_empty and claim.expected == 0):
            raise IncompleteExtractError(
                "The ERP gave no row at all. An empty ERP is taken for a broken one: nothing was sent. Look at the SELECT or the files."
            )
        if claim.expected is not None and claim.expected != self.rows:
            raise IncompleteExtractError(
                f"{self.rows} rows were read, and {claim.how} says {claim.expected}: the extract is not the whole of the ERP, and nothing was sent. "
                "Run it again; if it stays so, compare the two numbers in the ERP."
            )
        if not self.rows_out and self.rows:
            raise IncompleteExtractError(
                f"The mapping hook left none of {self.rows} rows. That is taken for a mistake: nothing was sent. Look at the hook."
            )
        complete = claim.expected is not None and claim.doubt is None
        how = claim.how if claim.doubt is None else f"{claim.how}; {claim.doubt}"
        return Proof(complete=complete, rows=self.rows, expected=claim.expected, how=how)


def open_source(settings: ErpSettings, shape: Shape = CATALOG, *, may_be_empty: bool = False) -> ErpSource:
    """The source that the settings describe. Reads and connects to nothing yet.

    `may_be_empty`: no row is believed where the true number of rows is known to be none.
    """
    kind = settings.source
    if kind is None:
        if settings.url is not None and settings.files is not None:
            raise ConfigurationError(
                "SHELFSYNC_ERP__SOURCE",
                "both SHELFSYNC_ERP__URL and SHELFSYNC_ERP__FILES are set",
                "Say which of them holds: sql or files.",
            )
        if settings.url is None and settings.files is None:
            raise ConfigurationError(
                "SHELFSYNC_ERP__URL",
                "no ERP is configured",
                "Set it to a database URL (or give Airflow the connection shelfsync_erp), or set SHELFSYNC_ERP__FILES.",
            )
        kind = "sql" if settings.url is not None else "files"
    layout = Layout.of(settings, shape)
    if kind == "sql":
        from shelfsync.erp.sql import SqlSource

        return SqlSource(settings, layout, may_be_empty=may_be_empty)
    from shelfsync.erp.files import FilesSource

    return FilesSource(settings, layout, may_be_empty=may_be_empty)
