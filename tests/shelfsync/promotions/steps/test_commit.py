"""A plan that is computed while another process sends and confirms: the next run plans the promotions that moved."""

from __future__ import annotations

import dataclasses

import pytest

from shelfsync.promotions.steps.plan import plan

pytestmark = pytest.mark.slow


class _SlowLake:
    """A lake that is slow to write the requests of a plan, while another process works."""

    def __init__(self, lake, work) -> None:
        self._lake = lake
        self._work = work

    def __getattr__(self, name):
        return getattr(self._lake, name)

    def write_table(self, kind, *rest, **named):
        if kind == "promotion_items" and self._work is not None:
            work, self._work = self._work, None
            work()
        return self._lake.write_table(kind, *rest, **named)


def _plan(shop, key, *, meanwhile=None):
    app = shop.world.app
    run = app.promotions.open_run(key)
    app.promotions.extract(run)
    if meanwhile is None:
        app.promotions.plan(run)
        return run
    report = plan(dataclasses.replace(app.context, lake=_SlowLake(app.context.lake, meanwhile)), run)
    assert any("campaign c1: passed over: another process has moved it meanwhile" in line for line in report["lines"])
    assert shop.rows(f"SELECT count(*) FROM ledger.promotion_request WHERE run_id = {run}") == [(0,)]
    return run


def _send(shop, run):
    path = shop.world.app.promotions
    path.deliver()
    path.wait(run)
    path.confirm()


def test_a_plan_commits_nothing_about_a_promotion_that_moved_meanwhile(shop):
    shop.erp.put("c1", "a", "8")
    shop.erp.put("c1", "b", "8")
    first = _plan(shop, "first")
    shop.erp.put("c1", "a", "7")
    shop.erp.drop("c1", "b")
    _plan(shop, "second", meanwhile=lambda: _send(shop, first))
    assert shop.sync()["state"] == "succeeded"
    assert shop.seen() == {"a": 7.0}, "b had no part in the second plan's difference and would stay for good"


def test_a_plan_ends_nothing_whose_replacement_failed_meanwhile(shop):
    shop.erp.put("c1", "a", "8")
    shop.sync()
    shop.erp.change("c1", name="Another")
    first = _plan(shop, "first")
    shop.world.platform.faults({"at": "job", "kind": "failed", "times": 1})
    _plan(shop, "second", meanwhile=lambda: _send(shop, first))
    shop.world.app.promotions.recover()
    assert (shop.seen(), shop.states()) == ({"a": 8.0}, ["Running"])
