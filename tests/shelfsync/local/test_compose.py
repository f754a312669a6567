"""docker-compose.yaml starts what `make up` starts, as it starts it."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from shelfsync.local.airflow_home import AirflowKeys
from shelfsync.local.services import INIT, SANDBOX, STAYING, Addresses, Service, services, stand_in
from shelfsync.settings_file import PROJECT

ASKED_FOR = re.compile(r"\$\{([A-Z_]+):\?[^}]*\}")
DEFAULT = re.compile(r"\$\{[A-Z_]+:-([^}]*)\}")
WORKER, REDIS = "worker", "redis"
WITH_BROKER = {"scheduler", WORKER}


@pytest.fixture(scope="module")
def compose() -> dict:
    text = (PROJECT / "docker-compose.yaml").read_text("utf-8")
    return yaml.load(DEFAULT.sub(r"\1", ASKED_FOR.sub(r"${\1}", text)), Loader=_Loader)


class _Loader(yaml.SafeLoader):
    """A variable's value is text, as Docker Compose passes it on, also where it would read as a number."""


_Loader.add_constructor("tag:yaml.org,2002:int", lambda loader, node: loader.construct_scalar(node))


@pytest.fixture(scope="module")
def table() -> dict[str, Service]:
    """The one table, for containers."""
    server = "shelfsync:${POSTGRES_PASSWORD}@postgres:5432"
    return services(
        Addresses(
            home="/var/lib/shelfsync",
            project="/opt/shelfsync",
            database_url=f"postgresql://{server}/shelfsync",
            airflow_database_url=f"postgresql+psycopg2://{server}/airflow",
            listen="0.0.0.0",
            api_host="api-server",
            public_url="http://localhost:8080",
            receiver_host="receiver",
            sandbox_host="sandbox",
            receiver_database_url="postgresql://shelfsync_receiver:${RECEIVER_POSTGRES_PASSWORD}@postgres:5432/shelfsync",
        ),
        keys=AirflowKeys("${AIRFLOW_FERNET_KEY}", "${AIRFLOW_JWT_SECRET}", "${AIRFLOW_SESSION_KEY}"),
        webhook_secret="${SHELFSYNC_WEBHOOK_SECRET}",
        more={},
    )


def test_it_has_the_services_of_make_up_and_the_database_and_no_other(compose) -> None:
    assert set(compose["services"]) == {"postgres", INIT, *STAYING, SANDBOX, WORKER, REDIS}


@pytest.mark.parametrize("name", [INIT, *STAYING, SANDBOX])
def test_a_service_has_the_command_and_the_environment_of_the_table(compose, table, name: str) -> None:
    there = compose["services"][name]
    assert tuple(there["command"]) == table[name].command
    assert {key: value for key, value in there.get("environment", {}).items() if key not in _of_celery(compose)} == (
        table[name].environment
    )


def _of_celery(compose: dict) -> set[str]:
    return set(compose["x-celery"])


def test_only_the_scheduler_and_the_workers_reach_the_broker_which_stands_in_a_profile(compose, table) -> None:
    """Whoever can write into the broker runs code on the workers: the receiver, which strangers call, has no password of it."""
    services = compose["services"]
    broker = {name for name, there in services.items() if "REDIS_PASSWORD" in str(there)}
    assert broker == {*WITH_BROKER, REDIS}
    assert services[WORKER]["environment"] == services["scheduler"]["environment"]
    assert services[WORKER]["profiles"] == services[REDIS]["profiles"] == ["celery"]
    assert "ports" not in services[REDIS]
    assert "--requirepass" in services[REDIS]["command"]


def test_workers_share_a_volume_and_no_file_of_a_process_id(compose) -> None:
    """Celery refuses to start beside a living process of that number, and in a container all have the same few."""
    command = compose["services"][WORKER]["command"]
    assert "state:/var/lib/shelfsync" in compose["services"][WORKER]["volumes"]
    assert not command[command.index("--pid") + 1].startswith("/var/lib/shelfsync")


def test_no_more_tasks_are_placed_than_three_workers_begin_at_once(compose) -> None:
    environment = compose["services"]["scheduler"]["environment"]
    begun = 3 * int(environment["AIRFLOW__CELERY__WORKER_CONCURRENCY"])
    assert int(environment["AIRFLOW__CORE__PARALLELISM"]) <= begun, "or a task that waits is taken for a lost one"


def test_the_executor_is_named_once_for_the_image_and_for_airflow(compose) -> None:
    text = (PROJECT / "docker-compose.yaml").read_text("utf-8")
    assert text.count("${EXECUTOR:-LocalExecutor}") == 2
    assert compose["services"][INIT]["build"]["args"] == {"EXECUTOR": "LocalExecutor"}
    lines = (PROJECT / "Dockerfile").read_text("utf-8").splitlines()
    assert "ARG EXECUTOR=LocalExecutor" in lines
    for executor, lock in (("CeleryExecutor", "celery"), ("KubernetesExecutor", "kubernetes")):
        (line,) = (one for one in lines if one.strip().startswith(f"{executor})"))
        assert f"--require-hashes --requirement requirements-{lock}.txt" in line


def test_the_image_takes_the_fab_auth_manager_by_a_build_argument() -> None:
    lines = (PROJECT / "Dockerfile").read_text("utf-8").splitlines()
    assert "ARG AUTH_MANAGER=SimpleAuthManager" in lines
    (line,) = (one for one in lines if one.strip().startswith("FabAuthManager)"))
    assert "--require-hashes --requirement requirements-fab.txt" in line
    assert "\napache-airflow-providers-fab==" in (PROJECT / "requirements-fab.txt").read_text("utf-8")


def test_the_locks_installed_over_the_image_change_no_version_that_it_has() -> None:
    """Airflow 3.3 cannot import the executor of Celery with 5.7."""
    pinned = re.compile(r"^([a-z0-9._-]+)==(\S+)", re.MULTILINE)
    image: dict[str, str] = {}
    for name in ("requirements", "requirements-erp"):
        image |= dict(pinned.findall((PROJECT / f"{name}.txt").read_text("utf-8")))
    for name in ("celery", "kubernetes", "fab"):
        added = dict(pinned.findall((PROJECT / f"requirements-{name}.txt").read_text("utf-8")))
        assert {one: version for one, version in added.items() if image.get(one, version) != version} == {}
        if name == "celery":
            assert tuple(map(int, added["celery"].split(".")[:2])) < (5, 7)


def test_every_variable_that_it_asks_for_is_written_by_make_env() -> None:
    import runpy

    written = runpy.run_path(str(PROJECT / "scripts" / "compose_env.py"))["values"]()
    text = (PROJECT / "docker-compose.yaml").read_text("utf-8")
    assert {*ASKED_FOR.findall(text)} == set(written)
    assert len(written["AIRFLOW_JWT_SECRET"]) >= 64


def test_make_env_writes_files_for_their_owner_alone_and_overwrites_none(tmp_path) -> None:
    (tmp_path / "scripts").mkdir()
    script = shutil.copy(PROJECT / "scripts" / "compose_env.py", tmp_path / "scripts")
    first, second = (
        subprocess.run([sys.executable, script], capture_output=True, text=True, check=True).stdout for _ in range(2)
    )
    assert first.splitlines() == ["wrote .env", "wrote shelfsync.env", "wrote receiver.env"]
    assert all("left as it is" in line for line in second.splitlines())
    ignored = (PROJECT / ".gitignore").read_text("utf-8").splitlines()
    for name in (".env", "shelfsync.env", "receiver.env"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
        assert name in ignored


def test_make_env_adds_what_an_older_file_lacks_and_keeps_the_rest(tmp_path) -> None:
    (tmp_path / "scripts").mkdir()
    script = shutil.copy(PROJECT / "scripts" / "compose_env.py", tmp_path / "scripts")
    subprocess.run([sys.executable, script], capture_output=True, check=True)
    file = tmp_path / ".env"
    whole = file.read_text("utf-8").splitlines()
    file.write_text("\n".join(line for line in whole if not line.startswith("REDIS_PASSWORD")), "utf-8")
    said = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True).stdout
    assert "added to .env: REDIS_PASSWORD" in said
    again = file.read_text("utf-8").splitlines()
    assert set(whole) - set(again) == {line for line in whole if line.startswith("REDIS_PASSWORD")}
    assert sum(line.startswith("REDIS_PASSWORD=") for line in again) == 1
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_dollar_in_a_setting_is_itself_and_files_of_the_operator_are_within_reach(compose) -> None:
    for service in compose["services"].values():
        assert {one["format"] for one in service.get("env_file", ())} <= {"raw"}
    assert "./config:/etc/shelfsync:ro" in compose["services"]["scheduler"]["volumes"]
    for name in (*STAYING, WORKER):
        assert compose["services"][name]["stop_grace_period"] == "1m", "a triggerer hands its waits over"


def test_on_a_machine_and_in_a_container_a_service_differs_in_addresses_only(table) -> None:
    machine = services(
        Addresses(home="/h", project="/p", database_url="d", airflow_database_url="a"),
        keys=AirflowKeys("f", "j", "s"),
        webhook_secret="w",
        more={},
    )
    for name, service in machine.items():
        assert service.environment.keys() == table[name].environment.keys()
        assert service.command[:2] == table[name].command[:2] or name == SANDBOX
    fixed = {
        name
        for name in machine["scheduler"].environment
        if re.search("EXECUTOR|PARALLELISM|EXAMPLES|USERS|INTERVAL|TIMEOUT|SLEEP", name)
    }
    assert len(fixed) == 7
    for name in fixed:
        assert machine["scheduler"].environment[name] == table["scheduler"].environment[name]


@pytest.mark.slow
def test_a_dead_task_is_repeated_long_before_the_five_minutes_that_airflow_waits_by_itself(table) -> None:
    environment = os.environ | {
        name: value for name, value in table["scheduler"].environment.items() if "TIMEOUT" in name
    }
    command = [sys.executable, "-m", "airflow", "config", "get-value", "scheduler", "task_instance_heartbeat_timeout"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    assert 60 <= int(done) <= 120


def test_the_sandbox_has_links_that_other_containers_can_follow_and_no_secret(compose) -> None:
    sandbox = compose["services"][SANDBOX]
    words = sandbox["command"]
    assert words[words.index("--storage-url") + 1] == f"http://sandbox:{words[words.index('--storage-port') + 1]}"
    assert not {"env_file", "environment"} & sandbox.keys()


def test_the_sandbox_has_an_image_of_its_own_and_needs_no_other_service(compose) -> None:
    sandbox = compose["services"][SANDBOX]
    assert "depends_on" not in sandbox
    assert sandbox["volumes"] == ["sandbox:/var/lib/partner-sandbox"]
    assert sandbox["build"]["dockerfile"] == "sandbox/Dockerfile"
    lines = (PROJECT / sandbox["build"]["dockerfile"]).read_text("utf-8").splitlines()
    assert lines.index("USER sandbox") > max(i for i, line in enumerate(lines) if line.startswith("RUN"))
    assert "-g sandbox /var/lib/partner-sandbox" in "\n".join(lines), "or its volume belongs to root"
    ignored = (PROJECT / ".dockerignore").read_text("utf-8").splitlines()
    copied = [line.split()[1:-1] for line in lines if line.startswith("COPY") and "--from" not in line]
    for name in (one for names in copied for one in names):
        assert f"!{name.split('/')[0]}" in ignored


def test_one_command_makes_a_sandbox_send_its_events_to_the_receiver(sandbox) -> None:
    command = [
        sys.executable,
        "-m",
        "shelfsync.local.sandbox_control",
        sandbox.base_url,
        "http://receiver:8480/webhook",
    ]
    environment = os.environ | {"SHELFSYNC_WEBHOOK__SECRET": "canary-secret"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    (chain,) = (one for one in sandbox.control("GET", "/state")["chains"] if one["chain"] == "demo-chain")
    assert chain["webhook"]["order_url"] == "http://receiver:8480/webhook/orders"
    assert "canary" not in done.stdout + done.stderr


def test_everything_that_stays_waits_for_init_and_comes_back_by_itself(compose) -> None:
    for name in (*STAYING, WORKER):
        there = compose["services"][name]
        assert there["depends_on"] == {"init": {"condition": "service_completed_successfully"}}
        assert there["restart"] == "unless-stopped"
    assert compose["services"]["init"]["depends_on"] == {"postgres": {"condition": "service_healthy"}}
    assert compose["services"]["sandbox"]["profiles"] == ["sandbox"]


def test_the_image_has_the_project_at_the_expected_path_and_runs_as_an_ordinary_user() -> None:
    lines = (PROJECT / "Dockerfile").read_text("utf-8").splitlines()
    assert "WORKDIR /opt/shelfsync" in lines
    copied = {line.split()[1] for line in lines if line.startswith("COPY") and len(line.split()) == 3}
    assert {"include", "plugins", "dags"} <= copied
    assert lines.index("USER shelfsync") > max(i for i, line in enumerate(lines) if line.startswith("RUN"))
    ignored = (PROJECT / ".dockerignore").read_text("utf-8").splitlines()
    for name in (one for line in lines if line.startswith("COPY") for one in line.split()[1:-1]):
        assert f"!{name}" in ignored, f"{name} is kept from the build, which therefore fails"


def test_no_secret_is_in_the_file_itself(compose) -> None:
    for service in compose["services"].values():
        for name, value in (service.get("environment") or {}).items():
            if re.search("PASSWORD|SECRET|KEY|URL$|CONN$", name) and "EXECUTION" not in name and "BASE" not in name:
                assert "${" in value, name


def test_nothing_can_be_reached_from_outside_without_a_proxy_on_this_machine(compose) -> None:
    ports = [str(port) for service in compose["services"].values() for port in service.get("ports", ())]
    assert any(port.endswith(":8480") for port in ports)
    assert [port for port in ports if not port.startswith("127.0.0.1:")] == []


def test_the_receivers_container_gets_no_other_secret_and_no_volume(compose) -> None:
    receiver = compose["services"]["receiver"]
    assert receiver.get("volumes", []) == []
    assert [one["path"] for one in receiver["env_file"]] == ["receiver.env"]
    text = " ".join(receiver["environment"].values())
    assert set(re.findall(r"\$\{([A-Z_]+)", text)) == {"RECEIVER_POSTGRES_PASSWORD", "SHELFSYNC_WEBHOOK_SECRET"}
    assert receiver["read_only"] is True
    assert "VOLUME" not in (PROJECT / "Dockerfile").read_text("utf-8")


def test_a_setting_of_another_part_never_reaches_the_receiver(table) -> None:
    more = {
        "SHELFSYNC_PLATFORM__CLIENT_SECRET": "c",
        "SHELFSYNC_ORDERS__ENCRYPTION_KEY": "k",
        "SHELFSYNC_ERP__URL": "e",
    }
    asked = {"SHELFSYNC_ORDERS__PICKING_SECRET": "p", "SHELFSYNC_LOG_FORMAT": "json", "SHELFSYNC_CONFIG": "f"}
    made = services(
        Addresses(home="/h", project="/p", database_url="d", airflow_database_url="a", receiver_database_url="r"),
        keys=AirflowKeys("f", "j", "s"),
        webhook_secret="w",
        more=more | asked,
    )
    environment = made["receiver"].environment
    assert asked.items() <= environment.items()
    assert environment["SHELFSYNC_DATABASE_URL"] == "r"
    assert more.keys() & environment.keys() == set()
    assert more.items() <= stand_in("store-hub", made).environment.items()


def test_the_project_is_found_from_the_package() -> None:
    assert (PROJECT / "dags").is_dir()
    assert Path(PROJECT / "pyproject.toml").is_file()
