"""A worker process of this version, or of a made-up next one: `python worker_of_version.py SETTINGS.json MIGRATIONS HEAD ACT...`.

MIGRATIONS is a folder with all migrations of that version, or `-`. It waits for a line on standard input before each ACT, does it,
and prints one line about it.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from app_calls import open_calls
from shelfsync.errors import ShelfsyncError
from shelfsync.migrations import upgrade
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
        if word == "recover":
            return str(calls.recover()["open"])
        run = calls.open_run("delta", f"{os.getpid()}/{word}")
        return str(calls.sync(run, dry_run=False, progress=lambda *_: None)["state"])


def main(file: str, migrations: str, head: str, *words: str) -> None:
    if migrations != "-":
        become(migrations, head)
    settings = Settings(**json.loads(Path(file).read_text("utf-8")))
    for word in words:
        sys.stdin.readline()
        try:
            print(act(settings, word), flush=True)
        except ShelfsyncError as error:
            print(f"{type(error).__name__}: {error}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
