from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from typing import Any

import pytest

from orders_world import KEY, PICKING_SECRET, SECRET, OrdersWorld
from sandbox_fixture import LiveSandbox
from serving import serving
from shelfsync.inbox.server import config, receiver_app
from shelfsync.settings import Settings
from shelfsync.wiring import open_house


@pytest.fixture(scope="module")
def shared_platform():
    with LiveSandbox() as live:
        yield live


@pytest.fixture
def platform(shared_platform):
    shared_platform.control("POST", "reset")
    return shared_platform


def live_receiver(settings: Settings):
    """The receiver with all its routes, in a thread."""
    return serving(config(receiver_app(settings)))


@pytest.fixture
def store_folder():
    """Where a store finds its orders: beside everything that is looked through for canaries, because a store may know its customers."""
    with tempfile.TemporaryDirectory(prefix="store-") as folder:
        yield Path(folder)


@pytest.fixture
def make_settings(tmp_path, database_url, platform, store_folder):
    def make(**sections: dict[str, Any]) -> Settings:
        base: dict[str, Any] = {
            "platform": {
                "base_url": platform.base_url,
                "chain": "demo-chain",
                "client_id": "demo-client",
                "client_secret": "demo-secret",
                "timeout_s": 5,
            },
            "budget": {"requests_per_minute": 60_000},
            "webhook": {"secret": SECRET},
            "orders": {
                "personal_key": KEY,
                "hand_over": "files",
                "hand_over_url": str(store_folder),
                "picking_secret": PICKING_SECRET,
                "confirm_s": 0,
                "retry_first_s": 0,
                "history_lag_s": 0,
            },
        }
        merged = {name: base.get(name, {}) | sections.get(name, {}) for name in base | sections}
        return Settings(home=tmp_path / "home", database_url=database_url, lake_url=str(tmp_path / "lake"), **merged)

    return make


@pytest.fixture
def make_world(make_settings, platform, store_folder):
    with contextlib.ExitStack() as stack:

        def make(**sections: dict[str, Any]) -> OrdersWorld:
            settings = make_settings(**sections)
            house = stack.enter_context(open_house(settings))
            made = OrdersWorld(house, platform, stack.enter_context(live_receiver(settings)), store_folder)
            stack.callback(made.till.close)
            made.furnish()
            return made

        yield make


@pytest.fixture
def world(make_world) -> OrdersWorld:
    return make_world()


@pytest.fixture
def open_receiver():
    """Receivers with settings of their own, closed at the end."""
    with contextlib.ExitStack() as stack:
        yield lambda settings: stack.enter_context(live_receiver(settings))
