"""What an installation leaves on its machine: no secret in a log, and no second command in the same place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from installation.installed import Installation

pytestmark = pytest.mark.slow


def test_no_secret_of_the_installation_stands_in_any_log(installation: Installation) -> None:
    secrets = [file.read_text("utf-8") for file in (installation.home / "secrets").iterdir()]
    secrets += [(installation.home / "postgres/password").read_text("utf-8"), installation.password]
    logs = [file for file in installation.home.rglob("*.log") if file.is_file()]
    assert len(logs) > 10
    for log in logs:
        text = log.read_text("utf-8", errors="replace")
        assert not [secret for secret in secrets if secret in text], log


def test_another_command_in_the_same_place_says_who_is_there(installation: Installation) -> None:
    demo = installation.make("demo")
    assert demo.returncode != 0
    assert "`make up` (process " in demo.stderr
    assert "make down" in demo.stderr
    again = installation.make("up")
    assert (again.returncode, "everything is up already" in again.stdout) == (0, True)
