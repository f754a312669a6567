"""The laws between two chains, and that each of them sees what is wrong."""

from __future__ import annotations

import contextlib
import random
from typing import TYPE_CHECKING

import fsspec
import pytest

from simulation import day
from simulation.broken import Broken
from simulation.erp import VENDORS
from simulation.fault_point import FaultPoint
from simulation.model import converged
from simulation.shape import KNOWN_SKUS, REQUESTS_PER_MINUTE, Shape
from simulation.two_chains import WAYS, actions_of, nothing_crossed

if TYPE_CHECKING:
    from simulation.world import World

SMALL = Shape(job_seconds=1.0, skus=3)
STORE, SKU = VENDORS[0], KNOWN_SKUS[0]


@pytest.fixture(scope="module")
def both(world) -> tuple[World, World]:
    """Two small chains after their first full syncs. Each test leaves them in step, the last one alone does not."""
    found = (world, world.second)
    for one in found:
        one.reset(0, SMALL)
        one.platform.faults()
    for one in found:
        _change(one)
        _run(one, "full")
    return found


@pytest.mark.slow
def test_the_same_store_and_sku_of_two_chains_have_each_their_own_price(both):
    for one in both:
        assert converged(one, may_be_rejected=False) == []
    nothing_crossed(both)
    first, second = both
    assert first.shown(STORE).keys() == second.shown(STORE).keys()
    assert first.shown(STORE)[SKU].price < 1000 <= second.shown(STORE)[SKU].price


@pytest.mark.slow
@pytest.mark.parametrize("what", WAYS)
@pytest.mark.parametrize("number", [0, 1])
def test_a_chain_that_is_broken_stops_no_other(both, what, number):
    broken, well = both[number], both[1 - number]
    for one in both:
        _change(one)
    broken.break_chain(what)
    for one in both:
        line = day.tolerated(lambda one=one: _run(one, "delta"))
        assert line is None or one is broken
    assert converged(well, may_be_rejected=False) == []
    assert converged(broken, may_be_rejected=False) != [], "it was broken"
    broken.mend_chain()
    _run(broken, "delta")
    assert converged(broken, may_be_rejected=False) == []


@pytest.mark.slow
def test_the_request_limit_holds_over_both_chains(both):
    platform = both[0].platform
    with contextlib.ExitStack() as open_:
        apps = [open_.enter_context(one.app(FaultPoint())) for one in both]
        before = platform.journal(after=10**9)["requests"]
        for _ in range(40):
            for app in apps:
                app.check((STORE,))
        sent = platform.journal(after=10**9)["requests"] - before
    assert sent >= 80
    assert platform.max_requests_in_60s <= REQUESTS_PER_MINUTE


def test_half_of_the_seeds_have_another_chain():
    found = [actions_of(seed, 30) for seed in range(200)]
    assert 80 < sum(map(bool, found)) < 120
    assert found == [actions_of(seed, 30) for seed in range(200)]


@pytest.mark.slow
def test_the_laws_see_what_has_reached_the_other_chain(both):
    """One after another, the last to be looked at first: so each is seen although the ones before it are there still."""
    first, second = both
    price = first.shown(STORE)[SKU].price

    def seen(word: str) -> None:
        with pytest.raises(Broken, match=word) as broken:
            nothing_crossed(both)
        assert broken.value.invariant == "chain"

    nothing_crossed(both)
    _copy_a_snapshot(first, second)
    seen("has prices of another chain")
    product = {"sku": SKU, "barcodes": [], "title": SKU, "price": float(price), "active": True}
    second._put_products(STORE, [product])
    seen("the platform shows")
    with second.observer.begin() as connection:
        connection.exec_driver_sql("UPDATE warehouse.baseline SET price = %s", (price,))
    seen("warehouse.baseline has")
    with second.observer.begin() as connection:
        event = first.rows("SELECT body FROM inbox.event LIMIT 1")[0]
        connection.exec_driver_sql("UPDATE inbox.event SET body = %s", (event.body,))
    seen("which the platform never sent it")
    second.listed.chains.add(first.chain.at_platform)
    seen("has sent requests to")


def _change(world: World) -> None:
    chance = random.Random(0)
    for vendor in VENDORS:
        for sku in KNOWN_SKUS[: SMALL.skus]:
            world.erp.put((vendor, sku), chance)
    world.erp.write()


def _run(world: World, kind: str) -> None:
    with world.app(FaultPoint()) as app:
        day.whole_run(world, app, kind, f"{kind}/{world.clock.monotonic_s()}")
        day.recover_until_quiescent(world, app)


def _copy_a_snapshot(first: World, second: World) -> None:
    """Over the other chain's file."""
    from_, to = (
        one.rows("SELECT snapshot_path FROM ledger.vendor_run WHERE snapshot_path IS NOT NULL LIMIT 1")[0].snapshot_path
        for one in (first, second)
    )
    root = first.lake.removeprefix("memory://")
    fsspec.filesystem("memory").copy(f"/{root}/{from_}", f"/{root}/{second.chain.name}/{to}")
