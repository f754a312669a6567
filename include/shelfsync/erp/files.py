"""The ERP as files: CSV, Parquet or workbooks, local or on any fsspec address, one file a vendor or one for all."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pyarrow as pa

from shelfsync.erp import address
from shelfsync.erp.address import FILES, VENDOR, shown
from shelfsync.erp.columns import COLUMNS, CONSTANTS, Chunk, Layout
from shelfsync.erp.complete_extract import Claim, Extract, none_of
from shelfsync.erp.csvfile import CsvFile
from shelfsync.erp.workbook import Workbook
from shelfsync.errors import ConfigurationError, EmptyFileError, IncompleteExtractError, without_stop

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    import pyarrow.parquet as pq

    from shelfsync.erp.address import FoundFile
    from shelfsync.erp.columns import Layout
    from shelfsync.settings import SourceSettings


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
            f"{self._found.name} is no whole Parquet file: {without_stop(error, 300)}. Nothing was sent; let the ERP write it again."
        )


CONTROL_FILE = "SHELFSYNC_ERP__CONTROL_FILE"
FILE_FORMAT = "SHELFSYNC_ERP__FILE_FORMAT"
_ENDINGS = {
    "csv": tuple(
        name + packed for name in (".csv", ".txt", ".tsv") for packed in ("", ".gz", ".zst", ".zip", ".bz2", ".xz")
    ),
    "parquet": (".parquet", ".pq"),
    "workbook": (".xlsx", ".xlsm", ".xls", ".ods"),
}
_CONTROL_BYTES_MAX = 4096
_TRIAL_ROWS = 20


class FilesSource:
    """Reads every file of the address in the order of their names.

    The proof: the number in the control file; without one, the metadata of Parquet files, where it is plain which files there should be (one
    file, or one for each vendor). Anything else proves nothing, so nothing is concluded from what is absent there.
    """

    def __init__(
        self, settings: SourceSettings, layout: Layout, *, may_be_empty: bool = False, setting: str = FILES
    ) -> None:
        if settings.files is None:
            raise ConfigurationError(setting, "it is not set", "Set it to a file, a folder or a pattern.")
        if VENDOR in settings.files:
            for other, named in ((COLUMNS, settings.columns), (CONSTANTS, settings.constants)):
                if "vendor" in named:
                    raise ConfigurationError(
                        other, f"it gives the vendor, and so does {VENDOR} in {setting}", "Keep one of the two."
                    )
        elif settings.control_file is not None and VENDOR in settings.control_file:
            raise ConfigurationError(
                CONTROL_FILE,
                f"it holds {VENDOR}, which {FILES} does not",
                f"Name the vendor in {FILES} too, or one file for all.",
            )
        self._address = settings.files
        self._setting = setting
        self._settings = settings
        self._layout = layout
        self._may_be_empty = may_be_empty

    def check(self) -> None:
        if self._layout.hook is not None:
            self._layout.hook.load()
        found = self.found()
        self._expected(found)
        for file in found:
            self._layout.sources(self.reader(file).names(), file.name, vendor=file.vendor)
        if self._layout.hook is not None:
            for chunk in self.reader(found[0]).chunks(_TRIAL_ROWS):
                self._layout.raw(chunk, number=1, first_row=1)
                return

    def read(self, vendors: Sequence[str] = ()) -> Extract:
        return Extract(self._chunks(tuple(vendors)), self._layout, may_be_empty=self._may_be_empty)

    def followed(self) -> None:
        return None

    def stores(self) -> dict[str, str | None]:
        if VENDOR not in self._address or self._layout.hook is not None:
            return self.read().stores()
        return self._layout.vendor_ids.stores(pa.array([file.vendor for file in self.found()], pa.string()))

    def unused_columns(self) -> tuple[str, ...]:
        return self._columns(self._layout.unused)

    def absent_columns(self) -> tuple[str, ...]:
        return self._columns(self._layout.absent)

    def _columns(self, select: Callable[..., tuple[str, ...]]) -> tuple[str, ...]:
        found: dict[str, None] = {}
        for file in self.found():
            found |= dict.fromkeys(select(self.reader(file).names(), file.name, vendor=file.vendor))
        return tuple(found)

    def _chunks(self, vendors: tuple[str, ...]) -> Generator[Chunk, None, Claim]:
        counted: dict[str, int] = {}
        metadata_rows = damaged = 0
        unterminated: list[str] = []
        every = self.found()
        found = self._of_vendors(every, vendors)
        for file in found:
            reader = self.reader(file)
            rows, stamp = 0, file.stamp()
            for chunk in reader.chunks(self._settings.chunk_rows):
                rows += chunk.rows
                yield chunk
            if file.stamp() != stamp:
                raise IncompleteExtractError(
                    f"{file.name} changed while it was read. Nothing was sent; run it again when the ERP has finished writing "
                    "(let it write under another name and rename the file at the end)."
                )
            counted[file.vendor or ""] = counted.get(file.vendor or "", 0) + rows
            if isinstance(reader, CsvFile):
                damaged += reader.damaged
                unterminated += [file.name] if reader.unterminated else []
            elif isinstance(reader, ParquetFile):
                metadata_rows += reader.rows
        expected = self._expected(found, some=len(found) < len(every))
        return self._claim(expected, counted, metadata_rows, damaged, unterminated, found)

    def _of_vendors(self, found: list[FoundFile], vendors: tuple[str, ...]) -> list[FoundFile]:
        """The files of these vendors, if files are by vendor and no number is about all of them."""
        one_number = self._settings.control_file is not None and VENDOR not in self._settings.control_file
        if not vendors or VENDOR not in self._address or self._layout.hook is not None or one_number:
            return found
        theirs = [file for file in found if self._platform_id(file) in vendors]
        if not theirs:
            raise none_of(vendors, f"{len(found)} files")
        return theirs

    def _platform_id(self, file: FoundFile) -> str | None:
        """The vendor of a file; None for a store that is not on the platform."""
        [vendor] = self._layout.vendor_ids.platform_ids(pa.array([file.vendor], pa.string())).to_pylist()
        return None if vendor is None else str(vendor)

    def _claim(
        self,
        expected: dict[str, int] | None,
        counted: dict[str, int],
        metadata_rows: int,
        damaged: int,
        unterminated: list[str],
        found: list[FoundFile],
    ) -> Claim:
        caveat = f"{damaged} rows could not be read, so an absent SKU may be in one of them" if damaged else None
        if expected is not None:
            for vendor in sorted(expected if "" not in expected else ()):
                if counted.get(vendor) != expected[vendor]:
                    raise IncompleteExtractError(
                        f"{counted.get(vendor, 0)} rows of vendor {vendor!r} were read, and its control file ({CONTROL_FILE}) gives "
                        f"{expected[vendor]}: nothing was sent. Let the ERP write both again."
                    )
            return Claim(sum(expected.values()), f"the control file ({CONTROL_FILE})", caveat)
        if unterminated:
            raise IncompleteExtractError(
                f"{unterminated[0]} does not end with a line break, so its last row may have been cut inside its last field. Nothing was sent. "
                f"Let the ERP end the file with a line break, or write the true number of rows into a file and name it by {CONTROL_FILE}."
            )
        if (kind := self._format(found[0])) != "parquet":
            what = "CSV" if kind == "csv" else kind
            how = f"a {what} without a control file proves nothing about what is absent (see {CONTROL_FILE})"
            return Claim(None, how, caveat)
        if not address.names_each_file(self._address, found):
            how = f"a folder or a pattern does not give the number of files, so one may be missing (see {CONTROL_FILE})"
            return Claim(None, how, caveat)
        return Claim(metadata_rows, "the row count in the metadata of the Parquet files", caveat)

    def _expected(self, found: list[FoundFile], *, some: bool = False) -> dict[str, int] | None:
        """Vendor -> its true number of rows; the empty vendor for all together; None without control files. `some`: of these files alone."""
        if self._settings.control_file is None:
            return None
        controls = address.find(self._settings.control_file, endings=("",), setting=CONTROL_FILE)
        if VENDOR not in self._settings.control_file:
            return {"": sum(_number(control) for control in controls)}
        vendors = {file.vendor for file in found}
        expected = {
            control.vendor or "": _number(control) for control in controls if not some or control.vendor in vendors
        }
        for vendor in sorted(vendors ^ set(expected), key=str):
            there, missing = (CONTROL_FILE, FILES) if vendor in expected else (FILES, CONTROL_FILE)
            raise IncompleteExtractError(
                f"Vendor {vendor!r} is in {there} but not in {missing}: a file is missing, and nothing was sent. Let the ERP write both."
            )
        return expected

    def found(self, *, may_be_empty: bool = False) -> list[FoundFile]:
        """The files, sorted by path, all of one format; a ConfigurationError if there are none, unless there may be none."""
        format_ = self._settings.file_format
        endings = _ENDINGS[format_] if format_ else [ending for each in _ENDINGS.values() for ending in each]
        found = address.find(self._address, endings=endings, setting=self._setting, may_be_empty=may_be_empty)
        formats = {self._format(file) for file in found}
        if len(formats) > 1:
            raise ConfigurationError(
                self._setting,
                f"{shown(self._address)} holds files of several kinds: {' and '.join(sorted(formats))}",
                f"Narrow the pattern, or set {FILE_FORMAT}.",
            )
        return found

    def _format(self, file: FoundFile) -> str:
        if self._settings.file_format is not None:
            return self._settings.file_format
        for format_, endings in _ENDINGS.items():
            if file.path.casefold().endswith(endings):
                return format_
        raise ConfigurationError(
            FILE_FORMAT,
            f"the ending of {file.path!r} is that of no known format",
            f"Set it to {', '.join(_ENDINGS)}.",
        )

    def reader(self, file: FoundFile) -> CsvFile | ParquetFile | Workbook:
        """What reads one of the files."""
        settings = self._settings
        match self._format(file):
            case "parquet":
                return ParquetFile(file, self._layout)
            case "workbook":
                return Workbook(file, self._layout, settings.sheet, settings.header_row)
        return CsvFile(file, settings.csv_delimiter, settings.csv_encoding, settings.header_row)


def _number(control: FoundFile) -> int:
    """The number in a control file."""
    try:
        with control.fs.open(control.path, "rb") as file:
            text = file.read(_CONTROL_BYTES_MAX).decode("utf-8-sig", "replace").strip()
    except OSError as error:
        raise IncompleteExtractError(
            f"{control.name} ({CONTROL_FILE}) cannot be read: {error.strerror or error}. Run it again."
        ) from None
    if not text.isascii() or not text.isdigit():
        raise ConfigurationError(
            CONTROL_FILE,
            f"{control.path!r} holds {text[:40]!r}",
            "Let the ERP write one whole number there: the rows without the header.",
        )
    return int(text)
