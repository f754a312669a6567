"""The Test button of the connection: the platform's answer to exactly these values, in one line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from airflow.sdk import Connection

if TYPE_CHECKING:
    from airflow_world import World


@pytest.fixture
def pressed(world: World, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Presses the button for the sandbox's connection with some parts changed; (worked, message)."""
    good = {
        "conn_type": "shelfsync_platform",
        "host": world.platform.base_url,
        "login": world.platform.client_id,
        "password": world.platform.client_secret,
        "extra": {"chain": world.platform.chain_id},
    }

    def press(**parts: Any) -> tuple[bool, str]:
        from shelfsync_airflow.connections import PlatformHook

        monkeypatch.setenv("AIRFLOW_CONN_SHELFSYNC_PLATFORM", json.dumps(good | parts))
        assert Connection.get("shelfsync_platform").conn_type == PlatformHook.conn_type
        return PlatformHook().test_connection()

    return press


def test_a_right_connection_is_let_in(pressed: Any, world: World) -> None:
    worked, message = pressed()
    assert worked
    assert world.platform.base_url in message
    asked = {entry["operation"] for entry in world.platform.journal()["entries"]}
    assert "token" in asked
    assert "put_catalog" not in asked


@pytest.mark.parametrize(
    "wrong",
    [{"password": "wrong-secret"}, {"host": "http://127.0.0.1:1"}, {"host": None}, {"extra": {}}],
    ids=["wrong secret", "no server", "no address", "no chain"],
)
def test_a_wrong_connection_is_reported_in_one_line_whatever_the_environment_has(
    pressed: Any, world: World, wrong: dict[str, Any]
) -> None:
    worked, message = pressed(**wrong)
    assert not worked
    assert "\n" not in message
    assert "wrong-secret" not in message
    assert world.platform.client_secret not in message


def test_the_token_of_another_connection_is_not_believed(pressed: Any, world: World) -> None:
    assert pressed()[0]
    worked, _ = pressed(password="wrong-secret")
    assert not worked, "a token that a right secret earned must not vouch for a wrong one"


def test_the_request_is_charged_to_the_shared_rate_limit(pressed: Any, world: World) -> None:
    assert world.rows("SELECT count(*) FROM rate_limit.allowance WHERE free_at IS NOT NULL") == [(0,)]
    pressed()
    assert world.rows("SELECT count(*) FROM rate_limit.allowance WHERE free_at IS NOT NULL") == [(1,)]
