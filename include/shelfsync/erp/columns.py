"""From the ERP's columns to shelfsync's: names, constants, the hook, and every value as its exact text (the RAW schema)."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.erp import column_kinds
from shelfsync.erp.mapping_hook import SETTING as MAPPING
from shelfsync.erp.mapping_hook import MappingHook
from shelfsync.erp.number_notation import NUMBERS, Notation, is_written
from shelfsync.erp.text import series_texts, texts
from shelfsync.erp.two_number_styles import Styles
from shelfsync.erp.vendor_ids import VendorIds
from shelfsync.errors import ConfigurationError
from shelfsync.rows import quarantine_reason
from shelfsync.schemas import CHANGED, FIELDS, RAW

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from typing import TypeAlias

    import pandas as pd

    from shelfsync.settings import SourceSettings

Look: TypeAlias = "Callable[[str, str, Any, Any, str | None], None]"
"""Sees each part of a column: shelfsync's name, the ERP's, the ERP's cells, the texts that are read of them, and the marks of written numbers."""

REQUIRED = ("vendor", "sku")
COLUMNS = "SHELFSYNC_ERP__COLUMNS"
CONSTANTS = "SHELFSYNC_ERP__CONSTANTS"


@dataclass(frozen=True)
class Chunk:
    """A part of an extract as its source gave it: columns of equal length under the ERP's names.

    `damaged` are rows that name no product, each as one text for a person; they count as rows, but for the last `no_rows`. `damaged_vendors`: the
    place of such a row -> its vendor, where a row has one of its own. `where` names the source of the chunk in messages. `vendor` is the vendor if the source names it (in the name of a file). `typed`: columns of texts that the source has
    as numbers or times, so that their notation is no question.
    """

    names: tuple[str, ...]
    columns: Sequence[Sequence[Any] | pa.ChunkedArray]
    rows: int
    where: str
    vendor: str | None = None
    damaged: Sequence[str] = field(default=())
    damaged_vendors: Mapping[int, str] = field(default_factory=dict)
    typed: frozenset[str] = frozenset()
    types: Mapping[str, str] = field(default_factory=dict)
    """All columns of the source, also those that are not read -> their types, where it tells both; empty: `names` are all."""
    no_rows: int = 0


@dataclass(frozen=True)
class ExtractSchema:
    """The schema of an extract (`row_number`, then texts), the columns that are required, and those of which one is required."""

    schema: pa.Schema
    required: tuple[str, ...]
    any_of: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of a row, without `row_number`."""
        return tuple(self.schema.names[1:])


CATALOG = ExtractSchema(RAW, REQUIRED, FIELDS)
CATALOG_CHANGES = ExtractSchema(CHANGED, REQUIRED, FIELDS)


class Layout:
    """The settings about names; the constructor raises ConfigurationError if they contradict each other."""

    def __init__(
        self,
        columns: Mapping[str, str],
        constants: Mapping[str, str],
        mapping: str | None = None,
        extract: ExtractSchema = CATALOG,
        vendor_ids: VendorIds | None = None,
        notation: Notation | None = None,
    ) -> None:
        for setting, named in ((COLUMNS, columns), (CONSTANTS, constants)):
            for name in named:
                if name not in extract.names:
                    raise ConfigurationError(
                        setting, f"{name!r} is no column of shelfsync", f"Use one of {', '.join(extract.names)}."
                    )
        both = sorted(set(columns) & set(constants))
        if both:
            raise ConfigurationError(
                CONSTANTS, f"{both[0]!r} is also in {COLUMNS}", "Take it from a column or give it a constant, not both."
            )
        self.columns = dict(columns)
        self.constants = dict(constants)
        self.hook = MappingHook(mapping) if mapping else None
        self.extract = extract
        self.vendor_ids = vendor_ids or VendorIds({})
        self.notation = notation or Notation()
        self.named: Callable[[str], str] = str
        """A message under the names of the source's own settings."""

    @classmethod
    def of(cls, settings: SourceSettings, extract: ExtractSchema = CATALOG) -> Layout:
        ids, notation = VendorIds.of(settings), Notation.of(settings)
        layout = cls(settings.columns, settings.constants, settings.mapping, extract, ids, notation)
        layout.named = settings.named
        return layout

    def sources(self, names: Sequence[str], where: str, *, vendor: str | None = None) -> dict[str, str]:
        """The name in shelfsync -> the ERP's name, for the columns of the ERP; a ConfigurationError names what is missing.

        A name is first looked for as it is written, then without regard to case, as databases fold it.
        """
        found: dict[str, str] = {}
        given = {*self.constants, *(("vendor",) if vendor is not None else ())}
        for ours in self.extract.names:
            if ours in given:
                continue
            theirs = self._find(self.columns.get(ours, ours), names, where)
            if theirs is not None:
                found[ours] = theirs
            elif ours in self.columns:
                raise ConfigurationError(
                    COLUMNS,
                    f"{ours!r} is mapped to {self.columns[ours]!r}, which {where} does not have; it has {_list(names)}",
                    "Correct the name of the column.",
                )
        if self.hook is None:
            self._demand({*found, *given}, names, where)
        return found

    def unused(self, names: Sequence[str], where: str, *, vendor: str | None = None) -> tuple[str, ...]:
        """The ERP's columns that shelfsync does not read; none with a hook, which sees them all."""
        if self.hook is not None:
            return ()
        used = set(self.wanted(names, where, vendor=vendor))
        return tuple(name for name in names if name not in used)

    def absent(self, names: Sequence[str], where: str, *, vendor: str | None = None) -> tuple[str, ...]:
        """The columns of shelfsync that the ERP does not give; none with a hook, which may add them."""
        if self.hook is not None:
            return ()
        found = {*self.sources(names, where, vendor=vendor), *self.constants, *(("vendor",) if vendor else ())}
        return tuple(name for name in self.extract.names if name not in found)

    def wanted(self, names: Sequence[str], where: str, *, vendor: str | None = None) -> tuple[str, ...]:
        """The ERP's columns worth reading: all of them when a hook shall see them."""
        if self.hook is not None:
            return tuple(names)
        found = self.sources(names, where, vendor=vendor).values()
        return tuple(dict.fromkeys([*found, *(() if vendor is None else _own_vendor(names, found))]))

    def own_vendors(self, chunk: Chunk) -> set[str]:
        """The platform's ids in the column `vendor` of a file whose name gives its vendor; none without such a column, or with a hook."""
        if self.hook is not None or chunk.vendor is None:
            return set()
        theirs = self.sources(chunk.names, chunk.where, vendor=chunk.vendor).values()
        found: set[str] = set()
        for name in _own_vendor(chunk.names, theirs):
            ids = self.vendor_ids.platform_ids(texts(chunk.columns[chunk.names.index(name)]))
            found |= {one for one in pc.unique(ids).to_pylist() if one}
        return found

    def styles(self, where: str) -> Styles:
        """What finds two styles of numbers in one file; `raw` shows it each chunk of the file."""
        return Styles(where, self.notation)

    def raw(
        self,
        chunk: Chunk,
        *,
        number: int,
        first_row: int,
        left_out: Counter[str] | None = None,
        styles: Styles | None = None,
        look: Look | None = None,
    ) -> pa.Table:
        """The chunk in the RAW schema under the platform's vendor ids, its rows counted on from `first_row`.

        `number` is the chunk's own, from 1; `left_out` counts rows of stores that are not on the platform, by the ERP's id. `styles` and
        `look` see each column.
        """
        sources = self.sources(chunk.names, chunk.where, vendor=chunk.vendor)
        constants = {**self.constants, **({"vendor": chunk.vendor} if chunk.vendor is not None else {})}
        intact = chunk.rows - len(chunk.damaged)
        if self.hook is None:
            values = self._plain(sources, chunk, styles, look)
        elif intact:
            values, intact = self._mapped(chunk, sources, constants, number, look)
        else:
            values = {}
        schema = self.extract.schema
        table = _table(values, constants, intact, schema)
        if look is not None:
            for name in constants.keys() - values.keys():
                self._show(look, name, "constant" if name in self.constants else "file", table[name], table[name], None)
        if chunk.damaged:
            table = pa.concat_tables([table, _damaged(chunk, self.constants, schema)])
        table = self.vendor_ids.translate(table, Counter() if left_out is None else left_out)
        numbers = pa.array(range(first_row, first_row + table.num_rows), pa.int64())
        return table.add_column(0, schema.field(0), numbers).cast(schema)

    def _mapped(
        self,
        chunk: Chunk,
        sources: Mapping[str, str],
        constants: Mapping[str, str],
        number: int,
        look: Look | None,
    ) -> tuple[dict[str, Any], int]:
        """The chunk through the hook: texts by shelfsync's names, and the number of rows that the hook returned."""
        assert self.hook is not None
        frame = _frame(chunk, sources, constants)
        answer = self.hook.apply(frame, number)
        names = [str(name) for name in answer.columns]
        for name in self.extract.names:
            if names.count(name) > 1:
                raise ConfigurationError(
                    MAPPING, f"the hook {self.hook.name!r} returned {name!r} twice", "Let it return each column once."
                )
        self._demand({*names, *constants}, names, f"what the hook {self.hook.name!r} returned")
        columns = {name: answer.iloc[:, names.index(name)] for name in self.extract.names if name in names}
        plain = {}
        for name, column in columns.items():
            cells, written = series_texts(column), is_written(_values(column))
            plain[name] = self.notation.plain(name, cells, written)
            if look is not None:
                self._show(look, name, "hook", cells, plain[name], written)
        return plain, len(answer)

    def _show(self, look: Look, name: str, source: str, cells: Any, plain: Any, written: Any) -> None:
        """Shows a part of a column, a vendor under the platform's id."""
        texts = self.vendor_ids.platform_ids(plain) if name == "vendor" else plain
        look(name, source, cells, texts, None if written is False or written is None else self.notation.sentence())

    def _plain(
        self, sources: Mapping[str, str], chunk: Chunk, styles: Styles | None, look: Look | None
    ) -> dict[str, Any]:
        """The columns of the chunk as texts in plain notation."""
        came = {ours: chunk.columns[chunk.names.index(theirs)] for ours, theirs in sources.items()}
        values = {ours: texts(column) for ours, column in came.items()}
        plain = {}
        for ours, column in values.items():
            written = sources[ours] not in chunk.typed and is_written(came[ours])
            if styles is not None and ours in NUMBERS and written is not False:
                texts_alone = written is True
                styles.look(ours, *(one if texts_alone else one.filter(written) for one in (column, values["sku"])))
            plain[ours] = self.notation.plain(ours, column, written)
            if look is not None:
                self._show(look, ours, sources[ours], column, plain[ours], written)
        return plain

    def _demand(self, have: set[str], names: Sequence[str], where: str) -> None:
        setting = COLUMNS if self.hook is None else MAPPING
        known = {ours: theirs for ours, theirs in column_kinds.by_name(names).items() if ours in self.extract.names}
        likely = {ours: theirs for ours, theirs in known.items() if ours not in have}
        for name in self.extract.required:
            if name in likely and name not in have:
                proposed = json.dumps(self.columns | likely, ensure_ascii=False)
                raise ConfigurationError(
                    setting,
                    f"{where} has no column {name!r}; it has {_list(names)}",
                    f"By its name, {likely[name]!r} may be it: {COLUMNS}='{proposed}'.",
                )
            if name not in have:
                raise ConfigurationError(
                    setting,
                    f"{where} has no column {name!r}; it has {_list(names)}",
                    f'Name the column that holds it: {COLUMNS}=\'{{"{name}": "<column>"}}\''
                    + (
                        f', or give all rows the same: {CONSTANTS}=\'{{"vendor": "<vendor>"}}\'.'
                        if name == "vendor"
                        else "."
                    ),
                )
        if not have & set(self.extract.any_of):
            raise ConfigurationError(
                setting,
                f"{where} has none of {', '.join(self.extract.any_of)}, so there is nothing to send; it has {_list(names)}",
                f'Name the columns: {COLUMNS}=\'{{"{self.extract.any_of[0]}": "<column>"}}\'.',
            )

    @staticmethod
    def _find(name: str, names: Sequence[str], where: str) -> str | None:
        for same in (name.__eq__, lambda other: other.strip().casefold() == name.strip().casefold()):
            alike = [other for other in names if same(other)]
            if len(alike) > 1:
                raise ConfigurationError(
                    COLUMNS, f"{where} has {len(alike)} columns named {name!r}", "Give each column a name of its own."
                )
            if alike:
                return alike[0]
        return None


def _own_vendor(names: Iterable[str], taken: Collection[str]) -> list[str]:
    return [name for name in names if name not in taken and name.strip().casefold() == "vendor"]


def _table(values: Mapping[str, Any], constants: Mapping[str, str], rows: int, schema: pa.Schema) -> pa.Table:
    columns = []
    for name in schema.names[1:]:
        if name in values:
            columns.append(values[name])
        elif name in constants:
            columns.append(pa.repeat(pa.scalar(constants[name], pa.string()), rows))
        else:
            columns.append(pa.nulls(rows, pa.string()))
    return pa.Table.from_arrays(columns, schema=pa.schema([schema.field(name) for name in schema.names[1:]]))


def _damaged(chunk: Chunk, constants: Mapping[str, str], schema: pa.Schema) -> pa.Table:
    """The damaged rows: their text is in the column `sku` with the mark of broken text, so that they are quarantined."""
    vendor = chunk.vendor if chunk.vendor is not None else constants.get("vendor")
    rows = len(chunk.damaged) - chunk.no_rows
    marks = [quarantine_reason.UNREADABLE] * rows + [quarantine_reason.NO_ROW] * chunk.no_rows
    keys = texts([mark + row for mark, row in zip(marks, chunk.damaged, strict=True)])
    vendors = texts([chunk.damaged_vendors.get(place, vendor) for place in range(len(keys))])
    return _table({"sku": keys, "vendor": vendors}, {}, len(keys), schema)


def _frame(chunk: Chunk, sources: Mapping[str, str], constants: Mapping[str, str]) -> pd.DataFrame:
    """The chunk for the hook: mapped columns under shelfsync's names (once each), the others under the ERP's, and the constants."""
    import pandas as pd

    columns: dict[str, Any] = {}
    taken = set(sources.values())
    for ours, theirs in sources.items():
        columns[ours] = chunk.columns[chunk.names.index(theirs)]
    for name, values in zip(chunk.names, chunk.columns, strict=True):
        if name not in taken and name not in constants:
            columns.setdefault(name, values)
    rows = chunk.rows - len(chunk.damaged)
    frame = pd.DataFrame({name: _series(values) for name, values in columns.items()}, index=range(rows), copy=False)
    for name, value in constants.items():
        frame[name] = pd.Series([value] * rows, dtype=object)
    return frame


def _series(values: Any) -> pd.Series[Any]:
    import pandas as pd

    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return pd.Series(values.to_pandas(types_mapper=pd.ArrowDtype))
    return pd.Series(values, dtype=object)


def _values(series: pd.Series[Any]) -> Sequence[Any] | pa.Array | pa.ChunkedArray:
    """The values of a column that a hook returned."""
    if series.dtype == object:
        values: list[Any] = series.tolist()
        return values
    return pa.array(series, from_pandas=True)


def _list(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:30])
    return f"{shown}, …" if len(names) > 30 else shown or "none at all"
