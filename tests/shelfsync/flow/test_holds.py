"""Accidents as they happen, on the whole path: held, the innocent changes delivered, and after the approval the rest; the platform
never shows the wrong value in between."""

from __future__ import annotations

import threading
import time
from decimal import Decimal
from functools import partial

import pyarrow.compute as pc
import pytest

from shelfsync.ledger import holds as table
from shelfsync.ledger import vendors

SKUS = [f"s{number:03}" for number in range(60)]
V = "store-001"


@pytest.fixture
def shop(world):
    """Sixty products, acknowledged; every price that customers were ever shown is kept."""
    world.platform.put_products(
        V, [{"sku": sku, "barcodes": [], "title": sku, "price": 1.0, "active": True} for sku in SKUS]
    )
    for number, sku in enumerate(SKUS):
        world.erp.put(V, sku, f"{number + 1}.50", 10)
    assert world.sync("full")["accepted"] == 60
    return world


def _price(world, sku):
    return Decimal(str(world.shown()[sku]["price"]))


def _open(world):
    return world.house.holds.listed("open")


def test_a_decimal_comma_read_as_thousands_is_held_and_its_stop_sells_flow(shop):
    for number, sku in enumerate(SKUS[:30]):
        shop.erp.put(V, sku, f"{number + 1}50", 0 if number < 3 else 10)  # 1,50 without its comma
    shop.erp.put(V, "s040", "40.99")
    summary = shop.sync("delta")
    assert summary["vendors"][0]["changes_held"] == 30
    assert {_price(shop, sku) for sku in SKUS[:30]} == {Decimal(f"{number + 1}.50") for number in range(30)}
    assert [sku for sku, row in shop.shown().items() if not row["active"]] == SKUS[:3]
    assert _price(shop, "s040") == Decimal("40.99")
    (hold,) = _open(shop)
    assert (hold["rule"], hold["rows"], hold["first_run_id"]) == ("shifted_decimal", 30, summary["run"])
    assert shop.sync("delta")["sent"] == 0
    assert [one["hold_id"] for one in _open(shop)] == [hold["hold_id"]], "the same rows are the same question"


def test_an_approved_slice_is_delivered_by_the_run_that_holds_it(shop):
    shop.erp.put(V, "s001", "25.00")
    first = shop.sync("delta")
    (hold,) = _open(shop)
    told = shop.house.holds.decide(hold["hold_id"], approve=True, who="ada", why="a new pack of ten")
    assert told["state"] == "approved"
    assert _price(shop, "s001") == Decimal("2.50"), "an approval alone sends nothing"
    shop.house.holds.deliver(hold["hold_id"])
    assert _price(shop, "s001") == 25
    assert shop.rows("SELECT run_id, state FROM ledger.batch ORDER BY batch_id DESC LIMIT 1") == [
        (first["run"], "done")
    ]
    assert shop.rows("SELECT state, decided_by, why, released_at IS NOT NULL FROM ledger.hold") == [
        ("approved", "ada", "a new pack of ten", True)
    ]
    summary = shop.sync("delta")
    assert (summary["sent"], summary["vendors"][0]["changes_held"]) == (0, 0)


def test_delivering_twice_sends_once(shop):
    shop.erp.put(V, "s001", "25.00")
    shop.sync("delta")
    (hold,) = _open(shop)
    shop.house.holds.decide(hold["hold_id"], approve=True, who="ada")
    before = len(shop.sent())
    for _ in range(3):
        shop.house.holds.deliver(hold["hold_id"])
    assert len(shop.sent()) == before + 1


def test_an_approval_is_kept_when_a_newer_extract_came_and_its_run_sends_it(shop):
    shop.erp.put(V, "s001", "25.00")
    shop.sync("delta")
    (hold,) = _open(shop)
    newer = shop.house.open_run("delta", "test/newer")
    shop.house.extract(newer)
    shop.house.holds.decide(hold["hold_id"], approve=True, who="ada")
    told = shop.house.holds.deliver(hold["hold_id"])
    assert told["vendors"] == []
    assert "newer extract" in told["line"]
    assert _price(shop, "s001") == Decimal("2.50")
    for word in ("normalise", "diff", "guard", "batch", "deliver"):
        shop.house.step(word, newer, [V])
    shop.platform.until_settled()
    assert _price(shop, "s001") == 25


def _counted(shop, quantity):
    """The ERP gives forty of the sixty products this quantity."""
    for number, sku in enumerate(SKUS[:40]):
        shop.erp.put(V, sku, f"{number + 1}.50", quantity)


def _approved(shop):
    """The one open hold, let through by a person and delivered; its number."""
    (hold,) = _open(shop)
    shop.house.holds.decide(hold["hold_id"], approve=True, who="ada")
    shop.house.holds.deliver(hold["hold_id"])
    return hold["hold_id"]


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
    assert [(one["rule"], one["rows"]) for one in _open(shop)] == [("zero_stock", 40)]
    assert shop.house.holds.show(taken)["state"] == "approved"
    assert shop.shown()["s000"]["active"]


def test_a_dry_run_uses_no_approval_up(shop):
    _counted(shop, 0)
    shop.sync("delta")
    _approved(shop)
    shop.sync("delta", dry_run=True)
    assert shop.rows("SELECT spent_at FROM ledger.hold") == [(None,)]


def test_the_guards_again_in_a_run_that_holds_everything_leave_its_question_open(shop):
    shop.erp.put(V, "s001", "25.00")
    run, names = shop.begin("delta", upto="guard")
    (hold,) = _open(shop)
    shop.house.step("guard", run, names)
    assert [one["hold_id"] for one in _open(shop)] == [hold["hold_id"]]


def test_a_slice_whose_rows_changed_is_superseded_and_its_approval_sends_nothing(shop):
    shop.erp.put(V, "s001", "25.00")
    shop.sync("delta")
    (old,) = _open(shop)
    shop.erp.put(V, "s001", "26.00")
    run = shop.sync("delta")["run"]
    (new,) = _open(shop)
    told = shop.house.holds.decide(old["hold_id"], approve=True, who="ada")
    assert (told["decided"], told["state"]) == (False, "superseded")
    assert f"superseded by the newer extract of run {run}" in told["line"]
    assert shop.house.holds.deliver(old["hold_id"])["vendors"] == []
    assert (_price(shop, "s001"), new["rows"]) == (Decimal("2.50"), 1)


def test_a_value_that_the_erp_takes_back_leaves_nothing_to_decide(shop):
    shop.erp.put(V, "s001", "25.00")
    shop.sync("delta")
    shop.erp.put(V, "s001", "2.50")
    shop.sync("delta")
    assert _open(shop) == []
    assert shop.rows("SELECT state FROM ledger.hold") == [("superseded",)]


def test_a_rejected_value_stays_held_without_another_question_until_the_erp_says_something_else(shop):
    for sku in ("s001", "s002"):
        shop.erp.put(V, sku, "99.00")
    shop.sync("delta")
    for hold in _open(shop):
        shop.house.holds.decide(hold["hold_id"], approve=False, who="ada")
    shop.erp.put(V, "s002", "3.60")
    assert shop.sync("delta")["sent"] == 1
    assert shop.sync("delta")["sent"] == 0
    assert _open(shop) == []
    assert (_price(shop, "s001"), _price(shop, "s002")) == (Decimal("2.50"), Decimal("3.6"))
    shop.erp.put(V, "s001", "2.60")
    shop.sync("delta")
    assert _price(shop, "s001") == Decimal("2.6")


def test_a_full_sync_holds_what_a_delta_holds(shop):
    shop.erp.put(V, "s001", "25.00")
    shop.sync("delta")
    summary = shop.sync("full")
    assert summary["sent"] == 60
    assert _price(shop, "s001") == Decimal("2.50")
    assert len(_open(shop)) == 1


def test_nobody_deciding_in_time_is_a_rejection(make_world, shop):
    shop.erp.put(V, "s001", "25.00")
    shop.sync("delta")
    with shop.house.parts.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE ledger.hold SET expires_at = ledger.instant() - interval '1 s'")
    shop.sync("delta")
    assert shop.rows("SELECT state, decided_by FROM ledger.hold") == [("expired", "nobody, in time")]
    assert _price(shop, "s001") == Decimal("2.50")
    (hold,) = shop.house.holds.listed()
    assert shop.house.holds.decide(hold["hold_id"], approve=True, who="ada")["state"] == "approved", "late is not never"
    shop.house.holds.deliver(hold["hold_id"])
    assert _price(shop, "s001") == 25


def test_other_thresholds_for_once_let_a_part_through_and_keep_the_rest(shop):
    for number, sku in enumerate(SKUS[:25]):
        shop.erp.put(V, sku, f"{(number + 1.5) * (1.5 if number < 20 else 1.8):.2f}")
    shop.sync("delta")
    (hold,) = _open(shop)
    assert (hold["rule"], hold["rows"]) == ("price_change", 25)
    told = shop.house.holds.reconsider(hold["hold_id"], {"move": 0.6, "rows": 0}, who="ada")
    assert told["state"] == "approved"
    shop.house.holds.deliver(hold["hold_id"])
    assert (_price(shop, "s000"), _price(shop, "s024")) == (Decimal("2.25"), Decimal("25.50"))
    assert shop.sync("delta")["sent"] == 0
    assert {(one["state"], one["rows"]) for one in shop.house.holds.listed()} == {("approved", 20), ("rejected", 5)}


class Apart(threading.Thread):
    """Something done by another process at the same time, with its answer."""

    def __init__(self, work):
        super().__init__(daemon=True)
        self._work, self.told, self.trouble = work, None, None
        self.start()

    def run(self):
        try:
            self.told = self._work()
        except Exception as error:  # noqa: BLE001  told by `end`
            self.trouble = error

    def waits(self, shop):
        """Returns when it waits for a lock that somebody holds."""
        end = time.monotonic() + 60
        waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        while not shop.rows(waiting):
            assert self.is_alive(), f"it ended without waiting: {self.told} {self.trouble}"
            assert time.monotonic() < end
            time.sleep(0.02)

    def end(self):
        self.join(60)
        assert not self.is_alive()
        if self.trouble is not None:
            raise self.trouble
        return self.told


def _twenty_five(shop):
    """Twenty prices grow by half and five by more: one hold of `price_change`; its number."""
    for number, sku in enumerate(SKUS[:25]):
        shop.erp.put(V, sku, f"{(number + 1.5) * (1.5 if number < 20 else 1.8):.2f}")
    shop.sync("delta")
    return next(hold["hold_id"] for hold in _open(shop) if (hold["rule"], hold["rows"]) == ("price_change", 25))


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
    assert _price(shop, "s024") == Decimal("25.50")


def test_thresholds_for_one_hold_decide_nothing_about_the_rows_of_another(shop):
    shop.erp.put(V, "s030", "305.00")
    shop.erp.put(V, "s040", "1000.00")
    number = _twenty_five(shop)
    others = {one["hold_id"]: one["rule"] for one in _open(shop) if one["hold_id"] != number}
    assert set(others.values()) == {"shifted_decimal", "price_change"}, "s030 slipped, s040 leaps"
    told = shop.house.holds.reconsider(number, {"move": 0.9, "rows": 0}, who="ada")
    assert told["state"] == "approved"
    assert {(one["state"], one["rows"]) for one in shop.house.holds.listed()} == {("approved", 25), ("open", 1)}
    shop.house.holds.deliver(number)
    assert shop.sync("delta")["sent"] == 0
    assert {one["hold_id"]: one["rule"] for one in _open(shop)} == others, "their questions are open as before"
    assert _price(shop, "s024") == Decimal("45.9")
    assert (_price(shop, "s030"), _price(shop, "s040")) == (Decimal("31.50"), Decimal("41.50"))


def test_thresholds_count_what_the_hold_has_and_nothing_beside_it(shop):
    for number, sku in enumerate(SKUS[25:51], start=25):
        shop.erp.put(V, sku, f"{number + 1}.60")
    far = _twenty_five(shop)
    (near,) = [one["hold_id"] for one in _open(shop) if one["hold_id"] != far]
    told = shop.house.holds.reconsider(near, {"rows": 30}, who="ada")
    assert (told["state"], told["line"].split(":")[1]) == ("approved", " 26 rows) is approved by ada")
    assert [one["hold_id"] for one in _open(shop)] == [far]


def test_thresholds_that_let_nothing_of_a_hold_through_reject_it(shop):
    number = _twenty_five(shop)
    told = shop.house.holds.reconsider(number, {"move": 0.4, "rows": 0}, who="ada")
    assert told["state"] == "rejected"
    assert "nothing of it is sent" not in told["line"]
    assert shop.sync("delta")["sent"] == 0
    assert _open(shop) == []


NEW = [f"t{number:03}" for number in range(60)]


@pytest.fixture
def renumbered(shop):
    """Sixty products that nobody has heard of; the platform has them at another price, and switched off."""
    both = [*((sku, True) for sku in SKUS), *((sku, False) for sku in NEW)]
    shop.platform.put_products(
        V, [{"sku": sku, "barcodes": [], "title": sku, "price": 77.0, "active": active} for sku, active in both]
    )
    for sku in NEW:
        shop.erp.put(V, sku, "2.50", 10)
    shop.sync("delta")
    return shop


def _sold(shop, pieces=1, skus="t%"):
    shop.erp.execute(f"UPDATE stock SET quantity = quantity - {pieces} WHERE sku LIKE '{skus}'")


def _new(shop):
    return {(row["price"], row["active"]) for sku, row in shop.shown().items() if sku in NEW}


def test_new_products_that_go_on_selling_stay_one_question_and_its_answer_sends_the_newest_quantities(renumbered):
    shop = renumbered
    (asked,) = shop.house.holds.ask("somebody")
    for skus in ("t000", "t00%"):
        _sold(shop, skus=skus)
        run = shop.sync("delta")["run"]
    (hold,) = _open(shop)
    assert (hold["hold_id"], hold["rule"], hold["rows"], hold["run_id"]) == (asked["hold"], "new_skus", 60, run)
    assert {row["sku"]: row["quantity"] for row in shop.house.holds.show(asked["hold"])["rows_shown"]}["t000"] == 8
    assert shop.house.holds.ask("somebody else") == []
    told = shop.house.holds.decide(asked["hold"], approve=True, who="ada")
    assert told["state"] == "approved", told["line"]
    shop.house.holds.deliver(asked["hold"])
    assert _new(shop) == {(2.5, True)}
    assert shop.rows(
        "SELECT sku, quantity FROM warehouse.baseline WHERE sku IN ('t000', 't001', 't010') ORDER BY 1"
    ) == [
        ("t000", 8),
        ("t001", 9),
        ("t010", 10),
    ]
    assert shop.sync("delta")["sent"] == 0


def test_an_approval_of_new_products_passes_whatever_quantity_they_have_by_now(renumbered):
    shop = renumbered
    (hold,) = _open(shop)
    _sold(shop)
    newer = shop.house.open_run("delta", "test/newer")
    shop.house.extract(newer)
    shop.house.holds.decide(hold["hold_id"], approve=True, who="ada")
    assert shop.house.holds.deliver(hold["hold_id"])["vendors"] == []
    for word in ("normalise", "diff", "guard", "batch", "deliver"):
        shop.house.step(word, newer, [V])
    shop.platform.until_settled()
    assert _new(shop) == {(2.5, True)}
    assert _open(shop) == []


def test_thresholds_that_come_while_a_newer_extract_moves_quantities_approve_the_newest(renumbered):
    shop = renumbered
    (number,) = [hold["hold_id"] for hold in _open(shop)]
    lake = shop.house.parts.lake
    (path,) = shop.rows("SELECT rows_path FROM ledger.hold")[0]
    rows = lake.read_table(path)
    place = rows.schema.get_field_index("quantity")
    sold = rows.set_column(place, rows.schema.field(place), pc.subtract(rows["quantity"], 1))
    with shop.house.parts.engine.begin() as connection:
        vendors.lock(connection, V)
        values = {"rows_path": lake.write_table("hold", V, sold)}
        connection.execute(table.hold.update().values(values))
        late = Apart(partial(shop.house.holds.reconsider, number, {"rows": 100}, who="ada"))
        late.waits(shop)
    told = late.end()
    assert (told["decided"], told["state"]) == (True, "approved")
    assert {row["quantity"] for row in shop.house.holds.show(number)["rows_shown"]} == {9}


def test_another_price_of_a_new_product_is_another_question(renumbered):
    shop = renumbered
    (hold,) = _open(shop)
    shop.erp.put(V, "t000", "2.60", 10)
    shop.sync("delta")
    (now,) = _open(shop)
    assert now["hold_id"] != hold["hold_id"]
    assert shop.house.holds.decide(hold["hold_id"], approve=True, who="ada")["state"] == "superseded"


def test_a_question_that_is_open_from_before_holds_had_an_identity_stays_the_same(shop):
    shop.erp.put(V, "s001", "25.00")
    shop.sync("delta")
    (hold,) = _open(shop)
    with shop.house.parts.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE ledger.hold SET identity = NULL")
    shop.sync("delta")
    assert [one["hold_id"] for one in _open(shop)] == [hold["hold_id"]]
    assert shop.rows("SELECT count(*) FROM ledger.hold WHERE identity IS NULL") == [(0,)]


def _ids(shop):
    return [(one["hold_id"], one["run_id"], one["rule"]) for one in _open(shop)]


def test_the_guards_again_in_an_older_run_change_no_question_of_a_newer_one(shop):
    shop.erp.put(V, "s001", "25.00")
    older = shop.sync("delta")["run"]
    shop.erp.put(V, "s001", "26.00")
    shop.sync("delta")
    before = _ids(shop)
    assert len(before) == 1
    shop.house.step("guard", older, [V])
    assert _ids(shop) == before


def test_an_older_run_that_is_guarded_late_changes_no_question_of_a_newer_one(shop):
    shop.erp.put(V, "s001", "25.00")
    shop.erp.put(V, "s002", "3.60")
    older, _ = shop.begin("delta", upto="diff")
    shop.erp.put(V, "s001", "26.00")
    shop.sync("delta")
    before = _ids(shop)
    assert len(before) == 1
    shop.house.step("guard", older, [V])
    assert _ids(shop) == before


def test_a_dry_run_asks_nobody(shop):
    shop.erp.put(V, "s001", "25.00")
    summary = shop.sync("delta", dry_run=True)
    assert summary["vendors"][0]["changes_held"] == 1
    assert shop.house.holds.listed() == []
    assert shop.rows("SELECT count(*) FROM ledger.feed") == [(1,)]


def test_a_hold_shows_the_largest_moves_first_with_what_was_before(shop):
    shop.erp.put(V, "s001", "25.00")
    shop.erp.put(V, "s002", "0.035")
    shop.sync("delta")
    (hold,) = _open(shop)
    shown = shop.house.holds.show(hold["hold_id"], rows=1)
    assert [(row["sku"], row["price_before"], row["price"]) for row in shown["rows_shown"]] == [
        ("s002", Decimal("3.500"), Decimal("0.035"))
    ]
    assert shown["rows"] == 2
