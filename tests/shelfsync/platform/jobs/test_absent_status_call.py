"""shelfsync remembers that a platform has no status call."""

from __future__ import annotations

import pytest

from polled_jobs import REJECTED, VENDORS, asked, put_at_the_deadline, states

every_rejection = pytest.mark.parametrize("fault", REJECTED.values(), ids=REJECTED.keys())


@pytest.mark.slow
@every_rejection
def test_a_rejection_of_the_first_polls_means_that_the_platform_has_no_such_call(make_shelf, fault):
    """The platform gave the job its number with the same token. It is no failure, no pause each time, no new token each time."""
    world = make_shelf(deadline_s=60)
    run_id, vendors = world.begin("full", upto="deliver")
    world.platform.faults({"at": "job_status", **fault})
    world.rows("SELECT pg_sleep(0.1)")
    report = world.app.step("confirm", run_id, vendors)
    assert (report["failed"], set(report["skipped"])) == ({}, set(VENDORS))
    put_at_the_deadline(world)
    assert set(world.app.step("confirm", run_id, vendors)["failed"]) == set(VENDORS)
    assert states(world) == ["unconfirmed"] * 3
    assert len(asked(world)) <= 2  # one question; its repeat with a new token after a 401
    assert len(asked(world, "token")) <= 2
    assert world.rows("SELECT strikes FROM rate_limit.allowance WHERE strikes > 1") == []


@pytest.mark.slow
@pytest.mark.parametrize("fault", [REJECTED["401"], REJECTED["403 of the platform"]], ids=["401", "403"])
def test_a_call_that_has_worked_and_is_rejected_is_a_failure_and_not_an_absence(make_shelf, fault):
    world = make_shelf(deadline_s=60, vendors=VENDORS[:1])
    assert world.sync("full")["accepted"] == 1
    world.erp.put("store-001", "a", "2.00")
    run_id, vendors = world.begin("delta", upto="deliver")
    world.platform.faults({"at": "job_status", **fault})
    world.rows("SELECT pg_sleep(0.2)")
    assert "job_status" in world.app.step("confirm", run_id, vendors)["failed"]["store-001"]
    assert states(world)[-1] == "open"
    world.platform.faults()
    world.app.recover()
    assert states(world)[-1] == "acknowledged"


@pytest.mark.slow
@every_rejection
def test_a_call_that_worked_once_and_is_rejected_at_a_deadline_is_not_retried_for_a_while(make_shelf, fault):
    """Each question at a deadline would pause the installation or throw the token away, a vendor at a time."""
    world = make_shelf(deadline_s=60)
    assert world.sync("full")["accepted"] == 3
    for vendor in VENDORS:
        world.erp.put(vendor, "a", "2.00", 7)  # the listing shows no quantities
    run_id, vendors = world.begin("delta", upto="deliver")
    before = len(asked(world))
    world.platform.faults({"at": "job_status", **fault})
    put_at_the_deadline(world)
    assert set(world.app.step("confirm", run_id, vendors)["failed"]) == set(VENDORS)
    assert states(world)[3:] == ["unconfirmed"] * 3
    assert len(asked(world)) - before <= 2


@pytest.mark.slow
def test_a_client_that_gets_no_token_is_no_absence_of_the_call(make_shelf):
    world = make_shelf(deadline_s=60, vendors=VENDORS[:1])
    run_id, vendors = world.begin("full", upto="deliver")
    world.platform.faults({"at": "job_status", "kind": "token_expired"}, {"at": "token", "kind": "status_401"})
    world.rows("SELECT pg_sleep(0.2)")
    report = world.app.step("confirm", run_id, vendors)
    assert "does not accept the client id and secret" in report["failed"]["store-001"]
    world.platform.faults()
    world.app.recover()
    assert states(world) == ["acknowledged"]
