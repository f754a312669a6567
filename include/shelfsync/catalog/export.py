"""An export as the platform gives it: CSV in every shape of the field notes (Export), as what the platform shows.

A byte-order mark, gzip, either name of the sales limit, further columns, any order of rows and columns, a text in a wrong encoding
and barcodes padded with zeros are all read. What is no export, and what breaks off, is told apart from it: from half an export
nobody may conclude that the rest is gone.
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from shelfsync.catalog import jsontext, number
from shelfsync.catalog.alignment import aligned, ascending, column
from shelfsync.catalog.barcode import padded
from shelfsync.columns import OBSERVED
from shelfsync.errors import DataError

if TYPE_CHECKING:
    from typing import BinaryIO

EXTRA = pa.schema([pa.field("sku", pa.string(), nullable=False), pa.field("extra", pa.string(), nullable=False)])
"""Columns that nobody knows, as one JSON object a SKU."""

_NAMES = {
    "sku": ("sku",),
    "barcode": ("barcode", "piece_barcode"),
    "price": ("price",),
    "active": ("active",),
    "max_sales_quantity": ("maximum_sales_quantity", "max_sales_quantity"),
}
_TRUE, _FALSE = pa.array(["1", "true", "t", "yes", "y"]), pa.array(["0", "false", "f", "no", "n"])
_BLOCK_BYTES = 8 * 1024 * 1024
_RETRY = "export this vendor again"


@dataclass(frozen=True)
class Export:
    """What was read: `rows` in OBSERVED shape, `extra` (EXTRA shape) where there were further columns, and what was wrong, in lines."""

    rows: pa.Table
    extra: pa.Table
    problems: tuple[str, ...]


def parse_export(file: BinaryIO, known: pa.Table | None = None, *, file_bytes_max: int = 1 << 29) -> Export:
    """The whole file, whose length was proven by whoever fetched it.

    `known`: sku and barcode as the ERP writes them; a barcode that is the same but for the padding comes back in that spelling, any
    other without the zeros on its left. Raises a DataError where this is no export, or not a whole one.
    """
    data = _plain(file, file_bytes_max)
    header, _, rest = data.partition(b"\n")
    names = _header(header)
    if rest and not rest.endswith((b"\n", b"\r")):
        raise DataError(f"the export breaks off inside its last line, so nothing may be concluded from it; {_RETRY}")
    if not rest.strip():
        return Export(OBSERVED.empty_table(), EXTRA.empty_table(), ())
    bad: list[pa_csv.InvalidRow] = []
    texts = _texts(rest, names, bad)
    problems = [f"{len(bad)} lines have more or fewer fields than the header"] if bad else []
    found = {ours: _first(names, theirs) for ours, theirs in _NAMES.items()}
    nothing = pa.nulls(texts.num_rows, pa.string())
    said = {ours: nothing if place is None else texts[place] for ours, place in found.items()}
    rows = pa.Table.from_arrays([_read(name, said[name], problems) for name in OBSERVED.names], names=OBSERVED.names)
    others = [place for place in range(len(names)) if place not in found.values()]
    extra = jsontext.objects([names[place] for place in others], [texts[place] for place in others]) if others else None
    rows = rows.append_column("extra", nothing if extra is None else extra)
    rows = _each_once(rows, problems).cast(pa.schema([*OBSERVED, pa.field("extra", pa.string())]))
    kept = rows.select(["sku", "extra"]).cast(EXTRA) if others else EXTRA.empty_table()
    return Export(_unpadded(rows.select(OBSERVED.names), known), kept, tuple(problems))


def _plain(file: BinaryIO, bytes_max: int) -> bytes:
    """The bytes, unpacked, as UTF-8 without a mark at their beginning."""
    first = file.read(2)
    stream: BinaryIO = io.BytesIO(first + file.read(bytes_max + 1))
    try:
        data = gzip.GzipFile(fileobj=stream).read(bytes_max + 1) if first == b"\x1f\x8b" else stream.read()
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"the export does not unpack ({error}); {_RETRY}") from None
    if len(data) > bytes_max:
        raise DataError(
            f"the export has more than {bytes_max} bytes, which no vendor's assortment has; nothing of it counts."
            " SHELFSYNC_EXPORT__FILE_BYTES_MAX allows more"
        )
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        data.decode()
    except UnicodeDecodeError:  # what is not UTF-8 becomes U+FFFD: it can be shown, and matches no SKU
        data = data.decode("utf-8", "replace").encode()
    return data.lstrip(b"\r\n")


def _header(line: bytes) -> list[str]:
    """The names in the first line; a DataError says what the file is when it is no export."""
    text = line.decode("utf-8", "replace").strip()
    if not text:
        raise DataError(f"the export is empty, without even a header; {_RETRY}")
    if text.startswith("<"):
        raise DataError(
            f"the export is a web page, not CSV (it begins {text[:60]!r}); the link may have expired: {_RETRY}"
        )
    try:
        names = [name.strip() for name in next(csv.reader([text]))]
    except csv.Error:
        names = []
    folded = {name.casefold() for name in names}
    if text[0] in "{[" or "sku" not in folded or not folded & {"price", "active"}:
        raise DataError(
            f"the export has no header with sku and price or active; it begins {text[:60]!r}. Look at the file: its shape is new"
        )
    return names


def _texts(rest: bytes, names: list[str], bad: list[pa_csv.InvalidRow]) -> pa.RecordBatch:
    def set_aside(row: pa_csv.InvalidRow) -> str:
        bad.append(row)
        return "skip"

    places = [str(place) for place in range(len(names))]  # the header's own names may repeat
    try:
        table = pa_csv.read_csv(
            io.BytesIO(rest),
            pa_csv.ReadOptions(column_names=places, block_size=_BLOCK_BYTES, use_threads=False),
            pa_csv.ParseOptions(newlines_in_values=True, invalid_row_handler=set_aside),
            pa_csv.ConvertOptions(column_types=dict.fromkeys(places, pa.string()), strings_can_be_null=False),
        )
    except pa.ArrowInvalid as error:
        raise DataError(f"the export cannot be read as CSV: {str(error).splitlines()[0]}; {_RETRY}") from None
    return pa.RecordBatch.from_arrays([column(table, place) for place in places], places)


def _first(names: list[str], theirs: tuple[str, ...]) -> int | None:
    folded = [name.casefold() for name in names]
    return next((folded.index(name) for name in theirs if name in folded), None)


def _read(name: str, texts: pa.Array, problems: list[str]) -> pa.Array:
    """One column in its type; what cannot be read is null, and counted."""
    texts = pc.utf8_trim_whitespace(texts.fill_null(""))
    said = pc.not_equal(texts, "")
    values = _typed(name, texts)
    if name in {"sku", "barcode"}:
        return values
    strange = pc.sum(pc.and_(said, values.is_null())).as_py() or 0
    if strange:
        problems.append(f"{strange} values of {name} cannot be read")
    return values


def _typed(name: str, texts: pa.Array) -> pa.Array:
    none = pa.scalar(None, pa.string())
    if name == "sku":
        return texts
    if name == "barcode":
        return pc.if_else(pc.equal(texts, ""), none, texts)
    if name == "active":
        word = pc.utf8_lower(texts)
        on, off = pc.is_in(word, value_set=_TRUE), pc.is_in(word, value_set=_FALSE)
        return pc.if_else(pc.or_(on, off), on, pa.scalar(None, pa.bool_()))
    numbers = number.read(texts)
    fine = pa.array(~numbers.negative, pa.bool_())
    values = numbers.magnitude if name == "price" else numbers.pieces()
    return pc.if_else(fine, values, pa.scalar(None, values.type))


def _each_once(rows: pa.Table, problems: list[str]) -> pa.Table:
    """Sorted by SKU, each once: of several lines about one SKU the last counts, as the platform's own last word."""
    nameless = pc.equal(rows["sku"], "")
    count = pc.sum(nameless).as_py() or 0
    if count:
        problems.append(f"{count} lines name no SKU")
        rows = rows.filter(pc.invert(nameless))
    skus = column(rows, "sku")
    if ascending(skus):
        return rows
    numbered = rows.append_column("line", pa.array(range(rows.num_rows), pa.int64()))
    numbered = numbered.sort_by([("sku", "ascending"), ("line", "ascending")])
    skus = column(numbered, "sku")
    last = pa.concat_arrays([pc.not_equal(skus[1:], skus[:-1]), pa.array([True])])
    repeated = numbered.num_rows - (pc.sum(last).as_py() or 0)
    if repeated:
        problems.append(f"{repeated} lines repeat a SKU; its last line counts")
    return numbered.filter(last).drop_columns(["line"])


def _unpadded(rows: pa.Table, known: pa.Table | None) -> pa.Table:
    shown = column(rows, "barcode")
    bare = pc.ascii_ltrim(shown, characters="0")
    if known is not None and known.num_rows:
        ours = aligned(known, column(rows, "sku"), ["barcode"])["barcode"]
        same = pc.equal(padded(ours), padded(shown)).fill_null(False)
        bare = pc.if_else(same, ours, bare)
    bare = pc.if_else(pc.equal(bare, ""), pa.scalar(None, pa.string()), bare)
    return rows.set_column(rows.column_names.index("barcode"), OBSERVED.field("barcode"), bare)
