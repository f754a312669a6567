"""An answer after the decision, or after the time of a hold, does nothing and is kept."""

from __future__ import annotations

from functools import partial

import pytest

from shelfsync.decisions.ledger import approvals
from shelfsync.decisions.ledger.tables import hold
from sixty_products import twenty_five


@pytest.mark.slow
@pytest.mark.parametrize("how", ["the whole", "a part"])
def test_an_approval_after_the_time_of_a_hold_is_told_so_though_no_run_has_visited_it(shop, how):
    number = twenty_five(shop)
    shop.app.holds.over(number)
    if how == "the whole":
        late = shop.app.holds.decide(number, approve=True, who="ada")
    else:
        late = shop.app.holds.reconsider(number, {"move": 0.6, "max_rows": 0}, who="ada")
    assert (late["decided"], late["state"]) == (False, "expired")
    assert "is expired by timeout at " in late["line"]
    assert f"`shelfsync holds reopen {number} --reason TEXT` opens it again" in late["line"]
    acts = [
        (one["state"], one["decided_by"], one["ignored"] is None) for one in shop.app.holds.show(number)["decisions"]
    ]
    assert acts == [("expired", "timeout", True), ("approved", "ada", False)]
    assert shop.app.holds.deliver(number)["vendors"] == []


@pytest.mark.slow
def test_a_late_answer_is_told_what_becomes_of_an_approval_that_a_newer_run_superseded(shop):
    number = twenty_five(shop)
    shop.app.holds.decide(number, approve=True, who="ada")
    late = partial(shop.app.holds.decide, number, approve=False, who="bob")
    assert "the next run sends its changes" in late()["line"]
    with shop.app.context.engine.begin() as connection:
        connection.execute(hold.update().values(superseded_by=7))
    line = late()["line"]
    assert "run 7 has a newer extract: what the ERP still has of these values is sent" in line
    assert "next run sends" not in line
    with shop.app.context.engine.begin() as connection:
        approvals.spend(connection, [number])
    line = late()["line"]
    assert "the newer extract of run 7 has not these values, so nothing of it is sent" in line
    assert "shows what was sent" not in line
