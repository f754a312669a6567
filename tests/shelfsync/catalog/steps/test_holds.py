"""Accidents as they happen, on the whole path: held, the innocent changes delivered, and after the approval the rest; the platform
never shows the wrong value in between."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest

from shelfsync.housekeeping.unused_files import sweep
from sixty_products import SKUS, V, fill, price, slip, waiting


@pytest.fixture
def shop(world_after):
    return world_after(fill)


@pytest.mark.slow
def test_a_decimal_comma_read_as_thousands_is_held_and_its_stop_sells_flow(shop):
    for number, sku in enumerate(SKUS[:30]):
        shop.erp.put(V, sku, f"{number + 1}50", 0 if number < 3 else 10)  # 1,50 without its comma
    shop.erp.put(V, "s040", "40.99")
    summary = shop.sync("delta")
    assert summary["vendors"][0]["changes_held"] == 30
    assert {price(shop, sku) for sku in SKUS[:30]} == {Decimal(f"{number + 1}.50") for number in range(30)}
    assert [sku for sku, row in shop.shown().items() if not row["active"]] == SKUS[:3]
    assert price(shop, "s040") == Decimal("40.99")
    (hold,) = waiting(shop)
    assert (hold["rule"], hold["rows"], hold["first_run_id"]) == ("shifted_decimal", 30, summary["run"])
    assert shop.sync("delta")["sent"] == 0
    assert [one["hold_id"] for one in waiting(shop)] == [hold["hold_id"]], "the same rows are the same question"


@pytest.mark.slow
def test_an_approved_slice_is_delivered_by_the_run_that_holds_it(shop):
    shop.erp.put(V, "s001", "25.00")
    first = shop.sync("delta")
    (hold,) = waiting(shop)
    result = shop.app.holds.decide(hold["hold_id"], approve=True, who="ada", why="a new pack of ten")
    assert result["state"] == "approved"
    assert price(shop, "s001") == Decimal("2.50"), "an approval alone sends nothing"
    shop.app.holds.deliver(hold["hold_id"])
    assert price(shop, "s001") == 25
    assert shop.rows("SELECT run_id, state FROM ledger.batch ORDER BY batch_id DESC LIMIT 1") == [
        (first["run"], "done")
    ]
    assert shop.rows("SELECT state, decided_by, why, released_at IS NOT NULL FROM ledger.hold") == [
        ("approved", "ada", "a new pack of ten", True)
    ]
    summary = shop.sync("delta")
    assert (summary["sent"], summary["vendors"][0]["changes_held"]) == (0, 0)


@pytest.mark.slow
def test_what_is_approved_while_the_rest_of_its_skus_is_with_the_platform_leaves_after_it(shop):
    """A price is held and the same product's stop-sell is on its way: two bodies with one SKU are never in flight together (I5)."""
    shop.erp.put(V, "s001", "25.00", 0)
    run_id, vendors = shop.begin("delta", upto="deliver")
    (hold,) = waiting(shop)
    shop.app.holds.decide(hold["hold_id"], approve=True, who="ada")
    shop.app.holds.release(hold["hold_id"])
    report = shop.app.step("deliver", run_id, vendors)
    assert "another plan" in report["skipped"][V]
    flying = "SELECT item_count, plan FROM ledger.batch JOIN ledger.job USING (batch_id, plan) WHERE job.state = 'open'"
    assert len(shop.rows(flying)) == 1
    lines = shop.app.holds.deliver(hold["hold_id"])["lines"]
    assert any("another plan" in line for line in lines)
    assert price(shop, "s001") == 25
    assert not shop.shown()["s001"]["active"]
    assert shop.sync("delta")["sent"] == 0


@pytest.mark.slow
def test_what_is_held_and_what_is_approved_and_not_sent_have_an_age_each(shop):
    hold = slip(shop)
    shop.sync("delta")
    (held,) = shop.app.status()["vendors"]
    assert (held["held"], held["pending"], held["oldest_unacknowledged_s"]) == (1, 0, None)
    assert held["oldest_held_s"] > 0
    shop.app.holds.decide(hold["hold_id"], approve=True, who="ada")
    (approved,) = shop.app.status()["vendors"]
    assert (approved["held"], approved["pending"], approved["oldest_held_s"]) == (0, 1, None)
    assert approved["oldest_unacknowledged_s"] >= held["oldest_held_s"]
    shop.app.holds.deliver(hold["hold_id"])
    (sent,) = shop.app.status()["vendors"]
    assert (sent["pending"], sent["oldest_unacknowledged_s"]) == (0, None)


@pytest.mark.slow
def test_delivering_twice_sends_once(shop):
    hold = slip(shop)
    shop.app.holds.decide(hold["hold_id"], approve=True, who="ada")
    before = len(shop.sent())
    for _ in range(3):
        shop.app.holds.deliver(hold["hold_id"])
    assert len(shop.sent()) == before + 1


@pytest.mark.slow
def test_an_approval_is_kept_when_a_newer_extract_came_and_its_run_sends_it(shop):
    hold = slip(shop)
    newer = shop.app.open_run("delta", "test/newer")
    shop.app.extract(newer)
    shop.app.holds.decide(hold["hold_id"], approve=True, who="ada")
    result = shop.app.holds.deliver(hold["hold_id"])
    assert result["vendors"] == []
    assert "newer extract" in result["line"]
    assert price(shop, "s001") == Decimal("2.50")
    for word in ("normalise", "diff", "guard", "batch", "deliver"):
        shop.app.step(word, newer, [V])
    shop.platform.until_quiescent()
    assert price(shop, "s001") == 25


def _counted(shop, quantity):
    """The ERP gives forty of the sixty products this quantity."""
    for number, sku in enumerate(SKUS[:40]):
        shop.erp.put(V, sku, f"{number + 1}.50", quantity)


def _approved(shop):
    """The one open hold, let through by a person and delivered; its number."""
    (hold,) = waiting(shop)
    shop.app.holds.decide(hold["hold_id"], approve=True, who="ada")
    shop.app.holds.deliver(hold["hold_id"])
    return hold["hold_id"]


@pytest.mark.slow
@pytest.mark.parametrize("between", ["delta", "full", None])
def test_an_approval_is_for_once_and_the_same_accident_again_is_a_new_question(shop, between):
    _counted(shop, 0)
    shop.sync("delta")
    taken = _approved(shop)
    if between is not None:
        shop.sync(between)
        assert shop.rows("SELECT spent_at IS NOT NULL FROM ledger.hold") == [(True,)]
    _counted(shop, 11)
    assert shop.sync("delta")["sent"] == 40, "the stock-taking is over"
    _counted(shop, 0)
    shop.erp.put(V, "s059", "60.60", 10)  # so that it is not the same file again
    summary = shop.sync("delta")
    assert (summary["sent"], summary["vendors"][0]["changes_held"]) == (1, 40)
    assert [(one["rule"], one["rows"]) for one in waiting(shop)] == [("zero_stock", 40)]
    assert shop.app.holds.show(taken)["state"] == "approved"
    assert shop.shown()["s000"]["active"]


@pytest.mark.slow
def test_a_dry_run_uses_no_approval_up(shop):
    _counted(shop, 0)
    shop.sync("delta")
    _approved(shop)
    shop.sync("delta", dry_run=True)
    assert shop.rows("SELECT spent_at FROM ledger.hold") == [(None,)]


@pytest.mark.slow
def test_the_guards_again_in_a_run_that_holds_everything_leave_its_questionwaiting(shop):
    shop.erp.put(V, "s001", "25.00")
    run, names = shop.begin("delta", upto="guard")
    (hold,) = waiting(shop)
    shop.app.step("guard", run, names)
    assert [one["hold_id"] for one in waiting(shop)] == [hold["hold_id"]]


@pytest.mark.slow
def test_a_slice_whose_rows_changed_is_superseded_and_its_approval_sends_nothing(shop):
    shop.erp.put(V, "s001", "25.00")
    shop.sync("delta")
    (old,) = waiting(shop)
    shop.erp.put(V, "s001", "26.00")
    run = shop.sync("delta")["run"]
    (new,) = waiting(shop)
    result = shop.app.holds.decide(old["hold_id"], approve=True, who="ada")
    assert (result["decided"], result["state"]) == (False, "superseded")
    assert f"superseded by the newer extract of run {run}" in result["line"]
    assert shop.app.holds.deliver(old["hold_id"])["vendors"] == []
    assert (price(shop, "s001"), new["rows"]) == (Decimal("2.50"), 1)


@pytest.mark.slow
def test_a_value_that_the_erp_takes_back_leaves_nothing_to_decide(shop):
    shop.erp.put(V, "s001", "25.00")
    shop.sync("delta")
    shop.erp.put(V, "s001", "2.50")
    shop.sync("delta")
    assert waiting(shop) == []
    assert shop.rows("SELECT state FROM ledger.hold") == [("superseded",)]


@pytest.mark.slow
def test_a_declined_value_stays_held_without_another_question_until_the_erp_changes_it(shop):
    for sku in ("s001", "s002"):
        shop.erp.put(V, sku, "99.00")
    shop.sync("delta")
    for hold in waiting(shop):
        shop.app.holds.decide(hold["hold_id"], approve=False, who="ada")
    shop.erp.put(V, "s002", "3.60")
    assert shop.sync("delta")["sent"] == 1
    assert shop.sync("delta")["sent"] == 0
    assert waiting(shop) == []
    assert (price(shop, "s001"), price(shop, "s002")) == (Decimal("2.50"), Decimal("3.6"))
    shop.erp.put(V, "s001", "2.60")
    shop.sync("delta")
    assert price(shop, "s001") == Decimal("2.6")


@pytest.mark.slow
def test_a_full_sync_holds_what_a_delta_holds(shop):
    shop.erp.put(V, "s001", "25.00")
    shop.sync("delta")
    summary = shop.sync("full")
    assert summary["sent"] == 60
    assert price(shop, "s001") == Decimal("2.50")
    assert len(waiting(shop)) == 1


@pytest.mark.slow
def test_a_hold_without_a_decision_in_time_expires(shop):
    shop.erp.put(V, "s001", "25.00")
    shop.sync("delta")
    with shop.app.context.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE ledger.hold SET expires_at = ledger.instant() - interval '1 s'")
    shop.sync("delta")
    assert shop.rows("SELECT state, decided_by FROM ledger.hold") == [("expired", "timeout")]
    assert price(shop, "s001") == Decimal("2.50")
    (hold,) = shop.app.holds.listed()
    late = shop.app.holds.decide(hold["hold_id"], approve=True, who="ada")
    assert (late["state"], late["decided"], "nothing was done" in late["line"]) == ("expired", False, True)
    assert shop.app.holds.reopen(hold["hold_id"], who="ada", why="the price is right")["state"] == "open"
    assert shop.app.holds.decide(hold["hold_id"], approve=True, who="ada")["state"] == "approved", "late is not never"
    shop.app.holds.deliver(hold["hold_id"])
    assert price(shop, "s001") == 25


@pytest.mark.slow
def test_a_dry_run_asks_no_person(shop):
    shop.erp.put(V, "s001", "25.00")
    summary = shop.sync("delta", dry_run=True)
    assert summary["vendors"][0]["changes_held"] == 1
    assert shop.app.holds.listed() == []
    assert shop.rows("SELECT count(*) FROM ledger.feed") == [(1,)]


@pytest.mark.slow
def test_a_hold_shows_the_largest_moves_first_with_what_was_before(shop):
    shop.erp.put(V, "s001", "25.00")
    shop.erp.put(V, "s002", "0.035")
    shop.sync("delta")
    (hold,) = waiting(shop)
    shown = shop.app.holds.show(hold["hold_id"], rows=1)
    assert [(row["sku"], row["price_before"], row["price"]) for row in shown["rows_shown"]] == [
        ("s002", Decimal("3.500"), Decimal("0.035"))
    ]
    assert shown["rows"] == 2


@pytest.mark.slow
def test_what_was_compared_stays_as_it_was_asked_after_the_approval_was_sent(shop):
    hold = slip(shop)
    asked = shop.app.holds.show(hold["hold_id"])["rows_shown"]
    assert [(row["sku"], row["price_before"], row["price"]) for row in asked] == [("s001", Decimal("2.5"), 25)]
    shop.app.holds.decide(hold["hold_id"], approve=True, who="ada")
    shop.app.holds.deliver(hold["hold_id"])
    shop.erp.put(V, "s001", "26.00")
    shop.sync("delta")
    assert price(shop, "s001") == 26
    assert shop.app.holds.show(hold["hold_id"])["rows_shown"] == asked


@pytest.mark.slow
def test_what_was_compared_is_kept_by_housekeeping_as_long_as_the_hold(shop):
    hold = slip(shop)
    context = shop.app.context
    swept = sweep(context, grace=dt.timedelta(seconds=-60), recent=dt.timedelta(0))
    assert swept.removed > 0
    (row,) = shop.app.holds.show(hold["hold_id"])["rows_shown"]
    assert row["price_before"] == Decimal("2.5")


@pytest.mark.slow
def test_a_decided_hold_of_a_version_that_kept_no_comparison_shows_none_rather_than_a_wrong_one(shop):
    hold = slip(shop)
    with shop.app.context.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE ledger.hold SET before_path = NULL")
    (row,) = shop.app.holds.show(hold["hold_id"])["rows_shown"]
    assert row["price_before"] == Decimal("2.5"), "an open one is compared with the present"
    shop.app.holds.decide(hold["hold_id"], approve=True, who="ada")
    shop.app.holds.deliver(hold["hold_id"])
    (row,) = shop.app.holds.show(hold["hold_id"])["rows_shown"]
    assert (row["price_before"], row["price"]) == (None, 25)


@pytest.mark.slow
def test_every_decision_is_kept_with_person_and_reason(shop):
    shop.erp.put(V, "s001", "25.00")
    shop.sync("delta")
    number = waiting(shop)[0]["hold_id"]
    with shop.app.context.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE ledger.hold SET expires_at = ledger.instant() - interval '1 s'")
    shop.sync("delta")
    shop.app.holds.reopen(number, who="eve", why="ada knows")
    shop.app.holds.decide(number, approve=True, who="ada", why="a new pack of ten")
    assert shop.app.holds.decide(number, approve=False, who="bob", why="too late")["decided"] is False
    assert shop.app.holds.decide(number, approve=False, who="bob", why="too late")["decided"] is False
    acts = shop.app.holds.show(number)["decisions"]
    assert [(one["state"], one["decided_by"], one["why"], one["ignored"] is None) for one in acts] == [
        ("expired", "timeout", None, True),
        ("open", "eve", "ada knows", True),
        ("approved", "ada", "a new pack of ten", True),
        ("declined", "bob", "too late", False),
    ]
    assert "approved by ada at" in acts[-1]["ignored"]


@pytest.mark.slow
def test_a_declined_hold_stays_in_the_history_of_the_approval_after_it(shop):
    shop.erp.put(V, "s001", "25.00")
    shop.sync("delta")
    number = waiting(shop)[0]["hold_id"]
    shop.app.holds.decide(number, approve=False, who="ada", why="a typing error")
    shop.app.holds.reopen(number, who="bob", why="asked the buyers")
    shop.app.holds.decide(number, approve=True, who="bob", why="it is right after all")
    assert [(one["state"], one["decided_by"], one["why"]) for one in shop.app.holds.show(number)["decisions"]] == [
        ("declined", "ada", "a typing error"),
        ("open", "bob", "asked the buyers"),
        ("approved", "bob", "it is right after all"),
    ]
    messages = [event.message for event in shop.app.explain(V, "s001").events if event.step == "guard"]
    assert [message.partition(":")[0] for message in messages] == [
        f"the guard shifted_decimal holds it (hold {number})",
        f"hold {number} was declined by ada (a typing error)",
        f"hold {number} was reopened by bob (asked the buyers)",
        f"hold {number} was approved by bob (it is right after all)",
    ]


@pytest.mark.slow
def test_an_approved_hold_whose_file_cannot_be_read_keeps_no_other_vendor_from_the_recovery(shop, tmp_path):
    shop.erp.put(V, "s001", "25.00")
    shop.sync("delta")
    other = "store-002"
    shop.platform.put_products(other, [{"sku": "a", "barcodes": [], "title": "a", "price": 1.0, "active": True}])
    shop.erp.put(other, "a", "3.00", 10)
    run_id, vendors = shop.begin("delta", upto="deliver")
    (hold,) = waiting(shop)
    shop.app.holds.decide(hold["hold_id"], approve=True, who="ada")
    (tmp_path / "lake" / hold["rows_path"]).write_bytes(b"cut")
    shop.app.wait(run_id, vendors)
    result = shop.app.recover()
    assert (result["confirmed"], result["acknowledged"], result["open"]) == (1, 1, 0)
    assert list(result["failed"]) == [V]
    assert f"hold {hold['hold_id']}" in result["failed"][V]
