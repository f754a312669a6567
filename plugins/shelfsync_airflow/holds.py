"""Asking a person about held slices in Airflow's own UI, and taking the answer to the ledger and the platform."""

from __future__ import annotations

import datetime as dt
import json
import logging
from typing import TYPE_CHECKING, Any

from airflow.providers.standard.operators.hitl import HITLOperator
from airflow.sdk import Param, ParamsDict, chain, get_current_context, task, task_group
from airflow.sdk.exceptions import AirflowSkipException

from shelfsync_airflow.house import PLATFORM, open_house
from shelfsync_airflow.wait import WaitOperator

if TYPE_CHECKING:
    from airflow.sdk import Context

log = logging.getLogger(__name__)

APPROVE, REJECT, ONCE = "Approve", "Reject", "Use these thresholds once"
WHY, ALL = "why", "thresholds"
HOLD_LABEL = "{{ task.op_kwargs['hold']['label'] }}"
SENT_LABEL = "{{ task.op_kwargs['sent']['label'] }}"
SENT_OF_THIS_INDEX = "{{ ti.xcom_pull(task_ids='held_slice.release', map_indexes=ti.map_index) | tojson }}"


@task
def ask() -> list[dict[str, Any]]:
    """Takes on the open holds that nobody was asked about yet; run again, it takes on the same."""
    context = get_current_context()
    with open_house(PLATFORM) as house:
        found = house.holds.ask(f"{context['dag'].dag_id}/{context['run_id']}")
    for hold in found:
        log.info("hold %d: %s", hold["hold"], hold["label"])
    return found


class ApproveHoldOperator(HITLOperator):
    """Waits for a person's decision about one held slice, and writes it to the ledger with the person, the reason and the time.

    `hold`: `{"hold": number, "label": text}`. What it is about is read when the question is asked, so that no row goes through XCom.
    An answer that cannot be used decides nothing, and the question is asked again.
    """

    template_fields = (*HITLOperator.template_fields, "hold")
    ui_color = "#f6e3c5"

    def __init__(self, *, hold: Any, **kwargs: Any) -> None:
        super().__init__(subject="What a guard holds", options=[APPROVE, REJECT, ONCE], defaults=[REJECT], **kwargs)
        self.hold = hold

    def execute(self, context: Context) -> Any:
        """Asks; a hold that is decided or superseded by now needs nobody."""
        with open_house(PLATFORM) as house:
            question = house.holds.question(self.hold["hold"], pages=_pages())
        if question is None:
            raise AirflowSkipException(f"hold {self.hold['hold']} is decided or superseded already")
        self.subject, self.body = question["subject"], question["body"]
        self.params = form(question["thresholds"])
        self.response_timeout = dt.timedelta(seconds=max(60.0, question["left_s"]))
        return super().execute(context)

    def execute_complete(self, context: Context, event: dict[str, Any]) -> Any:
        """Takes the answer; anything but an approval ends here."""
        if "error" in event:
            self.process_trigger_event_error(event)
        (option,) = event["chosen_options"]
        self.validate_chosen_options([option])
        person = event["responded_by_user"]
        who = "nobody, in time" if person is None else str(person["name"] or person["id"])
        fields = event["params_input"] or {}
        with open_house(PLATFORM) as house:
            told = _decide(house.holds, self.hold["hold"], option, fields, who, in_time=person is not None)
        if told is None:
            return self.execute(context)
        log.info("%s", told["line"])
        if told["state"] != "approved":
            raise AirflowSkipException(told["line"])
        return told


@task(map_index_template=HOLD_LABEL)
def release(hold: dict[str, Any]) -> dict[str, Any]:
    """Plans what was approved as batches of the run that holds it."""
    with open_house(PLATFORM) as house:
        told: dict[str, Any] = house.holds.release(hold["hold"])
    log.info("%s", told["line"])
    if not told["vendors"]:
        raise AirflowSkipException(told["line"])
    return told


@task(map_index_template=SENT_LABEL)
def deliver(sent: dict[str, Any]) -> dict[str, Any]:
    """Sends it, one open job a vendor."""
    return _take("deliver", sent)


@task(map_index_template=SENT_LABEL)
def confirm(sent: dict[str, Any]) -> dict[str, Any]:
    """Fetches the job's log and finds out what became of each SKU."""
    return _take("confirm", sent)


@task(map_index_template=SENT_LABEL)
def acknowledge(sent: dict[str, Any]) -> dict[str, Any]:
    """Moves the baseline by what the platform accepted."""
    return _take("acknowledge", sent)


@task_group
def held_slice(hold: dict[str, Any]) -> None:
    """One question and what comes of it."""
    approve = ApproveHoldOperator(
        task_id="approve",
        hold=hold,
        map_index_template="{{ task.hold['label'] }}",
        doc_md="Waits for a person; no worker and no triggerer is held meanwhile.",
    )
    sent = release(hold=hold)
    chain(
        approve,
        sent,
        deliver(sent=sent),
        WaitOperator(
            task_id="wait", shard=SENT_OF_THIS_INDEX, doc_md="Waits in the triggerer until the job has ended."
        ),
        confirm(sent=sent),
        acknowledge(sent=sent),
    )


def form(thresholds: dict[str, Any]) -> ParamsDict:
    """The fields beside the buttons: each threshold of the rule as a number, and the reason. All may stay empty.

    Airflow's form shows a text that parses as JSON as "[object Object]", so no field has such a default.
    """
    fields: dict[str, Any] = {
        name: Param(
            None,
            type=["null", "number"],
            title=f"{name} for this once",
            description=f'For "{ONCE}". It is {value:g} now, and stays so if this is left empty.',
        )
        for name, value in thresholds.items()
        if not isinstance(value, bool)
    }
    fields[WHY] = Param(None, type=["null", "string"], title="Why", description="Kept with the decision.")
    return ParamsDict(fields)


def _decide(
    desk: Any, hold: int, option: str, fields: dict[str, Any], who: str, *, in_time: bool
) -> dict[str, Any] | None:
    """The person's decision to the ledger; whatever somebody decided elsewhere meanwhile stands. None: it is none, so nothing was decided."""
    from shelfsync.errors import DataError

    why = str(fields.get(WHY) or "").strip() or None
    if not in_time:
        told: dict[str, Any] = desk.expire(hold, who=who)
        return told
    try:
        if option == ONCE:
            told = desk.reconsider(hold, _thresholds(fields), who=who, why=why)
        else:
            told = desk.decide(hold, approve=option == APPROVE, who=who, why=why)
    except DataError as error:
        log.warning("%s; the question is asked again", error)
        return None
    return told


def _thresholds(fields: dict[str, Any]) -> dict[str, Any]:
    """What the person filled in, by threshold. A script may send all of them as one JSON object named `thresholds`."""
    from shelfsync.errors import DataError

    given = {name: value for name, value in fields.items() if name not in {WHY, ALL} and value not in {None, ""}}
    text = fields.get(ALL)
    try:
        all_of_them = json.loads(text) if isinstance(text, str) and text.strip() else text or {}
    except ValueError:
        all_of_them = None
    if not isinstance(all_of_them, dict):
        raise DataError(f"{ALL}: {text!r} is no JSON object, so nothing was decided")
    return {**all_of_them, **given}


def _take(word: str, sent: dict[str, Any]) -> dict[str, Any]:
    """One step of the ordinary path for the vendor of one slice."""
    with open_house(PLATFORM) as house:
        told = house.step(word, sent["run"], sent["vendors"])
    for vendor, why in {**told["skipped"], **told["failed"]}.items():
        log.info("%s: vendor %s: %s", word, vendor, why)
    return {"step": word, "done": told["done"], "skipped": len(told["skipped"]), "failed": len(told["failed"])}


def _pages() -> str | None:
    """Where our pages are, as people reach them."""
    from airflow.sdk.configuration import conf

    from shelfsync_airflow.mounted_pages import PREFIX  # here, because it brings a web framework with it

    base = str(conf.get("api", "base_url", fallback="") or "").rstrip("/")
    return f"{base}{PREFIX}" if base else None
