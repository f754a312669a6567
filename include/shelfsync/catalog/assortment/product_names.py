"""The names of products beside their SKUs, wherever a person reads a SKU. They are kept with the vendor and change nothing that is sent."""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING, Any

from shelfsync.catalog.ledger import vendors
from shelfsync.errors import in_one_line

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    import pyarrow as pa

    from shelfsync.context import Context

log = logging.getLogger(__name__)


def kept(context: Context, vendor: str, found: pa.Table) -> str | None:
    """Writes the vendor's names (NAMES) with the found ones in place of theirs, and returns the lake path; None: nothing is new.

    Products that have left the ERP keep their last known names. If the lake cannot be read, the vendor's file stays as it is. If the file
    is damaged or gone, the newest earlier one that can be read takes its place.
    """
    if not found.num_rows:
        return None
    from shelfsync.schemas import NAMES

    path = _path(context, vendor)
    known, restored = NAMES.empty_table(), None
    if path is not None:
        try:
            known = _names(context, path)
        except Exception as error:  # noqa: BLE001  whatever it is, what is sent does not need it
            if not _lake_answers(context, path):
                _report(vendor, path, error, "the names stay as they are, and the next run tries again")
                return None
            restored, known = _newest_earlier(context, path) or (None, known)
            source = f"come from {restored}" if restored else "are lost"
            _report(vendor, path, error, f"it is written anew, and names of products that left the ERP {source}")
    names = laid_over(known, found)
    return restored if names is None else context.lake.write_table("names", vendor, names)


def laid_over(known: pa.Table, found: pa.Table) -> pa.Table | None:
    """The known names (NAMES) with the found ones in place of theirs; None if that changes nothing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from shelfsync.rows.alignment import column

    others = known.filter(pc.invert(pc.is_in(column(known, "sku"), value_set=column(found, "sku"))))
    names = pa.concat_tables([others, found]).sort_by("sku")
    return None if names.equals(known) else names


def _names(context: Context, path: str) -> pa.Table:
    from shelfsync.schemas import NAMES

    return context.lake.read_table(path).cast(NAMES)


def _lake_answers(context: Context, path: str) -> bool:
    """Whether the lake returns the file's bytes, or reports that there is no file: only then is a file lost that cannot be read."""
    try:
        if context.lake.exists(path):
            with context.lake.open(path) as file:
                file.read()
    except Exception:  # noqa: BLE001  each kind of storage has its own errors
        return False
    return True


def _newest_earlier(context: Context, path: str) -> tuple[str, pa.Table] | None:
    """The vendor's newest other file of names that can be read, which housekeeping has not removed yet."""
    with contextlib.suppress(Exception):
        files = context.lake.files(path.rpartition("/")[0])
        for file in sorted(files, key=lambda one: one.modified_at, reverse=True):
            if file.path != path:
                with contextlib.suppress(Exception):
                    return file.path, _names(context, file.path)
    return None


def of_skus(context: Context, vendor: str, skus: Collection[str]) -> dict[str, str]:
    """SKU -> what the ERP calls it, of those that it has a name for. A row without a SKU may be among them."""
    skus = [sku for sku in skus if sku is not None]
    path = _path(context, vendor) if skus else None
    if path is None:
        return {}
    try:
        return {row["sku"]: row["name"] for row in context.lake.find_all(path, skus)}
    except Exception as error:  # noqa: BLE001  names are for people, so they fail nothing
        _report(vendor, path, error, "SKUs are shown without names until the next run")
        return {}


def with_words(context: Context, vendor: str, words: Sequence[str], *, most: int) -> list[str]:
    """The SKUs of a vendor whose name has each of these words, in any order and case; none if its names cannot be read."""
    path = _path(context, vendor) if words else None
    if path is None:
        return []
    try:
        import pyarrow.compute as pc

        names = context.lake.read_table(path)
        for word in words:
            names = names.filter(pc.match_substring(names["name"], word, ignore_case=True))
        found: list[str] = names["sku"].slice(0, most).to_pylist()
    except Exception as error:  # noqa: BLE001  as above
        _report(vendor, path, error, "products are not found by name until the next run")
        return []
    return found


def _path(context: Context, vendor: str) -> str | None:
    with context.engine.connect() as connection:
        return vendors.names_path(connection, vendor)


def _report(vendor: str, path: str, error: Exception, effect: str) -> None:
    log.warning("names: vendor %s: %s cannot be read (%s); %s", vendor, path, in_one_line(error)[:300], effect)


NAMED_BY = 5
"""How many vendors are looked at for the names of products that several have."""


def of_any(context: Context, names: Collection[str], skus: Collection[str]) -> dict[str, str]:
    """The same for products of several vendors, or of all (`*`): each has the name that the first of a few vendors gives it."""
    if "*" in names:
        with context.engine.connect() as connection:
            names = list(vendors.known_vendors(connection))
    found: dict[str, str] = {}
    for name in sorted(names)[:NAMED_BY]:
        found = of_skus(context, name, set(skus) - found.keys()) | found
    return found


def with_names(context: Context, vendor: str, rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows, which have a `sku` of this vendor, with its `name`; None: the ERP gave none."""
    rows = list(rows)
    names = of_skus(context, vendor, {row["sku"] for row in rows})
    return [{**row, "name": names.get(row["sku"])} for row in rows]


def with_names_of_vendors(context: Context, rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows (`vendor`, `sku`, …) with the `name` of each product; None: it has none, or the row names no vendor or SKU."""
    rows = list(rows)
    skus: dict[str, set[str]] = {}
    for row in rows:
        if row["vendor"] and row["sku"] is not None:
            skus.setdefault(row["vendor"], set()).add(row["sku"])
    names = {vendor: of_skus(context, vendor, those) for vendor, those in skus.items()}
    return [{**row, "name": names.get(row["vendor"], {}).get(row["sku"])} for row in rows]
