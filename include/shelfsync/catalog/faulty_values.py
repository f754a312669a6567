"""A faulty value costs its row as little as can be: which values of such a row are believed, and whether something of it is sent.

A faulty value that can be left out costs its row nothing: a sales limit, a barcode that does not identify the item, and what is never sent (the
cost and the sales buffer). If the price, the quantity or `active` is faulty, only what cannot put the product on sale is believed: the price,
a quantity of 0 and active=false.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.rows.mask import mask

if TYPE_CHECKING:
    from shelfsync.rows import quarantine_reason
    from shelfsync.rows.mask import Mask

ON_SALE = ("price", "quantity", "active")
"""If one of these is faulty, it is unknown whether the product may be on sale, and at what price."""


def believed(
    values: dict[str, pa.Array], of_value: dict[str, quarantine_reason.Findings], floored: Mask
) -> dict[str, pa.Array]:
    """The values without those that are faulty, and without what might put a product on sale in a row where one of ON_SALE is faulty.

    `floored`: quantities that lost a fraction. In such a row, 0.99 is no 0: it may be the price of a column that has moved.
    """
    unknown = np.logical_or.reduce([of_value[name].faulty for name in ON_SALE])
    found = {}
    for name, findings in of_value.items():
        wrong = findings.faulty
        if unknown.any() and name in {"quantity", "active"}:
            stops = mask(pc.equal(values[name].cast(pa.int64()), 0))
            wrong = wrong | (unknown & ~(stops & ~floored if name == "quantity" else stops))
        if wrong.any():
            found[name] = pc.if_else(pa.array(wrong), pa.scalar(None, values[name].type), values[name])
    return found


def sent_in_part(values: dict[str, pa.Array], of_value: dict[str, quarantine_reason.Findings], key: str) -> Mask:
    """Rows of which something is sent although a value is faulty; `values` are those that are believed."""
    unknown = np.logical_or.reduce([of_value[name].faulty for name in ON_SALE])
    states = np.logical_or.reduce([mask(values[name].is_valid()) for name in ON_SALE])
    sent: Mask = ~unknown | states
    return sent & ~of_value["barcode"].faulty if key == "barcode" else sent
