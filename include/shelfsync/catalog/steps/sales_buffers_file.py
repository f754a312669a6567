"""Where sales buffers come from: the ERP's own column, the settings by vendor and category, and a file of buffers."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from shelfsync.catalog.sales_buffers import Buffers, Rule, known_buffers
from shelfsync.erp import text_encoding
from shelfsync.errors import ConfigurationError
from shelfsync.settings.catalog import PIECES_MAX

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pyarrow as pa

    from shelfsync.settings import SuppressionSettings

BUFFERS_FILE = "SHELFSYNC_SUPPRESSION__BUFFERS_FILE"
_BUFFER_COLUMNS = ("vendor", "category", "sku", "sales_buffer")


def buffers_of(snapshot: pa.Table, vendor: str, rules: list[Rule], settings: SuppressionSettings) -> Buffers:
    """The known sales buffers of one vendor's SKUs."""
    return Buffers(known_buffers(snapshot, vendor, rules), settings.at_buffer)


def rules_of(settings: SuppressionSettings) -> list[Rule]:
    """The rules of the settings, the file's after them; a ConfigurationError names the line of the file that is wrong."""
    rules = [] if settings.sales_buffer is None else [Rule(settings.sales_buffer)]
    rules += [Rule(pieces, vendor=vendor) for vendor, pieces in settings.vendor_buffers.items()]
    rules += [Rule(pieces, category=category) for category, pieces in settings.category_buffers.items()]
    return rules if settings.buffers_file is None else [*rules, *_rules_in(settings.buffers_file)]


def _rules_in(path: Path) -> Iterator[Rule]:
    remedy = f"Write a CSV with the header {','.join(_BUFFER_COLUMNS)}; an empty cell fits any."
    try:
        with io.StringIO(text_encoding.decode(path.read_bytes()), newline="") as file:
            lines = csv.DictReader(file, strict=True)
            if "sales_buffer" not in (lines.fieldnames or ()):
                raise ConfigurationError(BUFFERS_FILE, f"{str(path)!r} has no column sales_buffer", remedy)
            strange = sorted(set(lines.fieldnames or ()) - set(_BUFFER_COLUMNS))
            if strange:
                raise ConfigurationError(BUFFERS_FILE, f"{str(path)!r} has a column {strange[0]!r}", remedy)
            for line in lines:
                text = (line["sales_buffer"] or "").strip()
                if not text.isdecimal() or len(text) > len(str(PIECES_MAX)):
                    problem = f"{str(path)!r}, line {lines.line_num}: {text[:40]!r} is no whole number of pieces"
                    raise ConfigurationError(BUFFERS_FILE, problem, remedy)
                named = {name: (line.get(name) or "").strip() or None for name in _BUFFER_COLUMNS[:3]}
                yield Rule(int(text), **named)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ConfigurationError(BUFFERS_FILE, f"{str(path)!r} cannot be read: {error}", remedy) from None
