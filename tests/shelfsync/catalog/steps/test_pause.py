"""The kill switch on the whole path: a pause stops all sending and is reported everywhere. Resuming sends the newest values."""

from __future__ import annotations

import dataclasses
from decimal import Decimal

import pytest

from partner_api.session import SystemClock
from shelfsync.catalog.steps.deliver import deliver
from shelfsync.errors import DataError, StoppedError
from shelfsync.platform import kill_switch
from shelfsync.platform.kill_switch import SwitchedGate

A = {"sku": "a", "barcodes": [], "title": "A", "price": 9.99, "active": True}
STORES = ("store-001", "store-002")


@pytest.fixture
def shop(world):
    for vendor in STORES:
        world.platform.put_products(vendor, [{**A, "sku": sku} for sku in "abc"])
        for sku in "abc":
            world.erp.put(vendor, sku, "1.50")
    return world


def _price(world, vendor, sku="a"):
    return Decimal(str(world.shown(vendor)[sku]["price"]))


@pytest.mark.parametrize("scope", ["all", "chain"])
def test_a_pause_of_all_or_of_the_chain_lets_nothing_out(shop, scope):
    shop.app.pause(scope, None, why="wrong prices", who="ada")
    summary = shop.sync("full")
    assert shop.sent() == []
    assert summary["state"] == "partly", "what it planned has not left"
    assert any("PAUSED" in line and "wrong prices" in line and "ada" in line for line in summary["lines"])


@pytest.mark.slow
def test_a_paused_vendor_stops_no_other_and_goes_on_with_the_newest_values(shop):
    shop.app.pause("vendor", "store-001", why="stock-taking", who="ada", anyway=True)
    shop.sync("full")
    assert (_price(shop, "store-001"), _price(shop, "store-002")) == (Decimal("9.99"), Decimal("1.5"))
    shop.erp.put("store-001", "a", "2.25")
    assert shop.app.recover()["delivered"] == 0, "the schedule must not send past the switch either"
    shop.app.resume("vendor", "store-001", why="done", who="bob")
    assert shop.app.recover()["delivered"] == 0, "what was planned during the pause is old by now"
    shop.sync("delta")
    assert [_price(shop, "store-001", sku) for sku in "abc"] == [Decimal("2.25"), Decimal("1.5"), Decimal("1.5")]


@pytest.mark.slow
def test_a_pause_between_two_batches_stops_the_second(make_world):
    world = make_world(sync={"body_max_bytes": 120})
    world.platform.put_products("store-001", [{**A, "sku": f"s{number}"} for number in range(6)])
    for number in range(6):
        world.erp.put("store-001", f"s{number}", "2.00")
    run_id, names = world.begin("full", upto="batch")
    client = _PausingAfter(world.app.context.open_platform(), world)
    deliver(dataclasses.replace(world.app.context, open_platform=lambda: client), run_id, names)
    assert len(world.sent()) == 1
    world.app.wait(run_id, names)
    for word in ("confirm", "acknowledge"):
        world.app.step(word, run_id, names)
    assert len(world.sent()) == 1
    assert world.rows("SELECT count(*) FROM ledger.batch WHERE state = 'planned'")[0][0] > 0
    assert world.rows("SELECT state FROM ledger.job") == [("acknowledged",)], "the open job is still finished"


class _PausingAfter:
    """A person pauses the vendor as soon as the platform has answered a request; the client is the real one."""

    def __init__(self, client, world) -> None:
        self._client = client
        self._world = world

    def update_catalog(self, *arguments, **more):
        answer = self._client.update_catalog(*arguments, **more)
        self._world.app.pause("vendor", "store-001", why="stop", who="ada")
        return answer


class _PausingClock(SystemClock):
    """A person pauses while the process waits to repeat a request without a response."""

    def __init__(self, world) -> None:
        self._world = world

    def sleep(self, seconds: float) -> None:
        self._world.app.pause("vendor", "store-001", why="stop", who="ada")


@pytest.mark.slow
def test_a_pause_after_a_lost_answer_keeps_the_job_open_and_repeats_nothing(shop):
    run_id, _ = shop.begin("full", upto="batch")
    shop.platform.faults({"at": "put_catalog", "kind": "drop_answer", "times": 1})
    context = dataclasses.replace(shop.app.context, clock=_PausingClock(shop))
    result = deliver(context, run_id, ["store-001"])
    assert "paused" in result.skipped["store-001"]
    assert len(shop.sent()) == 1
    assert shop.rows("SELECT state, attempts FROM ledger.job") == [("submitting", 2)]
    shop.app.resume("vendor", "store-001", why="go", who="ada")
    assert deliver(shop.app.context, run_id, ["store-001"]).done == ["store-001"]


class _SlowGate:
    """A rate limit whose slot comes late: meanwhile a person turns the switch."""

    def __init__(self, engine, scope, name) -> None:
        self._engine, self._scope, self._name = engine, scope, name
        self.given_back = []

    def admit(self, operation, priority, vendors) -> None:
        with self._engine.begin() as connection:
            kill_switch.turn(connection, self._scope, self._name, stopped=True, why="stop", who="ada")

    def report(self, operation, status, retry_after_s, blocked) -> None:
        """Nothing to remember."""

    def unanswered(self, operation, reason) -> None:
        """Nothing to remember."""

    def done(self, operation, priority, used) -> None:
        if not used:
            self.given_back.append(operation)


@pytest.mark.parametrize("operation", ["put_catalog", "put_promotion", "create_products"])
def test_a_change_that_waited_for_its_slot_is_stopped_by_a_switch_turned_meanwhile(engine, operation):
    slow = _SlowGate(engine, "all", "")
    gate = SwitchedGate(slow, engine, "demo-chain")
    with pytest.raises(StoppedError, match="paused by ada"):
        gate.admit(operation, "catalog", ("store-001",))
    assert slow.given_back == [operation]


def test_a_vendors_switch_stops_the_requests_that_name_the_vendor(engine):
    gate = SwitchedGate(_SlowGate(engine, "vendor", "store-001"), engine, "demo-chain")
    gate.admit("put_catalog", "catalog", ("store-002",))
    for vendors in (("store-001",), ("store-002", "store-001"), ("*",)):
        with pytest.raises(StoppedError):
            gate.admit("put_catalog", "catalog", vendors)


@pytest.mark.parametrize("operation", ["job_status", "download", "export", "token", "get_order", "put_order"])
def test_what_only_reads_and_what_customers_wait_for_goes_on_while_everything_is_paused(engine, operation):
    SwitchedGate(_SlowGate(engine, "all", ""), engine, "demo-chain").admit(operation, "catalog", ("store-001",))


@pytest.mark.slow
def test_the_status_shows_which_vendors_are_paused_and_why(shop):
    shop.sync("full")
    shop.app.pause("vendor", "store-002", why="stock-taking", who="ada")
    result = shop.app.status()
    assert [row["paused"] is not None for row in result["vendors"]] == [False, True]
    assert "stock-taking" in result["paused"][0]


@pytest.mark.slow
def test_an_unknown_vendor_is_not_paused_by_mistake(shop):
    shop.sync("full")
    with pytest.raises(DataError, match="Did you mean store-001"):
        shop.app.pause("vendor", "stor-001", why="stop", who="ada")
    shop.app.pause("vendor", "stor-001", why="stop", who="ada", anyway=True)


@pytest.mark.slow
def test_resuming_lists_what_is_still_stopped(shop):
    shop.sync("full")
    shop.app.pause("all", None, why="everything", who="ada")
    result = shop.app.resume("vendor", "store-001", why="go", who="ada")
    assert not result["resumed"]
    assert any("STILL PAUSED" in line and "everything" in line for line in result["lines"])
