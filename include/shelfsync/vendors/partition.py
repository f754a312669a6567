"""Splits a stream of rows into one file a vendor, in bounded memory, for any order of the rows."""

from __future__ import annotations

import os
import tempfile
from typing import IO, TYPE_CHECKING, Self

from shelfsync.errors import in_one_line
from shelfsync.platform.jobs.job import stops_every_job

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import TracebackType

    import pyarrow as pa

    from shelfsync.rows.mask import Mask
    from shelfsync.store.lake import Lake

_ROWS_IN_MEMORY = 200_000
_ROW_GROUP = 65_536
NAMELESS_KEPT = 10_000
"""How many rows without a usable vendor are kept; the others are only counted."""


class Partition:
    """Takes chunks in RAW schema, keeps at most 200,000 rows in memory, and publishes `raw` files by vendor.

    Rows of vendors that are not `wanted` (empty: all are) are dropped. Rows that name no usable vendor are
    in `nameless`. `stores`: the id of a known store, and its vendor. A row whose vendor only looks like such an id goes, unchanged, to that
    store, where normalise quarantines it: so its SKU has not left the store. `written`: vendor -> a file of earlier rows, which is in use; the
    same rows are not written again.
    """

    def __init__(
        self,
        lake: Lake,
        wanted: tuple[str, ...] = (),
        *,
        rows_in_memory: int = _ROWS_IN_MEMORY,
        kind: str = "raw",
        schema: pa.Schema | None = None,
        stores: Mapping[str, str] | None = None,
        written: Mapping[str, str] | None = None,
    ) -> None:
        self._kind = kind
        self._schema = schema
        self._stores = dict(stores or {})
        self._written = dict(written or {})
        self._lake = lake
        self._wanted = frozenset(wanted)
        self._limit = rows_in_memory
        self._held: dict[str, list[pa.Table]] = {}
        self._parts: dict[str, list[int]] = {}
        """Vendor -> where each of its spilled pieces begins in the file."""
        self._rows: dict[str, int] = {}
        self._in_memory = 0
        self._nameless: list[pa.Table] = []
        self.named_rows = 0
        """How many rows name a usable vendor, whether it is wanted or not."""
        self.nameless_rows = 0
        """How many rows name no usable vendor."""
        self.failed: dict[str, tuple[str, int]] = {}
        """Vendor -> (why its file could not be written, rows), after `finish`."""
        self.digests: dict[str, str] = {}
        """Path -> digest of the rows of a file (RAW schema), after `finish`."""

    def __enter__(self) -> Self:
        self._spilled: IO[bytes] = tempfile.TemporaryFile()  # without a name: a killed process leaves nothing
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._spilled.close()

    def add(self, chunk: pa.Table) -> None:
        """Takes one chunk; spills the largest vendors when too much is held."""
        import pyarrow as pa
        import pyarrow.compute as pc

        from shelfsync.rows.quarantine_reason import unusable

        trimmed = pc.utf8_trim(chunk["vendor"], characters=" \t\r\n").combine_chunks()  # CHAR(n) columns come padded
        chunk = chunk.set_column(chunk.column_names.index("vendor"), "vendor", trimmed)
        codes = trimmed.dictionary_encode()
        if codes.null_count or unusable(codes.dictionary).any():
            nameless = unusable(trimmed)
            names = self._stores_of(trimmed, nameless)
            nameless = unusable(names)
            self._keep_nameless(chunk.filter(pa.array(nameless)))
            chunk = chunk.filter(pa.array(~nameless))
            codes = names.filter(pa.array(~nameless)).dictionary_encode()
        if chunk.num_rows == 0:
            return
        self.named_rows += chunk.num_rows
        names = codes.dictionary.to_pylist()
        ordered = chunk if _is_sorted(codes.indices) else chunk.take(pc.array_sort_indices(codes.indices))
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

    def leave_out(self, vendor: str) -> None:
        """Drops the vendor's rows so far: they are not all of its rows."""
        self._in_memory -= sum(piece.num_rows for piece in self._held.pop(vendor, []))
        self._parts.pop(vendor, None)
        self._rows.pop(vendor, None)

    def finish(self) -> dict[str, tuple[str, int]]:
        """Publishes every vendor's file: vendor -> (path, rows). One that cannot be written is `failed` and stops no other (I10)."""
        files: dict[str, tuple[str, int]] = {}
        for name, rows in self._rows.items():
            try:
                files[name] = (self._publish(name), rows)
            except Exception as error:  # whatever it is, the other vendors go on
                if stops_every_job(error):  # the lake is unavailable for all of them
                    raise
                self.failed[name] = (in_one_line(error)[:500], rows)
        return files

    @property
    def nameless(self) -> pa.Table:
        """Rows that name no usable vendor, unchanged; the first of them where they are many."""
        import pyarrow as pa

        from shelfsync.schemas import RAW

        return pa.concat_tables(self._nameless or [(self._schema or RAW).empty_table()])

    def _stores_of(self, vendors: pa.Array, unusable: Mask) -> pa.Array:
        """The store of each row: the vendor, or the known store that an odd one reads as."""
        import pyarrow as pa
        import pyarrow.compute as pc

        from shelfsync.rows.odd_characters import is_odd_id, reads_as

        places = pa.array(is_odd_id(vendors) & unusable)
        if not self._stores or not pc.any(places).as_py():
            return vendors
        odd = vendors.filter(places)
        named = reads_as(odd)
        at = pc.index_in(named, value_set=pa.array(self._stores, pa.string()))
        return pc.replace_with_mask(
            vendors, places, pc.coalesce(pa.array(self._stores.values(), pa.string()).take(at), odd)
        )

    def _keep_nameless(self, rows: pa.Table) -> None:
        room = NAMELESS_KEPT - sum(table.num_rows for table in self._nameless)
        self.nameless_rows += rows.num_rows
        if room > 0:
            self._nameless.append(rows.slice(0, room))

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

    def _pieces(self, name: str) -> Iterator[pa.Table]:
        """A vendor's rows in their order."""
        import pyarrow as pa

        for start in self._parts.get(name, []):
            yield from self._read(start)
        if held := self._held.get(name):
            yield pa.concat_tables(held)

    def _publish(self, name: str) -> str:
        """The path of a vendor's file. Afterwards its rows are gone from here."""
        path, digest = self._written_before(name) or self._write(name)
        self._held.pop(name, None)
        self._parts.pop(name, None)
        if digest is not None:
            self.digests[path] = digest
        return path

    def _written_before(self, name: str) -> tuple[str, str] | None:
        """The file that has these very rows, if it is in the lake, and their digest.

        A lake that cannot be asked is written to, and that reports what is wrong.
        """
        from shelfsync.rows.digest import RowsDigest

        path = self._written.get(name)
        if path is None:
            return None
        digest = RowsDigest()
        for part in self._pieces(name):
            digest.add(part)
        if path != self._lake.table_path(self._kind, name, digest.with_places()):
            return None
        try:
            return (path, digest.value()) if self._lake.exists(path) else None
        except Exception:  # noqa: BLE001  each kind of storage has its own errors
            return None

    def _write(self, name: str) -> tuple[str, str | None]:
        """Writes the file; its path, and the digest of its rows (RAW schema)."""
        import pyarrow.parquet as pq

        from shelfsync.rows.digest import RowsDigest
        from shelfsync.schemas import RAW
        from shelfsync.store.lake import how_written

        schema = self._schema or RAW
        digest = RowsDigest() if self._schema is None else None
        with (
            self._lake.staged(self._kind, name, ".parquet") as staged,
            pq.ParquetWriter(staged.file, schema, **how_written(schema.names)) as writer,
        ):
            for part in self._pieces(name):
                writer.write_table(part)
                if digest is not None:
                    digest.add(part)
            if digest is not None:
                staged.digest = digest.with_places()
        return staged.path, None if digest is None else digest.value()


def _is_sorted(numbers: pa.Array) -> bool:
    found = numbers.to_numpy()
    return bool((found[1:] >= found[:-1]).all())
