"""Whatever a job of one campaign raises, it ends nothing but itself: other campaigns go on, and the deadline ends each job."""

from __future__ import annotations

import contextlib

import pytest

from shelfsync.cli import promotions
from shelfsync.platform.jobs import wait

STATES = "SELECT p.campaign, j.state FROM ledger.promotion_request JOIN ledger.job AS j USING (request_id) JOIN ledger.promotion AS p USING (promotion_id) ORDER BY p.campaign"
RESULTS = {
    "no JSON": b"\xff{",
    "no object": b"[[]]",
    "a number of 5,000 digits": b'{"success_items": ' + b"9" * 5000 + b"}",
    "nested": b'{"failed_items": ' + b"[" * 20_000,
}


@pytest.fixture
def path(shop):
    """Two campaigns, of which nothing was sent yet."""
    shop.erp.put("c1", "a", "8")
    shop.erp.put("c2", "b", "8")
    path = shop.world.app.promotions
    run = path.open_run("first")
    path.extract(run)
    path.plan(run)
    return path


def _write(shop, statement: str, **values: object) -> None:
    with shop.world.app.context.engine.begin() as connection:
        connection.exec_driver_sql(statement, values)


_FIRST = (
    "SELECT request_id FROM ledger.promotion_request JOIN ledger.promotion USING (promotion_id) WHERE campaign = 'c1'"
)


def _of_first(column: str, table: str = "job") -> str:
    return f"UPDATE ledger.{table} SET {column} WHERE request_id = ({_FIRST})"


def _ask(shop, path) -> None:
    """Until the platform has ended both jobs."""
    shop.world.platform.until_quiescent()
    _write(shop, "UPDATE ledger.job SET next_poll_at = now() - interval '1 second'")
    path.recover()


@pytest.mark.slow
@pytest.mark.parametrize("name", RESULTS)
def test_a_result_that_cannot_be_used_stops_no_other_campaign_and_the_deadline_ends_its_job(shop, path, name):
    path.deliver()
    with shop.world.app.context.lake.staged("promotion", "c1", ".json") as staged:
        staged.file.write(RESULTS[name])
    _write(
        shop, _of_first("platform_status = 'COMPLETED', result_path = %(path)s, next_poll_at = NULL"), path=staged.path
    )
    _ask(shop, path)
    assert dict(shop.rows(STATES)) == {"c1": "open", "c2": "acknowledged"}
    _write(shop, "UPDATE ledger.job SET deadline_at = now() - interval '1 second' WHERE state = 'open'")
    assert "c1" in path.confirm()["failed"]
    assert dict(shop.rows(STATES)) == {"c1": "unconfirmed", "c2": "acknowledged"}


@pytest.mark.slow
@pytest.mark.parametrize("body", ["cut", "gone"])
def test_a_campaign_whose_request_cannot_be_made_stops_no_other(shop, path, body):
    kept = shop.world.app.context.lake.write_bytes("promotion_body", "all", ".json", b"cut")
    _write(shop, _of_first("body_path = %(path)s", "promotion_request"), path=kept if body == "cut" else "gone.json")
    sent = path.deliver()
    assert set(sent["failed"]) == {"c1"}
    assert dict(shop.rows(STATES)) == {"c1": "submitting", "c2": "open"}, "a part of it may have left"
    _write(shop, _of_first("deadline_at = now() - interval '1 second'"))
    path.confirm()
    assert dict(shop.rows(STATES))["c1"] == "unconfirmed"


@pytest.mark.slow
def test_a_job_whose_items_are_gone_from_the_lake_ends_by_its_deadline_and_is_sent_again(shop, path):
    path.deliver()
    _ask(shop, path)
    shop.erp.put("c1", "a", "7")
    run = path.open_run("second")
    path.extract(run)
    path.plan(run)
    _write(shop, "UPDATE ledger.promotion_request SET items_path = 'gone.parquet' WHERE action = 'change'")
    path.deliver()
    _ask(shop, path)
    _write(shop, "UPDATE ledger.job SET deadline_at = now() - interval '1 second' WHERE state = 'open'")
    path.confirm()
    assert shop.rows("SELECT state, sent, unaccounted FROM ledger.job ORDER BY job_id DESC LIMIT 1") == [
        ("unconfirmed", 1, 1)
    ]
    assert shop.rows("SELECT known FROM warehouse.promotion_sku ORDER BY sku LIMIT 1") == [(False,)]
    _write(shop, "UPDATE ledger.promotion SET retry_at = NULL")
    summary = shop.sync()
    assert (summary["state"], summary["counts"]["changed"], shop.seen()) == ("succeeded", 1, {"a": 7.0, "b": 8.0})


@pytest.mark.slow
def test_a_question_that_raises_anything_stops_no_other_campaign(shop, path, monkeypatch):
    path.deliver()
    asked, ask = [], wait.poll

    def raises(context, job, **known):
        asked.append(job.campaign)
        if job.campaign == "c1":
            raise KeyError("http\u017f")
        return ask(context, job, **known)

    monkeypatch.setattr(wait, "poll", raises)
    _ask(shop, path)
    assert set(asked) == {"c1", "c2"}
    assert dict(shop.rows(STATES)) == {"c1": "open", "c2": "acknowledged"}


@pytest.mark.slow
def test_a_campaign_without_an_end_stops_no_other_whatever_the_zone_of_the_server_is(make_shop, monkeypatch):
    shop = make_shop(time_zone="Asia/Kolkata")
    engine = shop.world.app.context.engine
    _write(shop, f"ALTER DATABASE {engine.url.database} SET timezone TO 'Europe/Warsaw'")
    engine.dispose()
    shop.erp.put("c1", "a", "8", start_time="2026-03-01T10:00:00Z", end_time="9999-12-31T23:59:59Z")
    shop.erp.put("c2", "b", "8")
    shop.sync()
    assert shop.seen() == {"a": 8.0, "b": 8.0}
    reason = shop.world.app.explain("store-001", "a").paid.reason
    assert "from 2026-03-01 10:00 to 9999-12-31 23:59 UTC" in reason
    monkeypatch.setattr(promotions, "opened", lambda: contextlib.nullcontext(shop.world.app.context))
    (line,) = [line for line in promotions.status().lines if "c1 (Offer c1)" in line]
    assert line.endswith("2026-03-01 10:00 to 9999-12-31 23:59 UTC")
