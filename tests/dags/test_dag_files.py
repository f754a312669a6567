"""What every DAG file has to be: a table of contents, quick to read for people and for the dag processor."""

from __future__ import annotations

import ast
import datetime as dt
import itertools
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from croniter import croniter_range
from pydantic import ValidationError

from scripts.reference import program
from shelfsync.catalog.ledger.exports import RUN_MAX_S
from shelfsync.settings import GuardSettings
from shelfsync_airflow.options import OPTIONS

if TYPE_CHECKING:
    from airflow.dag_processing.dagbag import DagBag

PROJECT = Path(__file__).resolve().parents[2]
DAG_FILES = sorted((PROJECT / "dags").glob("*.py"))
DAG_IDS = {
    "alerts_watch",
    "assortment_export",
    "catalog_delta_sync",
    "catalog_full_sync",
    "catalog_holds",
    "catalog_recover",
    "catalog_urgent_sync",
    "housekeeping",
    "promotions_recover",
    "promotions_sync",
    "orders_fulfilment",
    "orders_history",
}
SYNCS = ("catalog_full_sync", "catalog_delta_sync")
MAY_BE_IMPORTED = {"__future__", "datetime", "airflow.sdk"}
HEAVY = {
    "pandas",
    "numpy",
    "pyarrow",
    "duckdb",
    "sqlalchemy",
    "psycopg",
    "httpx",
    "fastapi",
    "uvicorn",
    "pydantic_settings",
    "partner_api",
}

MODULES_MAX = 80

LOOK_AT_THE_PARSE = """
import json, runpy, sys
from airflow.sdk import BaseOperator, Param, chain, dag, task, task_group
before = set(sys.modules)
for file in sys.argv[1:]:
    runpy.run_path(file)
print(json.dumps(sorted(set(sys.modules) - before)))
"""


@pytest.fixture(scope="module")
def parse() -> list[str]:
    """The modules that a fresh process imports to read all DAG files and the plugin, beyond those of Airflow's SDK."""
    files = [*DAG_FILES, PROJECT / "plugins" / "shelfsync_plugin.py"]
    environment = os.environ | {"PYTHONPATH": f"{PROJECT / 'include'}:{PROJECT / 'plugins'}"}
    command = [sys.executable, "-c", LOOK_AT_THE_PARSE, *map(str, files)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def test_exactly_these_dags_are_found_and_none_fails_to_import(dag_bag: DagBag) -> None:
    assert dag_bag.import_errors == {}
    assert set(dag_bag.dag_ids) == DAG_IDS
    assert {file.stem for file in DAG_FILES} == DAG_IDS


def test_every_dag_task_and_option_stands_in_the_reference(dag_bag: DagBag) -> None:
    page = program.dags()
    tasks = {task.rpartition(".")[2] for dag in dag_bag.dags.values() for task in dag.task_ids}
    assert set(re.findall(r"^## (\w+)$", page, re.MULTILINE)) == DAG_IDS | {"Tasks", "Options"}
    assert set(re.findall(r"^\| `(\w+)` \| \w+ \| \S", page, re.MULTILINE)) == tasks
    assert set(re.findall(r"^\| `(\w+)` \| `AIRFLOW__SHELFSYNC__", page, re.MULTILINE)) == set(OPTIONS)


@pytest.mark.parametrize("file", DAG_FILES, ids=lambda file: file.stem)
def test_a_dag_file_has_at_most_eighty_lines(file: Path) -> None:
    assert len(file.read_text("utf-8").splitlines()) <= 80


@pytest.mark.parametrize("file", DAG_FILES, ids=lambda file: file.stem)
def test_a_dag_file_imports_airflow_and_its_own_graph_pieces_alone(file: Path) -> None:
    imported = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(node.module)
    assert {name for name in imported if not name.startswith("shelfsync_airflow.")} <= MAY_BE_IMPORTED


@pytest.mark.parametrize("file", DAG_FILES, ids=lambda file: file.stem)
def test_a_dag_file_holds_no_logic(file: Path) -> None:
    logic = ast.If | ast.For | ast.While | ast.Try | ast.With | ast.Lambda | ast.comprehension | ast.IfExp
    assert not [node for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, logic)]


@pytest.mark.slow
@pytest.mark.slow
def test_a_worker_that_parses_the_dags_imports_nothing_heavy(parse: list[str]) -> None:
    assert HEAVY & {module.split(".")[0] for module in parse} == set()
    assert "shelfsync.settings" not in parse
    assert "shelfsync.app" not in parse


@pytest.mark.slow
def test_parsing_imports_few_modules_beside_airflows(parse: list[str]) -> None:
    """A count, because a time depends on the machine: each module is a file that every task of every run reads."""
    print(f"all DAG files import {len(parse)} modules beside Airflow's SDK")
    assert len(parse) < MODULES_MAX


@pytest.mark.parametrize("dag_id", sorted(DAG_IDS))
def test_the_docstring_of_a_file_is_its_page_in_the_ui(dag_bag: DagBag, dag_id: str) -> None:
    text = ast.get_docstring(ast.parse((PROJECT / "dags" / f"{dag_id}.py").read_text("utf-8")))
    assert dag_bag.dags[dag_id].doc_md.strip() == text
    assert text.startswith("# ")


def test_the_list_of_dags_has_a_sentence_about_each(dag_bag: DagBag) -> None:
    """Without marks of Markdown, which the list shows as they are."""
    sentences = {dag_id: dag_bag.dags[dag_id].description or "" for dag_id in DAG_IDS}
    assert sentences["catalog_recover"] == "Completes open work."
    assert [one for one in sentences.values() if not re.fullmatch(r"[A-Z][^*`]{10,}\.", one)] == []


@pytest.mark.parametrize("dag_id", sorted(DAG_IDS))
def test_one_run_at_a_time_and_no_run_for_times_gone_by(dag_bag: DagBag, dag_id: str) -> None:
    dag = dag_bag.dags[dag_id]
    runs = {"catalog_holds": 320, "catalog_urgent_sync": 4}
    assert (dag.catchup, dag.max_active_runs) == (False, runs.get(dag_id, 1))
    assert dag.dagrun_timeout is not None
    assert "shelfsync" in dag.tags
    assert len(dag.tags & {"alerts", "catalog", "promotions", "orders", "housekeeping"}) == 1


def test_the_ledger_keeps_an_export_as_long_as_its_run_may_last(dag_bag: DagBag) -> None:
    limit = dag_bag.dags["assortment_export"].dagrun_timeout
    assert limit is not None
    assert limit.total_seconds() == RUN_MAX_S


def test_an_urgent_run_whose_job_hangs_keeps_no_other_urgent_run_waiting(dag_bag: DagBag) -> None:
    """An urgent run waits up to five minutes for an earlier job of its vendor, and for its own until the deadline."""
    assert dag_bag.dags["catalog_urgent_sync"].max_active_runs > 1


def test_unanswered_questions_block_no_other_question(dag_bag: DagBag) -> None:
    """A question waits a day unless a setting changes that, and every run of that day may ask one."""
    begins = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    ends = begins + dt.timedelta(hours=GuardSettings().hold_hours)
    runs = [*croniter_range(begins, ends, OPTIONS["holds_schedule"].default)]
    assert dag_bag.dags["catalog_holds"].max_active_runs > len(runs) > 1


def test_no_setting_lets_a_question_wait_longer_than_its_run(dag_bag: DagBag) -> None:
    limit = dag_bag.dags["catalog_holds"].dagrun_timeout
    assert limit is not None
    longest = dt.timedelta(hours=GuardSettings(hold_hours=168).hold_hours)
    assert limit >= longest + dt.timedelta(days=1)
    with pytest.raises(ValidationError):
        GuardSettings(hold_hours=168.1)


@pytest.mark.parametrize("dag_id", SYNCS)
def test_a_sync_walks_the_path_of_the_data_step_by_step(dag_bag: DagBag, dag_id: str) -> None:
    dag = dag_bag.dags[dag_id]
    inner = [f"shard.{task}" for task in ("prepare", "deliver", "wait", "confirm")]
    assert set(dag.task_ids) == {"check", "recover", "extract", *inner, "report"}
    for word, following in itertools.pairwise(inner):
        assert dag.task_dict[word].downstream_task_ids == {following}
    assert dag.task_dict["check"].downstream_task_ids == {"recover", "extract", "report"}
    assert dag.task_dict[inner[0]].upstream_task_ids == {"recover", "extract"}, (
        "diff meets no job that could have been ended"
    )
    assert dag.task_dict["report"].upstream_task_ids >= {inner[-1], "check"}
    assert dag.task_dict["report"].trigger_rule == "all_done"
    assert [task.task_id for task in dag.leaves] == ["report"], "the state of the run is the state of its report"


@pytest.mark.parametrize("dag_id", SYNCS)
def test_waiting_begins_in_the_triggerer_and_is_no_mapped_operator(dag_bag: DagBag, dag_id: str) -> None:
    from airflow.sdk.bases.operator import BaseOperator

    from shelfsync_airflow.wait import JobsTrigger

    wait = dag_bag.dags[dag_id].task_dict["shard.wait"]
    assert isinstance(wait, BaseOperator), "an expanded operator does not start from its trigger"
    assert wait.start_from_trigger
    path, arguments = JobsTrigger(**wait.start_trigger_args.trigger_kwargs).serialize()
    assert (path, arguments) == (wait.start_trigger_args.trigger_cls, wait.start_trigger_args.trigger_kwargs)


def test_an_export_walks_its_steps_and_waits_in_the_triggerer_alone(dag_bag: DagBag) -> None:
    from shelfsync_airflow.wait import JobsTrigger

    dag = dag_bag.dags["assortment_export"]
    inner = [f"shard.{word}" for word in ("export", "wait", "observe", "reconcile")]
    assert set(dag.task_ids) == {"plan", *inner, "look_again", "report"}
    for word, following in itertools.pairwise([*inner, "look_again", "report"]):
        assert dag.task_dict[word].downstream_task_ids == {following}
    assert [task.task_id for task in dag.leaves] == ["report"], "the state of the run is the state of its report"
    wait = dag.task_dict["shard.wait"]
    assert wait.start_from_trigger
    path, arguments = JobsTrigger(**wait.start_trigger_args.trigger_kwargs).serialize()
    assert (path, arguments) == (wait.start_trigger_args.trigger_cls, wait.start_trigger_args.trigger_kwargs)
    assert arguments["kind"] == "export"


@pytest.mark.parametrize("dag_id", sorted(DAG_IDS))
def test_every_task_may_run_again_and_carries_its_words(
    dag_bag: DagBag, dag_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from shelfsync_airflow import options
    from shelfsync_airflow.retries import AfterItsTime

    for task in dag_bag.dags[dag_id].tasks:
        assert isinstance(task.retry_policy, AfterItsTime), task.task_id
        assert task.owner == "shelfsync", task.task_id
        assert task.doc_md, f"{task.task_id} has no description of what it does"
    monkeypatch.delenv("AIRFLOW__SHELFSYNC__RETRIES")
    assert options.retries() >= 3
    assert options.retry_delay() >= dt.timedelta(seconds=60)


def test_a_failed_task_is_repeated_by_its_retries_unless_something_else_repeats_it(
    monkeypatch: pytest.MonkeyPatch, airflow_database: None
) -> None:
    """`collect`: the next run comes a minute later, and no order of any store goes on meanwhile. A wait: its trigger tries again by itself."""
    from airflow.dag_processing.dagbag import DagBag

    monkeypatch.setenv("AIRFLOW__SHELFSYNC__RETRIES", "7")
    tasks = [task for dag in DagBag().dags.values() for task in dag.tasks]
    waits = {"wait", "wait_ends", "shard.wait", "held_changes.wait"}
    assert {task.task_id for task in tasks if task.retries == 0} == {"collect", *waits}
    assert {task.retries for task in tasks} == {0, 7}


@pytest.mark.parametrize("dag_id", SYNCS)
def test_the_form_takes_vendors_and_a_dry_run(dag_bag: DagBag, dag_id: str) -> None:
    form = dag_bag.dags[dag_id].params
    assert form.validate() == {"vendors": [], "dry_run": False}
    form = form.__copy__()
    form.update({"vendors": ["store-001"], "dry_run": True})
    assert form.validate() == {"vendors": ["store-001"], "dry_run": True}


@pytest.mark.parametrize(("name", "value"), [("vendors", [7]), ("vendors", "store-001"), ("dry_run", "yes")])
def test_the_form_rejects_any_other_value(dag_bag: DagBag, name: str, value: object) -> None:
    from airflow.sdk.exceptions import ParamValidationError

    form = dag_bag.dags["catalog_full_sync"].params.__copy__()
    with pytest.raises(ParamValidationError):
        form.update({name: value})


def test_every_templated_argument_of_a_trigger_is_a_template_field_of_its_operator(dag_bag: DagBag) -> None:
    """Airflow renders no other argument: the rest arrives in the triggerer as it was written."""
    waits = [task for dag in dag_bag.dags.values() for task in dag.tasks if getattr(task, "start_trigger_args", None)]
    templated = {
        (task.dag_id, task.task_id, name, name in task.template_fields)
        for task in waits
        for name, value in (task.start_trigger_args.trigger_kwargs or {}).items()
        if "{{" in str(value)
    }
    assert {task for _, task, _, _ in templated} >= {"wait", "wait_ends", "shard.wait"}
    assert [(dag_id, task_id, name) for dag_id, task_id, name, rendered in sorted(templated) if not rendered] == []


def test_every_template_of_a_trigger_pulls_one_xcom_by_its_index(dag_bag: DagBag) -> None:
    """Without `map_indexes` Airflow requests a sequence, which a triggerer cannot answer: the wait would never end."""
    waits = [task for dag in dag_bag.dags.values() for task in dag.tasks if getattr(task, "start_trigger_args", None)]
    pulling = [
        (task.dag_id, task.task_id, call)
        for task in waits
        for value in (task.start_trigger_args.trigger_kwargs or {}).values()
        for call in str(value).split("xcom_pull(")[1:]
    ]
    assert {task for _, task, _ in pulling} >= {"wait", "wait_ends", "shard.wait"}
    assert [(dag_id, task_id) for dag_id, task_id, call in pulling if "map_indexes=" not in call.split(")")[0]] == []
