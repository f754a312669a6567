"""How long the log of a job may be, and how long its download may take, by the SKUs that were sent."""

from __future__ import annotations

from shelfsync.rows.result_limits import EXPANDED_BYTES_MAX

LOG_FLOOR_BYTES = 1024 * 1024
LOG_FLOOR_S, LOG_S_PER_SKU = 60.0, 0.1


def log_bytes_max(sent: int, *, bytes_per_sku: int) -> int:
    """The longest log that a job of so many SKUs can have, in bytes, so that no host fills lake and memory (I13)."""
    return min(LOG_FLOOR_BYTES + sent * bytes_per_sku, EXPANDED_BYTES_MAX)


def log_s_max(sent: int) -> float:
    """How long its download may take, in seconds, however slow the host: a small job holds no run up for the time of a large one."""
    return LOG_FLOOR_S + sent * LOG_S_PER_SKU
