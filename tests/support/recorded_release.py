"""A recorded installation of a release: its database, lake, ERP, platform and code, as `record_release.py` wrote them."""

from __future__ import annotations

import datetime as dt
import io
import json
import re
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg

from orders_world import KEY, PICKING_KEY, SECRET
from prepared_world import ERP_FILE, restore_platform
from promotion_erp import SQL as CAMPAIGNS
from shelfsync.settings import Settings
from small_erp import SQL, SmallErp

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sandbox_fixture import LiveSandbox

FILE = Path(__file__).resolve().parents[1] / "shelfsync/migrations/release.tar.xz"
_INSTANT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?\+00\b")
_NO_SQL = ("\\restrict", "\\unrestrict", "SET transaction_timeout")
"""Lines of the dump that are for psql, or for a newer server alone."""


def settings_of(folder: Path, database_url: str, platform: LiveSandbox) -> Settings:
    """Of the recorded installation, whose files are in `folder`."""
    return Settings(
        home=folder / "home",
        database_url=database_url,
        lake_url=str(folder / "lake"),
        platform={
            "base_url": platform.base_url,
            "chain": "demo-chain",
            "client_id": "demo-client",
            "client_secret": "demo-secret",
        },
        erp={"url": f"sqlite:///{folder / ERP_FILE}", "sql": SQL},
        promotions={"sql": CAMPAIGNS, "poll_first_s": 0.05, "poll_max_s": 0.2},
        sync={"poll_first_s": 0.05, "poll_max_s": 0.2, "job_deadline_s": 30},
        rate_limit={"requests_per_minute": 60_000, "pause_max_s": 0.2},
        webhook={"secret": SECRET},
        orders={
            "encryption_key": KEY,
            "hand_over": "files",
            "hand_over_url": str(folder / "stores"),
            "picking_secret": PICKING_KEY,
            "confirm_s": 0,
            "retry_first_s": 0,
            "history_lag_s": 0,
            "late_hours": 1e5,  # the bodies of events keep their times, and the recording grows old
        },
    )


def environment_of(settings: Settings) -> dict[str, str]:
    """The same for a process."""
    given = settings.model_dump(mode="json", exclude_unset=True)
    found = {"SHELFSYNC_DATABASE_URL": settings.database_url.get_secret_value()}
    for name, value in given.items():
        if isinstance(value, dict):
            section = getattr(settings, name)
            for key in value:
                one = getattr(section, key)
                text = one.get_secret_value() if hasattr(one, "get_secret_value") else str(one)
                found[f"SHELFSYNC_{name.upper()}__{key.upper()}"] = text
        elif name != "database_url":
            found[f"SHELFSYNC_{name.upper()}"] = str(value)
    return found


@dataclass
class Recording:
    """`about`: version and revision of the code, the platform's address, and when it was recorded."""

    about: dict[str, str]
    members: dict[str, bytes]

    @classmethod
    def read(cls) -> Recording:
        with tarfile.open(FILE) as archive:
            members = {info.name: archive.extractfile(info).read() for info in archive}
        return cls(json.loads(members.pop("about.json")), members)

    def restore(self, folder: Path, database_url: str, platform: LiveSandbox) -> SmallErp:
        """Puts everything where the settings of this folder look for it. The database's instants move, as if it was recorded now."""
        for name, content in self.members.items():
            if name.startswith(("lake/", "code/", ERP_FILE)):
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(content)
        (folder / "stores").mkdir()
        restore_platform(platform, self.members["platform.sqlite"])
        _move(platform, self.about["platform"])
        age = dt.datetime.now(dt.UTC) - dt.datetime.fromisoformat(self.about["recorded_at"])
        with psycopg.connect(database_url, autocommit=True) as connection:
            for statement, rows in _statements(self.members["database.sql"].decode()):
                if rows is None:
                    connection.execute(statement)  # type: ignore[arg-type]
                    continue
                stays = statement.startswith("COPY partition.")  # a row stays in its month
                moved = (
                    rows if stays else _INSTANT.sub(lambda found: str(dt.datetime.fromisoformat(found[0]) + age), rows)
                )
                with connection.cursor().copy(statement) as copy:  # type: ignore[arg-type]
                    copy.write(moved)
        return SmallErp(folder / ERP_FILE, new=False)


def _move(platform: LiveSandbox, recorded: str) -> None:
    """The links that the platform stores lead to where it listens now."""
    with platform.storage.begin() as connection:
        tables = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'table'").scalars().all()
        for table in tables:
            for column in connection.exec_driver_sql(f'PRAGMA table_info("{table}")').mappings().all():
                connection.exec_driver_sql(
                    f'UPDATE "{table}" SET "{column["name"]}" = replace("{column["name"]}", ?, ?)'
                    f' WHERE typeof("{column["name"]}") = \'text\' AND instr("{column["name"]}", ?)',
                    (recorded, platform.base_url, recorded),
                )


def _statements(dump: str) -> Iterator[tuple[str, str | None]]:
    """SQL without rows, and each COPY with its rows."""
    some: list[str] = []
    lines = io.StringIO(dump)
    for line in lines:
        if line.startswith("COPY ") and line.rstrip().endswith("FROM stdin;"):
            yield "".join(some), None
            some = []
            rows = []
            while (row := lines.readline()) != "\\.\n":
                rows.append(row)
            yield line.rstrip().rstrip(";"), "".join(rows)
        elif not line.startswith(_NO_SQL):
            some.append(line)
    yield "".join(some), None


def written(path: Path, members: dict[str, bytes], about: dict[str, Any]) -> None:
    """The recording: the same content gives the same bytes."""
    with tarfile.open(path, "w:xz", preset=9) as archive:
        for name, content in sorted({**members, "about.json": json.dumps(about, indent=1).encode()}.items()):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
