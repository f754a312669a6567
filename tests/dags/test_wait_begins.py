"""A wait that begins while the database is away, as after a restart of the triggerer and of the database together."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

from airflow.triggers.base import TaskFailedEvent, TaskSuccessEvent

from shelfsync_airflow import wait

if TYPE_CHECKING:
    import pytest

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
    monkeypatch.setattr(wait, "AWAY_S", 0.4)
    monkeypatch.setenv("SHELFSYNC_DATABASE_URL", "postgresql://u:p@127.0.0.1:1/d")
    assert isinstance(asyncio.run(_first_event()), TaskFailedEvent)
    assert capsys.readouterr().out.count("no connection to 127.0.0.1:1/d") > 2

    async def back_meanwhile() -> object:
        waiting = asyncio.ensure_future(_first_event())
        await asyncio.sleep(0.2)
        monkeypatch.setenv("SHELFSYNC_DATABASE_URL", world.database_url)
        return await waiting

    monkeypatch.setattr(wait, "AWAY_S", 60.0)
    assert isinstance(asyncio.run(back_meanwhile()), TaskSuccessEvent)
