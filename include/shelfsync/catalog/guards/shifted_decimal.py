"""Guard `shifted_decimal`: a price looks as if its decimal point had slipped."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.guards.case import PRICE_FIELDS, Case, Findings
from shelfsync.catalog.guards.over_threshold import judged

_SHIFTS = (10.0, 100.0, 1000.0)


def shifted_decimal(case: Case) -> Findings:
    """A price grew or fell by a factor of about ten, a hundred or a thousand. Typical causes: a comma read as thousands, a typing error."""
    limit = case.limits.limit("shifted_decimal", case.vendor)
    ratio = case.price_ratio
    up = pc.if_else(pc.less(ratio, 1.0), pc.divide(1.0, ratio), ratio)
    rows = pa.repeat(pa.scalar(False), len(ratio))
    for shift in _SHIFTS:
        near = pc.and_(pc.greater_equal(up, shift * (1 - limit.slack)), pc.less_equal(up, shift * (1 + limit.slack)))
        rows = pc.or_(rows, near.fill_null(False))
    what = "have a price as if its decimal point had slipped"
    yield from judged(case, "shifted_decimal", rows, case.priced, what, PRICE_FIELDS)
