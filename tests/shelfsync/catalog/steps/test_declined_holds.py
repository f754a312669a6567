"""What a person declined, or nobody decided in time, stays held until the ERP corrects it."""

from __future__ import annotations

from decimal import Decimal

import pytest

from sixty_products import SKUS, V, fill, price, waiting


@pytest.fixture
def shop(world_after):
    return world_after(fill)


DEAR = SKUS[:14]
"""Prices that are doubled: more than the 10 rows that always flow. A few of them alone would flow."""


def _decide(shop, how):
    """Declines the open holds, or lets them expire."""
    if how == "expired":
        with shop.app.context.engine.begin() as connection:
            connection.exec_driver_sql("UPDATE ledger.hold SET expires_at = ledger.instant() - interval '1 s'")
    else:
        for hold in waiting(shop):
            shop.app.holds.decide(hold["hold_id"], approve=False, who="ada")
    assert shop.sync("delta")["sent"] == 0


def _in_force(shop):
    return [(row.state, row.rows) for row in shop.rows(_IN_FORCE)]


_IN_FORCE = "SELECT state, rows FROM ledger.hold WHERE superseded_by IS NULL ORDER BY hold_id"


def _put(shop, skus, text):
    for number, sku in enumerate(skus):
        shop.erp.put(V, sku, text or f"{2 * (number + 1) + 1}.00", 10)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["declined", "expired"])
def test_declined_prices_stay_held_while_some_of_them_cannot_be_read_for_a_run(shop, how):
    _put(shop, DEAR, None)
    shop.sync("delta")
    _decide(shop, how)
    _put(shop, DEAR[:4], "12,x")
    assert shop.sync("delta")["sent"] == 0
    assert _in_force(shop) == [(how, 14)]
    _put(shop, DEAR, None)
    assert shop.sync("delta")["sent"] == 0
    assert _in_force(shop) == [(how, 14)]
    assert price(shop, DEAR[0]) == Decimal("1.50")


@pytest.mark.slow
def test_declined_prices_stay_held_though_all_of_them_cannot_be_read_and_what_the_erp_corrects_is_held_no_more(shop):
    _put(shop, DEAR, None)
    shop.sync("delta")
    _decide(shop, "declined")
    _put(shop, DEAR, "12,x")
    shop.sync("delta")
    assert _in_force(shop) == [("declined", 14)]
    for number, sku in list(enumerate(DEAR))[4:]:
        shop.erp.put(V, sku, f"{number + 1}.50", 10)
    shop.sync("delta")
    assert _in_force(shop) == [("declined", 4)]
    for sku in DEAR[:4]:
        shop.erp.put(V, sku, "1.60", 10)
    assert shop.sync("delta")["sent"] > 0
    assert (_in_force(shop), price(shop, DEAR[0])) == ([], Decimal("1.6"))
