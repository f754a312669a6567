"""effect: the quantities of a delta that change nothing for a customer wait for the full sync."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from shelfsync.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pyarrow as pa

    from shelfsync.catalog.buffer import Rule
    from shelfsync.catalog.effect import Buffers, Spared
    from shelfsync.settings import EffectSettings

FILE = "SHELFSYNC_EFFECT__BUFFERS_FILE"
_COLUMNS = ("vendor", "category", "sku", "sales_buffer")


def spared(
    delta: pa.Table,
    baseline: pa.Table,
    snapshot: pa.Table,
    buffers: Buffers,
    *,
    everything: bool,
    refused: pa.Table | None,
) -> Spared:
    """The delta without what has no effect; `everything`: nothing is spared, but what is told is noted with its buffer."""
    from shelfsync.catalog.effect import Spared, spare, stamped

    if everything:
        return Spared(stamped(delta, buffers), delta.slice(0, 0))
    return spare(delta, baseline, snapshot, buffers, refused=refused)


def buffers_of(
    snapshot: pa.Table, vendor: str, rules: list[Rule], settings: EffectSettings, intervals: pa.Table
) -> Buffers:
    """What is known about the buffers of one vendor's SKUs; `intervals` (INTERVAL shape) is what was learned and may be used."""
    from shelfsync.catalog.buffer import known
    from shelfsync.catalog.effect import Buffers

    return Buffers(known(snapshot, vendor, rules), intervals, settings.at_buffer)


def rules_of(settings: EffectSettings) -> list[Rule]:
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
