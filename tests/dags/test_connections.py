"""Airflow's connections fill what the environment leaves unset, and a missing one is reported with both ways to set it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from airflow.sdk import Connection

from shelfsync.alerts.channel import check_address, send
from shelfsync.errors import ConfigurationError
from shelfsync.secret_mask import mask
from shelfsync.settings import read_settings
from shelfsync.settings.reading import CONNECTIONS
from shelfsync_airflow.app import ERP, PLATFORM, PLATFORM_IF_SET, WEBHOOK, app_settings
from shelfsync_airflow.connections import find_connection, overrides

PLATFORM_CONNECTION = {
    "conn_type": "shelfsync_platform",
    "host": "https://partner.example.com/",
    "login": "the-client",
    "password": "the-secret",
    "extra": {"chain": "chain-9"},
}
ERP_CONNECTION = {
    "conn_type": "postgres",
    "host": "erp",
    "login": "reader",
    "password": "p@ss/word",
    "schema": "shop",
    "port": 5433,
}


@pytest.fixture
def connect(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Defines a connection as Airflow reads it from the environment."""

    def define(name: str, **parts: Any) -> None:
        monkeypatch.setenv(f"AIRFLOW_CONN_{name.upper()}", json.dumps(parts))

    return define


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.chdir(tmp_path)  # no shelfsync.toml of the project's


def test_the_platform_comes_whole_from_its_connection(connect: Any) -> None:
    connect("shelfsync_platform", **PLATFORM_CONNECTION)
    platform = app_settings(PLATFORM).platform
    assert (platform.base_url, platform.chain, platform.client_id) == (
        "https://partner.example.com",
        "chain-9",
        "the-client",
    )
    assert platform.client_secret.get_secret_value() == "the-secret"
    assert platform.token is None


def test_the_environment_goes_before_the_connection_part_by_part(connect: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    connect("shelfsync_platform", **PLATFORM_CONNECTION)
    monkeypatch.setenv("SHELFSYNC_PLATFORM__CHAIN", "chain-1")
    monkeypatch.setenv("SHELFSYNC_PLATFORM__TIMEOUT_S", "7")
    platform = app_settings(PLATFORM).platform
    assert (platform.chain, platform.base_url, platform.timeout_s) == ("chain-1", "https://partner.example.com", 7.0)


def test_a_token_of_the_environment_is_not_mixed_with_a_client_of_the_connection(
    connect: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect("shelfsync_platform", **PLATFORM_CONNECTION)
    monkeypatch.setenv("SHELFSYNC_PLATFORM__TOKEN", "portal-token")
    platform = app_settings(PLATFORM).platform
    assert (platform.token.get_secret_value(), platform.client_id, platform.client_secret) == (
        "portal-token",
        None,
        None,
    )


def test_a_client_of_the_environment_is_not_mixed_with_a_token_of_the_connection(
    connect: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect("shelfsync_platform", **PLATFORM_CONNECTION | {"extra": {"chain": "chain-9", "token": "portal-token"}})
    monkeypatch.setenv("SHELFSYNC_PLATFORM__CLIENT_ID", "another-client")
    monkeypatch.setenv("SHELFSYNC_PLATFORM__CLIENT_SECRET", "another-secret")
    platform = app_settings(PLATFORM).platform
    assert (platform.token, platform.client_id) == (None, "another-client")


def test_airflow_is_not_queried_if_the_environment_has_every_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("BASE_URL", "CHAIN", "TOKEN"):
        monkeypatch.setenv(f"SHELFSYNC_PLATFORM__{name}", "http://127.0.0.1:9")
    monkeypatch.setenv("SHELFSYNC_ERP__FILES", "/data/*.csv")
    settings = app_settings(PLATFORM, ERP, WEBHOOK)
    assert (settings.erp.url, settings.database_url) == (None, None)


@pytest.mark.parametrize(
    ("host", "port", "address"),
    [
        ("https://partner.example.com", None, "https://partner.example.com"),
        ("partner.example.com", None, "https://partner.example.com"),
        ("http://127.0.0.1:8490", None, "http://127.0.0.1:8490"),
        ("http://127.0.0.1", 8490, "http://127.0.0.1:8490"),
    ],
)
def test_an_address_may_be_whole_or_a_bare_name(connect: Any, host: str, port: int | None, address: str) -> None:
    connect("shelfsync_platform", **PLATFORM_CONNECTION | {"host": host, "port": port})
    assert app_settings(PLATFORM).platform.base_url == address


@pytest.mark.parametrize(
    ("connection", "url"),
    [
        (ERP_CONNECTION, "postgresql+psycopg://reader:p%40ss%2Fword@erp:5433/shop"),
        (
            ERP_CONNECTION | {"extra": {"sslmode": "require", "cursor": "x"}},
            "postgresql+psycopg://reader:p%40ss%2Fword@erp:5433/shop?sslmode=require",
        ),
        (
            ERP_CONNECTION | {"conn_type": "mssql", "extra": {"sqlalchemy_scheme": "mssql+pyodbc"}},
            "mssql+pyodbc://reader:p%40ss%2Fword@erp:5433/shop",
        ),
        ({"conn_type": "sqlite", "host": "/data/erp.db"}, "sqlite:////data/erp.db"),
    ],
    ids=["postgres", "postgres over tls", "a driver of one's own", "sqlite"],
)
def test_any_database_connection_becomes_the_address_of_the_erp(
    connect: Any, connection: dict[str, Any], url: str
) -> None:
    connect("shelfsync_platform", **PLATFORM_CONNECTION)
    connect("shelfsync_erp", **connection)
    assert app_settings(PLATFORM, ERP, WEBHOOK).erp.url.get_secret_value() == url


def test_the_ledger_and_the_webhook_have_connections_of_their_own(connect: Any) -> None:
    connect("shelfsync_platform", **PLATFORM_CONNECTION)
    connect("shelfsync_database", conn_type="postgres", host="db", login="us", password="pw", schema="ledger")
    connect("shelfsync_webhook", conn_type="generic", password="taken-as-it-stands")
    settings = app_settings(PLATFORM, WEBHOOK)
    assert settings.database_url.get_secret_value() == "postgresql://us:pw@db/ledger"
    assert settings.webhook.secret.get_secret_value() == "taken-as-it-stands"


@pytest.mark.parametrize(
    ("missing", "setting"),
    [("host", "SHELFSYNC_PLATFORM__BASE_URL"), ("login", "SHELFSYNC_PLATFORM__CLIENT_ID"), ("password", "SHELFSYNC_PLATFORM__CLIENT_SECRET"),
     ("extra", "SHELFSYNC_PLATFORM__CHAIN")],
)  # fmt: skip
def test_a_gap_in_the_connection_is_named_in_one_line(connect: Any, missing: str, setting: str) -> None:
    connect("shelfsync_platform", **{name: value for name, value in PLATFORM_CONNECTION.items() if name != missing})
    with pytest.raises(ConfigurationError) as raised:
        app_settings(PLATFORM, WEBHOOK)
    line = str(raised.value)
    assert raised.value.setting == setting
    assert "connection shelfsync_platform" in line
    assert "the-secret" not in line
    assert "\n" not in line


@pytest.mark.parametrize(
    ("connection", "setting"),
    [("shelfsync_platform", "SHELFSYNC_PLATFORM__BASE_URL"), ("shelfsync_erp", "SHELFSYNC_ERP__URL")],
)
def test_a_missing_connection_is_reported_with_both_ways_to_set_it(connect: Any, connection: str, setting: str) -> None:
    if connection == "shelfsync_erp":
        connect("shelfsync_platform", **PLATFORM_CONNECTION)
    with pytest.raises(ConfigurationError) as raised:
        app_settings(PLATFORM, ERP, WEBHOOK)
    assert setting in str(raised.value)
    assert f"there is no connection {connection}" in str(raised.value)


def test_the_watch_of_alerts_needs_no_platform_and_uses_one_that_is_set(connect: Any) -> None:
    connect("shelfsync_platform", **PLATFORM_CONNECTION | {"password": ""})
    assert app_settings(PLATFORM_IF_SET).platform.base_url is None
    connect("shelfsync_platform", **PLATFORM_CONNECTION)
    assert app_settings(PLATFORM_IF_SET).platform.base_url == "https://partner.example.com"


def test_a_ledger_database_that_is_not_postgresql_is_rejected(connect: Any) -> None:
    connect("shelfsync_platform", **PLATFORM_CONNECTION)
    connect("shelfsync_database", conn_type="mysql", host="db")
    with pytest.raises(ConfigurationError, match="needs PostgreSQL"):
        app_settings(PLATFORM, WEBHOOK)


@pytest.mark.slow
def test_secrets_of_settings_are_masked_in_airflows_logs(connect: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from airflow.sdk.log import redact

    connect("shelfsync_platform", **PLATFORM_CONNECTION)
    monkeypatch.setenv("SHELFSYNC_DATABASE_URL", "postgresql://us:ledger-password@db/ledger")
    monkeypatch.setenv("SHELFSYNC_WEBHOOK__SECRET", "webhook-secret-of-this-chain")
    app_settings(PLATFORM, WEBHOOK)
    result = redact("the-secret ledger-password webhook-secret-of-this-chain plain")
    assert result == "*** *** *** plain"


def test_the_command_line_names_the_connection_of_every_setting_that_one_gives(connect: Any) -> None:
    platform = PLATFORM_CONNECTION | {"extra": {"chain": "chain-9", "token": "portal-token"}}
    for name, parts in {
        "shelfsync_platform": platform,
        "shelfsync_erp": ERP_CONNECTION,
        "shelfsync_database": ERP_CONNECTION,
        "shelfsync_webhook": {"conn_type": "generic", "password": "the-secret"},
    }.items():
        connect(name, **parts)
    found = overrides(read_settings(), find_connection, (PLATFORM, ERP, WEBHOOK))
    given = {f"{name}.{one}" for name, part in found.items() if isinstance(part, dict) for one in part}
    assert given | {name for name, part in found.items() if not isinstance(part, dict)} == set(CONNECTIONS)


PAGER = "json://user:pager-canary@localhost/path"


def _routes(monkeypatch, tmp_path):
    monkeypatch.setenv("SHELFSYNC_HOME", str(tmp_path))
    routes = [{"name": "on-call", "address": "connection:pager"}, {"name": "chat", "address": "json://localhost"}]
    monkeypatch.setenv("SHELFSYNC_ALERTS__ROUTES", json.dumps(routes))
    return read_settings()


def test_the_address_of_a_route_comes_from_the_connection_that_it_names_and_is_masked(monkeypatch, tmp_path):
    settings = _routes(monkeypatch, tmp_path)
    pager = Connection(conn_id="pager", conn_type="http", password=PAGER)
    found = overrides(settings, {"pager": pager}.get, ["alerts"])
    routes = read_settings(**found).alerts.routes
    assert [(one.name, one.address.get_secret_value()) for one in routes] == [
        ("on-call", PAGER),
        ("chat", "json://localhost"),
    ]
    assert "pager-canary" not in mask(f"refused: {PAGER}")
    assert "alerts" not in overrides(settings, {"pager": pager}.get, [])


@pytest.mark.parametrize("connection", [None, Connection(conn_id="pager")])
def test_a_route_whose_connection_has_no_address_stops_no_other(monkeypatch, tmp_path, connection):
    found = overrides(_routes(monkeypatch, tmp_path), {"pager": connection}.get, ["alerts"])
    on_call, chat = read_settings(**found).alerts.routes
    assert chat.address.get_secret_value() == "json://localhost"
    check_address(on_call.name, on_call.address.get_secret_value())
    with pytest.raises(ConfigurationError, match=r"'on-call' names the connection 'pager'.*no password.*Connections"):
        send(on_call.name, on_call.address.get_secret_value(), "title", "body")
