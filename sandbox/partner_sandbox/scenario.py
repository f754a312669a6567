"""A scenario: what happens on the platform over its clock, as one file (YAML or JSON) that a test in any language can play.

Its steps are due work like any other. A step and the note that it is done are one transaction: a restart plays no step twice.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Self

import yaml
from fastapi import APIRouter, Request
from pydantic import BeforeValidator, Field, ValidationError, model_validator
from sqlalchemy import JSON, Column, Connection, Index, Integer, Row, Table, Text, func, select, update

from partner_sandbox import answers, control
from partner_sandbox.bodies import Known
from partner_sandbox.catalog import assortment
from partner_sandbox.clock import Source, iso, to_us
from partner_sandbox.contract import described
from partner_sandbox.control import VendorBody, WebhookBody
from partner_sandbox.errors import ApiError, invalid, not_found, validation_error
from partner_sandbox.faults import RuleSet
from partner_sandbox.orders import lifecycle, placing
from partner_sandbox.sandbox import Sandbox, TheSandbox
from partner_sandbox.storage import metadata
from partner_sandbox.vendors import CHAIN, named_vendor

scenario_step = Table(
    "scenario_step",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("play", Integer, nullable=False, comment="the number of the scenario that is played"),
    Column("chain", Text, nullable=False),
    Column("name", Text, comment="by which later steps know its order"),
    Column("due_us", Integer, nullable=False),
    Column("action", Text, nullable=False, comment="order, cancel, faults, ...; end for the end of the scenario"),
    Column("body", JSON, comment="as in the file"),
    Column("state", Text, nullable=False, comment="pending, done, failed"),
    Column("problem", Text),
    Column("order_id", Text),
    Index("scenario_step_by_due", "state", "due_us"),
)
FILE_BYTES_MAX = 4 * 1024 * 1024
STEPS_MAX = 100_000
_UNITS = {"d": 86_400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_PART = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(ms|[dhms])")


def _seconds(value: Any) -> Any:
    """Seconds as a number, or a text such as 1h 30m."""
    if not isinstance(value, str):
        return value
    parts, end = [], 0
    while found := _PART.match(value, end):
        parts.append(float(found[1]) * _UNITS[found[2]])
        end = found.end()
    if not parts or value[end:].strip():
        raise ValueError("must be a number of seconds or a time such as 90s, 15m, 1h 30m, 2d")
    return sum(parts)


Seconds = Annotated[float, BeforeValidator(_seconds), Field(ge=0, le=366 * 86_400)]


class Ordered(placing.Placement):
    """A customer's order of a vendor."""

    vendor: Annotated[str, Field(min_length=1)]


class Cancelled(lifecycle.Cancel):
    """An order of the scenario, by its name."""

    order: str


class Actions(Known):
    """What can happen. At the top of the file it happens at the start, in this order."""

    settings: dict[str, Any] | None = None
    vendors: dict[str, VendorBody] | None = None
    products: dict[str, list[dict[str, Any]]] | None = None
    webhook: WebhookBody | None = None
    faults: RuleSet | None = None


class Step(Actions):
    """One action at a time after the start, perhaps several times."""

    at: Seconds = 0
    every: Seconds | None = Field(None, description="repeats it after so long")
    times: int = Field(1, ge=1, le=STEPS_MAX)
    name: str | None = Field(None, description="of the order; a repeated one is name-1, name-2, ...")
    order: Ordered | None = None
    cancel: Cancelled | str | None = None
    dispatch: str | None = None
    pick_up: str | None = None

    @model_validator(mode="after")
    def _one_action(self) -> Self:
        if len(self.actions) != 1:
            known = [name for name in type(self).model_fields if name not in {"at", "every", "times", "name"}]
            raise ValueError(f"has {len(self.actions)} actions; one of {', '.join(known)}")
        if self.times > 1 and self.every is None:
            raise ValueError("times is more than 1: every is required")
        return self

    @property
    def actions(self) -> list[str]:
        given = self.model_fields_set - {"at", "every", "times", "name"}
        return [name for name in given if getattr(self, name) is not None]


class Scenario(Actions):
    """A whole file."""

    title: str = ""
    chain: str = CHAIN
    reset: bool = Field(False, description="first restores the sandbox as it was when new")
    length: Seconds | None = Field(None, description="when it ends; with its last step unless given")
    steps: list[Step] = Field(default_factory=list, max_length=STEPS_MAX)


class _Loader(yaml.SafeLoader):
    """Times stay text, as in JSON."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in found if tag != "tag:yaml.org,2002:timestamp"]
    for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def parse(text: bytes) -> tuple[Scenario, dict[str, Any]]:
    """The scenario, and its file as plain values; 400 that names the first wrong field."""
    if len(text) > FILE_BYTES_MAX:
        raise ApiError(413, "PAYLOAD_TOO_LARGE", f"A scenario has at most {FILE_BYTES_MAX} bytes")
    try:
        raw = json.loads(text) if text.lstrip()[:1] == b"{" else yaml.load(text, _Loader)  # noqa: S506  a SafeLoader
    except (ValueError, yaml.YAMLError, RecursionError) as error:
        where = getattr(error, "problem_mark", None)
        line = f"line {where.line + 1}: " if where else ""
        raise invalid("", f"{line}the scenario is no YAML: {getattr(error, 'problem', None) or error}") from None
    if not isinstance(raw, dict):
        raise invalid("", "the scenario must be an object with steps")
    try:
        return Scenario.model_validate(raw), json.loads(json.dumps(raw, default=str))
    except ValidationError as error:
        raise validation_error(error.errors(include_url=False)) from None


def start(sandbox: Sandbox, text: bytes) -> int:
    """Begins to play a scenario; returns its number. Its steps fall due by the sandbox's clock."""
    scenario, raw = parse(text)
    if scenario.reset:
        sandbox.reset()
    begin_us = sandbox.clock.now_us()
    with sandbox.storage.begin() as connection:
        play = int(connection.execute(select(func.coalesce(func.max(scenario_step.c.play), 0))).scalar_one()) + 1
        rows = list(_rows(scenario, raw))
        length_us = to_us(scenario.length or 0)
        last_us = max([length_us, *(row["due_us"] for row in rows)])
        rows.append({"name": scenario.title or None, "due_us": last_us, "action": "end", "body": None})
        shared = {"play": play, "chain": scenario.chain, "state": "pending"}
        connection.execute(
            scenario_step.insert(), [{**row, **shared, "due_us": begin_us + row["due_us"]} for row in rows]
        )
    sandbox.work.wake()
    return play


def _rows(scenario: Scenario, raw: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The steps, repeated ones several times, in the order in which they happen."""
    for action in Actions.model_fields:
        if getattr(scenario, action) is not None:
            yield {"name": None, "due_us": 0, "action": action, "body": raw[action]}
    rows: list[dict[str, Any]] = []
    for step, given in zip(scenario.steps, raw.get("steps") or (), strict=True):
        (action,) = step.actions
        for number in range(step.times):
            name = step.name if step.times == 1 or step.name is None else f"{step.name}-{number + 1}"
            due_us = to_us(step.at + number * (step.every or 0))
            rows.append({"name": name, "due_us": due_us, "action": action, "body": given[action]})
        if len(rows) > STEPS_MAX:
            raise invalid("steps", f"are more than {STEPS_MAX} with their repeats")
    yield from sorted(rows, key=lambda row: row["due_us"])


class ScenarioSource(Source):
    """The steps as due work."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._one_at_a_time = asyncio.Lock()

    def next_due_us(self) -> int | None:
        pending = select(func.min(scenario_step.c.due_us)).where(scenario_step.c.state == "pending")
        with self._sandbox.storage.begin() as connection:
            found: int | None = connection.execute(pending).scalar_one()
        return found

    async def run_due(self) -> int:
        due = select(scenario_step).where(
            scenario_step.c.state == "pending", scenario_step.c.due_us <= self._sandbox.clock.now_us()
        )
        async with self._one_at_a_time:
            with self._sandbox.storage.begin() as connection:
                rows = connection.execute(due.order_by(scenario_step.c.due_us, scenario_step.c.id).limit(100)).all()
            for row in rows:
                await asyncio.to_thread(_play, self._sandbox, row)
        return len(rows)


def _play(sandbox: Sandbox, row: Row[Any]) -> None:
    mine = update(scenario_step).where(scenario_step.c.id == row.id)
    try:
        with sandbox.storage.begin() as connection:
            if not connection.execute(mine.values(state="done")).rowcount:
                return  # a reset took it away
            done = _DO[row.action](connection, sandbox, row)
            connection.execute(mine.values(order_id=done if isinstance(done, str) else None))
    except (ApiError, ValidationError, ValueError) as error:
        problem = validation_error(error.errors()).message if isinstance(error, ValidationError) else str(error)
        with sandbox.storage.begin() as connection:
            connection.execute(mine.values(state="failed", problem=problem))


def _vendors(_: Connection, sandbox: Sandbox, row: Row[Any]) -> None:
    for name, values in row.body.items():
        control.put_vendor(row.chain, name, sandbox, VendorBody.model_validate(values))


def _products(connection: Connection, sandbox: Sandbox, row: Row[Any]) -> None:
    for name, items in row.body.items():
        vendor = named_vendor(connection, row.chain, name)
        assortment.replace(connection, sandbox.ids, vendor, items, sandbox.clock.now_us())


def _order(_: Connection, sandbox: Sandbox, row: Row[Any]) -> str:
    wanted = {name: value for name, value in row.body.items() if name != "vendor"}
    placed = placing.place(sandbox, row.chain, row.body["vendor"], placing.Placement.model_validate(wanted))
    return placed.order_id


def _cancel(connection: Connection, sandbox: Sandbox, row: Row[Any]) -> str:
    cancel = Cancelled.model_validate({"order": row.body} if isinstance(row.body, str) else row.body)
    return lifecycle.cancel(sandbox, _named(connection, row, cancel.order), cancel.by, cancel.reason).order_id


_DO: dict[str, Callable[[Connection, Sandbox, Row[Any]], str | dict[str, Any] | None]] = {
    "settings": lambda _, sandbox, row: control.put_settings(sandbox, row.body),
    "vendors": _vendors,
    "products": _products,
    "webhook": lambda _, sandbox, row: control.put_webhook(row.chain, sandbox, WebhookBody.model_validate(row.body)),
    "faults": lambda _, sandbox, row: control.put_faults(sandbox, RuleSet.model_validate(row.body)),
    "order": _order,
    "cancel": _cancel,
    "dispatch": lambda connection, sandbox, row: lifecycle.dispatch(sandbox, _named(connection, row)).order_id,
    "pick_up": lambda connection, sandbox, row: lifecycle.pick_up(sandbox, _named(connection, row)).order_id,
    "end": lambda *_: None,
}
"""What each action does; a text that it returns is the identifier of its order."""


def _named(connection: Connection, row: Row[Any], name: str | None = None) -> str:
    """The identifier of an order of this scenario, by its name."""
    name = name or str(row.body)
    mine = (scenario_step.c.play == row.play, scenario_step.c.name == name, scenario_step.c.action == "order")
    found = connection.execute(select(scenario_step.c.order_id).where(*mine).limit(1)).scalar()
    if found is None:
        raise invalid("", f"the scenario has placed no order named {name!r} so far")
    return str(found)


router = APIRouter(prefix="/scenarios")


@router.post("", **described(answers.PlayedScenario, Scenario))
async def post_scenario(request: Request, sandbox: TheSandbox) -> dict[str, Any]:
    """Begins to play a scenario, YAML or JSON; it goes on by the sandbox's clock."""
    text = await request.body()
    play = await asyncio.to_thread(start, sandbox, text)
    await sandbox.work.run_due()
    return read_scenario(play, sandbox)


@router.get("/{play}", **described(answers.PlayedScenario))
def read_scenario(play: int, sandbox: TheSandbox) -> dict[str, Any]:
    """The steps of a scenario with their states, and when it ends."""
    with sandbox.storage.begin() as connection:
        mine = select(scenario_step).where(scenario_step.c.play == play).order_by(scenario_step.c.id)
        rows = connection.execute(mine).all() if play < 2**31 else []
    if not rows:
        raise not_found("Scenario")
    *steps, end = rows
    pending = [row.due_us for row in rows if row.state == "pending"]
    return {
        "play": play,
        "title": end.name or "",
        "now": sandbox.clock.now_iso(),
        "clock": "virtual" if sandbox.clock.virtual else "real",
        "ends": iso(end.due_us),
        "next_in_s": max(0, min(pending) - sandbox.clock.now_us()) / 1e6 if pending else None,
        "failed": sum(row.state == "failed" for row in steps),
        "steps": [
            {
                "time": iso(row.due_us),
                "action": row.action,
                **{name: getattr(row, name) for name in ("name", "state", "problem", "order_id")},
            }
            for row in steps
        ],
    }
