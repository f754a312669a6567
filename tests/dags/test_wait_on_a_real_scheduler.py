"""Waiting on a real Airflow (LocalExecutor, scheduler, triggerer): no wait is lost, none holds a worker, none dies with the triggerer."""

from __future__ import annotations

import os
import signal
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import psutil
import pytest

from airflow_world import PROJECT, World
from app_calls import open_calls
from sandbox_fixture import LiveSandbox
from shelfsync.local.airflow_api import AirflowApi, run_dag, wait_known
from shelfsync.local.ports import LOOPBACK, remember_port
from shelfsync.local.stack import RunningStack, StackOptions, running_stack
from shelfsync.local.state_folder import Place
from shelfsync.settings import Settings
from small_erp import SmallErp

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow

CANARIES = Path(__file__).parent / "canary"
WAITS = 16  # of canary/canary_waits.py
TAKEOVER_TIMEOUT_S = 120.0
FREEZE_TIMEOUT_S = 180.0


@pytest.fixture(scope="module")
def platform() -> Iterator[LiveSandbox]:
    """A platform whose jobs never end, and which sends no webhooks."""
    with LiveSandbox() as live:
        live.faults({"at": "job", "kind": "stuck"})
        yield live


@pytest.fixture(scope="module")
def stack(platform: LiveSandbox, reachable_folder: Path) -> Iterator[RunningStack]:
    """A whole Airflow with the plugins of the project and the canaries for DAGs."""
    home = reachable_folder / "canary"
    project = home / "project"
    project.mkdir(parents=True)
    for name, folder in (("include", PROJECT / "include"), ("plugins", PROJECT / "plugins"), ("dags", CANARIES)):
        (project / name).symlink_to(folder)
    settings = {
        "SHELFSYNC_PLATFORM__BASE_URL": platform.base_url,
        "SHELFSYNC_PLATFORM__CHAIN": platform.chain_id,
        "SHELFSYNC_PLATFORM__CLIENT_ID": platform.client_id,
        "SHELFSYNC_PLATFORM__CLIENT_SECRET": platform.client_secret,
        "SHELFSYNC_SYNC__POLL_FIRST_S": "3600",  # so that nothing but an event ends a wait
    }
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("AIRFLOW", "SHELFSYNC"))}
    options = StackOptions("a test", lambda *_: settings, inherited, sandbox=False, silent_s=20)
    place = Place(home / "state", project)
    place.make()
    for name in (
        "api-server",
        "receiver",
    ):  # ports of the system's choice, not those that another stack may take now
        remember_port(place.run / f"{name}.port", a_free_port())
    with running_stack(place, options, echo=print) as running:
        running.wait_ready()
        yield running


def a_free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def airflow(stack: RunningStack) -> Iterator[AirflowApi]:
    with AirflowApi(stack) as api:
        yield api


def instances(airflow: AirflowApi, dag_id: str, run_id: str, task: str) -> list[dict[str, Any]]:
    """The task's instances as the REST API returns them."""
    found: list[dict[str, Any]] = []
    while True:
        page = {"limit": 100, "offset": len(found)}
        result = airflow._call("GET", f"/api/v2/dags/{dag_id}/dagRuns/{run_id}/taskInstances", params=page)
        found += result["task_instances"]
        if len(found) >= result["total_entries"] or not result["task_instances"]:
            return [ti for ti in found if ti["task_id"] == task]


def test_waits_that_fire_at_once_are_not_lost_and_hold_no_worker(stack: RunningStack, airflow: AirflowApi) -> None:
    run_id = run_dag(stack, airflow, "canary_waits", print)
    waits = instances(airflow, "canary_waits", run_id, "shard.wait")
    assert [(ti["state"], ti["try_number"]) for ti in waits] == [("success", 1)] * WAITS
    assert {(ti["pid"], ti["hostname"]) for ti in waits} == {(None, "")}, "a worker would have left its process id"
    assert len(instances(airflow, "canary_waits", run_id, "shard.confirm")) == WAITS


def test_a_wait_outlives_the_triggerer_and_ends_by_an_event_at_the_api_server(
    stack: RunningStack, airflow: AirflowApi, platform: LiveSandbox, tmp_path: Path
) -> None:
    job = an_open_job(stack, platform, tmp_path)
    wait_known(stack, airflow, "canary_long_wait")
    airflow.unpause("canary_long_wait")
    run_id = airflow.trigger("canary_long_wait")

    def state() -> str:
        return next((ti["state"] for ti in instances(airflow, "canary_long_wait", run_id, "shard.wait")), "none")

    stack.wait_for(lambda: state() == "deferred", what="the wait to begin", timeout_s=60, log_of="scheduler")
    leader = psutil.Process(stack.processes.pid("triggerer"))
    for process in (*leader.children(recursive=True), leader):
        process.send_signal(signal.SIGKILL)
    answer = httpx.post(
        f"{stack.addresses.api_url}/shelfsync/webhook",
        json={
            "job_id": job,
            "platform_vendor_id": "store-001",
            "status": "COMPLETED",
            "download_url": f"{platform.base_url}/v2/chains/demo-chain/catalog/downloads/1.csv",
        },
        headers={"Authorization": stack.webhook_secret},
        trust_env=False,
    )
    assert answer.status_code == 200
    assert state() == "deferred"
    stack.wait_for(
        lambda: state() == "success", what="the wait to end", timeout_s=TAKEOVER_TIMEOUT_S, log_of="triggerer"
    )


def test_a_wrong_setting_ends_the_wait_for_good_and_its_log_has_the_reason(
    stack: RunningStack, airflow: AirflowApi
) -> None:
    wait_known(stack, airflow, "canary_wrong_wait")
    airflow.unpause("canary_wrong_wait")
    file = stack.place.home / "shelfsync.toml"
    file.write_text('[sync]\npoll_max_s = "soon"\n', "utf-8")
    try:
        run_id = airflow.trigger("canary_wrong_wait")
        path = f"/api/v2/dags/canary_wrong_wait/dagRuns/{run_id}"
        stack.wait_for(
            lambda: airflow._call("GET", path)["state"] == "failed",
            what="the run to fail",
            timeout_s=120,
            log_of="triggerer",
        )
    finally:
        file.unlink()
    (wait,) = instances(airflow, "canary_wrong_wait", run_id, "shard.wait")
    assert (wait["state"], wait["try_number"], wait["max_tries"]) == ("failed", 1, 0)
    (confirm,) = instances(airflow, "canary_wrong_wait", run_id, "shard.confirm")
    assert confirm["state"] == "upstream_failed"
    log = airflow._call("GET", f"{path}/taskInstances/shard.wait/logs/1", params={"map_index": 0})
    assert "SHELFSYNC_SYNC__POLL_MAX_S" in str(log)


def test_a_scheduler_that_is_there_and_does_nothing_is_replaced(stack: RunningStack, airflow: AirflowApi) -> None:
    frozen = stack.processes.pid("scheduler")
    psutil.Process(frozen).suspend()
    stack.wait_for(
        lambda: stack.processes.pid("scheduler") not in {None, frozen},
        what="another scheduler",
        timeout_s=FREEZE_TIMEOUT_S,
        log_of="scheduler",
    )
    stack.wait_ready()
    run_dag(stack, airflow, "canary_waits", print)


def an_open_job(stack: RunningStack, platform: LiveSandbox, folder: Path) -> str:
    """The platform's id of a job that run 1 has sent for store-001 and of which shelfsync has received nothing since."""
    world = World(SmallErp(folder / "erp.sqlite"), platform, stack.addresses.database_url)
    world.furnish()
    values = world.settings(folder / "home")
    environment = {name.removeprefix("SHELFSYNC_").lower(): value for name, value in values.items()}
    sections: dict[str, Any] = {}
    for name, value in environment.items():
        section, _, key = name.partition("__")
        sections[section] = value if not key else {**sections.get(section, {}), key: value}
    with open_calls(Settings(**sections)) as app:
        run = app.open_run("full", "the run that waits", ("store-001",))
        assert run == 1
        app.extract(run)
        for word in ("normalise", "diff", "guard", "batch", "deliver"):
            app.step(word, run, ["store-001"])
    ((job,),) = world.rows("SELECT platform_job_id FROM ledger.job WHERE state = 'open'")
    return str(job)
