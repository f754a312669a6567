from __future__ import annotations

import contextlib
import functools
import itertools
from dataclasses import dataclass, field
from typing import Any

import pytest
import sqlalchemy as sa

from app_calls import Calls, open_calls
from ledger_fixture import ledger  # noqa: F401  a fixture
from promotion_shop import Shop, open_shop
from sandbox_fixture import LiveSandbox
from serving import serving
from shelfsync.inbox.store import InboxStore
from shelfsync.receiver.endpoints import create_app
from shelfsync.receiver.server import config
from shelfsync.settings import Settings, WebhookSettings
from small_erp import SQL, SmallErp

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
    shared_platform.control("POST", "reset")
    return shared_platform


@pytest.fixture
def erp(tmp_path) -> SmallErp:
    return SmallErp(tmp_path / "erp.sqlite")


@pytest.fixture
def make_settings(tmp_path, database_url, platform, erp):
    """Settings of a world of this test; sections may be overridden by name, and settings without a section given."""

    def make(**sections: Any) -> Settings:
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
        return Settings(home=tmp_path / "home", database_url=database_url, lake_url=str(tmp_path / "lake"), **merged)

    return make


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


@pytest.fixture
def make_shop(make_world, erp, platform):
    """Opens shops with settings of one's own."""
    return functools.partial(open_shop, make_world, erp, platform)


@pytest.fixture
def shop(make_shop) -> Shop:
    return make_shop()


@dataclass(frozen=True)
class LiveReceiver:
    """Where the webhook receiver listens."""

    url: str


@pytest.fixture
def receiver(database_url):
    app = create_app(InboxStore(database_url), WebhookSettings(secret="canary-webhook-1"))
    with serving(config(app)) as address:
        yield LiveReceiver(f"{address}/webhook")
