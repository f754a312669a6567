"""A hold expires once its time is over, unless it was reopened."""

from __future__ import annotations

from functools import partial

import pytest

from shelfsync.decisions.ledger import holds as table
from shelfsync.decisions.state import HoldState, Place
from sixty_products import Apart, twenty_five


@pytest.mark.slow
def test_a_hold_reopened_while_its_question_finds_it_expired_stays_open(shop):
    number = twenty_five(shop)
    shop.app.holds.over(number)
    with shop.app.context.engine.begin() as connection:
        assert table.decide(connection, number, HoldState.DECLINED, who="bob", place=Place.PAGE, why="no")
        assert table.reopen(connection, number, who="eve", place=Place.PAGE, why="ask again", hours=1)
        late = Apart(partial(shop.app.holds.question, number, pages=None))
        late.waits(shop)
    assert late.end()["left_s"] > 0
    assert [act["state"] for act in shop.app.holds.show(number)["decisions"]] == ["declined", "open"]
    shop.app.holds.over(number)
    assert shop.app.holds.question(number, pages=None) is None
    assert shop.app.holds.show(number)["state"] == "expired"
