"""Held campaigns are decided as every other hold: once, by number, anywhere; and only what was decided changes."""

from __future__ import annotations

from functools import partial

import pytest

from shelfsync.decisions.state import Place
from shelfsync.decisions.steps import decide
from shelfsync.errors import DataError
from shelfsync.explain.explain import explain
from shelfsync.promotions.steps.new_work import approved_waiting

HOLDS = "SELECT hold_id, state, rows FROM ledger.hold WHERE superseded_by IS NULL ORDER BY hold_id"
ACTS = "SELECT hold_id, state, decided_by, place, why, ignored IS NOT NULL FROM ledger.decision ORDER BY decision_id"


@pytest.mark.slow
def test_one_decision_stands_is_told_to_a_late_answer_and_starts_the_sending(shop):
    shop.erp.put("deep", "a", "1")
    shop.sync()
    context, holds = shop.world.app.context, shop.world.app.holds
    (asked,) = holds.ask("dag/1")
    question = holds.question(asked["hold"], pages=None)
    assert question["subject"] == "store-001: send what discount holds? (1 rows)"
    assert "| a | 1\\.00 | 20" in question["body"]
    assert "10.00 → 1.00" in question["body"]
    assert "hold 1" in " ".join(explain(context, "store-001", "a").promotions_wait)
    answer = partial(decide.decide, context, 1, place=Place.AIRFLOW, asked_by="dag/1")
    decide.decide(context, 1, approve=False, who="ada", place=Place.PAGE, why="too deep")
    assert holds.question(1, pages=None) is None, "the question closes"
    assert decide.send(context, [1])["lines"] == [
        "hold 1 (store-001 discount deep: 1 rows) is declined by ada; nothing of it is sent"
    ]
    late = answer(approve=True, who="bob")
    assert late["decided"] is False
    assert "is declined by ada at " in late["line"]
    with pytest.raises(DataError, match="needs a reason"):
        holds.reopen(1, who="ada", why=None)
    holds.reopen(1, who="ada", why="the flyer is right")
    assert answer(approve=True, who="bob")["decided"] is False, "the question was asked before the reopening"
    assert approved_waiting(context) == []
    assert decide.decide(context, 1, approve=True, who="eve", place=Place.COMMAND, why="yes")["decided"]
    assert "next run" in decide.send(context, [1])["lines"][0]
    assert approved_waiting(context) == ["deep"]
    shop.sync()
    assert (shop.seen(), approved_waiting(context)) == ({"a": 1.0}, [])
    late = decide.decide(context, 1, approve=False, who="bob", place=Place.PAGE)
    assert "its changes are sent" in late["line"]
    assert shop.rows(ACTS) == [
        (1, "declined", "ada", "page", "too deep", False),
        (1, "approved", "bob", "Airflow", None, True),
        (1, "open", "ada", "command line", "the flyer is right", False),
        (1, "approved", "bob", "Airflow", None, True),
        (1, "approved", "eve", "command line", "yes", False),
        (1, "declined", "bob", "page", None, True),
    ]
    shop.erp.put("deep", "b", "1")
    assert shop.sync()["waits"]["holds"] == 1
    assert shop.rows(HOLDS) == [(1, "approved", 1), (2, "open", 1)], "the new row alone is held"


@pytest.mark.slow
def test_other_thresholds_for_once_send_what_they_let_through_and_decline_the_rest(shop):
    shop.erp.put("deep", "a", "1")
    shop.erp.put("deep", "b", "2.5")
    shop.sync()
    holds = shop.world.app.holds
    wrong = (
        {"discount_share_max": 1.5},
        {"discount_share_max": 0.7},
        {"max_rows": 3},
        {"discount_share_max": True},
        {},
    )
    for thresholds in wrong:
        with pytest.raises(DataError, match="hold 1: "):
            holds.reconsider(1, thresholds, who="ada")
    assert "1 SKUs of 1 campaigns" in holds.asked([1], {"discount_share_max": 0.8})["lines"][0]
    assert holds.reconsider(1, {"discount_share_max": 0.8}, who="ada")["state"] == "approved"
    for _ in range(2):
        assert shop.sync()["waits"] is None, "what was declined is no question"
    assert shop.seen() == {"b": 2.5}
    assert shop.rows(HOLDS) == [(1, "approved", 1), (2, "declined", 1)]


@pytest.mark.slow
def test_an_approval_after_the_time_of_a_held_campaign_is_told_so_though_no_run_has_visited_it(shop):
    shop.erp.put("deep", "a", "1")
    shop.sync()
    holds = shop.world.app.holds
    holds.over(1)
    late = holds.decide(1, approve=True, who="ada")
    assert (late["decided"], late["state"], "`shelfsync holds reopen 1" in late["line"]) == (False, "expired", True)
    assert approved_waiting(shop.world.app.context) == []


@pytest.mark.slow
def test_a_held_campaign_expires_and_stays_held_until_it_is_reopened(make_shop):
    shop = make_shop(guards={"hold_hours": 1e-9})
    shop.erp.put("deep", "a", "1")
    shop.sync()
    summary = shop.sync()
    assert (summary["waits"]["expired"], "holds list --state held" in summary["waits"]["line"]) == (1, True)
    assert shop.rows(HOLDS) == [(1, "expired", 1)]
    assert shop.seen() == {}
    assert not shop.world.app.holds.decide(1, approve=True, who="ada")["decided"]
