"""How things stand, as gauges: said after each run and by each settling, so that they move also when nothing runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync import metrics
from shelfsync.flow.status import status

if TYPE_CHECKING:
    from shelfsync.flow.house import Parts


def tell(parts: Parts) -> None:
    """Sums over all vendors, and the greatest age; nothing is asked of the database where nobody listens."""
    if not metrics.listened_to():
        return
    from shelfsync.catalog.count import NAMES

    vendors = status(parts, runs=0)["vendors"]
    metrics.gauge("vendors.known", len(vendors))
    metrics.gauge("jobs.open", sum(row["open_job"] is not None for row in vendors))
    for name in NAMES:
        metrics.gauge(f"skus.{name}", sum(row[name] or 0 for row in vendors))
    metrics.gauge(
        "oldest_unacknowledged_s", max((row["oldest_unacknowledged_s"] or 0.0 for row in vendors), default=0.0)
    )
