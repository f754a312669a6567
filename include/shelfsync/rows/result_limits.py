"""The limits of a log or export: its bytes, lines, columns, cells and time. docs/explanation/data-path.md lists them."""

from __future__ import annotations

EXPANDED_BYTES_MAX = 512 * 1024 * 1024
"""The longest log that is read, after decompression; for an export, SHELFSYNC_EXPORT__FILE_MAX_BYTES may say otherwise."""
HEADER_BYTES_MAX = 16 * 1024
COLUMNS_MAX = 256
LINE_BYTES_MAX = 3 * 512 * 1024
"""The longest line that is read; the CSV reader reads some thirty of these ahead, and holds no more."""
LINES_MAX = 4_000_000
"""No request of 100 MB holds so many items (interface.md 8)."""
CELL_CHARACTERS_MAX = 8192
"""The longest text of one cell in the JSON text of its line."""
JSON_BYTES_MAX = 256 * 1024 * 1024
"""The JSON text of all lines of a file; further lines count all the same, and have none."""
UNREADABLE_MAX = 100_000
UNREADABLE_SAMPLES = 1000

LOG_FLOOR_BYTES = 1024 * 1024
LOG_FLOOR_S, LOG_S_PER_SKU = 60.0, 0.1


def log_bytes_max(sent: int, *, bytes_per_sku: int) -> int:
    """The longest log that a job of so many SKUs can have, in bytes, so that no host fills lake and memory (I13)."""
    return min(LOG_FLOOR_BYTES + sent * bytes_per_sku, EXPANDED_BYTES_MAX)


def log_s_max(sent: int) -> float:
    """How long its download may take, in seconds, however slow the host: a small job holds no run up for the time of a large one."""
    return LOG_FLOOR_S + sent * LOG_S_PER_SKU
