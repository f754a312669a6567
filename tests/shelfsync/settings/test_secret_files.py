"""A secret in a file that `…_FILE` names is read as if the variable had it; a file that cannot be used is named by its variable."""

from __future__ import annotations

import os

import pytest

from shelfsync.chosen_chain import chosen
from shelfsync.errors import ConfigurationError
from shelfsync.secret_mask import mask
from shelfsync.settings import Settings, read_settings
from shelfsync.settings.reading import shown_settings
from shelfsync.settings.secret_files import file_variables

SECRET = "a-long-secret-of-a-file"
VARIABLE = "SHELFSYNC_PLATFORM__CLIENT_SECRET_FILE"


@pytest.fixture
def secret_file(tmp_path, monkeypatch):
    """Writes the bytes into a file of its user alone, and lets the variable name it."""

    def write(content: bytes = SECRET.encode(), *, mode: int = 0o400, variable: str = VARIABLE):
        file = tmp_path / f"{variable}.txt"
        file.write_bytes(content)
        file.chmod(mode)
        monkeypatch.setenv(variable, str(file))
        return file

    monkeypatch.delenv(VARIABLE.removesuffix("_FILE"), raising=False)
    return write


def _client_secret() -> str | None:
    secret = read_settings().platform.client_secret
    return None if secret is None else secret.get_secret_value()


@pytest.mark.parametrize(
    ("content", "secret"),
    [
        (SECRET, SECRET),
        (f"{SECRET}\n", SECRET),
        (f"{SECRET}\r\n", SECRET),
        (f"{SECRET}\n\n", f"{SECRET}\n"),
        (f" {SECRET} ", f" {SECRET} "),
        ("pässwörd-mit-umlaut", "pässwörd-mit-umlaut"),
    ],
)
def test_a_file_is_the_secret_without_one_newline_at_its_end(secret_file, content, secret) -> None:
    secret_file(content.encode())
    assert _client_secret() == secret


def test_a_secret_of_a_file_is_masked_and_its_source_is_the_environment(secret_file) -> None:
    secret_file()
    (row,) = (row for row in shown_settings() if row["name"] == "platform.client_secret")
    assert row["source"] == "environment"
    assert SECRET not in str(row)
    assert SECRET not in mask(f"the platform answered {SECRET}")


def test_the_variable_itself_has_priority_and_no_file_is_read(secret_file, monkeypatch) -> None:
    secret_file().unlink()
    monkeypatch.setenv("SHELFSYNC_PLATFORM__CLIENT_SECRET", "another-secret-of-the-environment")
    assert _client_secret() == "another-secret-of-the-environment"


def test_a_section_of_its_own_is_not_needed(secret_file) -> None:
    secret_file(b"postgresql://u:long-word-of-a-file@h/d", variable="SHELFSYNC_DATABASE_URL_FILE")
    address = read_settings().database_url
    assert address is not None
    assert address.get_secret_value() == "postgresql://u:long-word-of-a-file@h/d"


def test_each_chain_has_files_of_its_own(secret_file, monkeypatch) -> None:
    monkeypatch.delenv("SHELFSYNC_CHAIN", raising=False)
    for chain in ("NORTH", "SOUTH"):
        secret_file(
            f"secret-of-chain-{chain}".encode(), variable=f"SHELFSYNC_CHAINS__{chain}__PLATFORM__CLIENT_SECRET_FILE"
        )
    for chain in ("NORTH", "SOUTH"):
        with chosen(chain.lower()):
            assert _client_secret() == f"secret-of-chain-{chain}"


def test_a_file_of_one_chain_that_is_not_there_stops_that_chain_alone(secret_file) -> None:
    secret_file(variable="SHELFSYNC_CHAINS__NORTH__PLATFORM__CLIENT_SECRET_FILE")
    wrong = "SHELFSYNC_CHAINS__SOUTH__PLATFORM__CLIENT_SECRET_FILE"
    secret_file(variable=wrong).unlink()
    with chosen("north"):
        assert _client_secret() == SECRET
    with chosen("south"), pytest.raises(ConfigurationError, match=wrong):
        read_settings()


@pytest.mark.parametrize(
    ("content", "mode", "why"),
    [
        (SECRET.encode(), 0o444, "every user of this machine can read"),
        (SECRET.encode(), 0o602, "can be written by others"),
        (b"", 0o400, "is empty"),
        (b"\n", 0o400, "is empty"),
        (SECRET.encode() + b"\xff", 0o400, "is no UTF-8 text"),
        (SECRET.encode() * 4_000, 0o400, "has more than 65536 bytes"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_by_its_variable_and_never_by_its_text(
    secret_file, content, mode, why
) -> None:
    secret_file(content, mode=mode)
    _assert_named(why)


def test_a_file_that_is_not_there_and_a_folder_are_named_by_the_variable(secret_file, monkeypatch, tmp_path) -> None:
    secret_file().unlink()
    _assert_named("No such file or directory")
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    _assert_named("is no file")
    monkeypatch.setenv(VARIABLE, "")
    _assert_named("is no file")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_a_file_that_this_user_cannot_read_is_named_by_its_variable(secret_file) -> None:
    secret_file(mode=0o000)
    _assert_named("Permission denied")


def _assert_named(why: str) -> None:
    with pytest.raises(ConfigurationError, match=why) as caught:
        read_settings()
    line = str(caught.value)
    assert line.startswith(VARIABLE)
    assert SECRET not in line
    assert "\n" not in line


def test_every_secret_setting_has_such_a_variable_and_no_setting_has_its_name() -> None:
    variables = file_variables(Settings)
    assert {"DATABASE_URL_FILE", "ERP__URL_FILE", "WEBHOOK__SECRET_FILE", "ORDERS__ENCRYPTION_KEY_FILE"} <= variables
    assert not {"ERP__SQL_FILE", "ERP__VENDOR_IDS_FILE"} & variables


def test_a_misspelt_variable_of_a_file_is_an_error(monkeypatch) -> None:
    monkeypatch.setenv("SHELFSYNC_PLATFORM__CLIENT_SECRT_FILE", "/nowhere")
    with pytest.raises(ConfigurationError, match="CLIENT_SECRT_FILE"):
        read_settings()
