"""A person gives other thresholds for this once: they decide about one hold's rows, and about nothing that has moved meanwhile."""

from __future__ import annotations

from decimal import Decimal
from functools import partial

import pyarrow.compute as pc
import pytest

from shelfsync.errors import DataError
from shelfsync.ledger import holds as table
from shelfsync.ledger import vendors
from shelfsync.ledger.hold_tables import hold
from sixty_products import SKUS, Apart, V, fill, price, renumber, waiting


@pytest.fixture
def shop(world):
    return fill(world)


def test_other_thresholds_for_once_let_a_part_through_and_keep_the_rest(shop):
    for number, sku in enumerate(SKUS[:25]):
        shop.erp.put(V, sku, f"{(number + 1.5) * (1.5 if number < 20 else 1.8):.2f}")
    shop.sync("delta")
    (hold,) = waiting(shop)
    assert (hold["rule"], hold["rows"]) == ("price_change", 25)
    told = shop.house.holds.reconsider(hold["hold_id"], {"move": 0.6, "rows": 0}, who="ada")
    assert told["state"] == "approved"
    shop.house.holds.deliver(hold["hold_id"])
    assert (price(shop, "s000"), price(shop, "s024")) == (Decimal("2.25"), Decimal("25.50"))
    assert shop.sync("delta")["sent"] == 0
    assert {(one["state"], one["rows"]) for one in shop.house.holds.listed()} == {("approved", 20), ("rejected", 5)}


def _twenty_five(shop):
    """Twenty prices grow by half and five by more: one hold of `price_change`; its number."""
    for number, sku in enumerate(SKUS[:25]):
        shop.erp.put(V, sku, f"{(number + 1.5) * (1.5 if number < 20 else 1.8):.2f}")
    shop.sync("delta")
    return next(hold["hold_id"] for hold in waiting(shop) if (hold["rule"], hold["rows"]) == ("price_change", 25))


@pytest.mark.parametrize("state", [table.REJECTED, table.EXPIRED])
def test_thresholds_that_come_while_somebody_ends_the_hold_approve_nothing(shop, state):
    number = _twenty_five(shop)
    with shop.house.parts.engine.begin() as connection:
        assert table.decide(connection, number, state, who="bob", why="no")
        late = Apart(partial(shop.house.holds.reconsider, number, {"move": 0.6, "rows": 0}, who="ada"))
        late.waits(shop)
    told = late.end()
    assert (told["decided"], told["state"]) == (False, state)
    assert f"is {state} by bob" in told["line"]
    assert [(one["state"], one["rows"], one["decided_by"]) for one in shop.house.holds.listed()] == [(state, 25, "bob")]
    assert shop.house.holds.deliver(number)["vendors"] == []
    assert price(shop, "s024") == Decimal("25.50")


def test_thresholds_for_one_hold_decide_nothing_about_the_rows_of_another(shop):
    shop.erp.put(V, "s030", "305.00")
    shop.erp.put(V, "s040", "1000.00")
    number = _twenty_five(shop)
    others = {one["hold_id"]: one["rule"] for one in waiting(shop) if one["hold_id"] != number}
    assert set(others.values()) == {"shifted_decimal", "price_change"}, "s030 slipped, s040 leaps"
    told = shop.house.holds.reconsider(number, {"move": 0.9, "rows": 0}, who="ada")
    assert told["state"] == "approved"
    assert {(one["state"], one["rows"]) for one in shop.house.holds.listed()} == {("approved", 25), ("open", 1)}
    shop.house.holds.deliver(number)
    assert shop.sync("delta")["sent"] == 0
    assert {one["hold_id"]: one["rule"] for one in waiting(shop)} == others, "their questions are open as before"
    assert price(shop, "s024") == Decimal("45.9")
    assert (price(shop, "s030"), price(shop, "s040")) == (Decimal("31.50"), Decimal("41.50"))


def test_thresholds_count_what_the_hold_has_and_nothing_beside_it(shop):
    for number, sku in enumerate(SKUS[25:51], start=25):
        shop.erp.put(V, sku, f"{number + 1}.60")
    far = _twenty_five(shop)
    (near,) = [one["hold_id"] for one in waiting(shop) if one["hold_id"] != far]
    told = shop.house.holds.reconsider(near, {"rows": 30}, who="ada")
    assert (told["state"], told["line"].split(":")[1]) == ("approved", " 26 rows) is approved by ada")
    assert [one["hold_id"] for one in waiting(shop)] == [far]


def test_thresholds_that_let_nothing_of_a_hold_through_reject_it(shop):
    number = _twenty_five(shop)
    told = shop.house.holds.reconsider(number, {"move": 0.4, "rows": 0}, who="ada")
    assert told["state"] == "rejected"
    assert "nothing of it is sent" not in told["line"]
    assert shop.sync("delta")["sent"] == 0
    assert waiting(shop) == []


def test_thresholds_that_come_while_a_newer_extract_moves_quantities_approve_the_newest(shop):
    renumber(shop)
    (number,) = [hold["hold_id"] for hold in waiting(shop)]
    lake = shop.house.parts.lake
    (path,) = shop.rows("SELECT rows_path FROM ledger.hold")[0]
    rows = lake.read_table(path)
    place = rows.schema.get_field_index("quantity")
    sold = rows.set_column(place, rows.schema.field(place), pc.subtract(rows["quantity"], 1))
    with shop.house.parts.engine.begin() as connection:
        vendors.lock(connection, V)
        values = {"rows_path": lake.write_table("hold", V, sold)}
        connection.execute(hold.update().values(values))
        late = Apart(partial(shop.house.holds.reconsider, number, {"rows": 100}, who="ada"))
        late.waits(shop)
    told = late.end()
    assert (told["decided"], told["state"]) == (True, "approved")
    assert {row["quantity"] for row in shop.house.holds.show(number)["rows_shown"]} == {9}


def test_thresholds_stand_with_the_decision_and_the_question_keeps_its_own(shop):
    number = _twenty_five(shop)
    asked = shop.house.holds.show(number)["thresholds"]
    shop.house.holds.reconsider(number, {"move": 0.6, "rows": 0}, who="ada", why="the new season")
    shown = shop.house.holds.show(number)
    assert shown["thresholds"] == asked
    (decision,) = shown["decisions"]
    assert (decision["decided_by"], decision["why"], decision["thresholds"]) == (
        "ada",
        "the new season",
        {**asked, "move": 0.6, "rows": 0},
    )


@pytest.mark.parametrize("given", [{}, {"rows": 10}, {"rows": -1}, {"height": 2}])
def test_thresholds_that_are_none_or_those_of_the_question_decide_nothing(shop, given):
    number = _twenty_five(shop)
    with pytest.raises(DataError, match=f"hold {number}: "):
        shop.house.holds.reconsider(number, given, who="ada")
    shown = shop.house.holds.show(number)
    assert (shown["state"], shown["decisions"]) == ("open", [])


def test_thresholds_after_a_rejection_let_a_part_through_like_an_approval_after_one(shop):
    number = _twenty_five(shop)
    shop.house.holds.decide(number, approve=False, who="ada", why="no")
    told = shop.house.holds.reconsider(number, {"move": 0.6, "rows": 0}, who="bob")
    assert (told["decided"], told["state"]) == (True, "approved")
    assert [(one["state"], one["decided_by"]) for one in shop.house.holds.show(number)["decisions"]] == [
        ("rejected", "ada"),
        ("approved", "bob"),
    ]
    shop.house.holds.deliver(number)
    assert (price(shop, "s000"), price(shop, "s024")) == (Decimal("2.25"), Decimal("25.50"))
