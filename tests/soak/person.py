"""The person who decides what the guards hold: by the command line, or in Airflow under Required Actions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from random import Random

    from soak.course import Course
    from soak.plan import Event

WHO = "soak"
LEFT_SHARE = 0.3
DECLINED_SHARE = 0.35
IN_AIRFLOW_SHARE = 0.5
OPEN = "SELECT hold_id, vendor, rule FROM ledger.hold WHERE state = 'open' ORDER BY hold_id"
HELD = "SELECT DISTINCT campaign FROM ledger.promotion_hold WHERE state = 'held' ORDER BY campaign"
QUESTIONS = "/dags/catalog_holds/dagRuns/~/hitlDetails"


def decide(course: Course, event: Event) -> str:
    """Some of what is held is decided, some is left for later."""
    chance = event.chance(course.seed)
    done = [
        _decide(course, hold, chance)
        for hold in course.installation.rows(OPEN)
        if chance.random() >= LEFT_SHARE and not course.ended.is_set()
    ]
    done += [
        _promotion(course, row["campaign"], chance)
        for row in course.installation.rows(HELD)
        if chance.random() >= LEFT_SHARE
    ]
    return "; ".join(done)


def decide_all(course: Course, chance: Random) -> int:
    """Everything that is held is decided, and no question is left; how many things that were."""
    holds, campaigns = course.installation.rows(OPEN), course.installation.rows(HELD)
    for hold in holds:
        course.note(f"at the end: {_decide(course, hold, chance)}")
    for row in campaigns:
        course.note(f"at the end: {_promotion(course, row['campaign'], chance)}")
    left = questions(course)
    for question in left:  # of holds that were decided elsewhere, or superseded: what was decided stands
        _answer(course, question, "Reject")
    return len(holds) + len(campaigns) + len(left)


def questions(course: Course) -> list[dict[str, Any]]:
    """What waits for a person in Airflow."""
    found = course.installation.get(QUESTIONS, response_received=False, limit=100)["hitl_details"]
    return [one for one in found if one["task_instance"]["state"] in {"awaiting_input", "deferred"}]


def _decide(course: Course, hold: dict[str, Any], chance: Random) -> str:
    declined = chance.random() < DECLINED_SHARE
    label = f"{hold['vendor']} {hold['rule']}"
    asked = [
        one for one in questions(course) if one["subject"].startswith(f"{hold['vendor']}: send what {hold['rule']} ")
    ]
    course.done["decline" if declined else "approve"] += 1
    if asked and chance.random() < IN_AIRFLOW_SHARE:
        _answer(course, asked[0], "Reject" if declined else "Approve")
        return f"hold {hold['hold_id']} {label}: {'declined' if declined else 'approved'} in Airflow"
    word = "reject" if declined else "approve"
    ended = course.command("holds", word, str(hold["hold_id"]), "--who", WHO, "--why", "soak")
    return f"hold {hold['hold_id']} {label}: {word}: {ended.returncode} {ended.stdout.strip()[-200:]}"


def _answer(course: Course, question: dict[str, Any], option: str) -> None:
    task = question["task_instance"]
    path = f"/dags/catalog_holds/dagRuns/{task['dag_run_id']}/taskInstances/{task['task_id']}/{task['map_index']}/hitlDetails"
    answer = course.installation.airflow.patch(f"/api/v2{path}", json={"chosen_options": [option], "params_input": {}})
    course.note(f"{option} in Airflow, {task['dag_run_id']} [{task['map_index']}]: {answer.status_code}")


def _promotion(course: Course, campaign: str, chance: Random) -> str:
    word = "refuse" if chance.random() < DECLINED_SHARE else "release"
    ended = course.command("promotions", word, campaign, "--by", WHO)
    return f"campaign {campaign}: {word}: {ended.returncode}"
