"""A person decides about a hold."""

from __future__ import annotations

import pytest

from sixty_products import twenty_five


@pytest.mark.slow
def test_a_hold_whose_time_is_over_can_be_declined(shop):
    number = twenty_five(shop)
    mark = shop.app.holds.show(number)["mark"]
    shop.app.holds.over(number)
    assert shop.app.holds.decide(number, approve=False, who="ada", shown=mark)["state"] == "declined"
