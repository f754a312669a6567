"""Guard `shrunken_extract`: far fewer rows than the last extracts had."""

from __future__ import annotations

from statistics import median

import pyarrow.compute as pc

from shelfsync.catalog.guards.case import Case, Finding, Findings, count
from shelfsync.catalog.guards.over_threshold import over

_FEEDS_MIN = 3
"""With fewer earlier extracts the usual number of rows is unknown."""


def shrunken_extract(case: Case) -> Findings:
    """Far fewer rows than the last extracts: the missing SKUs may still be in the ERP."""
    if len(case.history.rows) < _FEEDS_MIN or not pc.any(case.removed).as_py():
        return
    usual = min(
        int(median(case.history.rows)), case.history.rows[0]
    )  # after an approval the smaller number is the usual one
    limit = case.limits.limit("shrunken_extract", case.vendor)
    if over("shrunken_extract", limit, usual - case.extract_rows, usual):
        message = (
            f"the extract has {case.extract_rows} rows, {usual} were usual; {count(case.removed)} SKUs that are missing"
            " wait for a person (SHELFSYNC_GUARDS__SHRUNKEN_EXTRACT__MAX_ROWS and __MAX_SHARE)"
        )
        yield Finding(case.removed, "shrunken_extract", message, limit.model_dump())
