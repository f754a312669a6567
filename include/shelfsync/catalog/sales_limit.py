"""A sales limit of 0, which the platform rejects: it is left out, or means that the product is off sale."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.compute as pc

from shelfsync.catalog import pieces
from shelfsync.rows.mask import mask

if TYPE_CHECKING:
    import pyarrow as pa

    from shelfsync.rows.number import Numbers
    from shelfsync.rows.quarantine_reason import Findings
    from shelfsync.settings import NormaliseSettings


def limits(numbers: Numbers, findings: Findings) -> pa.Array:
    """The limits in whole pieces; notes each of 0, which is not sent."""
    found = pieces.whole("max_sales_quantity", numbers, findings)
    findings.note("max_sales_quantity_zero", mask(_zero(found)))
    return found


def on_sale(active: pa.Array, found: pa.Array, settings: NormaliseSettings) -> pa.Array:
    """`active` of each row, false where a limit of 0 means that."""
    return pc.if_else(_zero(found), False, active) if settings.sales_limit_zero == "off_sale" else active


def _zero(found: pa.Array) -> pa.Array:
    return pc.equal(found, 0).fill_null(False)
