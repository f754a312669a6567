"""Suppression: the quantities of a delta that change nothing for a customer wait for the full sync."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from shelfsync.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pyarrow as pa

    from shelfsync.catalog.buffer import Buffers, Rule
    from shelfsync.catalog.suppression import Suppressed
    from shelfsync.settings import SuppressionSettings

FILE = "SHELFSYNC_SUPPRESSION__BUFFERS_FILE"
_COLUMNS = ("vendor", "category", "sku", "sales_buffer")


def suppress(
    delta: pa.Table,
    baseline: pa.Table,
    snapshot: pa.Table,
    buffers: Buffers,
    *,
    everything: bool,
    rejected: pa.Table | None,
) -> Suppressed:
    """Removes no-op quantities from a delta. `everything`: suppresses nothing, but adds the buffer to each quantity."""
    from shelfsync.catalog.suppression import Suppressed, with_buffers
    from shelfsync.catalog.suppression import suppress as pure

    if everything:
        return Suppressed(with_buffers(delta, buffers), delta.slice(0, 0))
    return pure(delta, baseline, snapshot, buffers, rejected=rejected)


def buffers_of(snapshot: pa.Table, vendor: str, rules: list[Rule], settings: SuppressionSettings) -> Buffers:
    """The known sales buffers of one vendor's SKUs."""
    from shelfsync.catalog.buffer import Buffers, known

    return Buffers(known(snapshot, vendor, rules), settings.at_buffer)


def rules_of(settings: SuppressionSettings) -> list[Rule]:
    """The rules of the settings, the file's after them; a ConfigurationError names the line of the file that is wrong."""
    from shelfsync.catalog.buffer import Rule

    rules = [] if settings.sales_buffer is None else [Rule(settings.sales_buffer)]
    rules += [Rule(pieces, vendor=vendor) for vendor, pieces in settings.vendor_buffers.items()]
    rules += [Rule(pieces, category=category) for category, pieces in settings.category_buffers.items()]
    return rules if settings.buffers_file is None else [*rules, *_read(settings.buffers_file)]


def _read(path: Path) -> Iterator[Rule]:
    from shelfsync.catalog.buffer import Rule

    remedy = f"Write a CSV with the header {','.join(_COLUMNS)}; an empty cell fits any."
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = csv.DictReader(file, strict=True)
            if "sales_buffer" not in (lines.fieldnames or ()):
                raise ConfigurationError(FILE, f"{str(path)!r} has no column sales_buffer", remedy)
            strange = sorted(set(lines.fieldnames or ()) - set(_COLUMNS))
            if strange:
                raise ConfigurationError(FILE, f"{str(path)!r} has a column {strange[0]!r}", remedy)
            for line in lines:
                text = (line["sales_buffer"] or "").strip()
                if not text.isdecimal():
                    problem = f"{str(path)!r}, line {lines.line_num}: {text[:40]!r} is no whole number of pieces"
                    raise ConfigurationError(FILE, problem, remedy)
                named = {name: (line.get(name) or "").strip() or None for name in _COLUMNS[:3]}
                yield Rule(int(text), **named)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ConfigurationError(FILE, f"{str(path)!r} cannot be read: {error}", remedy) from None
