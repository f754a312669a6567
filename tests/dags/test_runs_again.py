"""Whatever is killed or run again ends in the same ledger, warehouse and platform."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from airflow.sdk.definitions.dag import _run_task

from airflow_world import CUT, PROJECT, STORES, a_new_day, read_dag
from app_calls import open_calls
from shelfsync.settings import read_settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from airflow_world import World

DEADLINE_S = 240.0
ACCEPTED = (
    "SELECT vendor, sku, count(*) FROM warehouse.sku_outcome WHERE state = 'accepted' GROUP BY 1, 2 ORDER BY 1, 2"
)
OPEN_JOBS = "SELECT count(*) FROM ledger.job WHERE state IN ('submitting', 'open', 'confirmed')"
ALL_ONCE = [(vendor, sku, 1) for vendor in STORES for sku in CUT]
A_RUN = """
import datetime, sys
from airflow.dag_processing.dagbag import DagBag
day = datetime.datetime.fromisoformat(sys.argv[2])
DagBag(sys.argv[1]).dags["catalog_full_sync"].test(run_after=day, logical_date=day)
"""


@pytest.mark.slow
def test_every_task_after_the_extract_run_again_changes_nothing(world: World) -> None:
    run = world.run("catalog_full_sync")
    sent = world.sent()
    dag = read_dag("catalog_full_sync")
    order = [
        task.task_id for task in dag.topological_sort() if task.task_id.count(".") < 2 and task.task_id != "extract"
    ]
    again = [ti for ti in run.get_task_instances() if ti.task_id in order]
    for ti in sorted(again, key=lambda ti: order.index(ti.task_id)):
        _run_task(ti=ti, task=dag.task_dict[ti.task_id], run_triggerer=True)
        assert ti.state == "success", ti.task_id
    assert world.sent() == sent
    assert world.prices() == [CUT] * 3
    assert world.rows(ACCEPTED) == ALL_ONCE


@pytest.mark.slow
def test_a_run_that_is_cleared_from_its_extract_sends_the_current_values_of_the_erp(world: World) -> None:
    day = a_new_day()
    world.run("catalog_full_sync", at=day)
    world.erp.put("store-001", "a", "8.5")
    world.synced("delta")
    world.run("catalog_full_sync", at=day)
    assert world.prices()[0] == CUT | {"a": 8.5}
    assert world.rows("SELECT count(*) FROM ledger.run") == [(2,)], "the same run, not a third one"


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("slow_body", id="the platform has it"),
        pytest.param("never_answer", id="the platform has it not", marks=pytest.mark.proof),
    ],
)
def test_a_run_killed_while_it_sends_is_finished_by_its_repeat_and_by_recover(world: World, kind: str) -> None:
    day = a_new_day()
    world.platform.faults({"at": "put_catalog", "kind": kind, "times": 1, "seconds": 30})
    process = subprocess.Popen(
        [sys.executable, "-c", A_RUN, str(PROJECT / "dags" / "catalog_full_sync.py"), day.isoformat()],
        env=os.environ | {"PYTHONPATH": f"{PROJECT / 'include'}:{PROJECT / 'plugins'}"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        until(
            lambda: world.rows("SELECT count(*) FROM ledger.job WHERE state = 'submitting' AND attempts > 0") == [(1,)]
        )
        if kind == "slow_body":
            until(lambda: CUT in world.prices())
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    world.platform.faults()
    assert world.run("catalog_full_sync", at=day).state == "success"
    until(lambda: world.run("catalog_recover").state == "success" and world.rows(OPEN_JOBS) == [(0,)])
    assert world.prices() == [CUT] * 3
    accepted = world.rows(ACCEPTED)
    assert [(vendor, sku) for vendor, sku, _ in accepted] == [(vendor, sku) for vendor, sku, _ in ALL_ONCE]
    twice = {vendor for vendor, _, times in accepted if times == 2}
    assert {times for *_, times in accepted} <= {1, 2}
    assert len(twice) <= 1, "by the request that was found open, and by the full sync, which sends every SKU"


@pytest.mark.slow
@pytest.mark.parametrize("last", ["batch", "deliver", "confirm"])
def test_recover_finishes_the_open_work_of_a_run_that_vanished(world: World, last: str) -> None:
    words = ("normalise", "diff", "guard", "batch", "deliver", "confirm")
    with open_calls(read_settings()) as app:
        run = app.open_run("full", "a run whose tasks were all deleted")
        app.extract(run)
        for word in words[: words.index(last) + 1]:
            app.step(word, run, STORES)
            if word == "deliver":
                app.wait(run, STORES)
    until(lambda: world.run("catalog_recover").state == "success" and world.rows(OPEN_JOBS) == [(0,)])
    assert world.prices() == [CUT] * 3
    assert world.rows(ACCEPTED) == ALL_ONCE
    sent = world.sent()
    assert world.run("catalog_recover").state == "success"
    assert world.sent() == sent


@pytest.mark.slow
def test_recover_fails_with_the_reason_if_a_job_never_ended(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("SHELFSYNC_SYNC__JOB_DEADLINE_S", "0.1")
    world.platform.faults({"at": "job", "kind": "stuck"})
    with open_calls(read_settings()) as app:
        run = app.open_run("full", "a run whose jobs hang", ("store-002",))
        app.extract(run)
        for word in ("normalise", "diff", "guard", "batch", "deliver"):
            app.step(word, run, ["store-002"])
    until(lambda: world.rows("SELECT count(*) FROM ledger.job WHERE deadline_at < clock_timestamp()") == [(1,)])
    assert world.run("catalog_recover").state == "failed"
    assert [line for line in caplog.messages if line.startswith("vendor store-002: job ") and "deadline" in line]


def until(condition: Callable[[], bool]) -> None:
    """Polls until the condition holds."""
    end = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < end, "it did not come to that in time"
        time.sleep(0.05)
