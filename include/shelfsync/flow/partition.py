"""One stream of rows into one file a vendor, in bounded memory, whatever order the rows come in."""

from __future__ import annotations

import os
import tempfile
from typing import IO, TYPE_CHECKING, Self

from shelfsync.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    import pyarrow as pa

    from shelfsync.lake.store import Lake

_ROWS_IN_MEMORY = 1_000_000
_ROW_GROUP = 65_536
_NAMELESS_MAX = 100_000


class Partition:
    """Takes chunks in RAW shape, keeps at most a million rows in memory, and publishes `raw` files by vendor.

    Rows of vendors that are not `wanted` (empty: all are) are dropped; rows that name no vendor are kept aside as `nameless`.
    """

    def __init__(
        self,
        lake: Lake,
        wanted: tuple[str, ...] = (),
        *,
        rows_in_memory: int = _ROWS_IN_MEMORY,
        kind: str = "raw",
        schema: pa.Schema | None = None,
    ) -> None:
        self._kind = kind
        self._schema = schema
        self._lake = lake
        self._wanted = frozenset(wanted)
        self._limit = rows_in_memory
        self._held: dict[str, list[pa.Table]] = {}
        self._parts: dict[str, list[int]] = {}
        """Vendor -> where each of its spilled pieces begins in the file."""
        self._rows: dict[str, int] = {}
        self._in_memory = 0
        self._nameless: list[pa.Table] = []

    def __enter__(self) -> Self:
        self._spilled: IO[bytes] = tempfile.TemporaryFile()  # without a name: a killed process leaves nothing
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._spilled.close()

    def add(self, chunk: pa.Table) -> None:
        """Takes one chunk; spills the largest vendors when too much is held."""
        import pyarrow.compute as pc

        trimmed = pc.utf8_trim_whitespace(chunk["vendor"])  # CHAR(n) columns come padded
        blank = pc.fill_null(pc.equal(trimmed, ""), fill_value=True)
        chunk = chunk.set_column(chunk.column_names.index("vendor"), "vendor", trimmed)
        if pc.any(blank).as_py():
            self._keep_nameless(chunk.filter(blank))
            chunk = chunk.filter(pc.invert(blank))
        if chunk.num_rows == 0:
            return
        codes = chunk["vendor"].combine_chunks().dictionary_encode()
        names = codes.dictionary.to_pylist()
        order = pc.array_sort_indices(codes.indices)
        ordered = chunk if len(names) == 1 else chunk.take(order)
        counts = pc.value_counts(codes.indices)
        sizes = dict(zip(counts.field("values").to_pylist(), counts.field("counts").to_pylist(), strict=True))
        start = 0
        for code, name in enumerate(names):
            rows = sizes[code]
            if not self._wanted or name in self._wanted:
                piece = ordered.slice(start, rows)
                self._held.setdefault(name, []).append(piece)
                self._rows[name] = self._rows.get(name, 0) + rows
                self._in_memory += rows
            start += rows
        while self._in_memory > self._limit:
            self._spill()

    def finish(self) -> dict[str, tuple[str, int]]:
        """Publishes every vendor's file: vendor -> (path, rows)."""
        return {name: (self._publish(name), rows) for name, rows in self._rows.items()}

    @property
    def nameless(self) -> pa.Table:
        """Rows that name no vendor, as rows of the quarantine."""
        import pyarrow as pa

        from shelfsync.columns import QUARANTINE

        return pa.concat_tables([_nameless_rows(table) for table in self._nameless] or [QUARANTINE.empty_table()])

    def _keep_nameless(self, rows: pa.Table) -> None:
        self._nameless.append(rows)
        if sum(table.num_rows for table in self._nameless) > _NAMELESS_MAX:
            raise DataError(
                f"extract: more than {_NAMELESS_MAX:,} rows name no vendor, which looks like a wrong column and not like wrong rows."
                " Check SHELFSYNC_ERP__COLUMNS and the SELECT's vendor column; nothing was sent."
            )

    def _spill(self) -> None:
        import pyarrow as pa

        name = max(self._held, key=lambda held: sum(piece.num_rows for piece in self._held[held]))
        table = pa.concat_tables(self._held.pop(name))
        parts = self._parts.setdefault(name, [])
        parts.append(self._spilled.seek(0, os.SEEK_END))
        with pa.ipc.new_stream(
            self._spilled, table.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")
        ) as stream:
            stream.write_table(table)
        self._in_memory -= table.num_rows

    def _read(self, start: int) -> Iterator[pa.Table]:
        """A spilled piece in tables of a row group: it was written in batches as small as the chunks had rows of the vendor."""
        import pyarrow as pa

        self._spilled.seek(start)
        batches: list[pa.RecordBatch] = []
        rows = 0
        for batch in pa.ipc.open_stream(self._spilled):
            batches.append(batch)
            rows += batch.num_rows
            if rows >= _ROW_GROUP:
                yield pa.Table.from_batches(batches)
                batches, rows = [], 0
        if batches:
            yield pa.Table.from_batches(batches)

    def _publish(self, name: str) -> str:
        import pyarrow as pa
        import pyarrow.parquet as pq

        from shelfsync.columns import RAW

        held = self._held.pop(name, [])
        with (
            self._lake.staged(self._kind, name, ".parquet") as staged,
            pq.ParquetWriter(staged.file, self._schema or RAW, compression="zstd") as writer,
        ):
            for start in self._parts.pop(name, []):
                for part in self._read(start):
                    writer.write_table(part)
            if held:
                writer.write_table(pa.concat_tables(held))
        return staged.path


def _nameless_rows(chunk: pa.Table) -> pa.Table:
    """Rows that name no vendor, as rows of the quarantine: what no database takes (NUL, half characters) stands in `raw` alone."""
    from shelfsync.catalog.normalise import normalise
    from shelfsync.settings import NormaliseSettings

    return normalise(chunk, NormaliseSettings()).quarantine
