"""`config show`: every setting with its source, and no secret."""

from __future__ import annotations

import json

import pytest
from pydantic import SecretStr

from documents import data
from shelfsync.settings import AlertRoute, Settings
from shelfsync.settings.reading import masked
from shelfsync.settings.section import ServiceAddress

ROUTE = {"name": "ops", "address": "slack://***", "severities": ["severe", "warning"], "kinds": []}
ROUTE |= {"unacknowledged_minutes": 0, "quiet_from": None, "quiet_to": None, "digest_at": None}


@pytest.mark.slow
def test_every_setting_is_shown_with_its_value_and_its_source(run, tmp_path):
    (tmp_path / "home").mkdir()
    file = tmp_path / "home/shelfsync.toml"
    file.write_text('[platform]\nchain = "from-the-file"\ntimeout_s = 7\n[webhook]\nsecret = "canary-of-the-webhook"\n')
    file.chmod(0o600)
    done = run("config", "show", "--json")
    assert done.returncode == 0, done.stderr
    rows = {row["name"]: row for row in data(done.stdout)["settings"]}
    value = {name: (row["value"], row["source"]) for name, row in rows.items()}
    assert value["platform.chain"] == ("demo-chain", "environment"), "the environment goes before the file"
    assert value["platform.timeout_s"] == (7.0, f"file {file}")
    assert value["platform.item_key"] == ("sku", "default")
    assert value["platform.client_secret"] == ("***", "environment")
    assert value["webhook.secret"] == ("***", f"file {file}")
    assert rows["platform.client_secret"]["variable"] == "SHELFSYNC_PLATFORM__CLIENT_SECRET"
    assert rows["platform.token"]["connection"] == "shelfsync_platform"
    for part in ("demo-secret", "canary"):
        assert part not in done.stdout
    assert {name.split(".")[0] for name in rows} == set(Settings.model_fields)
    text = run("config", "show").stdout
    assert len(text.splitlines()) == len(rows)
    assert "platform.token = not set  (default; in Airflow the connection shelfsync_platform, if there is one)" in text


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (SecretStr("canary"), "***"),
        (SecretStr("postgresql://u:canary@h:5432/db?password=canary"), "postgresql://u:***@h:5432/db?***"),
        (SecretStr("postgresql+psycopg://h/db"), "postgresql+psycopg://h/db"),
        (SecretStr("https://canary@h/canary"), "https://***:***@h/***"),
        (SecretStr("host=h password=canary"), "***"),
        (SecretStr("postgresql://u:canary@[h"), "***"),
        ("s3://key:canary/with@sign@bucket/lake", "s3://key:***@bucket/lake"),
        ("s3://bucket/x?secret_key=canary&region=eu", "s3://bucket/x?secret_key=***&region=eu"),
        ((AlertRoute(name="ops", address=ServiceAddress("slack://canary/canary")),), [ROUTE]),
        (AlertRoute(name="ops", address=ServiceAddress("canary/canary")), {**ROUTE, "address": "***"}),
        ({"a": SecretStr("canary"), "b": ("ftp://u:canary@h",)}, {"a": "***", "b": ["ftp://u:***@h"]}),
        ("/data/stock.csv", "/data/stock.csv"),
        (7, 7),
        (None, None),
    ],
)
def test_a_secret_is_masked_everywhere(value, shown):
    assert masked(value) == shown
    assert "canary" not in json.dumps(masked(value))
