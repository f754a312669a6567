"""Guard `zero_price`: a price becomes zero."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.guards.case import PRICE_FIELDS, Case, Findings
from shelfsync.catalog.guards.over_threshold import judged
from shelfsync.rows.alignment import column


def zero_price(case: Case) -> Findings:
    """A price becomes zero."""
    price = column(case.delta, "price")
    zero = pc.equal(price, pa.scalar(0, price.type)).fill_null(False)
    was = pc.equal(case.before["price"], pa.scalar(0, price.type)).fill_null(False)
    yield from judged(
        case, "zero_price", pc.and_(zero, pc.invert(was)), case.priced, "get the price zero", PRICE_FIELDS
    )
