"""Two processes prepare the same vendors of one run: Airflow repeats a task while its first process is frozen. The slower one writes nothing (I6)."""

from __future__ import annotations

import math

import pytest

from shelfsync.catalog.ledger import runs
from shelfsync.catalog.steps import each_vendor, same_rows
from shelfsync.catalog.steps.extract import extract

A = {"sku": "a", "barcodes": [], "title": "A", "price": 9.99, "active": True}
VENDORS = ("store-001", "store-002")
PREPARE = ("normalise", "diff", "guard", "batch")
TABLES = ("vendor_run", "batch", "hold", "warehouse.quarantine")


@pytest.fixture
def twins(make_world):
    """Two processes of one chain, whose stores have a first price."""
    first, second = make_world(), make_world()
    for vendor in VENDORS:
        first.platform.put_products(vendor, [A])
        first.erp.put(vendor, "a", "1.00")
    return first, second


def _ledger(world):
    names = (name if "." in name else f"ledger.{name}" for name in TABLES)
    return {name: world.rows(f"SELECT * FROM {name} ORDER BY 1, 2") for name in names}


def _frozen(world, monkeypatch, meanwhile):
    """The process freezes in the work of its first vendor, where it reads the lake, until `meanwhile` has ended."""
    lake = world.app.context.lake
    read_table = lake.read_table

    def freeze(*which, **how):
        monkeypatch.setattr(lake, "read_table", read_table)
        meanwhile()
        return read_table(*which, **how)

    monkeypatch.setattr(lake, "read_table", freeze)


def _prepared_before(world, step):
    run_id = world.app.open_run("full", f"twins/{step}")
    vendors = [vendor for shard in world.app.extract(run_id) for vendor in shard["vendors"]]
    assert vendors == list(VENDORS)
    for word in PREPARE[: PREPARE.index(step)]:
        world.app.step(word, run_id, vendors)
    return run_id


def _goes_on(world, run_id):
    """From the first step to the last."""
    for word in (*PREPARE, "deliver"):
        assert world.app.step(word, run_id, VENDORS)["failed"] == {}
    world.app.wait(run_id, VENDORS)
    for word in ("confirm", "acknowledge"):
        world.app.step(word, run_id, VENDORS)
    states = world.rows(f"SELECT state FROM ledger.vendor_run WHERE run_id = {run_id}")
    assert states == [("acknowledged",)] * len(VENDORS)


CASES = [
    pytest.param("normalise", 0.0, marks=pytest.mark.slow),
    pytest.param("diff", math.inf, marks=pytest.mark.slow),
    pytest.param("guard", 0.0, marks=pytest.mark.slow),
    ("batch", math.inf),
]


@pytest.mark.slow
@pytest.mark.parametrize(("step", "trusted_s"), CASES)
def test_a_process_that_was_overtaken_changes_no_row(twins, step, trusted_s, monkeypatch):
    """The row of the second vendor is read before the other process goes on, and read again only if it is old."""
    monkeypatch.setattr(each_vendor, "TRUSTED_S", trusted_s)
    first, second = twins
    run_id = _prepared_before(first, step)
    after = {}

    def meanwhile():
        _goes_on(second, run_id)
        after.update(_ledger(second))

    _frozen(first, monkeypatch, meanwhile)
    report = first.app.step(step, run_id, VENDORS)
    assert (report["failed"], report["done"]) == ({}, 0)
    overtaken = ["another process of this run" in report["skipped"][vendor] for vendor in VENDORS]
    assert overtaken == [True, trusted_s > 0]
    assert _ledger(first) == after
    assert [len(second.sent()), second.shown()["a"]["price"]] == [2, 1.0]


@pytest.mark.slow
@pytest.mark.parametrize(("step", "goes_on"), [("normalise", False), ("batch", True)])
def test_a_process_whose_vendors_were_read_again_writes_nothing_of_the_old_reading(twins, step, goes_on, monkeypatch):
    first, second = twins
    run_id = _prepared_before(first, step)
    after = {}

    def meanwhile():
        second.erp.put("store-001", "a", "2.00")
        second.app.extract(run_id)
        if goes_on:
            _goes_on(second, run_id)
        after.update(_ledger(second))

    _frozen(first, monkeypatch, meanwhile)
    report = first.app.step(step, run_id, VENDORS[:1])
    assert (report["failed"], report["done"]) == ({}, 0)
    assert _ledger(first) == after
    _goes_on(first, run_id)
    assert first.shown()["a"]["price"] == 2.0


@pytest.mark.slow
@pytest.mark.parametrize("error", [None, OSError("the disk is full")])
def test_a_vendor_that_another_process_has_ended_as_the_same_stays_as_it_is(in_step, error, monkeypatch):
    """The first process has the vendor from before the reading was judged."""
    world = in_step()
    context, run_id = world.app.context, world.app.open_run("delta", "twins/the same")
    extract(context, run_id, every=True)
    after = {}

    def meanwhile():
        with context.engine.connect() as connection:
            run = runs.read_run(connection, run_id)
        assert same_rows.pass_over(context, run, VENDORS) == []
        after.update(_ledger(world))
        if error is not None:
            raise error

    _frozen(world, monkeypatch, meanwhile)
    report = world.app.step("normalise", run_id, VENDORS)
    assert (report["failed"], report["done"]) == ({}, 0)
    assert _ledger(world) == after


@pytest.mark.slow
def test_a_process_that_fails_after_it_was_overtaken_fails_no_vendor(twins, monkeypatch):
    first, second = twins
    run_id = _prepared_before(first, "diff")
    after = {}

    def meanwhile():
        _goes_on(second, run_id)
        after.update(_ledger(second))
        raise OSError("the disk is full")

    _frozen(first, monkeypatch, meanwhile)
    report = first.app.step("diff", run_id, VENDORS)
    assert report["failed"] == {}
    assert "the disk is full" in report["skipped"]["store-001"]
    assert _ledger(first) == after


@pytest.mark.slow
def test_a_success_clears_no_failure_of_a_later_reading(twins, monkeypatch):
    first, second = twins
    run_id = _prepared_before(first, "batch")
    failed = "state = 'failed', failed_step = '{}', error = 'x'"
    update = f"UPDATE ledger.vendor_run SET {failed} WHERE run_id = {run_id} AND vendor = 'store-001'"

    def fails_at(step, *, generation=""):
        with second.app.context.engine.begin() as connection:
            connection.exec_driver_sql(update.replace("{}", step).replace(" WHERE", f"{generation} WHERE"))

    fails_at("batch")
    _frozen(first, monkeypatch, lambda: fails_at("extract", generation=", generation = generation + 100"))
    first.app.step("batch", run_id, VENDORS)
    states = first.rows(f"SELECT state, failed_step FROM ledger.vendor_run WHERE run_id = {run_id} ORDER BY vendor")
    assert states == [("failed", "extract"), ("open", None)]
