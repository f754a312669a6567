"""A wait that begins while the database is away, as after a restart of the triggerer and of the database together; and one for a job that hangs."""

from __future__ import annotations

import asyncio
import json
import threading
from types import SimpleNamespace
from typing import TYPE_CHECKING

import psycopg
import pytest
import sqlalchemy as sa
from airflow.sdk import DAG
from airflow.triggers.base import TaskFailedEvent, TaskSuccessEvent

from app_calls import open_calls
from shelfsync.catalog.steps import wait_limit
from shelfsync.settings import read_settings
from shelfsync_airflow import wait

if TYPE_CHECKING:
    from airflow_world import World

SHARD = json.dumps({"run": 1, "vendors": ["store-001"]})


async def _first_event() -> object:
    async for event in wait.JobsTrigger(SHARD).run():
        return event
    return None


def test_it_looks_again_and_fails_only_after_its_time(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(wait, "LOOK_AGAIN_S", 0.05)
    monkeypatch.setattr(wait, "AWAY_S", 5.0)
    began_s, *looks_s = 0.0, 2.0, 4.0, 6.0  # a look takes as long as the machine is busy, so the test has its own clock
    times_s = iter([began_s, *looks_s])
    monkeypatch.setenv("SHELFSYNC_DATABASE_URL", "postgresql://u:p@127.0.0.1:1/d")
    with monkeypatch.context() as own:
        own.setattr(wait, "time", SimpleNamespace(monotonic=lambda: next(times_s)))
        assert isinstance(asyncio.run(_first_event()), TaskFailedEvent)
    out = capsys.readouterr().out
    assert out.count("no connection to 127.0.0.1:1/d") == len(looks_s)
    assert out.count("the wait goes on") == len(looks_s) - 1

    async def back_meanwhile() -> object:
        waiting = asyncio.ensure_future(_first_event())
        await asyncio.sleep(0.2)
        monkeypatch.setenv("SHELFSYNC_DATABASE_URL", world.database_url)
        return await waiting

    monkeypatch.setattr(wait, "AWAY_S", 60.0)
    assert isinstance(asyncio.run(back_meanwhile()), TaskSuccessEvent)


def test_a_right_that_the_database_does_not_give_ends_it_at_once(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(wait, "LOOK_AGAIN_S", 0.05)
    monkeypatch.setattr(wait, "AWAY_S", 5.0)
    role = f"restored_{threading.get_native_id()}"
    theirs = sa.make_url(world.database_url).set(username=role, password="canary-password-7")
    with psycopg.connect(world.database_url, autocommit=True) as admin:
        admin.execute(f"CREATE ROLE {role} LOGIN PASSWORD 'canary-password-7'")
        try:
            monkeypatch.setenv("SHELFSYNC_DATABASE_URL", theirs.render_as_string(hide_password=False))
            assert isinstance(asyncio.run(_first_event()), TaskFailedEvent)
        finally:
            admin.execute(f"DROP ROLE {role}")
    out = capsys.readouterr().out
    assert "permission denied" in out
    assert "the wait goes on" not in out


def test_a_wrong_setting_ends_it_at_once_and_its_task_has_no_retries(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SHELFSYNC_SYNC__POLL_FIRST_S", "soon")
    assert isinstance(asyncio.run(_first_event()), TaskFailedEvent)
    out = capsys.readouterr().out
    assert out.count("the wait has failed") == 1
    assert "SHELFSYNC_SYNC__POLL_FIRST_S" in out
    with DAG("a_dag", schedule=None, default_args={"retries": 7}) as dag:
        wait.WaitOperator(task_id="wait")
    assert dag.get_task("wait").retries == 0


@pytest.mark.slow
def test_an_error_that_passes_keeps_it_waiting(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wait, "LOOK_AGAIN_S", 0.05)
    errors = [OSError(24, "Too many open files"), RuntimeError("can't start new thread"), MemoryError()]
    begin = wait._wait

    def fails_first(*shard: str) -> object:
        if errors:
            raise errors.pop()
        return begin(*shard)

    monkeypatch.setattr(wait, "_wait", fails_first)
    assert isinstance(asyncio.run(_first_event()), TaskSuccessEvent)
    assert errors == []


def _sent(kind: str, skus: tuple[str, ...] = ()) -> str:
    """The shard of a run whose only job has been accepted and never ends."""
    with open_calls(read_settings()) as app:
        run = app.open_run(kind, f"a {kind} run whose job hangs", ("store-002",), skus=skus)
        app.extract(run)
        for word in ("normalise", "diff", "guard", "batch", "deliver"):
            app.step(word, run, ["store-002"])
    return json.dumps({"run": run, "vendors": ["store-002"]})


async def _within_s(shard: str, seconds: float) -> dict[str, int] | None:
    """What the wait found; None: it goes on."""
    try:
        return await asyncio.wait_for(wait.JobsTrigger(shard).facts(json.loads(shard)), seconds)
    except TimeoutError:
        return None


@pytest.mark.slow
@pytest.mark.parametrize("watching", ["none", "changes"])
def test_a_job_that_never_ends_keeps_no_other_store_from_the_next_delta(
    world: World, monkeypatch: pytest.MonkeyPatch, watching: str
) -> None:
    monkeypatch.setenv("AIRFLOW__SHELFSYNC__DELTA_WATCH", watching)
    monkeypatch.setenv("SHELFSYNC_SYNC__DELTA_INTERVAL_S", "900" if watching == "changes" else "0.5")
    monkeypatch.setattr(wait_limit, "WAIT_S", 0.5)
    world.platform.faults({"at": "job", "kind": "stuck"})
    assert asyncio.run(_within_s(_sent("delta"), 20)) == {"ended": 0, "left": 1}
    assert world.rows("SELECT state FROM ledger.job") == [("open",)], "the next run or catalog_recover ends it"


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "skus"), [("full", ()), ("delta", ("a",))])
def test_a_full_sync_and_an_urgent_run_wait_for_their_outcome(
    world: World, monkeypatch: pytest.MonkeyPatch, kind: str, skus: tuple[str, ...]
) -> None:
    monkeypatch.setenv("SHELFSYNC_SYNC__DELTA_INTERVAL_S", "0.5")
    monkeypatch.setattr(wait_limit, "WAIT_S", 0.5)
    world.platform.faults({"at": "job", "kind": "stuck"})
    assert asyncio.run(_within_s(_sent(kind, skus), 3)) is None
