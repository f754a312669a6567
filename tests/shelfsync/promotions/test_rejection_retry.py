from __future__ import annotations

from decimal import Decimal

import pytest

from shelfsync.promotions.rejection_retry import is_other_now

ONE, TWO = Decimal(1), Decimal(2)


@pytest.mark.parametrize(
    ("price", "price_then", "is_known", "was_known", "found"),
    [
        (ONE, ONE, True, True, False),
        (TWO, ONE, True, True, True),
        (TWO, None, True, True, True),
        (ONE, ONE, True, False, True),
        (None, ONE, False, True, False),
        (None, None, True, True, False),
    ],
)
def test_a_rejected_pair_may_be_accepted_if_its_price_is_another_or_its_sku_is_new(
    price, price_then, is_known, was_known, found
):
    assert is_other_now(price, price_then, is_known=is_known, was_known=was_known) == found
