"""The end of a restoration, on the whole path: what shelfsync itself changed for a time, no guard may hold on the way back."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest

from shelfsync.settings.guard_thresholds import RULES
from sixty_products import SKUS, V, fill, price, waiting
from small_erp import SQL

OFF = {rule: {"enabled": False} for rule in RULES}
STRICT = {"enabled": True, "max_rows": 0, "max_share": 0}
COLUMNS = """
SELECT vendor, sku, barcode, price, quantity, active, max_sales_quantity,
       CASE WHEN sku < 's030' THEN 'dairy' ELSE 'bread' END AS category,
       CASE WHEN CAST(price AS REAL) < 1 THEN '1.00' ELSE '0.10' END AS cost
FROM stock
"""


def by_command(world):
    """A person ends it."""
    assert world.app.end_restoration(V, who="ada")["ended"] >= 1


def by_time(world):
    """Its time is over: the same as if it had been ordered a day earlier."""
    with world.app.context.engine.begin() as connection:
        connection.exec_driver_sql(
            "UPDATE ledger.restoration SET begun_at = begun_at - interval '1 day', until_at = ledger.instant() - interval '1 s'"
        )


ENDS = pytest.mark.parametrize("end", [by_command, pytest.param(by_time, marks=pytest.mark.proof)])


def then(world):
    """The present instant, by the database's clock, between two runs."""
    return world.rows("SELECT ledger.instant()")[0][0]


def restore(world, at, **order):
    order = {"span": dt.timedelta(hours=4), "skus": None, "why": "a mistake", "who": "ada", "dry_run": False} | order
    return world.app.restore(V, at=at, **order)


def dearer(erp):
    for number, sku in enumerate(SKUS):
        erp.put(V, sku, f"{number + 2}.50")


def tenfold(erp):
    for number, sku in enumerate(SKUS):
        erp.put(V, sku, f"{number + 1}5.00")


def doubled(erp):
    for number, sku in enumerate(SKUS):
        erp.put(V, sku, f"{2 * number + 3}.00")


def free_of_charge(erp):
    for sku in SKUS:
        erp.put(V, sku, "0.00")


def below_its_cost(erp):
    for sku in SKUS:
        erp.put(V, sku, "0.90")


def gone(erp):
    erp.execute("DELETE FROM stock WHERE sku < 's030'")


def switched_off(erp):
    for number, sku in enumerate(SKUS[:30]):
        erp.put(V, sku, f"{number + 1}.50", active=0)


def closed(erp):
    for number, sku in enumerate(SKUS):
        erp.put(V, sku, f"{number + 1}.50", active=0)


WAYS = {
    "duplicate_feed": dearer,
    "empty_feed": closed,
    "mass_removal": gone,
    "vanished_category": gone,
    "mass_deactivation": switched_off,
    "zero_price": free_of_charge,
    "shifted_decimal": tenfold,
    "price_change": doubled,
    "mass_repricing": dearer,
    "below_cost": below_its_cost,
}
"""guard -> the ERP's change before the restoration. The other guards read what no restoration changes: the quantity, the number
of rows, products that are not known."""
USUAL = {"mass_removal", "mass_deactivation", "shifted_decimal", "price_change"}
"""`make proof` tests the others, too."""


def test_every_guard_that_a_restoration_could_trip_is_among_the_ways():
    assert set(RULES) - set(WAYS) == {"shrunken_extract", "zero_stock", "new_skus", "changed_columns"}


def _restored(make_world, change, *, cost=False, **order):
    """A store whose ERP changed, whose change was accepted, and whose earlier state is restored."""
    world = fill(make_world(guards=OFF, erp={"sql": COLUMNS if cost else SQL}))
    before = then(world)
    first = _shown(world)
    change(world.erp)
    world.sync("delta")
    wanted = _shown(world)
    assert wanted != first
    restore(world, before, **order)
    world.sync("delta")
    assert _shown(world) != wanted
    return world, first, wanted


def _shown(world):
    return {sku: (row["price"], row["active"]) for sku, row in world.shown().items()}


@ENDS
@pytest.mark.slow
@pytest.mark.parametrize(
    "rule", [rule if rule in USUAL else pytest.param(rule, marks=pytest.mark.proof) for rule in WAYS]
)
def test_no_guard_holds_the_way_back(make_world, rule, end):
    world, first, wanted = _restored(make_world, WAYS[rule], cost=True)
    assert _shown(world) == first
    strict = make_world(guards=OFF | {rule: STRICT}, erp={"sql": COLUMNS})
    end(strict)
    strict.sync("delta")
    assert waiting(strict) == []
    assert _shown(strict) == wanted


@pytest.mark.slow
@ENDS
@pytest.mark.parametrize("order", [{"skus": SKUS[:40]}, {"category": "dairy"}, {}], ids=["skus", "category", "vendor"])
def test_the_guards_as_they_are_set_by_themselves_hold_no_kind_of_restoration_on_its_way_back(make_world, end, order):
    _, _, wanted = _restored(make_world, doubled, cost=True, **order)
    usual = make_world(erp={"sql": COLUMNS})
    assert usual.sync("delta")["sent"] == 0, "while it is in force nothing moves"
    end(usual)
    usual.sync("delta")
    assert waiting(usual) == []
    assert _shown(usual) == wanted
    assert usual.sync("delta")["sent"] == 0


@pytest.mark.slow
@ENDS
def test_an_accident_in_the_erp_meanwhile_is_held_at_the_end_and_the_rest_goes_back(make_world, end):
    _restored(make_world, doubled)
    usual = make_world()
    usual.erp.put(V, "s001", "500")  # it was 5.00 before the restoration, which shows 2.50
    usual.erp.put(V, "s002", "7.20")  # an ordinary change
    assert usual.sync("delta")["sent"] == 0
    end(usual)
    usual.sync("delta")
    (hold,) = waiting(usual)
    assert (hold["rule"], hold["rows"]) == ("shifted_decimal", 1)
    (row,) = usual.app.holds.show(hold["hold_id"])["rows_shown"]
    assert (row["sku"], row["price_before"], row["price"]) == ("s001", Decimal(5), Decimal(500))
    assert (price(usual, "s001"), price(usual, "s002"), price(usual, "s003")) == (Decimal("2.5"), Decimal("7.2"), 9)
    usual.erp.put(V, "s001", "5.10")
    usual.sync("delta")
    assert (waiting(usual), price(usual, "s001")) == ([], Decimal("5.1"))


@pytest.mark.slow
def test_many_small_changes_of_the_erp_over_a_restoration_are_no_accident_at_its_end(make_world):
    """Without the restoration each of them would have passed by itself."""
    _restored(make_world, doubled)
    usual = make_world()
    for begin in range(0, 60, 20):
        for number, sku in enumerate(SKUS[begin : begin + 20], start=begin):
            usual.erp.put(V, sku, f"{2 * number + 3}.30")
        assert usual.sync("delta")["sent"] == 0
    by_command(usual)
    assert usual.sync("delta")["sent"] == 60
    assert (waiting(usual), price(usual, "s059")) == ([], Decimal("121.3"))


@pytest.mark.slow
@ENDS
def test_a_file_that_lost_half_its_rows_meanwhile_is_held_at_the_end(make_world, end):
    _, _, wanted = _restored(make_world, dearer)
    usual = make_world()
    for _ in range(3):
        usual.sync("delta")
    usual.erp.execute("DELETE FROM stock WHERE sku >= 's030'")
    assert usual.sync("delta")["sent"] == 0
    end(usual)
    usual.sync("delta")
    assert [(hold["rule"], hold["rows"]) for hold in waiting(usual)] == [("shrunken_extract", 30)]
    assert all(active for _, active in _shown(usual).values())
    assert {sku: row for sku, row in _shown(usual).items() if sku < "s030"} == {
        sku: row for sku, row in wanted.items() if sku < "s030"
    }


@pytest.mark.slow
@ENDS
def test_an_older_file_that_comes_just_when_a_restoration_ends_is_held(make_world, end):
    world = fill(make_world())
    for number, sku in enumerate(SKUS[:22]):
        world.erp.put(V, sku, f"{number + 1}.60")
    assert world.sync("delta")["sent"] == 22
    before = then(world)
    for number, sku in enumerate(SKUS[30:52], start=30):
        world.erp.put(V, sku, f"{number + 1}.60")
    assert world.sync("delta")["sent"] == 22
    restore(world, before)
    assert world.sync("delta")["sent"] == 22
    for number, sku in enumerate(SKUS):
        world.erp.put(V, sku, f"{number + 1}.50")  # the first file of all
    end(world)
    world.sync("delta")
    assert {hold["rule"] for hold in waiting(world)} == {"duplicate_feed"}
    assert price(world, "s000") == Decimal("1.6")


@pytest.mark.slow
def test_an_erp_that_is_corrected_to_what_is_shown_is_compared_with_that_from_then_on(make_world):
    _, first, _ = _restored(make_world, doubled)
    usual = make_world()
    for number, sku in enumerate(SKUS):
        usual.erp.put(V, sku, f"{number + 1}.50")
    usual.sync("delta")
    by_command(usual)
    assert usual.sync("delta")["sent"] == 0
    assert (waiting(usual), _shown(usual)) == ([], first)
    usual.erp.put(V, "s059", "61.00")  # next to the 60.50 that is shown, half of the 121.00 of the mistake
    usual.sync("delta")
    assert (waiting(usual), price(usual, "s059")) == ([], 61)


@pytest.mark.slow
def test_the_end_of_a_newer_restoration_over_an_older_one_is_held_by_nothing(make_world):
    world, first, wanted = _restored(make_world, doubled)
    dear = then(world)
    for number, sku in enumerate(SKUS):
        world.erp.put(V, sku, f"{2 * number + 3}.00")
    with world.app.context.engine.connect() as connection:
        (mistaken,) = connection.exec_driver_sql(
            "SELECT created_at FROM ledger.baseline ORDER BY version OFFSET 1 LIMIT 1"
        ).one()
    assert mistaken < dear
    restore(world, mistaken, why="a second thought")
    world.sync("delta")
    assert _shown(world) == wanted
    usual = make_world()
    with usual.app.context.engine.begin() as connection:
        connection.exec_driver_sql(
            "UPDATE ledger.restoration SET begun_at = begun_at - interval '1 day', until_at = ledger.instant() - interval '1 s'"
            " WHERE restoration_id = 2"
        )
    usual.sync("delta")
    assert (waiting(usual), _shown(usual)) == ([], first), "the older one counts again"
    by_command(usual)
    usual.sync("delta")
    assert (waiting(usual), _shown(usual)) == ([], wanted)


@pytest.mark.slow
def test_what_a_person_declined_before_a_restoration_stays_declined_after_it(make_world):
    world = fill(make_world())
    before = then(world)
    for number, sku in enumerate(SKUS[:30]):
        world.erp.put(V, sku, f"{number + 1}.60")
    world.sync("delta")
    (hold,) = waiting(world)
    assert hold["rule"] == "mass_repricing"
    world.app.holds.decide(hold["hold_id"], approve=False, who="ada", why="not yet")
    restore(world, before)
    world.sync("delta")
    lenient = make_world(guards=OFF)
    lenient.sync("delta")
    by_command(lenient)
    assert lenient.sync("delta")["sent"] == 0
    assert price(lenient, "s001") == Decimal("2.5")
    (still,) = lenient.app.holds.listed()
    assert (still["state"], still["superseded_by"], still["why"]) == ("declined", None, "not yet")


@pytest.mark.slow
def test_a_way_back_that_the_platform_did_not_take_at_first_is_tried_again_unheld(make_world):
    _, _, wanted = _restored(make_world, doubled)
    usual = make_world()
    by_command(usual)
    usual.platform.faults({"at": "job", "kind": "job_failed"})
    usual.sync("delta")
    usual.platform.faults()
    usual.sync("delta")
    usual.sync("delta")
    assert (waiting(usual), _shown(usual)) == ([], wanted)


@pytest.mark.slow
def test_a_plan_of_the_end_shows_that_nothing_is_held_and_writes_nothing(make_world):
    _restored(make_world, doubled)
    usual = make_world()
    by_command(usual)
    feeds = usual.rows("SELECT count(*) FROM ledger.feed")
    for _ in range(2):
        assert usual.sync("delta", dry_run=True)["vendors"][0]["changes_held"] == 0
    assert usual.rows("SELECT count(*) FROM ledger.feed") == feeds
