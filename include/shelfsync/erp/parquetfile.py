"""One Parquet file, by batches; its own metadata say how many rows it has, and one that was cut cannot be opened at all."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pyarrow as pa

from shelfsync.erp.layout import Chunk
from shelfsync.errors import IncompleteExtractError

if TYPE_CHECKING:
    from collections.abc import Generator

    import pyarrow.parquet as pq

    from shelfsync.erp.address import FoundFile
    from shelfsync.erp.layout import Layout


class ParquetFile:
    """One file; `rows` is what its metadata say, once it was opened."""

    def __init__(self, found: FoundFile, layout: Layout) -> None:
        self._found = found
        self._layout = layout
        self.rows = 0

    def names(self) -> tuple[str, ...]:
        """The columns."""
        with self._open() as file:
            return tuple(file.schema_arrow.names)

    def chunks(self, rows: int) -> Generator[Chunk]:
        """The rows, up to `rows` at a time, only the columns that are wanted. An IncompleteExtractError says that the file is broken or empty."""
        with self._open() as file:
            self.rows = file.metadata.num_rows
            if not self.rows:
                raise IncompleteExtractError(
                    f"{self._found.name} has no row. An empty file is taken for a broken one: nothing was sent."
                )
            wanted = self._layout.wanted(file.schema_arrow.names, self._found.name, vendor=self._found.vendor)
            try:
                for batch in file.iter_batches(batch_size=rows, columns=list(wanted)):
                    columns = [pa.chunked_array([batch.column(name)]) for name in wanted]
                    yield Chunk(wanted, columns, batch.num_rows, self._found.name, self._found.vendor)
            except (pa.ArrowException, OSError) as error:
                raise self._broken(error) from None

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
            f"{self._found.name} is no whole Parquet file: {' '.join(str(error).split())[:300]}. Nothing was sent; let the ERP write it again."
        )
