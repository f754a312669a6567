"""A world that many tests of a file begin with: made once, and copied for each of them.

A run from extract to report costs some half a CPU second, a copy a tenth of that.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from small_erp import SmallErp

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from pathlib import Path

    from sandbox_fixture import LiveSandbox

ERP_FILE = "erp.sqlite"


@dataclass(frozen=True)
class Prepared:
    """What is copied."""

    database: str
    """The name of a database without a connection."""
    folder: Path
    """The ERP's file, the lake and the home."""
    platform: bytes
    """What the sandbox stores."""

    def copy_files(self, folder: Path) -> SmallErp:
        """Puts ERP, lake and home into a folder that has none; the ERP there."""
        shutil.copytree(self.folder, folder, dirs_exist_ok=True)
        return SmallErp(folder / ERP_FILE, new=False)


@dataclass
class PreparedWorlds:
    """Those of one file of tests."""

    new_database: Callable[[], str]
    """The DSN of a database that lasts as long as they do."""
    _made: dict[Hashable, Prepared] = field(default_factory=dict)

    def get(self, key: Hashable, folder: Path, platform: LiveSandbox, make: Callable[[Path, str], None]) -> Prepared:
        """The one of this key; if there is none, `make(folder, dsn)` makes it on the platform."""
        if key not in self._made:
            dsn = self.new_database()
            make(folder, dsn)
            self._made[key] = Prepared(dsn.rpartition("/")[2], folder, stored(platform))
        return self._made[key]


def stored(platform: LiveSandbox) -> bytes:
    """All that the sandbox stores."""
    with platform.storage.begin() as connection:
        return _sqlite(connection).serialize()


def restore_platform(platform: LiveSandbox, stored: bytes) -> None:
    """Replaces what the sandbox stores."""
    with platform.storage.begin() as connection:
        _sqlite(connection).deserialize(stored)
    sandbox = platform._server.sandbox
    sandbox.journal.open()
    sandbox.work.wake()


def _sqlite(connection: Any) -> Any:
    return connection.connection.dbapi_connection
