"""An export as the platform gives it: CSV in every variant of the field notes (Export), as the observed state of a vendor.

A byte-order mark, gzip, either name of the sales limit, further columns, any order of rows and columns, a text in a wrong encoding
and barcodes padded with zeros are all read. A file that is no export, or that breaks off, raises a DataError: half an export does not prove
that the other SKUs are gone.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.errors import DataError
from shelfsync.rows import number
from shelfsync.rows.alignment import aligned, ascending, column, padded
from shelfsync.rows.result_csv import JsonText, Kind, Source, Unreadable, batches, columns_of
from shelfsync.rows.result_limits import EXPANDED_BYTES_MAX
from shelfsync.rows.truth_words import FALSE, TRUE
from shelfsync.schemas import OBSERVED

if TYPE_CHECKING:
    from typing import BinaryIO

EXTRA = pa.schema([pa.field("sku", pa.string(), nullable=False), pa.field("extra", pa.string(), nullable=False)])
"""Further columns, as one JSON object a SKU."""

_ROWS = pa.schema([*(field.with_nullable(True) for field in OBSERVED), pa.field("extra", pa.string())])
_NAMES = {
    "sku": ("sku",),
    "barcode": ("barcode", "piece_barcode"),
    "price": ("price",),
    "active": ("active",),
    "max_sales_quantity": ("maximum_sales_quantity", "max_sales_quantity"),
}
_TRUE, _FALSE = pa.array(TRUE), pa.array(FALSE)
_RETRY = "export this vendor again"
_KIND = Kind(
    "the export",
    "sku and price or active",
    _RETRY,
    "which no vendor's assortment has; nothing of it counts. SHELFSYNC_EXPORT__FILE_MAX_BYTES allows more",
)


@dataclass(frozen=True)
class Export:
    """What was read: `rows` in OBSERVED schema, `extra` (EXTRA schema) where there were further columns, and what was wrong, in lines."""

    rows: pa.Table
    extra: pa.Table
    problems: tuple[str, ...]


def parse_export(file: BinaryIO, known: pa.Table | None = None, *, file_max_bytes: int = EXPANDED_BYTES_MAX) -> Export:
    """The whole file, whose length the caller has proven.

    `known`: sku and barcode as the ERP writes them; a barcode that is the same but for the padding comes back in that spelling, any
    other without the zeros on its left. Raises a DataError where this is no export, or not a whole one.
    """
    source = Source(file, _KIND, file_max_bytes)
    header = source.header()
    names = [] if source.cut_off else columns_of(header, _KIND, _is_export)
    if names and source.at_end() and not source.cut_off:
        return Export(OBSERVED.empty_table(), EXTRA.empty_table(), ())
    bad, lines = Unreadable(), _Lines(names)
    tables = [lines.read(rows) for rows in batches(source, len(names), bad)] if names else []
    if source.cut_off:
        raise DataError(f"the export does not unpack ({source.cut_off}); {_RETRY}")
    if not source.ends_with_a_line:
        raise DataError(f"the export breaks off inside its last line, so nothing may be concluded from it; {_RETRY}")
    problems = [f"{bad.count} lines have more or fewer fields than the header"] if bad.count else []
    problems += lines.problems()
    rows = _each_once(pa.concat_tables([_ROWS.empty_table(), *tables]).combine_chunks(), problems)
    extra = rows.select(["sku", "extra"]).cast(EXTRA) if lines.has_more else EXTRA.empty_table()
    return Export(_unpadded(rows.select(OBSERVED.names).cast(OBSERVED), known), extra, tuple(problems))


class _Lines:
    """Lines of the file in their types, some thousands at a time, and what cannot be read in them."""

    def __init__(self, names: list[str]) -> None:
        self._places = {ours: _first(names, theirs) for ours, theirs in _NAMES.items()}
        self._others = [place for place in range(len(names)) if place not in self._places.values()]
        self._json = JsonText([names[place] for place in self._others])
        self._strange: Counter[str] = Counter()
        self.has_more = bool(self._others)

    def read(self, texts: pa.RecordBatch) -> pa.Table:
        nothing = pa.nulls(texts.num_rows, pa.string())
        columns = []
        for name in OBSERVED.names:
            place = self._places[name]
            columns.append(_read(name, nothing if place is None else texts[place], self._strange))
        extra = (
            self._json.objects([texts[place] for place in self._others], texts.num_rows) if self._others else nothing
        )
        return pa.Table.from_arrays([*columns, extra], schema=_ROWS)

    def problems(self) -> list[str]:
        found = [
            f"{self._strange[name]} values of {name} cannot be read" for name in OBSERVED.names if self._strange[name]
        ]
        return found if self._json.is_whole else [*found, "its further columns are too long to be stored"]


def _is_export(names: set[str]) -> bool:
    return "sku" in names and bool(names & {"price", "active"})


def _first(names: list[str], theirs: tuple[str, ...]) -> int | None:
    folded = [name.casefold() for name in names]
    return next((folded.index(name) for name in theirs if name in folded), None)


def _read(name: str, texts: pa.Array, strange: Counter[str]) -> pa.Array:
    """One column in its type; what cannot be read is null, and counted. A SKU loses only spaces, as in normalise."""
    texts = texts.fill_null("")
    texts = pc.utf8_trim(texts, characters=" ") if name == "sku" else pc.utf8_trim_whitespace(texts)
    not_blank = pc.not_equal(texts, "")
    values = _typed(name, texts)
    if name in {"sku", "barcode"}:
        return values
    strange[name] += pc.sum(pc.and_(not_blank, values.is_null())).as_py() or 0
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
    """Sorted by SKU, each once: of several lines about one SKU the last counts."""
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
