"""When a product counts as sold out: no stock, or too little for its sales buffer."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.sales_buffers import AtBuffer, too_little


def sold_out(quantity: pa.Array, buffer: pa.Array, at_buffer: AtBuffer) -> pa.Array:
    """A mask without nulls of the rows that customers cannot buy: no stock, or too little for a known buffer."""
    nothing = pc.less_equal(quantity, 0).fill_null(False)
    return pc.or_(nothing, too_little(quantity, buffer, at_buffer).fill_null(False))
