"""Guard `price_change`: a price leaps, or more prices move far than on a usual day."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.guards.case import PRICE_FIELDS, Case, Finding, Findings
from shelfsync.catalog.guards.over_threshold import judged


def price_change(case: Case) -> Findings:
    """A price changes so much that it looks like an error, or more prices change much than on a usual day."""
    limit = case.limits.limit("price_change", case.vendor)
    leaps = _moved(case, limit.leap) if limit.enabled else pa.repeat(pa.scalar(False), case.delta.num_rows)
    leaps = case.undecided(leaps, PRICE_FIELDS)
    if pc.any(leaps).as_py():
        message = (
            f"{pc.sum(leaps).as_py()} prices leap to more than {1 + limit.leap:g} times what they were, or to less than that part"
            " (SHELFSYNC_GUARDS__PRICE_CHANGE__LEAP)"
        )
        yield Finding(leaps, "price_change", message, limit.model_dump(), None, PRICE_FIELDS)
    rows = pc.and_(_moved(case, limit.move), pc.invert(leaps))
    what = f"have a price that moves by more than {limit.move:.0%}"
    yield from judged(case, "price_change", rows, case.priced, what, PRICE_FIELDS)


def _moved(case: Case, share: float) -> pa.Array:
    """Rows whose price grows by more than the share, or falls as far: to less than 1 / (1 + share) for what can more than double."""
    ratio = case.price_ratio
    low = 1 - share if share < 1 else 1 / (1 + share)
    return pc.or_(pc.greater(ratio, 1 + share), pc.less(ratio, low)).fill_null(False)
