"""The Test button of the list of connections, as Airflow's page sends it to Airflow's API server.

The page turns a port that is not set into 0, and the server takes that for another destination than the stored one.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from airflow.api_fastapi.app import create_app, get_auth_manager, purge_cached_app
from airflow.api_fastapi.auth.managers.simple.user import SimpleAuthManagerUser
from fastapi.testclient import TestClient

from shelfsync_airflow.api_server import BODY_BYTES_MAX, BlankPort, without_port_0

if TYPE_CHECKING:
    from collections.abc import Iterator

    from airflow_world import World

CONN_ID = "the_platform"


@pytest.fixture(scope="module")
def running(airflow_database: None) -> Iterator[TestClient]:
    """Airflow's API server with shelfsync's plugin."""
    from airflow import plugins_manager

    plugins_manager._get_plugins.cache_clear()
    plugins_manager.get_fastapi_plugins.cache_clear()
    purge_cached_app()
    app = create_app(apps="core")
    token = get_auth_manager().generate_jwt(SimpleAuthManagerUser(username="admin", role="admin"))
    headers = {"Authorization": f"Bearer {token}"}
    with TestClient(app, base_url="http://airflow.test", headers=headers) as client:
        yield client
    purge_cached_app()


@pytest.fixture
def server(running: TestClient, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """The same, with the button, and afterwards without the connection of the test."""
    monkeypatch.setenv("AIRFLOW__CORE__TEST_CONNECTION", "Enabled")
    yield running
    running.delete(f"/api/v2/connections/{CONN_ID}")


def _saved(server: TestClient, world: World, **other: Any) -> dict[str, Any]:
    """A connection as the form saves it; returns what the list shows of it."""
    form = {
        "connection_id": CONN_ID,
        "conn_type": "shelfsync_platform",
        "host": world.platform.base_url,
        "login": world.platform.client_id,
        "password": world.platform.client_secret,
        "extra": f'{{"chain": "{world.platform.chain_id}"}}',
    }
    assert server.post("/api/v2/connections", json=form | other).status_code == 201
    return dict(server.get(f"/api/v2/connections/{CONN_ID}").json())


def _pressed(server: TestClient, shown: dict[str, Any]) -> Any:
    """What the page of the list sends: nothing is left out, and no port is the number 0."""
    texts = {name: shown[name] or "" for name in ("description", "host", "login", "password", "schema")}
    port = shown["port"] or 0
    body = {name: shown[name] for name in ("connection_id", "conn_type")} | texts | {"extra": shown["extra"] or "{}"}
    return server.post("/api/v2/connections/test", json=body | {"port": port})


@pytest.mark.slow
def test_the_button_of_the_list_tests_what_was_saved(server: TestClient, world: World) -> None:
    answer = _pressed(server, _saved(server, world))
    assert answer.status_code == 200, answer.text
    assert answer.json()["status"] is True, answer.text
    assert world.platform.client_secret not in answer.text


@pytest.mark.slow
def test_a_port_that_was_saved_is_sent_and_counts(server: TestClient, world: World) -> None:
    host, _, port = world.platform.base_url.rpartition(":")
    shown = _saved(server, world, host=host, port=int(port))
    assert shown["port"] == int(port)
    assert _pressed(server, shown).json()["status"] is True


@pytest.mark.slow
@pytest.mark.parametrize("changed", [{"host": "http://127.0.0.1:1"}, {"port": 9}])
def test_stored_secrets_go_to_no_other_destination(server: TestClient, world: World, changed: dict[str, Any]) -> None:
    assert _pressed(server, _saved(server, world) | changed).status_code == 400


@pytest.mark.slow
def test_connections_of_other_types_are_none_of_ours(server: TestClient, world: World) -> None:
    """What Airflow makes of them stays Airflow's."""
    assert _pressed(server, _saved(server, world, conn_type="http")).status_code == 400


def test_what_is_no_test_of_ours_passes_untouched() -> None:
    bodies = [
        b"",
        b"{",
        b"[0]",
        b'{"conn_type": "shelfsync_platform", "port": null}',
        b'{"conn_type": "shelfsync_platform", "port": 443}',
        b'{"conn_type": "http", "port": 0}',
        b'{"conn_type": ["shelfsync_platform"], "port": 0}',
    ]
    assert [without_port_0(body) for body in bodies] == [None] * len(bodies)
    assert without_port_0(b'{"conn_type": "shelfsync_platform", "port": 0, "host": "x"}') == (
        b'{"conn_type": "shelfsync_platform", "host": "x"}'
    )


@pytest.mark.parametrize("sizes", [(7,), (1, 2, 4), (BODY_BYTES_MAX, 9, 9)])
def test_a_body_arrives_whole_however_it_was_cut(sizes: tuple[int, ...]) -> None:
    arrived = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        more = True
        while more:
            message = await receive()
            more = message.get("more_body", False)
            arrived.append(message["body"])

    parts = [bytes([65 + number]) * size for number, size in enumerate(sizes)]
    messages = [{"type": "http.request", "body": part, "more_body": part is not parts[-1]} for part in parts]

    async def receive() -> Any:
        return messages.pop(0)

    scope = {"type": "http", "method": "POST", "path": "/api/v2/connections/test", "headers": []}
    asyncio.run(BlankPort(app)(scope, receive, None))
    assert b"".join(arrived) == b"".join(parts)
