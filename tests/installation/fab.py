"""Two chains in the Airflow of docker-compose.yaml with Flask-AppBuilder's auth manager: its API server, and a hold of each chain."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx

from installation import airflow_commands
from installation.composed import Composed
from installation.installed import PROJECT
from installation.several import CHAINS, fill, platform, settings
from shelfsync.erp.sample.mistake import mistype
from shelfsync.exit_codes import ExitCode
from shelfsync.local.postgres import EmbeddedPostgres
from shelfsync.local.sandbox_control import SandboxControl
from shelfsync.local.services import answers
from shelfsync.store.engine import create_engine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

AUTH_MANAGER = "airflow.providers.fab.auth_manager.fab_auth_manager.FabAuthManager"
VENDOR = "store-001"
TIMEOUT_S = 600.0
PASSWORD = "a password of this test"
DAGS = 12
"""Of a chain."""


@dataclass
class Fab:
    """What is up, and who has logged in."""

    composed: Composed
    _clients: dict[str, httpx.Client] = field(default_factory=dict, init=False)

    def shell(self, script: str) -> str:
        """Lines of a shell in the container of the API server; an error in any of them counts."""
        environment = self.composed.environment("api-server")
        environment["PATH"] = f"{self.composed.home / 'bin'}:{environment['PATH']}"
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script], env=environment, cwd=PROJECT, capture_output=True, text=True,
            timeout=TIMEOUT_S, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == 0, f"{script}: {done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        return done.stdout

    def client(self, user: str) -> httpx.Client:
        """A client that has logged in with name and password, and whose forms come from a page of the server."""
        if user not in self._clients:
            client = httpx.Client(base_url=self.composed.api_url, timeout=120, trust_env=False)
            answer = client.post("/auth/token", json={"username": user, "password": PASSWORD})
            assert answer.is_success, f"{user}: {answer.status_code} {answer.text[:300]}"
            client.headers["Authorization"] = f"Bearer {answer.json()['access_token']}"
            client.headers["Sec-Fetch-Site"] = "same-origin"
            self._clients[user] = client
        return self._clients[user]

    def call(self, user: str, method: str, path: str, body: Any = None) -> Any:
        """A call of Airflow's API that has to succeed."""
        answer = self.client(user).request(method, path, json=body)
        assert answer.is_success, f"{user} {method} {path}: {answer.status_code} {answer.text[:300]}"
        return answer.json()

    def until(self, happened: Callable[[], object], what: str) -> None:
        """Waits for the condition to hold."""
        deadline_s = time.monotonic() + TIMEOUT_S
        while not happened():
            assert time.monotonic() < deadline_s, f"waited {TIMEOUT_S:g} s in vain for {what}"
            time.sleep(0.5)

    def close(self) -> None:
        for client in self._clients.values():
            client.close()


@contextlib.contextmanager
def running(home: Path) -> Iterator[Fab]:
    """A store a chain, with one hold each. Airflow knows all DAGs, and has no user."""
    home.mkdir()
    with contextlib.ExitStack() as closing:
        sandbox_url = closing.enter_context(platform(home / "sandbox", job_s=0.2))
        postgres = EmbeddedPostgres(home, fsync=False)
        postgres.ensure_started()
        closing.callback(postgres.stop)
        given = {"SHELFSYNC_PLATFORM__BASE_URL": sandbox_url, "AIRFLOW__CORE__AUTH_MANAGER": AUTH_MANAGER}
        erps = {chain: postgres.create_database(f"erp_{chain}") for chain in CHAINS}
        for chain, erp in erps.items():
            given |= settings(chain, erp)
        composed = Composed(home / "state", postgres.dsn(), given, workers=0, image="fab", staying=("api-server",))
        for chain in CHAINS:
            fill(postgres, sandbox_url, chain, f"{composed.api_url}/shelfsync/{chain}/webhook", 1)
        closing.callback(composed.down)
        closing.enter_context(_commands(composed))
        composed.up()
        fab = Fab(composed)
        closing.callback(fab.close)
        _make_holds(fab, erps, sandbox_url)
        fab.until(lambda: answers(composed.api_url), "the API server, which makes FAB's permissions")
        fab.shell("airflow dags reserialize")
        yield fab


@contextlib.contextmanager
def _commands(composed: Composed) -> Iterator[None]:
    """A program `airflow` in the home of the services, as long as the block runs."""
    python, ours = composed.bin / "python", airflow_commands.__file__
    server = composed.home / "airflow.socket"
    program = composed.home / "bin/airflow"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {python} -SE {ours} call {server} "$@"\n', "utf-8")
    program.chmod(0o755)
    environment = composed.environment("api-server")
    with subprocess.Popen(
        [python, ours, "serve", server], env=environment, cwd=PROJECT, stdin=subprocess.DEVNULL, start_new_session=True
    ) as process:
        try:
            yield
        finally:
            os.killpg(process.pid, signal.SIGKILL)  # a command that is under way ends, too


def _make_holds(fab: Fab, erps: dict[str, str], sandbox_url: str) -> None:
    """In each chain a buyer's slip after the first sync, which a guard holds."""
    fab.shell("\n".join(f"shelfsync sync --full --chain {chain}" for chain in CHAINS))
    for chain, erp in erps.items():
        engine, sandbox = create_engine(erp), SandboxControl(sandbox_url, f"{chain}-chain")
        try:
            sku = next(product["sku"] for product in sandbox.held(VENDOR) if product["active"])
            mistype(engine, VENDOR, sku)
        finally:
            engine.dispose()
            sandbox.close()
    fab.shell("\n".join(f"shelfsync sync --chain {chain} || test $? = {ExitCode.HELD:d}" for chain in CHAINS))
