"""The plugin: one receiver under one prefix, real when it is called, silent about secrets, and nothing else."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from airflow import plugins_manager
from starlette.applications import Starlette
from starlette.routing import Mount

from shelfsync_airflow.api_server import RECEIVER_PREFIX as PREFIX
from shelfsync_airflow.api_server import mounted_receiver

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "canary-webhook-5"
EVENT = {
    "job_id": "job-77",
    "platform_vendor_id": "store-001",
    "status": "COMPLETED",
    "download_url": "https://x.test/l",
}


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Calls the receiver as the API server mounts it, one after the other in one event loop; the answers."""
    monkeypatch.chdir(tmp_path)

    def run(*requests: tuple[str, dict[str, str], bytes]) -> list[httpx.Response]:
        mounted = mounted_receiver()
        server = Starlette(routes=[Mount(PREFIX, mounted)])

        async def ask() -> list[httpx.Response]:
            transport = httpx.ASGITransport(server)
            async with httpx.AsyncClient(transport=transport, base_url="http://airflow.test") as client:
                answers = [await client.post(path, headers=headers, content=body) for path, headers, body in requests]
            if mounted.app is not None:  # what the end of the process does otherwise
                async with mounted.app.router.lifespan_context(mounted.app):
                    return answers
            return answers

        return asyncio.run(ask())

    return run


def test_airflow_loads_the_plugin_and_nothing_else_of_ours_by_its_bare_name() -> None:
    plugins, errors = plugins_manager._get_plugins()
    assert errors == {}
    assert [plugin.name for plugin in plugins if "shelfsync" in str(plugin.source)] == ["shelfsync"]
    mounted = [app["url_prefix"] for app in plugins_manager.get_fastapi_plugins()[0] if "shelfsync" in app["name"]]
    assert mounted == ["/shelfsync/pages", PREFIX], "the longer prefix first, or the shorter takes its calls"


def test_a_genuine_event_is_stored_before_it_is_answered(
    call: Any, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import psycopg

    monkeypatch.setenv("SHELFSYNC_DATABASE_URL", database_url)
    monkeypatch.setenv("SHELFSYNC_WEBHOOK__SECRET", SECRET)
    genuine = (f"{PREFIX}/webhook", {"Authorization": SECRET}, json.dumps(EVENT).encode())
    forged = (f"{PREFIX}/webhook", {"Authorization": "another"}, json.dumps(EVENT | {"job_id": "job-78"}).encode())
    assert [answer.status_code for answer in call(genuine, forged, genuine)] == [200, 401, 200]
    with psycopg.connect(database_url) as connection:
        assert connection.execute("SELECT platform_job_id FROM inbox.event").fetchall() == [("job-77",)]


def test_the_secret_and_the_database_may_come_from_connections(
    call: Any, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_SHELFSYNC_DATABASE", database_url)
    monkeypatch.setenv("AIRFLOW_CONN_SHELFSYNC_WEBHOOK", json.dumps({"conn_type": "generic", "password": SECRET}))
    (answer,) = call((f"{PREFIX}/webhook/catalog", {"Authorization": SECRET}, json.dumps(EVENT).encode()))
    assert answer.status_code == 200


def test_without_a_secret_every_call_is_rejected(call: Any, database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELFSYNC_DATABASE_URL", database_url)
    body = json.dumps(EVENT).encode()
    answers = call((f"{PREFIX}/webhook", {"Authorization": ""}, body), (f"{PREFIX}/webhook", {}, body))
    assert [answer.status_code for answer in answers] == [401, 401]


def test_without_a_database_the_sender_is_asked_to_come_again(call: Any, caplog: pytest.LogCaptureFixture) -> None:
    request = (f"{PREFIX}/webhook", {"Authorization": SECRET}, json.dumps(EVENT).encode())
    answers = call(request, request)
    assert [(answer.status_code, answer.headers["retry-after"]) for answer in answers] == [(503, "60")] * 2
    lines = [line for line in caplog.messages if "no event can be received" in line]
    assert len(lines) == 1, "logged once, not at every call"
    assert "SHELFSYNC_DATABASE_URL" in lines[0]
