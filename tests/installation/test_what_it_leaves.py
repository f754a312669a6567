"""What an installation leaves on its machine: no secret in a log, and no second command in the same place."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from installation.installed import Installation

pytestmark = pytest.mark.slow


def test_no_log_contains_a_secret_of_the_installation(installation: Installation) -> None:
    secrets = [file.read_text("utf-8") for file in (installation.home / "secrets").iterdir()]
    secrets += [(installation.home / "postgres/password").read_text("utf-8"), installation.password]
    logs = [file for file in installation.home.rglob("*.log") if file.is_file()]
    assert len(logs) > 10
    for log in logs:
        text = log.read_text("utf-8", errors="replace")
        assert not [secret for secret in secrets if secret in text], log


def test_a_second_command_in_the_same_folder_reports_the_running_process(installation: Installation) -> None:
    demo = installation.make("demo")
    assert demo.returncode != 0
    assert "`make up` (process " in demo.stderr
    assert "make down" in demo.stderr
    again = installation.make("up")
    assert (again.returncode, "everything is up already" in again.stdout) == (0, True)


def test_nothing_that_it_wrote_can_be_read_by_another_user(installation: Installation) -> None:
    """Files 0640 or less, folders 0750 or less; the state folder and PostgreSQL's may be stepped through, and no more."""
    ways = {installation.home, installation.home / "postgres"}
    written = [path for path in installation.home.rglob("*") if not path.is_symlink()]
    assert len(written) > 100
    open_to_all = [
        f"{stat.S_IMODE(path.lstat().st_mode):o} {path}"
        for path in [installation.home, *written]
        if not stat.S_ISSOCK(path.lstat().st_mode)
        and stat.S_IMODE(path.lstat().st_mode) & (stat.S_IRWXO & ~(stat.S_IXOTH if path in ways else 0))
    ]
    assert open_to_all == []
