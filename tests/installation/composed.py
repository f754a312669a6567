"""The services of docker-compose.yaml with the profile celery, as processes of this machine: commands and environment are taken from that file.

What Docker gives is replaced: names of hosts become ports of this machine, folders of the containers become folders here, and a
service that ends is started again. The image is .tools/celery or .tools/fab: the locks that the Dockerfile installs.
"""

from __future__ import annotations

import contextlib
import os
import re
import runpy
import signal
import socket
import subprocess
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import psutil
import pytest
import yaml

from installation.installed import PROJECT, clean_environment

if TYPE_CHECKING:
    from pathlib import Path

VARIABLE = re.compile(r"\$\{([A-Z_]+):[-?]([^}]*)\}")
STAYING = ("api-server", "scheduler", "dag-processor", "triggerer")


def image(name: str) -> Path:
    """The programs of an image; made again if a lock has changed. Without the package index the test is skipped."""
    command = [PROJECT / "scripts/image.sh", name]
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode:
        pytest.skip(f"requirements-{name}.txt cannot be installed: {done.stderr.strip()[-500:]}")
    return PROJECT / ".tools" / name / "bin"


def free_port() -> int:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return int(server.getsockname()[1])


@dataclass
class Composed:
    """The services in `home`. `database` is the DSN of a PostgreSQL whose user may create databases; `settings` is shelfsync.env.

    Without workers there is no Redis, and `staying` are all that is up.
    """

    home: Path
    database: str = field(repr=False)
    settings: dict[str, str] = field(default_factory=dict, repr=False)
    workers: int = 3
    image: str = "celery"
    staying: tuple[str, ...] = STAYING
    api_port: int = field(default_factory=free_port)
    redis_port: int = field(default_factory=free_port)
    started: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict, init=False, repr=False)
    restarts: dict[str, int] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.home.mkdir(parents=True, exist_ok=True)
        self.bin = image(self.image)
        self._ending = threading.Event()
        self._lock = threading.Lock()
        written = runpy.run_path(str(PROJECT / "scripts/compose_env.py"))["values"]()
        celery = {"EXECUTOR": "CeleryExecutor", "PARALLELISM": str(2 * self.workers)}
        given = written | (celery if self.workers else {})
        text = (PROJECT / "docker-compose.yaml").read_text("utf-8")
        text = VARIABLE.sub(lambda found: given.get(found[1], found[2]), text)
        server = urlsplit(self.database)
        for there, here in {
            f"shelfsync:{given['POSTGRES_PASSWORD']}@postgres:5432": server.netloc,
            "redis:6379": f"127.0.0.1:{self.redis_port}",
            "http://api-server:8080": self.api_url,
            "http://localhost:8080": self.api_url,
            "AIRFLOW__API__HOST: 0.0.0.0": "AIRFLOW__API__HOST: 127.0.0.1",
            'AIRFLOW__API__PORT: "8080"': f'AIRFLOW__API__PORT: "{self.api_port}"',
            "/opt/shelfsync": str(PROJECT),
            "/var/lib/shelfsync": str(self.home),
        }.items():
            assert there in text, f"docker-compose.yaml has no {there} any more"
            text = text.replace(there, here)
        self.services: dict[str, Any] = yaml.safe_load(text)["services"]

    @property
    def api_url(self) -> str:
        return f"http://127.0.0.1:{self.api_port}"

    @property
    def names(self) -> list[str]:
        return [*(["redis"] if self.workers else []), *self.staying, *self.worker_names]

    def environment(self, service: str) -> dict[str, str]:
        given = {name: str(value) for name, value in self.services[service]["environment"].items()}
        path = {"PATH": f"{self.bin}:{os.environ['PATH']}", "HOME": str(self.home)}
        return clean_environment() | path | self.settings | given

    def command(self, name: str) -> list[str]:
        """Of a service; `worker-2` is the second of its containers, in which /tmp and the host's name are its own."""
        service, _, number = name.partition("-") if name.startswith("worker-") else (name, "", "")
        command = [str(word) for word in self.services[service]["command"]]
        if number:
            command = [word.replace("/tmp/", f"{self.home}/{name}-") for word in command]
            command += ["--celery-hostname", name]
        if name == "redis":
            command += ["--port", str(self.redis_port), "--bind", "127.0.0.1", "--dir", str(self.home)]
        return command

    def run(self, service: str, *words: str, timeout_s: float = 300) -> subprocess.CompletedProcess[str]:
        """A command in the environment of a service, as `docker compose exec`."""
        return subprocess.run(
            [str(self.bin / words[0]), *words[1:]], env=self.environment(service), cwd=PROJECT, capture_output=True,
            text=True, timeout=timeout_s, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def is_healthy(self, worker: str) -> bool:
        """By the health check of deploy/compose.production.yaml, in the worker's environment."""
        production = yaml.safe_load((PROJECT / "deploy/compose.production.yaml").read_text("utf-8"))
        shell, check = production["services"]["worker"]["healthcheck"]["test"]
        assert shell == "CMD-SHELL"
        environment = self.environment("worker") | {"HOSTNAME": worker}
        return not subprocess.run(
            ["/bin/sh", "-c", check.replace("$$", "$")], env=environment, cwd=PROJECT, check=False, timeout=60
        ).returncode

    def up(self) -> None:
        """init, then everything that stays; each is started again when it ends."""
        done = self.run("init", *self.command("init"), timeout_s=900)
        assert done.returncode == 0, f"init ended with {done.returncode}:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        for name in self.names:
            self._start(name)
        threading.Thread(target=self._supervise, daemon=True).start()

    @property
    def worker_names(self) -> list[str]:
        return [f"worker-{number}" for number in range(1, self.workers + 1)]

    def tasks_in_redis(self) -> int:
        """Tasks that no worker has taken yet."""
        environment = self.environment("redis")
        command = ["redis-cli", "-p", str(self.redis_port), "llen", "default"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=30)
        return int(done.stdout)

    def take_no_task(self, *names: str) -> None:
        """These workers take no further task until `take_tasks`; what they have begun goes on in processes of its own."""
        for name in names:
            os.kill(self.started[name].pid, signal.SIGSTOP)

    def take_tasks(self, *names: str) -> None:
        for name in names:
            os.kill(self.started[name].pid, signal.SIGCONT)

    def kill(self, *names: str, signum: int = signal.SIGKILL) -> None:
        """Every process of these containers, at once."""
        with self._lock:
            for name in names:
                _signal(self.started[name], signum)

    def down(self) -> None:
        self._ending.set()
        with self._lock:
            for process in self.started.values():
                process.terminate()
            deadline_s = time.monotonic() + 30
            for process in self.started.values():
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(max(0.1, deadline_s - time.monotonic()))
                _signal(process, signal.SIGKILL)

    def log(self, name: str) -> str:
        return (self.home / f"{name}.log").read_text("utf-8", errors="replace")

    def _start(self, name: str) -> None:
        service = "worker" if name.startswith("worker-") else name
        command = self.command(name)
        if (self.bin / command[0]).is_file():
            command[0] = str(self.bin / command[0])
        with (self.home / f"{name}.log").open("ab") as log:
            self.started[name] = subprocess.Popen(
                command, env=self.environment(service), cwd=PROJECT, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip

    def _supervise(self) -> None:
        """`restart: unless-stopped`; the pause grows in Docker, here it is one second."""
        while not self._ending.wait(1):
            with self._lock:
                for name, process in list(self.started.items()):
                    if process.poll() is not None and not self._ending.is_set():
                        _signal(process, signal.SIGKILL)  # what it left of its session
                        self.restarts[name] = self.restarts.get(name, 0) + 1
                        self._start(name)


def _signal(process: subprocess.Popen[bytes], signum: int) -> None:
    """To every process of the session, as a container ends: Airflow gives each task a process group of its own."""
    for pid in psutil.pids():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if os.getsid(pid) == process.pid:
                os.kill(pid, signum)
