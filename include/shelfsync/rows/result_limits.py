"""The limits of a log or export: its bytes, lines, columns and cells. docs/explanation/data-path.md lists them."""

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
