"""What a lake on S3 makes of refusals, as AWS documents them: a wrong setting is named and not tried again, and no error holds a password."""

from __future__ import annotations

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

from serving import serving
from shelfsync.errors import ConfigurationError, TryAgainError
from shelfsync.store import object_store
from shelfsync.store.lake import Lake, LostFileError

PASSWORD = "p4ss:w0rd"


@pytest.fixture
def lake(monkeypatch):
    monkeypatch.setattr(object_store, "TRIES_END_S", 1)
    for name in ("AWS_ENDPOINT_URL_S3", "AWS_SESSION_TOKEN", "AWS_REGION"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {
        "AWS_ENDPOINT_URL": f"http://someone:{PASSWORD}@127.0.0.1:1",
        "AWS_METADATA_ENDPOINT": "http://127.0.0.1:1",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "NO_PROXY": "127.0.0.1",
    }.items():
        monkeypatch.setenv(name, value)
    return Lake("s3://bucket/folder")


def calls(lake):
    return (
        lambda: lake.write_bytes("log", "store-001", ".csv", b"x"),
        lambda: list(lake.folders()),
        lambda: lake.open("log/store-001/a.csv"),
    )


def answering(status, code):
    body = f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{code}</Code><Message>m</Message></Error>'
    route = Route("/{path:path}", lambda _: Response(body, status), methods=["GET", "PUT"])
    return serving(uvicorn.Config(Starlette(routes=[route]), log_level="error"))


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (301, "PermanentRedirect"),
        (400, "AuthorizationHeaderMalformed"),
        (400, "ExpiredToken"),
        (401, "Unauthorized"),
        (403, "InvalidAccessKeyId"),
    ],
)
def test_a_refusal_is_a_wrong_setting_and_names_what_to_look_at(lake, monkeypatch, status, code):
    with answering(status, code) as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        for call in calls(lake):
            with pytest.raises(
                ConfigurationError, match=r"s3://bucket/folder.*AWS_REGION.*AWS_ACCESS_KEY_ID"
            ) as caught:
                call()
            assert status == 301 or f"{status} " in str(caught.value)
            assert status == 301 or str(caught.value.problem).endswith(code)
            assert "\n" not in str(caught.value)


def test_a_file_that_a_rule_of_the_bucket_has_archived_is_a_lost_one(lake, monkeypatch):
    """It is listed, and no request gets it before somebody restores it."""
    with answering(403, "InvalidObjectState") as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        with pytest.raises(LostFileError, match=r"log/store-001/a\.csv"):
            lake.open("log/store-001/a.csv")


@pytest.mark.parametrize(("status", "code"), [(400, "RequestTimeout"), (409, "OperationAborted")])
def test_what_may_succeed_later_is_tried_again(lake, monkeypatch, status, code):
    with answering(status, code) as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        for call in calls(lake):
            with pytest.raises(TryAgainError, match=f"lake s3://bucket/folder: .*{status}.*{code}"):
                call()


@pytest.mark.parametrize("given", [{}, {"AWS_PROFILE": "sales"}])
def test_no_credentials_are_a_wrong_setting_though_the_machine_may_have_a_role(lake, monkeypatch, given):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError, match=r"AWS_SECRET_ACCESS_KEY.*no profile is read"):
        calls(lake)[0]()


def test_the_password_of_an_endpoint_is_in_no_error(lake):
    for call in calls(lake):
        with pytest.raises(TryAgainError, match=r"http://\*\*\*@127.0.0.1:1/") as caught:
            call()
        assert "p4ss" not in str(caught.value)
        assert "w0rd" not in str(caught.value)
