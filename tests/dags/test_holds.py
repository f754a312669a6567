"""An operator decides in Airflow: Airflow's own API opens and answers the question, and the decision reaches the platform."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from airflow.api_fastapi.app import create_app, get_auth_manager, purge_cached_app
from airflow.api_fastapi.auth.managers.simple.user import SimpleAuthManagerUser
from airflow.configuration import conf
from airflow.models.hitl import HITLDetail
from airflow.sdk import timezone
from airflow.sdk.exceptions import AirflowSkipException
from fastapi.testclient import TestClient

from airflow_world import CUT, STORES, states, written
from shelfsync.decisions.state import Place
from shelfsync.decisions.steps import decide
from shelfsync_airflow.app import PLATFORM, open_app
from shelfsync_airflow.holds import APPROVE, DECLINE, ONCE, ApproveHoldOperator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from airflow_world import World

pytestmark = pytest.mark.slow

DEADLINE_S = 120.0


class Person(threading.Thread):
    """An operator at the Required Actions page, who answers each question with the next answer of a list."""

    def __init__(self, server: TestClient, *answers: tuple[str, dict[str, Any]]) -> None:
        super().__init__(daemon=True)
        self._server = server
        self._answers = list(answers)
        self._gone = threading.Event()
        self.asked: list[dict[str, Any]] = []
        self._trouble: Exception | None = None
        user = SimpleAuthManagerUser(username="ada", role="admin")
        self._headers = {"Authorization": f"Bearer {get_auth_manager().generate_jwt(user)}"}

    def run(self) -> None:
        end = time.monotonic() + DEADLINE_S
        while not self._gone.wait(0.2):
            try:
                for question in self._questions():
                    self._answer(question, *(self._answers.pop(0) if self._answers else ("Decline", {})))
                if time.monotonic() > end:
                    self._give_up(TimeoutError(f"the run has not ended within {DEADLINE_S:g} s"))
            except Exception as error:  # noqa: BLE001  a thread's trouble is the test's, once the run has ended
                self._give_up(error)

    def _give_up(self, error: Exception) -> None:
        """If no operator answers, the run waits until its question fails, and the test with it."""
        self._trouble = error
        tables = conf.get("database", "sql_alchemy_conn").removeprefix("sqlite:///")
        with contextlib.closing(sqlite3.connect(tables, timeout=30)) as connection, connection:
            connection.execute("UPDATE task_instance SET state = 'failed' WHERE state = 'awaiting_input'")

    def leave(self) -> None:
        """Leaves the page and returns the errors."""
        self._gone.set()
        self.join(DEADLINE_S)
        if self._trouble is not None:
            raise self._trouble

    def _questions(self) -> list[dict[str, Any]]:
        """The questions that wait. SQLite locks no row, so Airflow can lose an answer that arrives while its task parks."""
        where = "/api/v2/dags/catalog_holds/dagRuns/~/hitlDetails"
        got = self._server.get(where, params={"response_received": False}, headers=self._headers)
        assert got.status_code == 200, got.text
        return [found for found in got.json()["hitl_details"] if found["task_instance"]["state"] == "awaiting_input"]

    def _answer(self, question: dict[str, Any], option: str, form: dict[str, Any]) -> None:
        self.asked.append(question)
        ti = question["task_instance"]
        where = f"/api/v2/dags/{ti['dag_id']}/dagRuns/{ti['dag_run_id']}/taskInstances/{ti['task_id']}/{ti['map_index']}/hitlDetails"
        lines = {"chosen_options": [option], "params_input": dict.fromkeys(question["params"]) | form}
        got = self._server.patch(where, json=lines, headers=self._headers)
        assert got.status_code == 200, got.text


@pytest.fixture(scope="module")
def server(airflow_database: None) -> Iterator[TestClient]:
    """Airflow's API server, whose routes cost some CPU seconds to build."""
    purge_cached_app()
    with TestClient(create_app(apps="core"), base_url="http://airflow.test") as client:
        yield client
    purge_cached_app()


@pytest.fixture
def mistyped(world: World) -> World:
    """Two of three stores have a price whose decimal point slipped, the third an ordinary one; the delta has run."""
    world.synced("full")
    world.erp.put("store-001", "a", "12.34", 10)
    world.erp.put("store-002", "b", "123.40", 10)
    world.erp.put("store-003", "c", "1.50", 10)
    assert world.synced("delta")["state"] == "succeeded"
    assert world.prices() == [CUT, CUT, CUT | {"c": 1.5}], "the accidents are held, the rest went"
    return world


def _ask(world: World, server: TestClient, *answers: tuple[str, dict[str, Any]]) -> tuple[Any, Person]:
    person = Person(server, *answers)
    person.start()
    run = world.run("catalog_holds")
    person.leave()
    return run, person


def test_an_approval_in_airflow_is_delivered_and_a_declined_hold_is_not(mistyped: World, server: TestClient) -> None:
    run, person = _ask(mistyped, server, ("Approve", {}), ("Decline", {}))
    assert run.state == "success"
    decided = mistyped.rows("SELECT vendor, rule, state, decided_by FROM ledger.hold ORDER BY vendor")
    assert {row[2] for row in decided} == {"approved", "declined"}
    assert {(row[1], row[3]) for row in decided} == {("shifted_decimal", "ada")}
    shown = mistyped.prices()
    approved = [row[0] for row in decided if row[2] == "approved"]
    wanted = {"store-001": CUT | {"a": 12.34}, "store-002": CUT | {"b": 123.4}}
    for vendor, prices in zip(STORES[:2], shown, strict=False):
        assert prices == (wanted[vendor] if vendor in approved else CUT)
    body = person.asked[0]["body"]
    assert "| sku | change | price |" in body
    assert "/shelfsync/pages/holds/" in body or "shelfsync holds show" in body
    assert mistyped.rows("SELECT count(*) FROM ledger.hold WHERE decided_at IS NULL") == [(0,)]
    before = len(mistyped.sent())
    assert mistyped.run("catalog_delta_sync").state == "success"
    assert len(mistyped.sent()) == before, "declined changes stay held, and no operator is asked again"
    assert states(mistyped.run("catalog_holds"))["held_changes.approve"] == {"skipped"}


def test_more_holds_than_airflow_maps_at_once_are_asked_by_the_next_runs(
    mistyped: World, server: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrong price list of the chain is a hold at each store, and Airflow maps a task at most 1,024 times."""
    monkeypatch.setenv("AIRFLOW__CORE__MAX_MAP_LENGTH", "1")
    for decided in (1, 2):
        run, person = _ask(mistyped, server, ("Decline", {}))
        assert (run.state, len(person.asked)) == ("success", 1)
        assert mistyped.rows("SELECT count(*) FROM ledger.hold WHERE state = 'declined'") == [(decided,)]


def test_an_unanswered_hold_expires_and_the_ledger_records_it(mistyped: World) -> None:
    """The event that the scheduler passes to the task after the timeout, created by Airflow; `dag.test()` has no scheduler."""
    unanswered = HITLDetail(
        chosen_options=[DECLINE], params_input={"max_rows": None, "why": None}, responded_at=timezone.utcnow()
    )
    written(mistyped, "UPDATE ledger.hold SET expires_at = ledger.instant() - interval '1 s'")
    asking: Any = {"dag": SimpleNamespace(dag_id="catalog_holds"), "run_id": "first"}
    for (number,) in mistyped.rows("SELECT hold_id FROM ledger.hold"):
        question = ApproveHoldOperator(task_id="approve", hold={"hold": number, "label": "a hold"})
        assert question.defaults == [DECLINE]
        with pytest.raises(AirflowSkipException, match="expired by timeout"):
            question.execute_complete(asking, unanswered.as_resume_event_payload(timedout=True))
    assert mistyped.rows("SELECT state, decided_by FROM ledger.hold") == [("expired", "timeout")] * 2
    assert mistyped.prices("store-001", "store-002") == [CUT, CUT]
    mistyped.erp.put("store-001", "c", "1.60", 10)
    assert mistyped.run("catalog_delta_sync").state == "success"
    assert mistyped.prices("store-001", "store-002") == [CUT | {"c": 1.6}, CUT], "other changes go on"


def test_a_question_whose_hold_was_decided_elsewhere_ends_and_a_late_answer_does_nothing(mistyped: World) -> None:
    """What the scheduler passes at the next look, and what a person answers: to a declined hold, and to one that was reopened since."""
    (number,), _ = mistyped.rows("SELECT hold_id FROM ledger.hold ORDER BY hold_id")
    asking: Any = {"dag": SimpleNamespace(dag_id="catalog_holds"), "run_id": "first"}
    look = HITLDetail(chosen_options=[DECLINE], params_input={}, responded_at=timezone.utcnow())
    bob = {"chosen_options": [APPROVE], "params_input": {}, "responded_by_user": {"id": "7", "name": "bob"}}
    written(mistyped, "UPDATE ledger.hold SET asked_by = 'catalog_holds/first'")
    with open_app(PLATFORM) as app:
        decide.decide(app, number, approve=False, who="ada", place=Place.PAGE, why="price list wrong")
    for event in (look.as_resume_event_payload(timedout=True), bob):
        question = ApproveHoldOperator(task_id="approve", hold={"hold": number, "label": "a hold"})
        with pytest.raises(AirflowSkipException, match=r"is declined by ada at .*; nothing was done"):
            question.execute_complete(asking, event)
        assert "is declined by ada at " in question.hold["label"], "Airflow's list shows it"
    with open_app(PLATFORM) as app:
        decide.reopen(app, number, who="eve", place=Place.PAGE, why="ask again")
    question = ApproveHoldOperator(task_id="approve", hold={"hold": number, "label": "a hold"})
    with pytest.raises(
        AirflowSkipException, match=r"another one than the answer is about: eve reopened it at .*; nothing was done"
    ):
        question.execute_complete(asking, bob)
    with pytest.raises(AirflowSkipException, match="a newer question asks about it: eve reopened it at"):
        question.execute_complete(asking, look.as_resume_event_payload(timedout=True))
    assert mistyped.rows("SELECT state FROM ledger.hold WHERE asked_by IS NULL") == [("open",)]
    assert mistyped.prices("store-001", "store-002") == [CUT, CUT]


def test_other_thresholds_for_once_are_taken_from_the_form(mistyped: World, server: TestClient) -> None:
    fields, script = {"max_rows": 5, "why": "packs of ten"}, {"thresholds": '{"max_rows": 5}'}
    run, person = _ask(mistyped, server, (ONCE, fields), (ONCE, script))
    assert run.state == "success"
    assert mistyped.prices("store-001", "store-002") == [CUT | {"a": 12.34}, CUT | {"b": 123.4}]
    shown = person.asked[0]["params"]
    assert {name: field["value"] for name, field in shown.items()} == dict.fromkeys(
        ("max_rows", "max_share", "slack", "why")
    )
    kept = mistyped.rows("SELECT decided_by, why, thresholds ->> 'max_rows' FROM ledger.decision ORDER BY why")
    assert kept == [("ada", "packs of ten", "5"), ("ada", None, "5")]


@pytest.mark.parametrize(
    "fields",
    [
        {"max_share": 7},
        *(
            pytest.param(wrong, marks=pytest.mark.proof)
            for wrong in ({}, {"thresholds": "[object Object]"}, {"thresholds": "{}"})
        ),
    ],
)
def test_an_answer_that_names_no_usable_threshold_decides_nothing_and_is_asked_again(
    mistyped: World, server: TestClient, fields: dict[str, Any]
) -> None:
    run, person = _ask(mistyped, server, (ONCE, fields), (ONCE, fields), ("Decline", {"why": "slips"}))
    assert run.state == "success"
    assert len(person.asked) >= 3
    decided = mistyped.rows("SELECT DISTINCT state, decided_by FROM ledger.decision")
    assert decided == [("declined", "ada")]


def test_an_approval_of_changes_that_a_newer_extract_replaced_sends_nothing_and_is_reported(
    mistyped: World, server: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    class LateDelta(Person):
        """While the question is on the screen, the ERP is corrected and the next delta runs."""

        def _answer(self, question: dict[str, Any], option: str, form: dict[str, Any]) -> None:
            if not self.asked:
                written(
                    mistyped, "UPDATE ledger.hold SET state = 'superseded', superseded_by = 99 WHERE state = 'open'"
                )
            super()._answer(question, option, form)

    person = LateDelta(server, ("Approve", {}), ("Approve", {}))
    person.start()
    run = mistyped.run("catalog_holds")
    person.leave()
    assert run.state == "success"
    assert mistyped.prices("store-001", "store-002") == [CUT, CUT]
    assert any("superseded by the newer extract of run 99" in line for line in caplog.messages)
