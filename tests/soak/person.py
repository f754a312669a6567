"""The person who decides what the guards hold: by the command line, or in Airflow under Required Actions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from random import Random

    from soak.plan import Event
    from soak.soak_run import SoakRun

WHO = "soak"
LEFT_SHARE = 0.3
DECLINED_SHARE = 0.35
IN_AIRFLOW_SHARE = 0.5
OPTIONS = ("Approve", "Decline", "Use these thresholds once")
OPEN = "SELECT hold_id, vendor, rule FROM ledger.hold WHERE state = 'open' ORDER BY hold_id"
QUESTIONS = "/dags/catalog_holds/dagRuns/~/hitlDetails"


def decide(soak_run: SoakRun, event: Event) -> str:
    """Some of what is held is decided, some is left for later."""
    chance = event.chance(soak_run.seed)
    done = [
        _decide(soak_run, hold, chance)
        for hold in soak_run.installation.rows(OPEN)
        if chance.random() >= LEFT_SHARE and not soak_run.ended.is_set()
    ]
    return "; ".join(done)


def decide_all(soak_run: SoakRun, chance: Random) -> int:
    """Decides every hold and answers every question; returns how many."""
    holds = soak_run.installation.rows(OPEN)
    for hold in holds:
        soak_run.note(f"at the end: {_decide(soak_run, hold, chance)}")
    left = questions(soak_run)
    for (
        question
    ) in left:  # of holds that were decided elsewhere, or superseded: the decision stands, whatever the answer
        option = OPTIONS[sum(soak_run.left_over.values()) % len(OPTIONS)]
        _answer(soak_run, question, option)
        soak_run.left_over[option] += 1
    return len(holds) + len(left)


def questions(soak_run: SoakRun) -> list[dict[str, Any]]:
    """What waits for a person in Airflow."""
    found = soak_run.installation.get(QUESTIONS, response_received=False, limit=100)["hitl_details"]
    return [question for question in found if question["task_instance"]["state"] in {"awaiting_input", "deferred"}]


def _decide(soak_run: SoakRun, hold: dict[str, Any], chance: Random) -> str:
    declined = chance.random() < DECLINED_SHARE
    label = f"{hold['vendor']} {hold['rule']}"
    asked = [
        question
        for question in questions(soak_run)
        if question["subject"].startswith(f"{hold['vendor']}: send what {hold['rule']} ")
    ]
    soak_run.done["decline" if declined else "approve"] += 1
    if asked and chance.random() < IN_AIRFLOW_SHARE:
        _answer(soak_run, asked[0], "Decline" if declined else "Approve")
        return f"hold {hold['hold_id']} {label}: {'declined' if declined else 'approved'} in Airflow"
    verb = "decline" if declined else "approve"
    yes = () if declined else ("--yes",)
    ended = soak_run.command("holds", verb, str(hold["hold_id"]), *yes, "--user", WHO, "--reason", "soak")
    return f"hold {hold['hold_id']} {label}: {verb}: {ended.returncode} {ended.stdout.strip()[-200:]}"


def _answer(soak_run: SoakRun, question: dict[str, Any], option: str) -> None:
    task = question["task_instance"]
    path = f"/dags/catalog_holds/dagRuns/{task['dag_run_id']}/taskInstances/{task['task_id']}/{task['map_index']}/hitlDetails"
    answer = soak_run.installation.airflow.patch(
        f"/api/v2{path}", json={"chosen_options": [option], "params_input": {}}
    )
    soak_run.note(f"{option} in Airflow, {task['dag_run_id']} [{task['map_index']}]: {answer.status_code}")
