"""Celery for real: two chains with the same vendor ids and SKUs on several workers, and what they stand on goes away in mid-run.

Commands and environment are those of docker-compose.yaml with its profile celery.
"""

from __future__ import annotations

import shutil
import time
from typing import TYPE_CHECKING

import httpx
import pytest

from installation.several import CHAINS, Several, dag, in_vain, platform, running
from shelfsync.local.sandbox_control import CHAIN, CLIENT_ID, CLIENT_SECRET, SandboxControl

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which("redis-server") is None, reason="no redis-server on this machine: apt-get install redis-server"
    ),
]

AWAY_S = 20.0
REQUESTS_MAX = 60
GOES_ON_S = 240.0
"""So long at most until a task ends after a fault (docs/how-to/several-machines.md)."""


def workers_and_triggerer_are_killed(up: Several) -> None:
    """Each process of them at once, with what it was doing."""
    up.composed.kill("triggerer", *up.composed.worker_names)


def redis_returns_empty(up: Several) -> None:
    """It keeps nothing on disk, so the tasks are lost that no worker has taken yet."""
    workers = up.composed.worker_names
    up.composed.take_no_task(*workers)
    up.airflow.until(up.composed.tasks_in_redis, "a task in Redis", GOES_ON_S)
    up.composed.kill("redis")
    up.composed.take_tasks(*workers)


def postgres_is_away(up: Several) -> None:
    """Ledger, limiter, both ERPs, Airflow's database and Celery's results."""
    up.postgres.stop()
    time.sleep(AWAY_S)
    up.postgres.ensure_started()


def bucket_is_away(up: Several) -> None:
    """Open connections are cut, and new ones refused."""
    up.bucket.shut()
    time.sleep(AWAY_S)
    up.bucket.open()


FAULTS: tuple[Callable[[Several], None], ...] = (
    workers_and_triggerer_are_killed,
    redis_returns_empty,
    postgres_is_away,
    bucket_is_away,
)


def sync_through_faults(up: Several, faults: tuple[Callable[[Several], None], ...], timeout_s: float) -> None:
    """A full sync of each chain at the same time; each fault comes in mid-run, once the one before it is overcome."""
    for chain in CHAINS:
        done = up.composed.run("scheduler", "shelfsync", "check", "--chain", chain)
        assert done.returncode == 0, done.stdout + done.stderr
        up.airflow.call("PATCH", f"/dags/{dag(chain)}", json={"is_paused": False})
    assert [up.composed.is_healthy(name) for name in (*up.composed.worker_names, "worker-9")] == [
        *([True] * up.composed.workers),
        False,
    ]
    up.runs = {chain: up.airflow.trigger(dag(chain)) for chain in CHAINS}
    up.note("both syncs triggered")
    assert all(up.differences(chain) for chain in CHAINS)
    up.airflow.until(up.jobs, "the platform's first job")
    up.note(f"the platform has its first job: {up.progress()}")
    for fault in faults:
        assert up.going_on(), f"both syncs have ended before this: {fault.__name__}"
        running = up.running()
        fault(up)
        over = up.now()
        up.note(f"over: {fault.__name__}, while these ran: {running}")
        up.airflow.until(
            lambda over=over: up.task_ended_after(over), f"a task to end after {fault.__name__}", GOES_ON_S
        )
        up.note(f"goes on: {up.progress()}")
    for chain, run in up.runs.items():
        up.airflow.ended(dag(chain), run, timeout_s=timeout_s)
        up.note(f"{chain} has ended")
    counts = up.journal()
    up.note(f"{counts['requests']} requests, at most {counts['max_requests_in_60s']} in 60 s")
    up.note(f"tried again: {up.tried_again()}; started again: {up.composed.restarts}")


def is_right(up: Several) -> None:
    """The platform holds what the ERP says, and all requests together kept the limit."""
    assert up.journal()["max_requests_in_60s"] <= REQUESTS_MAX
    assert {chain: up.differences(chain) for chain in CHAINS} == {key: [] for key in CHAINS}


def test_the_record_shows_which_body_was_sent_again_in_vain(tmp_path: Path) -> None:
    with platform(tmp_path / "sandbox", job_s=0.1) as url, httpx.Client(base_url=url, trust_env=False) as client:
        sandbox = SandboxControl(url)
        sandbox.put_products("store-001", [{"sku": sku, "price": 2, "active": True} for sku in ("A", "B")])
        login = {"grant_type": "client_credentials", "client_id": CLIENT_ID, "client_secret": CLIENT_SECRET}
        token = client.post("/v2/oauth/token", data=login).json()["access_token"]
        for number, prices in enumerate(({"A": 3}, {"A": 3, "B": 3}, {"B": 3}), 1):
            body = {"products": [{"sku": sku, "price": price} for sku, price in prices.items()]}
            sent = client.put(
                f"/v2/chains/{CHAIN}/vendors/store-001/catalog", json=body, headers={"Authorization": f"Bearer {token}"}
            )
            assert sent.status_code == httpx.codes.ACCEPTED, sent.text
            while client.get("/_sandbox/state").json()["jobs"].get("COMPLETED", 0) < number:
                time.sleep(0.1)
        sandbox.close()
    assert in_vain(tmp_path / "sandbox") == [f"{CHAIN} store-001: job 3 of 1 items"]


@pytest.mark.timeout(3600)
def test_two_chains_sync_on_two_workers_whatever_goes_away_meanwhile(reachable_folder: Path) -> None:
    with running(reachable_folder / "several", stores=5, workers=2) as up:
        sync_through_faults(up, FAULTS, timeout_s=600)
        is_right(up)
    assert in_vain(up.record) == []


@pytest.mark.proof
@pytest.mark.timeout(7200)
def test_two_hundred_stores_sync_on_three_workers_whatever_goes_away_meanwhile(reachable_folder: Path) -> None:
    with running(reachable_folder / "several-hundred", stores=100, workers=3) as up:
        sync_through_faults(up, (*FAULTS, *FAULTS), timeout_s=5400)
        is_right(up)
    assert in_vain(up.record) == []
