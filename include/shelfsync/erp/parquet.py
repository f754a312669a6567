"""The ERP as Parquet files, one of them at a time."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pyarrow as pa

from shelfsync.erp.columns import Chunk
from shelfsync.errors import EmptyFileError, IncompleteExtractError, without_stop

if TYPE_CHECKING:
    from collections.abc import Generator

    import pyarrow.parquet as pq

    from shelfsync.erp.address import FoundFile
    from shelfsync.erp.columns import Layout


class ParquetFile:
    """One file; `rows` is the number of rows by its metadata, once it was opened."""

    def __init__(self, found: FoundFile, layout: Layout) -> None:
        self._found = found
        self._layout = layout
        self.rows = 0

    def names(self) -> tuple[str, ...]:
        """The columns."""
        with self._open() as file:
            return tuple(file.schema_arrow.names)

    def chunks(self, rows: int) -> Generator[Chunk]:
        """The rows, up to `rows` at a time, only the wanted columns. Raises IncompleteExtractError if the file is broken or empty."""
        with self._open() as file:
            self.rows = file.metadata.num_rows
            if not self.rows:
                raise EmptyFileError(
                    f"{self._found.name} has no row. An empty file is taken for a broken one: nothing was sent."
                )
            types = {field.name: str(field.type) for field in file.schema_arrow}
            wanted = self._layout.wanted(file.schema_arrow.names, self._found.name, vendor=self._found.vendor)
            try:
                for batch in file.iter_batches(batch_size=rows, columns=list(wanted)):
                    columns = [pa.chunked_array([batch.column(name)]) for name in wanted]
                    yield Chunk(wanted, columns, batch.num_rows, self._found.name, self._found.vendor, types=types)
            except (pa.ArrowException, OSError) as error:
                raise self._broken(error) from None

    def first_rows(self, rows: int) -> Chunk:
        """At most so many of its first rows, with every column."""
        with self._open() as file:
            names = tuple(file.schema_arrow.names)
            try:
                batch = next(file.iter_batches(batch_size=rows), None)
            except (pa.ArrowException, OSError) as error:
                raise self._broken(error) from None
            columns = (
                [pa.chunked_array([column]) for column in batch.columns] if batch is not None else [[] for _ in names]
            )
            return Chunk(names, columns, 0 if batch is None else batch.num_rows, self._found.name, self._found.vendor)

    @contextlib.contextmanager
    def _open(self) -> Generator[pq.ParquetFile]:
        import pyarrow.parquet as pq

        try:
            binary = self._found.fs.open(self._found.path, "rb")
        except OSError as error:
            raise self._broken(error) from None
        with binary:
            try:
                file = pq.ParquetFile(binary, pre_buffer=False)
            except (pa.ArrowException, OSError) as error:
                raise self._broken(error) from None
            with file:
                yield file

    def _broken(self, error: Exception) -> IncompleteExtractError:
        return IncompleteExtractError(
            f"{self._found.name} is no whole Parquet file: {without_stop(error, 300)}. Nothing was sent; let the ERP write it again."
        )
