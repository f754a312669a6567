"""Many processes on one allowance: virtual time, real PostgreSQL, steps interleaved by chance."""

from __future__ import annotations

import functools
import itertools
import statistics
from collections import Counter

import pytest
import sqlalchemy as sa

from rate_limit_fixture import World
from shelfsync.platform.rate_limit import tables
from shelfsync.platform.rate_limit.sliding_window import Rate

PRIORITIES = ["order", "stop_sell", "price", "catalog", "promotion", "export", "history", "catalog"]


@pytest.mark.slow
def test_eight_processes_share_one_allowance_and_use_it(engine):
    world = World(engine, Rate(60), 1)
    for worker, priority in enumerate(PRIORITIES):
        world.works(worker, priority, start_s=worker * 0.01)
    world.run(150)
    assert world.most_in_a_window() <= 60
    assert world.used_share(10, 150) >= 0.97
    gaps_s = [b.left_s - a.left_s for a, b in itertools.pairwise(world.departures)]
    assert min(gaps_s) > 0.5  # evenly: no burst, at no time
    assert statistics.pstdev(gaps_s) < 0.2


@pytest.mark.proof
@pytest.mark.slow
def test_ten_minutes_of_eight_processes_never_exceed_the_limit(engine):
    world = World(engine, Rate(60), 3)
    for worker, priority in enumerate(PRIORITIES):
        world.works(worker, priority, start_s=worker * 0.01)
    world.run(600)
    assert world.most_in_a_window() <= 60
    assert world.used_share(0, 600) >= 0.97


@pytest.mark.proof
@pytest.mark.slow
def test_requests_that_arrive_much_later_than_they_left_never_add_up(engine):
    """Eight processes that start on a busy machine, and a network that now and then holds a request for seconds."""
    world = World(engine, Rate(60), 4)

    def travel_s(sent):
        if next(sent) < 2:
            return world.chance.uniform(1.5, 3)
        return world.chance.uniform(2, 9) if world.chance.random() < 0.05 else world.chance.uniform(0, 0.1)

    for worker, priority in enumerate(PRIORITIES):
        world.works(worker, priority, delay_s=functools.partial(travel_s, itertools.count()))
    world.run(130)
    assert world.most_in_a_window() <= 60
    assert world.used_share(20, 130) >= 0.9


@pytest.mark.slow
def test_killed_processes_cost_a_slot_at_most_and_never_add_one(engine):
    """Two new ones start for each that dies: while it waits, while it holds a slot, while it looks."""
    world = World(engine, Rate(60), 5)
    for worker in range(8):
        world.works(worker, "catalog")
    kills = 12
    for n in range(kills):
        world.at(10 + 7.3 * n, lambda n=n: world.kill(n))
        world.at(10.5 + 7.3 * n, lambda n=n: world.works(8 + n, "catalog", start_s=world.now_s))
    world.run(110)
    assert world.most_in_a_window() <= 60
    assert len(world.departures) >= 110 / 1.02 - kills - 2


@pytest.mark.slow
def test_urgent_work_goes_first_and_no_priority_starves(engine):
    world = World(engine, Rate(60), 6)
    for worker in range(4):
        world.works(worker, "price")
    for worker, priority in enumerate(["catalog", "export", "history"], 4):
        world.works(worker, priority)
    world.run(120)
    served = Counter(one.priority for one in world.departures)
    assert served["price"] > 0.6 * len(world.departures)
    # a single worker asks again when its answer came: its turn is a floor's gap and one request
    assert served["catalog"] >= 120 / 1.02 * 0.10 * 0.7
    assert served["export"] >= 120 / 1.02 * 0.05 * 0.7
    assert served["history"] >= 120 / 1.02 * 0.05 * 0.7


@pytest.mark.slow
def test_chains_with_work_of_one_priority_take_turns(engine):
    """Twelve workers of one chain, one of each of two others: who has the longest queue has no larger part."""
    world = World(engine, Rate(60), 21, chains=dict.fromkeys(range(12), "north") | {12: "south", 13: "west"})
    for worker in range(14):
        world.works(worker, "catalog", start_s=0.01 * worker)
    world.run(120)
    served = Counter(world.chains[one.worker] for one in world.departures)
    # one worker asks again when its answer came, so it may miss a round
    assert served["south"] >= len(world.departures) / 3 * 0.7
    assert served["west"] >= len(world.departures) / 3 * 0.7
    assert served["north"] >= len(world.departures) / 3 * 0.9
    assert world.used_share(10, 120) >= 0.97


@pytest.mark.slow
def test_urgent_work_of_one_chain_goes_first_and_starves_no_other(engine):
    world = World(engine, Rate(60), 22, chains=dict.fromkeys(range(4), "north") | {4: "south", 5: "west"})
    for worker in range(4):
        world.works(worker, "stop_sell")
    for worker in (4, 5):
        world.works(worker, "catalog")
    world.run(200)
    served = Counter(world.chains[one.worker] for one in world.departures)
    assert served["north"] > 0.8 * len(world.departures)
    for chain in ("south", "west"):  # the floor of the priority, divided by the chains that have work in it
        assert served[chain] >= 200 / 1.02 * 0.10 / 2 * 0.7


def test_the_use_of_the_limit_names_the_chain(engine):
    world = World(engine, Rate(60), 23, chains={0: "north", 1: "south"})
    world.works(0, "catalog", requests=3)
    world.works(1, "catalog", requests=2)
    world.run(15)
    usage = tables.usage.c
    with engine.connect() as connection:
        rows = connection.execute(
            sa.select(usage.chain, usage.permits).where(usage.priority != "").order_by(usage.chain)
        )
        assert [tuple(row) for row in rows] == [("north", 3), ("south", 2)]


@pytest.mark.slow
def test_an_order_leaves_within_a_few_slots_however_long_the_queue(engine):
    world = World(engine, Rate(60), 7)
    for worker in range(12):
        world.works(worker, "catalog")
    for n in range(5):
        world.works(100 + n, "order", start_s=20 + 5.7 * n, requests=1)
    world.run(60)
    waited_s = [one.left_s - 20 - 5.7 * (one.worker - 100) for one in world.departures if one.priority == "order"]
    assert len(waited_s) == 5
    assert max(waited_s) < 4


@pytest.mark.slow
@pytest.mark.parametrize("jump_s", [3600.0, -3600.0, 5.0])
def test_a_database_clock_that_is_set_never_lets_more_through(engine, jump_s):
    world = World(engine, Rate(60), 8)
    for worker in range(3):
        world.works(worker, "catalog")

    def jump():
        world.database_ahead_s += jump_s

    world.at(65, jump)
    world.run(190)
    assert world.most_in_a_window() <= 60
    assert world.used_share(150, 190) >= 0.95  # and it goes on, an hour back or forth


@pytest.mark.proof
@pytest.mark.slow
def test_a_database_clock_that_is_set_again_and_again_adds_nothing_up(engine):
    """Each leap alone would let one request through too early, which the jitter's margin might hide; ten of them would not."""
    world = World(engine, Rate(60), 15)
    for worker in range(3):
        world.works(worker, "catalog")

    def leap():
        world.database_ahead_s += 5.0

    for n in range(10):
        world.at(65 + 3 * n, leap)
    world.run(150)
    assert world.most_in_a_window() <= 60


@pytest.mark.slow
def test_processes_that_start_after_the_clock_was_set_back_go_on(engine):
    """No process has seen the old clock: the row's own slot, an hour ahead, shows the change."""
    world = World(engine, Rate(60), 9)
    world.works(0, "catalog", requests=5)
    world.run(10)
    world.database_ahead_s = -3600.0
    world.works(1, "catalog", start_s=10.0)
    world.run(120)
    assert world.departures[-1].left_s > 115
    assert world.most_in_a_window() <= 60


@pytest.mark.slow
def test_an_installation_that_comes_back_has_no_burst_saved_up(engine):
    world = World(engine, Rate(60), 10)
    world.works(0, "catalog", requests=3)
    world.works(1, "catalog", start_s=1000)
    world.works(2, "catalog", start_s=1000)
    world.run(1030)
    after = [one for one in world.departures if one.left_s >= 1000]
    assert len(after) <= 31


@pytest.mark.slow
def test_two_keys_are_two_allowances(engine):
    one = World(engine, Rate(60), 11)
    other = World(engine, Rate(60), 12, settings=one.settings.model_copy(update={"scope": "second address"}))
    for world in (one, other):
        world.works(0, "catalog")
        world.run(30)
    assert len(one.departures) >= 29
    assert len(other.departures) >= 29


def test_every_slot_and_wait_is_counted_by_hour_priority_and_call(engine):
    world = World(engine, Rate(60), 13)
    world.works(0, "catalog", requests=7)
    world.works(1, "price", requests=4)
    world.run(30)
    usage = tables.usage
    with engine.connect() as connection:
        rows = connection.execute(sa.select(usage).order_by(usage.c.priority)).all()
        permits = connection.execute(sa.select(sa.func.count()).select_from(tables.permit)).scalar_one()
        tickets = connection.execute(sa.select(sa.func.count()).select_from(tables.ticket)).scalar_one()
    assert [(row.priority, row.operation, row.permits) for row in rows] == [
        ("", "put_catalog", 0),
        ("catalog", "put_catalog", 7),
        ("price", "put_catalog", 4),
    ]
    assert all(row.hour_at.minute == 0 for row in rows)
    assert rows[0].answers == 11
    assert 0 < rows[1].waited_s_max < rows[1].waited_s
    assert (permits, tickets) == (11, 0)


@pytest.mark.slow
def test_who_died_in_line_is_forgotten(engine):
    world = World(engine, Rate(60), 14)
    for worker in range(5):
        world.works(worker, "catalog")
    world.at(5, lambda: [world.kill(worker) for worker in range(1, 5)])
    world.run(130)
    with engine.connect() as connection:
        tickets = connection.execute(sa.select(sa.func.count()).select_from(tables.ticket)).scalar_one()
    assert tickets <= 1
