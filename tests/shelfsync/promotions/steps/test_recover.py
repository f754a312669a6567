"""recover confirms the jobs that the platform has ended, also late, and whether or not other requests can be sent."""

from __future__ import annotations

import contextlib
import dataclasses

import pytest
from pydantic import SecretStr

from partner_api import ClientCredentials, PartnerClient
from shelfsync.cli import promotions
from shelfsync.errors import TryAgainError

OPEN = "SELECT p.campaign, j.state FROM ledger.promotion_request JOIN ledger.job AS j USING (request_id) JOIN ledger.promotion AS p USING (promotion_id) ORDER BY j.job_id"


def _planned(shop, key):
    path = shop.world.app.promotions
    run = path.open_run(key)
    path.extract(run)
    path.plan(run)
    return path


@pytest.mark.slow
def test_recover_confirms_ended_jobs_although_nothing_can_be_sent(shop):
    shop.erp.put("c1", "a", "8")
    _planned(shop, "first").deliver()
    shop.erp.put("c2", "b", "8")
    path = _planned(shop, "second")
    shop.world.platform.faults({"at": "put_promotion", "kind": "status_429", "times": 9})
    with shop.world.app.context.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE ledger.job SET next_poll_at = now() - interval '1 second'")
    with pytest.raises(TryAgainError):
        path.recover()
    assert shop.rows(OPEN) == [("c1", "acknowledged"), ("c2", "planned")]


@pytest.mark.slow
@pytest.mark.parametrize("step", ["recover", "confirm"])
def test_a_job_past_its_deadline_is_polled_once_more_before_it_is_unconfirmed(shop, step):
    shop.erp.put("c1", "a", "8")
    path = _planned(shop, "first")
    path.deliver()
    with shop.world.app.context.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE ledger.job SET deadline_at = now() - interval '1 second'")
    assert getattr(path, step)()["failed"] == {}
    assert shop.rows(OPEN) == [("c1", "acknowledged")]


@pytest.mark.slow
def test_a_command_that_finds_no_platform_ends_its_run_and_says_try_again(shop, monkeypatch):
    shop.erp.put("c1", "a", "8")
    credentials = ClientCredentials("demo-client", SecretStr("demo-secret"))
    with PartnerClient("http://127.0.0.1:9", "demo-chain", credentials) as away:
        context = dataclasses.replace(shop.world.app.context, open_platform=lambda: away)
        monkeypatch.setattr(promotions, "opened", lambda: contextlib.nullcontext(context))
        with pytest.raises(TryAgainError, match=r"Connection refused"):
            promotions.sync()
        ((state, why, finished),) = shop.rows("SELECT state, error, finished_at FROM ledger.promotion_run")
        assert (state, finished is not None) == ("failed", True)
        assert "promotions_recover sends it" in why
        with pytest.raises(TryAgainError):
            promotions.recover()
    shop.world.app.promotions.recover()
    assert shop.seen() == {"a": 8.0}
