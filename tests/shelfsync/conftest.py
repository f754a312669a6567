from __future__ import annotations

import contextlib
import functools
import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
import sqlalchemy as sa

from app_calls import Calls, open_calls
from ledger_fixture import ledger  # noqa: F401  a fixture
from prepared_world import ERP_FILE, PreparedWorlds, restore_platform
from promotion_shop import Shop, copied_shop, open_shop
from sandbox_fixture import LiveSandbox
from serving import serving
from shelfsync.inbox.store import InboxStore
from shelfsync.receiver.endpoints import create_app
from shelfsync.receiver.server import config
from shelfsync.settings import Settings, WebhookSettings
from small_erp import SQL, SmallErp

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_keys = itertools.count(1)


@dataclass
class World:
    """One ERP, one platform, one database and lake, and shelfsync over them."""

    app: Calls
    erp: SmallErp
    platform: LiveSandbox
    settings: Settings
    asked: list[int] = field(default_factory=list)

    def sync(self, kind: str = "delta", *vendors: str, dry_run: bool = False) -> dict[str, Any]:
        """One run from extract to report; its summary."""
        run_id = self.app.open_run(kind, f"test/{next(_keys)}", vendors, dry_run=dry_run)
        return self.app.sync(run_id, dry_run=dry_run, progress=lambda *_: None)

    def begin(self, kind: str = "delta", upto: str = "batch") -> tuple[int, list[str]]:
        """A run taken as far as one step: (run, vendors)."""
        run_id = self.app.open_run(kind, f"test/{next(_keys)}")
        vendors = [vendor for shard in self.app.extract(run_id) for vendor in shard["vendors"]]
        for word in ("normalise", "diff", "guard", "batch", "deliver"):
            self.app.step(word, run_id, vendors)
            if word == upto:
                break
        return run_id, vendors

    def shown(self, vendor: str = "store-001") -> dict[str, dict[str, Any]]:
        """What the platform holds, by SKU."""
        return self.platform.products(vendor)

    def sent(self) -> list[dict[str, Any]]:
        """Catalog requests that reached the platform."""
        entries = self.platform.journal()["entries"]
        return [entry for entry in entries if entry["operation"] == "put_catalog"]

    def rows(self, statement: str) -> list[Any]:
        """The rows of a SELECT."""
        with self.app.context.engine.connect() as connection:
            return list(connection.execute(sa.text(statement)).all())


@pytest.fixture(scope="session")
def shared_platform():
    with LiveSandbox() as live:
        yield live


@pytest.fixture
def platform(shared_platform):
    shared_platform.reset()
    return shared_platform


@pytest.fixture
def erp(tmp_path) -> SmallErp:
    return SmallErp(tmp_path / "erp.sqlite")


def settings_of(folder: Path, database_url: str, platform: LiveSandbox, erp: SmallErp, /, **sections: Any) -> Settings:
    """Sections may be overridden by name, and settings without a section given."""
    base: dict[str, Any] = {
        "platform": {
            "base_url": platform.base_url,
            "chain": "demo-chain",
            "client_id": "demo-client",
            "client_secret": "demo-secret",
        },
        "erp": {"url": erp.url, "sql": SQL},
        "sync": {"poll_first_s": 0.05, "poll_max_s": 0.2, "job_deadline_s": 30},
        "rate_limit": {"requests_per_minute": 60_000, "pause_max_s": 0.2},
    }
    merged = base | sections
    merged |= {name: {**base.get(name, {}), **one} for name, one in merged.items() if isinstance(one, dict)}
    return Settings(home=folder / "home", database_url=database_url, lake_url=str(folder / "lake"), **merged)


@pytest.fixture
def make_settings(tmp_path, database_url, platform, erp):
    """Settings of a world of this test."""
    return functools.partial(settings_of, tmp_path, database_url, platform, erp)


@pytest.fixture
def make_world(make_settings, platform, erp):
    """Opens worlds over the same database, ERP and platform, with settings of one's own."""
    with contextlib.ExitStack() as stack:

        def make(**sections: Any) -> World:
            settings = make_settings(**sections)
            return World(stack.enter_context(open_calls(settings)), erp, platform, settings)

        yield make


@pytest.fixture
def world(make_world) -> World:
    return make_world()


@pytest.fixture(scope="module")
def prepared_worlds(throwaway_database):
    """The worlds that tests of this file begin with."""
    with contextlib.ExitStack() as databases:
        yield PreparedWorlds(lambda: databases.enter_context(throwaway_database()))


@pytest.fixture
def world_after(prepared_worlds, throwaway_database, tmp_path_factory, tmp_path, platform):
    """`world_after(fill, **sections)`: a world as `fill(world)` leaves it, which is run once for all tests of a file.

    What `fill` sets at the sandbox besides its stored state (faults, choices) is not there.
    """
    with contextlib.ExitStack() as stack:

        def make(fill: Callable[[World], object], **sections: Any) -> World:
            def first(folder: Path, url: str) -> None:
                erp = SmallErp(folder / ERP_FILE)
                settings = settings_of(folder, url, platform, erp, **sections)
                with open_calls(settings) as calls:
                    fill(World(calls, erp, platform, settings))

            prepared = prepared_worlds.get((fill, repr(sections)), tmp_path_factory.mktemp("prepared"), platform, first)
            url = stack.enter_context(throwaway_database(prepared.database))
            erp = prepared.copy_files(tmp_path)
            restore_platform(platform, prepared.platform)
            settings = settings_of(tmp_path, url, platform, erp, **sections)
            return World(stack.enter_context(open_calls(settings)), erp, platform, settings)

        yield make


@pytest.fixture
def make_shop(make_world):
    """Opens shops with settings of one's own."""
    return functools.partial(open_shop, make_world)


@pytest.fixture
def shop(world_after) -> Shop:
    return copied_shop(world_after)


@dataclass(frozen=True)
class LiveReceiver:
    """Where the webhook receiver listens."""

    url: str


@pytest.fixture
def receiver(database_url):
    app = create_app(InboxStore(database_url), WebhookSettings(secret="canary-webhook-1"))
    with serving(config(app)) as address:
        yield LiveReceiver(f"{address}/webhook")
