"""A price must be below the base price; a row waits if nothing tells its base price.

Below at every instant of the window: below the platform's price, below the price in flight to it, and below the lowest that the ERP knows
for the window (`base_price`).

Nothing tells it if the vendor has no known catalog, if the SKU has no price in it, if the ERP has the SKU and quarantine its price, or if no
store of the ERP has the SKU.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.promotions.schemas import ASKED
from shelfsync.rows.alignment import aligned, column
from shelfsync.rows.mask import mask

if TYPE_CHECKING:
    from shelfsync.rows.mask import Mask


def priced(assortment: pa.Table, asked: pa.Table | None) -> pa.Table:
    """ASKED: price and cost of each SKU of the vendor's assortment, and of the ERP's SKUs that it lacks."""
    known = assortment.select(ASKED.names)
    return known if asked is None else pa.concat_tables([known, asked])


def base_prices(rows: pa.Table, priced: pa.Table) -> pa.Array:
    """The lowest base price known for each row: of the vendor's catalog (ASKED) and of the ERP's window; null if none is known."""
    known = aligned(priced, column(rows, "sku"), ("price",))["price"]
    return pc.min_element_wise(known, column(rows, "base_price"), skip_nulls=True)


def or_of_other_stores(base: pa.Array, rows: pa.Table, elsewhere: pa.Table | None) -> pa.Array:
    """`base`, and where it is null the lowest price of the SKU at the ERP's other stores (ASKED; None: they were not read).

    The guards compare an offer with it. It does not show that an offer is below the platform's price.
    """
    return (
        base if elsewhere is None else pc.coalesce(base, aligned(elsewhere, column(rows, "sku"), ("price",))["price"])
    )


def not_below(rows: pa.Table, base: pa.Array) -> Mask:
    """A percentage of at least one is always below. A final price must be below, and so must an amount off."""
    amount = pc.invert(pc.is_in(column(rows, "subtype"), value_set=pa.array(["PERCENTAGE", "TOTAL_PRICE"])))
    return mask(pc.and_(amount, pc.greater_equal(column(rows, "value"), base)))


def waits_for(
    rows: pa.Table, base: pa.Array, assortment: pa.Table, asked: pa.Table | None, elsewhere: pa.Table | None
) -> Mask:
    """Rows without a base price whose SKU the vendor has, may have, or no vendor has; the tables are those of `validate`."""
    skus = column(rows, "sku")
    here = np.ones(rows.num_rows, np.bool_)
    if assortment.num_rows:
        here = mask(pc.is_in(skus, value_set=column(assortment, "sku")))
    if asked is not None:
        here = here | mask(pc.is_in(skus, value_set=column(asked, "sku")))
    if elsewhere is not None:
        here = here | mask(pc.invert(pc.is_in(skus, value_set=column(elsewhere, "sku"))))
    unknown: Mask = here & mask(base.is_null())
    return unknown
