"""Asks an operator about holds in Airflow's own UI, and writes the answer to the ledger and the platform."""

from __future__ import annotations

import datetime as dt
import json
import logging
from typing import TYPE_CHECKING, Any, NoReturn

from airflow.providers.standard.operators.hitl import HITLOperator
from airflow.sdk import Param, chain, get_current_context, task, task_group
from airflow.sdk.definitions.param import ParamsDict
from airflow.sdk.exceptions import AirflowSkipException

from shelfsync_airflow.app import PLATFORM, open_app
from shelfsync_airflow.tasks import take
from shelfsync_airflow.wait import WaitOperator

if TYPE_CHECKING:
    from airflow.sdk import Context

    from shelfsync.context import Context as AppContext

log = logging.getLogger(__name__)

APPROVE, DECLINE, ONCE = "Approve", "Decline", "Use these thresholds once"
WHY, ALL = "why", "thresholds"
SHORTEST_S = 60.0
LABEL_MAX = 250
"""Airflow's column takes no longer one."""
HOLD_LABEL = "{{ task.op_kwargs['hold']['label'] }}"
SENT_LABEL = "{{ task.op_kwargs['sent']['label'] }}"
SENT_OF_THIS_INDEX = "{{ ti.xcom_pull(task_ids='held_changes.release', map_indexes=ti.map_index) | tojson }}"


@task
def ask() -> list[dict[str, Any]]:
    """Selects the open holds that no run asks about, as many as Airflow maps at once; a repeat selects the same ones, the next run the others.

    A run that a person has ended asks no more: its question does not look whether the hold is decided.
    """
    from airflow.sdk.configuration import conf

    from shelfsync.decisions.steps import lists

    context = get_current_context()
    most = int(conf.get("core", "max_map_length", fallback="1024"))
    with open_app(PLATFORM) as app:
        found = lists.ask(app, _key(context), most=most)
    for hold in found:
        log.info("hold %d: %s", hold["hold"], hold["label"])
    return found


class ApproveHoldOperator(HITLOperator):
    """Waits for a person's decision about one hold, and writes it to the ledger with the person, the reason and the time.

    `hold`: `{"hold": number, "label": text}`. What it is about is read when the question is asked, so that no row goes through XCom.
    An answer that cannot be used decides nothing, and the question is asked again.

    Airflow lets no task end another's question. So this task looks every few minutes whether the hold was decided elsewhere, and ends
    then. Its label reports who decided, also to a person whose answer came too late.
    """

    template_fields = (*HITLOperator.template_fields, "hold")
    ui_color = "#f6e3c5"

    def __init__(self, *, hold: Any, **kwargs: Any) -> None:
        super().__init__(subject="What a guard holds", options=[APPROVE, DECLINE, ONCE], defaults=[DECLINE], **kwargs)
        self.hold = hold

    def execute(self, context: Context) -> Any:
        """Opens the question until the next look, unless the hold is decided, expired or superseded by now."""
        from shelfsync.decisions.steps.late_answer import why_closed
        from shelfsync.decisions.steps.question import question as read_question

        with open_app(PLATFORM) as app:
            question = read_question(app, self.hold["hold"], key=_key(context), pages=_pages())
            if question is None:
                self._end(why_closed(app, self.hold["hold"]))
        self.subject, self.body = question["subject"], question["body"]
        self.params = form(question["thresholds"])
        self.response_timeout = dt.timedelta(seconds=max(SHORTEST_S, min(question["left_s"], question["look_s"])))
        return super().execute(context)

    def execute_complete(self, context: Context, event: dict[str, Any]) -> Any:
        """Writes the answer; without an approval, the task ends here."""
        if "error" in event:
            self.process_trigger_event_error(event)
        (option,) = event["chosen_options"]
        self.validate_chosen_options([option])
        person = event["responded_by_user"]
        if person is None:  # the next look
            return self.execute(context)
        who = str(person["name"] or person["id"])
        fields = event["params_input"] or {}
        with open_app(PLATFORM) as app:
            result = _decide(app, self.hold["hold"], option, fields, who, _key(context))
        if result is None:
            return self.execute(context)
        log.info("%s", result["line"])
        if not result["decided"] or result["state"] != "approved":
            self._end(result["line"])
        return result

    def _end(self, line: str) -> NoReturn:
        """Ends the task, with what became of the hold as its label in Airflow's list."""
        self.hold = {**self.hold, "label": line[:LABEL_MAX]}
        raise AirflowSkipException(line)


@task(map_index_template=HOLD_LABEL)
def release(hold: dict[str, Any]) -> dict[str, Any]:
    """Plans what was approved as batches of the run that holds it."""
    from shelfsync.decisions.steps.decide import release as plan

    with open_app(PLATFORM) as app:
        result = plan(app, hold["hold"])
    log.info("%s", result["line"])
    if not result["vendors"]:
        raise AirflowSkipException(result["line"])
    return result


@task(map_index_template=SENT_LABEL)
def deliver(sent: dict[str, Any]) -> list[dict[str, Any]]:
    """Sends it."""
    return take(("deliver",), sent)


@task(map_index_template=SENT_LABEL)
def confirm(sent: dict[str, Any]) -> list[dict[str, Any]]:
    """Fetches the jobs' logs, finds the outcome of each SKU, and moves the baseline by what the platform accepted."""
    return take(("confirm", "acknowledge"), sent)


@task_group
def held_changes(hold: dict[str, Any]) -> None:
    """One question and its consequences."""
    approve = ApproveHoldOperator(
        task_id="approve",
        hold=hold,
        map_index_template="{{ task.hold['label'] }}",
        doc_md="Waits for a person; no worker and no triggerer is held meanwhile.",
    )
    sent: Any = release(hold=hold)  # an XComArg: the task receives its value when it runs
    chain(
        approve,
        sent,
        deliver(sent=sent),
        WaitOperator(
            task_id="wait", shard=SENT_OF_THIS_INDEX, doc_md="Waits in the triggerer until the jobs have ended."
        ),
        confirm(sent=sent),
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
    app: AppContext, hold: int, option: str, fields: dict[str, Any], who: str, key: str
) -> dict[str, Any] | None:
    """Writes the operator's decision to the ledger; an earlier decision from elsewhere counts instead. None: no hold was decided."""
    from shelfsync.decisions.state import Place
    from shelfsync.decisions.steps.decide import decide
    from shelfsync.decisions.steps.other_thresholds import reconsider
    from shelfsync.errors import DataError

    why = str(fields.get(WHY) or "").strip() or None
    try:
        if option == ONCE:
            result = reconsider(app, hold, _thresholds(fields), who=who, place=Place.AIRFLOW, why=why, asked_by=key)
        else:
            result = decide(app, hold, approve=option == APPROVE, who=who, place=Place.AIRFLOW, why=why, asked_by=key)
    except DataError as error:
        log.warning("%s; the question is asked again", error)
        return None
    return result


def _key(context: Context) -> str:
    """The run of Airflow that asks, as the ledger knows it."""
    return f"{context['dag'].dag_id}/{context['run_id']}"


def _thresholds(fields: dict[str, Any]) -> dict[str, Any]:
    """The operator's values, by threshold. A script may send all of them as one JSON object named `thresholds`."""
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


def _pages() -> str | None:
    """The address of shelfsync's pages for a browser."""
    from airflow.sdk.configuration import conf

    from shelfsync.chosen_chain import chain_in_use
    from shelfsync_airflow.api_server import PAGES_PREFIX as PREFIX

    base = str(conf.get("api", "base_url", fallback="") or "").rstrip("/")
    chain = chain_in_use()
    return f"{base}{PREFIX}{'' if chain is None else f'/{chain}'}" if base else None
