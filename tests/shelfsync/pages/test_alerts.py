"""Alerts on their pages: what is wrong, what is over, and taking one on."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from alert_look import of_program
from csv_answer import rows_of
from shelfsync.alert_conditions import watch as alert_watch
from shelfsync.alerts.kind import KINDS
from shelfsync.alerts.ledger import alerts
from shelfsync.alerts.steps import lists


def _keep(world, found):
    with world.app.context.engine.begin() as connection:
        alerts.keep(connection, ("store_late",), found)


def test_an_alert_is_listed_taken_on_by_one_person_and_listed_as_over(world, browse):
    pages = browse(world.app)
    assert "No watch has looked at what is wrong yet" in pages.get("/alerts").text
    alert_watch.watch(world.app.context)
    assert "Nothing is wrong: the watch looked last at" in pages.get("/alerts").text
    with world.app.context.engine.begin() as connection:
        connection.execute(sa.text("UPDATE ledger.alert_look SET looked_at = looked_at - interval '11 minutes'"))
    stale = pages.get("/alerts").text
    assert ("Nothing is wrong" in stale, "what is wrong since is not known" in stale) == (False, True)
    _keep(world, {("store_late", "store-001"): "store-001: <b>late</b>; `shelfsync sync`"})
    listed = pages.get("/alerts").text
    assert "store-001: &lt;b&gt;late&lt;/b&gt;; <code>shelfsync sync</code>" in listed
    assert ("No route is set" in listed, "SHELFSYNC_" in listed) == (True, False)
    shown = pages.get("/alerts/1").text
    assert "changes-not-acknowledged.md" in shown
    assert "Take it on" in shown
    assert "a store is late</a></p>" in pages.get("/orders").text, "every page shows a severe alert"
    assert pages.post("/alerts/1/acknowledge", follow_redirects=False).status_code == 303
    assert "ada" in pages.get("/alerts/1").text
    assert "a store is late" not in pages.get("/orders").text, "a person has taken it on"
    late = pages.post("/alerts/1/acknowledge")
    assert (late.status_code, "was acknowledged by ada" in late.text) == (409, True)
    _keep(world, {})
    assert "Over" in pages.get("/alerts").text
    [over] = rows_of(pages.get("/alerts.csv?kind=store_late"))
    assert (over["alert_id"], over["acknowledged_by"]) == ("1", "ada")
    assert rows_of(pages.get("/alerts.csv?kind=erp_away")) == []
    assert "No such alert is over." in pages.get("/alerts?kind=erp_away").text
    assert (pages.get("/alerts/2").status_code, pages.post("/alerts/2/acknowledge").status_code) == (404, 404)


def test_what_is_muted_is_listed_with_its_reason_on_the_page(world, browse):
    _keep(world, {("store_late", "store-001"): "late"})
    pages = browse(world.app)
    assert "Muted" not in pages.get("/alerts").text
    lists.mute(world.app.context, "store_late", "store-001", hours=1, who="ada", why="moving <house>")
    lists.mute(world.app.context, "disk", None, hours=1, who="bob", why="it is extended")
    for page in ("/alerts", "/alerts/1"):
        shown = pages.get(page).text
        assert ("moving &lt;house&gt;" in shown, "ada" in shown) == (True, True)
    assert "it is extended" not in pages.get("/alerts/1").text


def test_who_may_only_look_takes_no_alert_on(world, browse):
    _keep(world, {("store_late", "store-001"): "late"})
    pages = browse(world.app, may_decide=False)
    assert "<form" not in pages.get("/alerts/1").text
    assert pages.post("/alerts/1/acknowledge").status_code == 403


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
def test_a_kind_of_alert_is_told_without_a_word_of_the_program(kind):
    for sentence in (kind.title, kind.customers, kind.by_itself):
        assert of_program(sentence) == [], sentence


def test_a_rule_is_called_on_the_pages_of_alerts_as_on_those_of_holds_and_found_by_that_name(world, browse):
    waits = {("hold_waits", "catalog price_change"): "rule price change: 3 changes wait (`shelfsync holds show 1`)"}
    with world.app.context.engine.begin() as connection:
        alerts.keep(connection, ("hold_waits",), waits)
    lists.mute(world.app.context, "hold_waits", "catalog price_change", hours=1, who="ada", why="sale")
    pages = browse(world.app)
    for page in ("/alerts", "/alerts/1"):
        text = pages.get(page).text
        assert ("rule price change: 3 changes wait<" in text, "price change<" in text) == (True, True), page
        assert ("price_change" in text, "hold_waits" in text) == (False, False), page
    with world.app.context.engine.begin() as connection:
        alerts.keep(connection, ("hold_waits",), {})
    for asked in ("price+change", "catalog+price_change"):
        assert "<td>price change<" in pages.get(f"/alerts?subject={asked}").text
        assert len(rows_of(pages.get(f"/alerts.csv?subject={asked}"))) == 1
    assert "No such alert is over." in pages.get("/alerts?subject=zero+price").text
