"""The ERP's ids of stores and the platform's ids of vendors, where they differ: a setting, or a CSV with one line for each store."""

from __future__ import annotations

import csv
import difflib
import io
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.erp import text_encoding
from shelfsync.errors import ConfigurationError
from shelfsync.file_access import reject_shared
from shelfsync.rows.odd_characters import characters_of, is_odd, reads_as

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from shelfsync.settings import SourceSettings

SETTING = "SHELFSYNC_ERP__VENDOR_IDS"
FILE = "SHELFSYNC_ERP__VENDOR_IDS_FILE"
HEADER = ["erp", "platform"]
_SPACES = " \t\r\n"
EVERY = "*"
"""All vendors, in a promotion."""


class VendorIds:
    """The ERP's id -> the platform's. Without any, both are the same.

    Ids are compared as text without spaces around them. Rows of a store without an id are left out: it is not on the platform. A row whose
    id only looks like one of these keeps it, so that it is quarantined.
    """

    def __init__(self, ids: Mapping[str, str], setting: str = SETTING) -> None:
        self._ids = {ours.strip(_SPACES): vendor.strip(_SPACES) for ours, vendor in ids.items()}
        for name in (name for pair in self._ids.items() for name in pair if not name.isprintable() or _is_odd(name)):
            what = characters_of(pa.array([name]))[0].as_py()
            raise ConfigurationError(
                setting, f"the id {name!a} is another one only to a machine{what}", "Write it without that character."
            )
        first: dict[str, str] = {}
        for ours, vendor in self._ids.items():
            if not ours:
                raise ConfigurationError(setting, f"a store without a name is {vendor!r}", "Name the ERP's id of it.")
            if not vendor:
                raise ConfigurationError(
                    setting, f"{ours!r} has no vendor", "Name the platform's vendor of this store."
                )
            if vendor in first:
                raise ConfigurationError(
                    setting,
                    f"{first[vendor]!r} and {ours!r} are both {vendor!r}",
                    "Give each store a vendor of its own.",
                )
            first[vendor] = ours

    @classmethod
    def of(cls, settings: SourceSettings) -> VendorIds:
        """Raises ConfigurationError with the line that is wrong."""
        file = settings.vendor_ids_file
        if file is None:
            return cls(settings.vendor_ids)
        if settings.vendor_ids:
            raise ConfigurationError(FILE, f"{SETTING} is set too", "Keep one of the two.")
        return cls(_read(file), FILE)

    def platform_ids(self, vendors: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
        """The platform's id of each of the ERP's ids (texts); null where there is none, or no id at all."""
        vendors = pc.utf8_trim(vendors, characters=_SPACES)
        if not self._ids:
            return vendors
        at = pc.index_in(vendors, value_set=pa.array(self._ids, pa.string()))
        kept = pc.or_(pc.is_in(vendors, value_set=pa.array(["", EVERY])), self._resembles(vendors))
        return pc.coalesce(
            pa.array(self._ids.values(), pa.string()).take(at),
            pc.if_else(kept, vendors, pa.scalar(None, pa.string())),
        )

    def _resembles(self, vendors: pa.Array | pa.ChunkedArray) -> pa.Array:
        """Which of these ids only look like the id of a store."""
        odd = pa.array(is_odd(vendors))
        if not pc.any(odd).as_py():
            return odd
        known = pa.array({*self._ids, *self._ids.values()}, pa.string())
        return pc.and_(odd, pc.is_in(reads_as(vendors), value_set=known))

    def vendors(self) -> dict[str, str]:
        """The ERP's ids that the settings name, and the platform's."""
        return dict(self._ids)

    def meant(self, stores: pa.Array, wanted: Sequence[str]) -> pa.Array:
        """Which of these ids are, or only look like, the id of a wanted vendor: a reading of its rows alone has both."""
        named, vendors = reads_as(stores), pa.array(wanted, pa.string())
        found = [
            pc.is_in(ids, value_set=vendors) for ids in (self.platform_ids(stores), self.platform_ids(named), named)
        ]
        return pc.or_(pc.or_(found[0], found[1]), found[2])

    def named(self) -> list[str]:
        """The ERP's ids that the settings name."""
        return list(self._ids)

    def stores(self, values: pa.Array | pa.ChunkedArray) -> dict[str, str | None]:
        """The ERP's ids among these texts -> the platform's, sorted by the latter; None last: the store is left out."""
        names = pc.utf8_trim(values, characters=_SPACES)
        pairs = zip(names.to_pylist(), self.platform_ids(names).to_pylist(), strict=True)
        found = {ours: vendor for ours, vendor in pairs if ours}
        return dict(sorted(found.items(), key=lambda pair: (pair[1] is None, pair[1] or "", pair[0])))

    def called_otherwise(self, vendor: str) -> str | None:
        """The platform's id of what is no vendor of its own, but one of the ERP's ids; None: it is a vendor, or neither."""
        return None if vendor in self._ids.values() else self.platform_id(vendor)

    def platform_id(self, store: str) -> str | None:
        """The platform's id of one of the ERP's ids; None: no setting names it."""
        return self._ids.get(store.strip(_SPACES))

    def erp_ids(self, vendors: Sequence[str]) -> list[str]:
        """The ERP's ids of these vendors."""
        return [ours for ours, vendor in self._ids.items() if vendor in vendors] if self._ids else list(vendors)

    def translate(self, table: pa.Table, left_out: Counter[str]) -> pa.Table:
        """The rows of the table (RAW, or an extract like it) under the platform's ids. Counts what it leaves out, by the ERP's id."""
        if not self._ids:
            return table
        ids = self.platform_ids(table["vendor"])
        stays = pc.or_(pc.is_valid(ids), pc.is_null(table["vendor"]))
        for count in pc.value_counts(
            pc.utf8_trim(table["vendor"].filter(pc.invert(stays)), characters=_SPACES)
        ).to_pylist():
            left_out[count["values"]] += count["counts"]
        return table.set_column(table.schema.get_field_index("vendor"), "vendor", ids).filter(stays)


def _is_odd(name: str) -> bool:
    return bool(is_odd(pa.array([name], pa.string())).any())


def meant(name: str, known: Sequence[str]) -> str:
    """A question for a name that is none of the known ones and resembles some; else nothing."""
    alike = [] if name in known else difflib.get_close_matches(name, known, n=3, cutoff=0.8)
    return f"Is {' or '.join(map(repr, alike))} meant? " if alike else ""


def _read(file: Path) -> dict[str, str]:
    if file.is_file():
        reject_shared(file, FILE)
    try:
        reader = csv.reader(io.StringIO(text_encoding.decode(file.read_bytes()), newline=""))
        lines = [(number, line) for number, line in enumerate(reader, 1) if any(line)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no CSV in UTF-8"
        raise ConfigurationError(
            FILE, f"{str(file)!r} cannot be read: {why}", "Name a readable file, in UTF-8."
        ) from None
    if not lines:
        raise ConfigurationError(FILE, f"{str(file)!r} is empty: it has no line", f"Begin it with {','.join(HEADER)}.")
    ids: dict[str, str] = {}
    for number, line in lines:
        if number == lines[0][0]:
            if [name.strip().casefold() for name in line] != HEADER:
                raise ConfigurationError(
                    FILE, f"line {number} of {str(file)!r} is {','.join(line)!r}", f"Begin it with {','.join(HEADER)}."
                )
        elif len(line) != len(HEADER) or line[0].strip(_SPACES) in ids:
            raise ConfigurationError(
                FILE,
                f"line {number} of {str(file)!r} is {','.join(line)!r}",
                "Give each store one line with two fields: the ERP's id, the platform's vendor.",
            )
        else:
            ids[line[0].strip(_SPACES)] = line[1]
    return ids
