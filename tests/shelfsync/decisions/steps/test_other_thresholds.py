"""A person gives other thresholds once: they apply to one hold's rows, and not to rows that have changed meanwhile."""

from __future__ import annotations

from decimal import Decimal
from functools import partial

import pyarrow.compute as pc
import pytest

from shelfsync.catalog.ledger import vendors
from shelfsync.decisions.ledger import holds as table
from shelfsync.decisions.ledger.tables import hold
from shelfsync.decisions.state import HoldState, Place
from shelfsync.errors import DataError
from sixty_products import SKUS, Apart, V, price, renumber, twenty_five, waiting


@pytest.mark.slow
def test_other_thresholds_for_once_let_a_part_through_and_keep_the_rest(shop):
    for number, sku in enumerate(SKUS[:25]):
        shop.erp.put(V, sku, f"{(number + 1.5) * (1.5 if number < 20 else 1.8):.2f}")
    shop.sync("delta")
    (hold,) = waiting(shop)
    assert (hold["rule"], hold["rows"]) == ("price_change", 25)
    result = shop.app.holds.reconsider(hold["hold_id"], {"move": 0.6, "max_rows": 0}, who="ada")
    assert result["state"] == "approved"
    shop.app.holds.deliver(hold["hold_id"])
    assert (price(shop, "s000"), price(shop, "s024")) == (Decimal("2.25"), Decimal("25.50"))
    assert shop.sync("delta")["sent"] == 0
    assert {(one["state"], one["rows"]) for one in shop.app.holds.listed()} == {("approved", 20), ("declined", 5)}


@pytest.mark.slow
@pytest.mark.parametrize("state", [HoldState.DECLINED, HoldState.EXPIRED])
def test_thresholds_that_come_while_another_person_ends_the_hold_approve_nothing(shop, state):
    number = twenty_five(shop)
    with shop.app.context.engine.begin() as connection:
        assert table.decide(connection, number, state, who="bob", place=Place.PAGE, why="no")
        late = Apart(partial(shop.app.holds.reconsider, number, {"move": 0.6, "max_rows": 0}, who="ada"))
        late.waits(shop)
    result = late.end()
    assert (result["decided"], result["state"]) == (False, state)
    assert f"is {state} by bob" in result["line"]
    assert [(one["state"], one["rows"], one["decided_by"]) for one in shop.app.holds.listed()] == [(state, 25, "bob")]
    assert shop.app.holds.deliver(number)["vendors"] == []
    assert price(shop, "s024") == Decimal("25.50")


@pytest.mark.slow
def test_thresholds_for_one_hold_decide_nothing_about_the_rows_of_another(shop):
    shop.erp.put(V, "s030", "305.00")
    shop.erp.put(V, "s040", "1000.00")
    number = twenty_five(shop)
    others = {one["hold_id"]: one["rule"] for one in waiting(shop) if one["hold_id"] != number}
    assert set(others.values()) == {"shifted_decimal", "price_change"}, "s030 slipped, s040 leaps"
    result = shop.app.holds.reconsider(number, {"move": 0.9, "max_rows": 0}, who="ada")
    assert result["state"] == "approved"
    assert {(one["state"], one["rows"]) for one in shop.app.holds.listed()} == {("approved", 25), ("open", 1)}
    shop.app.holds.deliver(number)
    assert shop.sync("delta")["sent"] == 0
    assert {one["hold_id"]: one["rule"] for one in waiting(shop)} == others, "their questions are open as before"
    assert price(shop, "s024") == Decimal("45.9")
    assert (price(shop, "s030"), price(shop, "s040")) == (Decimal("31.50"), Decimal("41.50"))


@pytest.mark.slow
def test_thresholds_count_what_the_hold_has_and_nothing_beside_it(shop):
    for number, sku in enumerate(SKUS[25:51], start=25):
        shop.erp.put(V, sku, f"{number + 1}.60")
    far = twenty_five(shop)
    (near,) = [one["hold_id"] for one in waiting(shop) if one["hold_id"] != far]
    result = shop.app.holds.reconsider(near, {"max_rows": 30}, who="ada")
    assert (result["state"], result["line"].split(":")[1]) == ("approved", " 26 rows) is approved by ada")
    assert [one["hold_id"] for one in waiting(shop)] == [far]


@pytest.mark.slow
def test_thresholds_that_let_nothing_of_a_hold_through_decline_it(shop):
    number = twenty_five(shop)
    result = shop.app.holds.reconsider(number, {"move": 0.4, "max_rows": 0}, who="ada")
    assert result["state"] == "declined"
    assert "nothing of it is sent" not in result["line"]
    assert shop.sync("delta")["sent"] == 0
    assert waiting(shop) == []


@pytest.mark.slow
def test_thresholds_that_come_while_a_newer_extract_moves_quantities_approve_the_newest(shop):
    renumber(shop)
    (number,) = [hold["hold_id"] for hold in waiting(shop)]
    lake = shop.app.context.lake
    (path,) = shop.rows("SELECT rows_path FROM ledger.hold")[0]
    rows = lake.read_table(path)
    place = rows.schema.get_field_index("quantity")
    sold = rows.set_column(place, rows.schema.field(place), pc.subtract(rows["quantity"], 1))
    with shop.app.context.engine.begin() as connection:
        vendors.lock(connection, V)
        values = {"rows_path": lake.write_table("hold", V, sold)}
        connection.execute(hold.update().values(values))
        late = Apart(partial(shop.app.holds.reconsider, number, {"max_rows": 100}, who="ada"))
        late.waits(shop)
    result = late.end()
    assert (result["decided"], result["state"]) == (True, "approved")
    assert {row["quantity"] for row in shop.app.holds.show(number)["rows_shown"]} == {9}


@pytest.mark.slow
def test_thresholds_stand_with_the_decision_and_the_question_keeps_its_own(shop):
    number = twenty_five(shop)
    asked = shop.app.holds.show(number)["thresholds"]
    shop.app.holds.reconsider(number, {"move": 0.6, "max_rows": 0}, who="ada", why="the new season")
    shown = shop.app.holds.show(number)
    assert shown["thresholds"] == asked
    (decision,) = shown["decisions"]
    assert (decision["decided_by"], decision["why"], decision["thresholds"]) == (
        "ada",
        "the new season",
        {**asked, "move": 0.6, "max_rows": 0},
    )


@pytest.mark.slow
@pytest.mark.parametrize("given", [{}, {"max_rows": 10}, {"max_rows": -1}, {"height": 2}])
def test_thresholds_that_are_none_or_those_of_the_question_decide_nothing(shop, given):
    number = twenty_five(shop)
    with pytest.raises(DataError, match=f"hold {number}: "):
        shop.app.holds.reconsider(number, given, who="ada")
    shown = shop.app.holds.show(number)
    assert (shown["state"], shown["decisions"]) == ("open", [])


@pytest.mark.slow
def test_thresholds_after_a_declined_hold_let_a_part_through_like_an_approval_after_one(shop):
    number = twenty_five(shop)
    shop.app.holds.decide(number, approve=False, who="ada", why="no")
    late = shop.app.holds.reconsider(number, {"move": 0.6, "max_rows": 0}, who="bob")
    assert (late["decided"], late["state"]) == (False, "declined")
    shop.app.holds.reopen(number, who="bob", why="a part is right")
    result = shop.app.holds.reconsider(number, {"move": 0.6, "max_rows": 0}, who="bob")
    assert (result["decided"], result["state"]) == (True, "approved")
    assert [(one["state"], one["decided_by"]) for one in shop.app.holds.show(number)["decisions"]] == [
        ("declined", "ada"),
        ("approved", "bob"),  # too late
        ("open", "bob"),
        ("approved", "bob"),
    ]
    shop.app.holds.deliver(number)
    assert (price(shop, "s000"), price(shop, "s024")) == (Decimal("2.25"), Decimal("25.50"))
