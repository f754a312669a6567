"""Why a row of a promotion is quarantined: every reason, in the order of the checks. A row has the first that applies.

`head` has the reasons of a head. docs/how-to/promotions.md lists both, and a test compares them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from shelfsync.rows import quarantine_reason
from shelfsync.rows.quarantine_reason import SKU_REASONS, Reason, amount_reasons

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import numpy.typing as npt

    from shelfsync.rows.mask import Mask


NOT_EXPRESSIBLE: tuple[Reason, ...] = (
    Reason(
        "club_only", "audience", "audience {value} is club members; the platform shows a promotion to every customer"
    ),
    Reason("staff_only", "audience", "audience {value} is employees; the platform shows a promotion to every customer"),
    Reason("coupon", "condition", "condition {value} is a coupon, which the platform does not know"),
    Reason(
        "minimum_purchase", "condition", "condition {value} is a minimum purchase, which the platform does not know"
    ),
    Reason("basket_gift", "condition", "condition {value} is a gift for a basket, which the platform does not know"),
    Reason(
        "bundle_not_offered",
        "pieces",
        "the price is of {value} pieces together, and bundles are not sent; SHELFSYNC_PROMOTIONS__VALUES=spec sends them",
    ),
    Reason("mix", "condition", "condition {value} is a mix of items; the platform has bundles of one item alone"),
)
"""The platform has no such promotion. A row with one of these is never offered: its SKU leaves the promotion, unlike that of a faulty row."""

REASONS: tuple[Reason, ...] = (
    *NOT_EXPRESSIBLE,
    Reason(
        "audience_unknown",
        "audience",
        "audience {value} has no known meaning; give it one by SHELFSYNC_PROMOTIONS__AUDIENCES",
    ),
    Reason(
        "condition_unknown",
        "condition",
        "condition {value} has no known meaning; give it one by SHELFSYNC_PROMOTIONS__CONDITIONS",
    ),
    *SKU_REASONS,
    Reason(
        "sku_duplicate",
        "sku",
        "sku {value} is in rows of this promotion that contradict each other, so the valid row is unknown",
    ),
    Reason(
        "discount_type_unknown", "discount_type", "discount_type {value} is not offered (SHELFSYNC_PROMOTIONS__VALUES)"
    ),
    Reason("price_missing", "price", "the row has no price"),
    *amount_reasons("price"),
    Reason("price_zero", "price", "price {value} is zero at three decimals; a promotion's price is above zero"),
    Reason(
        "price_not_a_percentage",
        "price",
        "price {value} is not a percentage from 1 to 100; 20% in a cell of a workbook is 0.2, so give 20",
    ),
    Reason("max_quantity_not_a_count", "max_quantity", "max_quantity {value} is no whole number above zero"),
    *amount_reasons("base_price"),
    *amount_reasons("cost"),
    Reason(
        "price_not_below_base", "price", "price {value} is not below the base price at every instant of the promotion"
    ),
    Reason(
        "base_price_unknown",
        "price",
        "price {value} waits: the base price of the SKU at this vendor is not known yet; sync the catalog, correct the SKU if no store has it, or give base_price",
    ),
    Reason(
        "bundle_below_one_piece",
        "price",
        "price {value} of all pieces is below the base price of one; a bundle of the platform has one piece at full price",
    ),
    Reason("overlap", "sku", "sku {value} is in another campaign at the same time, which wins"),
)


class Findings(quarantine_reason.Findings):
    """The first reason of each row, in any order of the checks."""

    reasons = REASONS

    @property
    def not_expressible(self) -> Mask:
        """Rows that the platform has no promotion for."""
        return self.numbers < len(NOT_EXPRESSIBLE)


def described(
    numbers: npt.NDArray[np.int16], values: Mapping[str, pa.Array], messages: Mapping[int, str] | None = None
) -> dict[str, pa.Array]:
    """The columns field, reason and message of rows with these reason numbers; `values` are texts by field, in the rows' order.

    `messages`: sentences by row number, where they are more than the reason's.
    """
    columns = quarantine_reason.described(numbers, values, REASONS)
    if messages:
        found = zip(values["row_number"].to_pylist(), columns["message"].to_pylist(), strict=True)
        columns["message"] = pa.array([messages.get(row, text) for row, text in found], pa.string())
    return columns
