"""A port that cannot be one is an error of its setting in every command, and never shown: it may be part of a password."""

from __future__ import annotations

import os

import pytest

from shelfsync.errors import ConfigurationError
from shelfsync.exit_codes import ExitCode
from shelfsync.settings import read_settings

ADDRESSES = {
    "DATABASE_URL": "postgresql://user:pass@db.example:{}/shelfsync",
    "LAKE_URL": "sftp://host.example:{}/lake",
    "PLATFORM__BASE_URL": "https://platform.example:{}",
    "PLATFORM__PROXY": "http://proxy.example:{}",
    "PLATFORM__DOWNLOAD_HOSTS": "one.example,two.example:{}",
    "PLATFORM__PRIVATE_HOSTS": "sandbox:{}",
    "ERP__URL": "mysql+pymysql://user:pa#ss/word@db.example:{}/erp",
    "ERP__FILES": "https://files.example:{}/stock.csv",
    "ORDERS__HAND_OVER_URL": "https://stores.example:{}/orders",
    "ORDERS__PICKING_URL": "postgresql://[::1]:{}/picking",
    "PROMOTIONS__URL": "oracle+oracledb://user@db.example:{}/?service_name=x",
    "ALERTS__HEARTBEAT": "https://monitor.example:{}/check",
    "METRICS__OTLP": "http://collector.example:{}",
    "METRICS__STATSD": "statsd.example:{}",
}
IMPOSSIBLE = ["99999", "0", "-1", "abc", "65536", "8 0", "80.0", "\u0661"]
POSSIBLE = {
    "DATABASE_URL": ["postgresql://a:1,b:65535/x", "postgresql:///x?host=/run/postgresql", "postgresql://u:p#w:9@h/x"],
    "LAKE_URL": ["s3://bucket:name/lake", "/srv/lake", "C:\\lake", "memory://x"],
    "ERP__URL": ["sqlite:////srv/erp.db", "sqlite:///C:/erp.db", "mssql+pyodbc:///?odbc_connect=DRIVER%3D%7Bx%7D"],
    "ERP__FILES": ["/data/{vendor}.csv", "zip://a.csv::s3://b/a.zip", "github://org:repo/a.csv", "/data/12:30.csv"],
    "PLATFORM__BASE_URL": ["http://127.0.0.1:8470", "http://[::1]:8470", "https://platform.example"],
}


@pytest.fixture
def given(monkeypatch, tmp_path):
    for name in [name for name in os.environ if name.startswith("SHELFSYNC_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("SHELFSYNC_HOME", str(tmp_path))

    def read(name: str, value: str) -> None:
        monkeypatch.setenv(f"SHELFSYNC_{name}", value)
        read_settings()

    return read


@pytest.mark.parametrize("port", IMPOSSIBLE)
@pytest.mark.parametrize("name", ADDRESSES)
def test_an_impossible_port_names_its_setting(given, name, port):
    with pytest.raises(ConfigurationError) as caught:
        given(name, ADDRESSES[name].format(port))
    assert caught.value.setting.startswith(f"SHELFSYNC_{name}")
    assert caught.value.exit_code == ExitCode.CONFIGURATION
    assert "port is no whole number from 1 to 65535" in str(caught.value)
    assert f":{port}" not in str(caught.value)


@pytest.mark.parametrize("name", ADDRESSES)
def test_a_possible_port_is_taken(given, name):
    given(name, ADDRESSES[name].format(5432))


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in POSSIBLE.items() for value in values])
def test_what_is_no_port_is_none(given, name, value):
    given(name, value)


def test_a_port_among_the_parameters_is_one_too(given):
    with pytest.raises(ConfigurationError, match="SHELFSYNC_DATABASE_URL"):
        given("DATABASE_URL", "postgresql:///x?host=db.example&port=99999")


@pytest.mark.parametrize("port", ["99999", "-1", "abc"])
def test_the_receivers_port_is_bounded(given, port):
    with pytest.raises(ConfigurationError, match="SHELFSYNC_WEBHOOK__PORT"):
        given("WEBHOOK__PORT", port)
