"""A worker process of this version, or of a made-up next one: `python worker_of_version.py MIGRATIONS HEAD ACT...`.

MIGRATIONS is a folder with all migrations of that version, or `-`. Its environment has the settings. It waits for a line on standard input before each ACT, does it,
and prints one line about it.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from app_calls import open_calls
from shelfsync.errors import ShelfsyncError
from shelfsync.migrations import upgrade
from shelfsync.settings import read_settings

if TYPE_CHECKING:
    from shelfsync.settings import Settings


def become(migrations: str, head: str) -> None:
    """From now on this process is of the version that has these migrations."""
    own = upgrade._config

    def config() -> Any:
        made = own()
        made.set_main_option("version_locations", migrations)
        return made

    upgrade._config = config
    upgrade.HEAD = head


def act(settings: Settings, word: str) -> str:
    with open_calls(settings) as calls:
        if word == "open":
            with calls.context.engine.connect() as connection:
                return str(connection.execute(sa.text("SELECT version_num FROM shelfsync_revision")).scalar_one())
        run = calls.open_run("delta", f"{os.getpid()}/{word}")
        return str(calls.sync(run, dry_run=False, progress=lambda *_: None)["state"])


def main(migrations: str, head: str, *words: str) -> None:
    if migrations != "-":
        become(migrations, head)
    settings = read_settings()
    for word in words:
        sys.stdin.readline()
        try:
            print(act(settings, word), flush=True)
        except ShelfsyncError as error:
            print(f"{type(error).__name__}: {error}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
