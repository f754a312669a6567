from __future__ import annotations

import contextlib
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from app_calls import open_calls
from commands_here import commands_here
from orders_world import KEY, PICKING_KEY, SECRET, OrdersWorld
from picking_table import TABLE
from sandbox_fixture import LiveSandbox
from serving import serving
from shelfsync.receiver.server import config, receiver_app
from shelfsync.settings import Settings


@pytest.fixture(scope="module")
def shared_platform():
    with LiveSandbox() as live:
        yield live


@pytest.fixture
def platform(shared_platform):
    shared_platform.reset()
    return shared_platform


def live_receiver(settings: Settings):
    """The receiver with all its routes, in a thread."""
    return serving(config(receiver_app(settings)))


@pytest.fixture
def store_folder():
    """The folder of a store. It is outside the folders that tests search for canaries, because a store may know its customers."""
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
            "rate_limit": {"requests_per_minute": 60_000},
            "webhook": {"secret": SECRET},
            "orders": {
                "encryption_key": KEY,
                "hand_over": "files",
                "hand_over_url": str(store_folder),
                "picking_secret": PICKING_KEY,
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
            app = stack.enter_context(open_calls(settings))
            made = OrdersWorld(app, platform, stack.enter_context(live_receiver(settings)), store_folder)
            stack.callback(made.till.close)
            made.set_up()
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


@pytest.fixture
def environment(world, tmp_path) -> dict[str, str]:
    """The settings of commands over this world."""
    settings = world.app.context.settings
    return {
        "SHELFSYNC_HOME": str(tmp_path / "home"),
        "SHELFSYNC_DATABASE_URL": settings.database_url.get_secret_value(),
        "SHELFSYNC_PLATFORM__BASE_URL": settings.platform.base_url,
        "SHELFSYNC_PLATFORM__CHAIN": "demo-chain",
        "SHELFSYNC_PLATFORM__CLIENT_ID": "demo-client",
        "SHELFSYNC_PLATFORM__CLIENT_SECRET": "demo-secret",
        "SHELFSYNC_RATE_LIMIT__REQUESTS_PER_MINUTE": "60000",
        "SHELFSYNC_ORDERS__ENCRYPTION_KEY": KEY,
    }


@pytest.fixture
def here(environment, tmp_path, monkeypatch, capsys):
    """`shelfsync orders …` in this process: (exit code, standard output, standard error)."""
    with commands_here(environment, tmp_path, monkeypatch, capsys) as call:
        yield lambda *arguments: call("orders", *arguments)


@pytest.fixture
def run(here):
    """The same with the result of a process."""
    return lambda *arguments: subprocess.CompletedProcess(arguments, *here(*arguments))


@pytest.fixture
def till(tmp_path):
    engine = sa.create_engine(f"sqlite:///{tmp_path / 'till.sqlite'}")
    with engine.begin() as connection:
        connection.execute(sa.text(TABLE))
    yield engine
    engine.dispose()


@pytest.fixture
def world_of_table(make_world, till, tmp_path):
    return make_world(
        orders={"picking_sql": "SELECT * FROM picking;", "picking_url": f"sqlite:///{tmp_path / 'till.sqlite'}"}
    )


@pytest.fixture
def quiet(make_world):
    """The platform sends no event; a page has two orders."""
    world = make_world(orders={"history_page_size": 2, "history_window_days": 59})
    world.platform.faults({"at": "order_webhook", "kind": "lost"})
    return world
