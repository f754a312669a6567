"""The values that normalise accepts and changes, and prices finer than the currency: a plan lists them before anything is sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.rows import number
from shelfsync.rows.alignment import column
from shelfsync.rows.mask import Mask, mask

if TYPE_CHECKING:
    from shelfsync.settings import NormaliseSettings

MEANING = {
    "price_cut": "prices lose what is after the third decimal",
    "price_finer": "prices have more decimals than the currency and are sent so, where a spreadsheet may show them rounded",
    "quantity_floored": "quantities lose their fraction",
    "quantity_lost": "quantities below one are sent as 0, so the product is sold out",
    "quantity_zeroed": "quantities below zero are sent as 0",
}
COLUMNS = ["row_number", "sku", "price", "quantity"]
QUARANTINED = ["row_number", "field", "row_sent"]
_EXAMPLES = 3
_AFTER_THIRD_DECIMAL = r"\.\d{3}\d*[1-9]"


@dataclass(frozen=True)
class Adjustment:
    """`kind` is a key of MEANING; `examples` name SKU, the ERP's text and what is sent."""

    kind: str
    rows: int
    examples: tuple[str, ...]


def adjustments(
    raw: pa.Table, quarantine: pa.Table, settings: NormaliseSettings, *, digits: int = 3
) -> list[Adjustment]:
    """The changes in the rows of one vendor (COLUMNS of RAW); `quarantine` (QUARANTINED of QUARANTINE) has what is not sent of them.

    `digits`: decimals of the currency; a price with more of them that is not cut is `price_finer`.
    """
    sent = quarantine["row_sent"].combine_chunks()
    rows = raw.filter(pc.invert(_are_in(raw, quarantine.filter(pc.invert(sent)))))
    left_out = quarantine.filter(sent)
    priced, counted = (
        ~mask(_are_in(rows, left_out.filter(pc.equal(left_out["field"], field)))) for field in ("price", "quantity")
    )
    prices, quantities = number.read(column(rows, "price")), number.read(column(rows, "quantity"))
    cut = priced & mask(pc.match_substring_regex(column(rows, "price"), _AFTER_THIRD_DECIMAL))
    finer = priced & ~cut & mask(pc.match_substring_regex(column(rows, "price"), rf"\.\d{{{digits}}}\d*[1-9]"))
    zero = counted & quantities.negative & (settings.negative_quantity == "zero")
    floor = counted & quantities.fraction & ~quantities.negative & (settings.quantity_rounding == "floor")
    pieces = quantities.pieces()
    lost = floor & mask(pc.equal(pieces, 0).fill_null(False))
    found = [
        _adjustment("price_cut", rows, "price", cut, prices.magnitude),
        _adjustment("price_finer", rows, "price", finer, prices.magnitude),
        _adjustment("quantity_floored", rows, "quantity", floor & ~lost, pieces),
        _adjustment("quantity_lost", rows, "quantity", lost, pieces),
        _adjustment("quantity_zeroed", rows, "quantity", zero, pa.repeat(pa.scalar(0), rows.num_rows)),
    ]
    return [one for one in found if one.rows]


def _are_in(rows: pa.Table, quarantine: pa.Table) -> pa.Array:
    return pc.is_in(column(rows, "row_number"), value_set=quarantine["row_number"].combine_chunks())


def _adjustment(kind: str, rows: pa.Table, field: str, where: Mask, sent: pa.Array) -> Adjustment:
    first = pa.array(np.flatnonzero(where)[:_EXAMPLES])
    shown = zip(
        *(values.take(first).to_pylist() for values in (column(rows, "sku"), column(rows, field), sent)), strict=True
    )
    return Adjustment(
        kind, int(where.sum()), tuple(f"{sku.strip()}: {text.strip()} -> {value}" for sku, text, value in shown)
    )
