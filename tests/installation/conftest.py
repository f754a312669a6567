"""One installation for all of these tests. It is brought up by `make up` with every DAG on and taken down by `make down`.

Who writes such a test names a folder in INSTALLATION_HOME: an installation that is up there already is used, and stays up.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from installation.installed import SCHEDULES, SHORT_TIMEOUTS, SHORTENED, Installation, installed

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="package")
def installation(reachable_folder: Path) -> Iterator[Installation]:
    """Up, with every DAG switched on, after its first full sync. It is down before the soak brings up its own."""
    home = Path(os.environ.get("INSTALLATION_HOME", reachable_folder / "installation"))
    schedules = {f"AIRFLOW__SHELFSYNC__{name}_SCHEDULE": cron for name, cron in SCHEDULES.items()}
    with installed(home, schedules | SHORT_TIMEOUTS | SHORTENED) as up:
        up.sandbox("PUT", "/settings", {"propagation_s": 0, "promotion_propagation_s": 0})
        if not up.runs("catalog_full_sync", "success"):
            up.run("catalog_full_sync")
        yield up
