"""Secrets are created once, whichever process asks first, and only their owner can read them."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING

from cryptography.fernet import Fernet

from shelfsync.local import airflow_home
from shelfsync.local.state_folder import Place, kept_secret

if TYPE_CHECKING:
    from pathlib import Path


def test_all_who_ask_at_once_get_the_same_secret(tmp_path: Path) -> None:
    import secrets

    got: list[str] = []
    threads = [
        threading.Thread(target=lambda: got.append(kept_secret(tmp_path / "secret", secrets.token_hex)))
        for _ in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 16
    assert len(set(got)) == 1
    assert [file.name for file in tmp_path.iterdir()] == ["secret"]
    assert (tmp_path / "secret").stat().st_mode & 0o777 == 0o600


def test_airflow_gets_keys_that_it_accepts_and_they_stay(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.make()
    keys = airflow_home.keys(place)
    Fernet(keys.fernet)
    assert len(keys.jwt.encode()) >= 64
    assert airflow_home.keys(place) == keys
    assert keys.jwt not in repr(keys)
    assert place.secrets.stat().st_mode & 0o777 == 0o700


def test_the_admin_has_a_password_in_the_file_that_airflow_reads(tmp_path: Path) -> None:
    password = airflow_home.admin_password(tmp_path)
    file = tmp_path / airflow_home.PASSWORDS_FILE
    assert json.loads(file.read_text()) == {"admin": password}
    assert file.stat().st_mode & 0o777 == 0o600
    assert airflow_home.admin_password(tmp_path) == password
