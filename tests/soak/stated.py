"""Faults with a stated alert: each opens exactly one within its time and closes it after its end, or opens none. Nothing else opens.

They come one at a time after the disturbances, so that each alert has one cause. A route to an HTTP receiver shows what a person gets.
"""

from __future__ import annotations

import json
import random
import time
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import httpx
import psycopg

from crash import victims
from installation import shelf

if TYPE_CHECKING:
    from collections.abc import Callable

    from message_services import Chat
    from soak.soak_run import SoakRun

STORE = "store-002"
LOOK_EVERY_S = 2.0
QUIET_S = 900.0
"""So long a fault's consequences may last; then the next fault begins with whatever is open."""
TOLD_S = 120.0
"""A message reaches its person so soon after the alert opened or closed: one look of the watch, on a machine that does other things."""
OPENED = "SELECT alert_id, kind, subject, message FROM ledger.alert WHERE alert_id > %(after)s AND kind <> 'rejected' ORDER BY alert_id"
OPEN = (
    "SELECT alert_id, kind, subject FROM ledger.alert WHERE closed_at IS NULL AND kind <> 'rejected' ORDER BY alert_id"
)
"""The sample's stores sell products that the platform does not know: `rejected` stays open from the first sync on."""
LAST = "SELECT coalesce(max(alert_id), 0) AS last FROM ledger.alert"
NOT_TOLD = """
SELECT alert_id FROM ledger.alert WHERE alert_id > %(after)s AND closed_at IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM ledger.alert_message AS message
    WHERE message.alert_id = alert.alert_id AND act = 'closed' AND sent_at IS NOT NULL
)
"""


@dataclass(frozen=True)
class Stated:
    """One fault. `opens`: the kind and what its subject begins with; None: nothing.

    It lasts until its alert is open, and `lasts_s` at least. `within_s`, `over_s`: from its begin to the opening, from its end to the close.
    """

    name: str
    begin: Callable[[SoakRun], object]
    end: Callable[[SoakRun], object]
    opens: tuple[str, str] | None
    lasts_s: float = 0.0
    within_s: float = 300.0
    over_s: float = 300.0


def _faults(*rules: dict[str, Any]) -> Callable[[SoakRun], object]:
    return lambda soak_run: soak_run.sandbox("PUT", "/faults", {"rules": list(rules)})


def _away(soak_run: SoakRun) -> None:
    kinds = soak_run.sandbox("GET", "/faults")["kinds"]
    (places,) = (kind["at"] for kind in kinds if kind["kind"] == "status_NNN")
    rules = [{"at": place, "kind": "status_503", "probability": 1} for place in places]
    soak_run.sandbox("PUT", "/faults", {"rules": rules})


def _erp_answers(soak_run: SoakRun, *, answers: bool) -> None:
    with psycopg.connect(soak_run.installation.database_url, autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE erp ALLOW_CONNECTIONS {str(answers).lower()}")
        if not answers:
            connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'erp'")


def _times(factor: str) -> Callable[[SoakRun], object]:
    """The price of the first product of a store, so many times as high."""

    def change(soak_run: SoakRun) -> None:
        prices = {
            sku: row["price"] for (store, sku), row in shelf.erp_rows(soak_run.installation).items() if store == STORE
        }
        sku = min(prices)
        shelf.set_price(soak_run.installation, STORE, sku, prices[sku] * Decimal(factor))

    return change


def _pause(soak_run: SoakRun) -> None:
    soak_run.command("pause", "--all", "--reason", "soak", "--user", "soak")


def _resume(soak_run: SoakRun) -> None:
    soak_run.command("resume", "--all", "--reason", "soak", "--user", "soak")


def _switch(dag_id: str, *, off: bool) -> Callable[[SoakRun], object]:
    return lambda soak_run: soak_run.installation.call("PATCH", f"/dags/{dag_id}", json={"is_paused": off})


def _stranger(soak_run: SoakRun) -> None:
    for _ in range(5):
        answer = httpx.post(f"{soak_run.installation.receiver_url}/webhook", json={}, headers={"Authorization": "no"})
        assert answer.status_code == 401, answer.text


def _kill(victim: str) -> Callable[[SoakRun], object]:
    def kill(soak_run: SoakRun) -> None:
        victims.kill(soak_run.installation.home, victim, random.Random(soak_run.seed))

    return kill


def _nothing(_: SoakRun) -> None:
    """It ends by itself."""


FAULTS = (
    Stated("the platform answers 503 for ten seconds", _away, _faults(), None, lasts_s=10, over_s=150),
    Stated("the platform answers 503", _away, _faults(), ("platform_away", "")),
    Stated(
        "the ERP takes no connection",
        lambda soak_run: _erp_answers(soak_run, answers=False),
        lambda soak_run: _erp_answers(soak_run, answers=True),
        ("erp_away", ""),
        within_s=420,
    ),
    Stated(
        "a price is a hundred times too high",
        _times("100"),
        _times("0.01"),
        ("hold_waits", "catalog "),
        within_s=360,
        over_s=360,
    ),
    Stated("a person stops all sending", _pause, _resume, ("paused", "")),
    Stated(
        "a DAG is switched off",
        _switch("orders_history", off=True),
        _switch("orders_history", off=False),
        ("dag_off", "orders_history"),
    ),
    Stated("a stranger calls the receiver five times", _stranger, _nothing, None, over_s=150),
    Stated("the receiver dies once", _kill("receiver"), _nothing, None, over_s=150),
    Stated("the triggerer dies once", _kill("triggerer"), _nothing, None, over_s=150),
)
"""Times are those of the soak's schedules: a delta each three minutes, the other DAGs each two, a watch each minute."""


def take_place(soak_run: SoakRun, chat: Chat, chance: random.Random) -> dict[str, Any]:
    """Lets each fault happen. Returns the figures: `misses` and `false_alarms`, each with fault and alert by name, and seconds."""
    figures: dict[str, Any] = {
        "stated_faults": len(FAULTS),
        "misses": [],
        "false_alarms": [],
        "seconds": {},
        "not_told": [],
    }
    chat.taken.clear()
    first = _last(soak_run)
    for fault in chance.sample(FAULTS, len(FAULTS)):
        for left in _until_none(soak_run):
            figures["false_alarms"].append(f"before {fault.name}: {left} is open")
        _happen(soak_run, fault, figures)
    for left in _until_none(soak_run):
        figures["false_alarms"].append(f"at the end: {left} is open")
    figures["not_told"] = _not_told(soak_run, chat, first)
    return figures


def _happen(soak_run: SoakRun, fault: Stated, figures: dict[str, Any]) -> None:
    before, began_s = _last(soak_run), time.monotonic()
    soak_run.report(f"stated: {fault.name}")
    fault.begin(soak_run)
    try:
        if fault.opens is not None:
            _seen(soak_run, fault, before, began_s + fault.within_s, is_open=True)
            opened_s = time.monotonic() - began_s
            if not _mine(soak_run, fault, before):
                figures["misses"].append(f"{fault.name}: no {fault.opens[0]} within {fault.within_s:.0f} s")
        time.sleep(max(0.0, began_s + fault.lasts_s - time.monotonic()))
    finally:
        fault.end(soak_run)
    ended_s = time.monotonic()
    if fault.opens is None:
        time.sleep(fault.over_s)
    else:
        _seen(soak_run, fault, before, ended_s + fault.over_s, is_open=False)
        over_s = time.monotonic() - ended_s
        mine = {row["alert_id"] for row in _mine(soak_run, fault, before)}
        if mine & {row["alert_id"] for row in soak_run.installation.rows(OPEN)}:
            figures["misses"].append(f"{fault.name}: {fault.opens[0]} is not over {fault.over_s:.0f} s after it")
        figures["seconds"][fault.name] = {"opened": round(opened_s, 1), "over": round(over_s, 1)}
        soak_run.report(f"stated: {fault.name}: opened after {opened_s:.0f} s, over after {over_s:.0f} s")
    _until_none(soak_run)
    mine_rows = _mine(soak_run, fault, before)
    others = [row for row in soak_run.installation.rows(OPENED, after=before) if row not in mine_rows[:1]]
    for row in others:
        line = f"{fault.name}: {row['kind']} ({row['subject']}) opened, too: {row['message']}"
        figures["false_alarms"].append(line[:300])
        soak_run.report(f"stated: false alarm: {line[:200]}")


def _seen(soak_run: SoakRun, fault: Stated, before: int, until_s: float, *, is_open: bool) -> None:
    while time.monotonic() < until_s:
        opened = {row["alert_id"] for row in soak_run.installation.rows(OPEN)}
        if is_open == bool(opened & {row["alert_id"] for row in _mine(soak_run, fault, before)}):
            return
        time.sleep(LOOK_EVERY_S)


def _mine(soak_run: SoakRun, fault: Stated, before: int) -> list[dict[str, Any]]:
    kind, subject = fault.opens or ("", "")
    rows = soak_run.installation.rows(OPENED, after=before)
    return [row for row in rows if row["kind"] == kind and row["subject"].startswith(subject)]


def _until_none(soak_run: SoakRun) -> list[str]:
    """Waits until no alert is open; those that still are."""
    until_s = time.monotonic() + QUIET_S
    while True:
        left = [f"{row['kind']} ({row['subject']})" for row in soak_run.installation.rows(OPEN)]
        if not left or time.monotonic() > until_s:
            return left
        time.sleep(LOOK_EVERY_S)


def _last(soak_run: SoakRun) -> int:
    return int(soak_run.installation.rows(LAST)[0]["last"])


def _not_told(soak_run: SoakRun, chat: Chat, first: int) -> list[str]:
    """Alerts whose opening or end the receiver did not get, or got twice."""
    until_s = time.monotonic() + TOLD_S
    while True:
        text = "\n".join(message["title"] + "\n" + message["message"] for message in chat.taken)
        rows = soak_run.installation.rows(OPENED, after=first)
        wrong = [
            f"alert {row['alert_id']} ({row['kind']}): told {number} times"
            for row in rows
            if (number := text.count(f"(alert {row['alert_id']}, since")) != 1
        ]
        ends = soak_run.installation.rows(NOT_TOLD, after=first)
        wrong += [f"alert {row['alert_id']}: its end was not told" for row in ends]
        if not wrong or time.monotonic() > until_s:
            return wrong
        time.sleep(LOOK_EVERY_S)


def routes(chat: Chat) -> str:
    """SHELFSYNC_ALERTS__ROUTES with one route, which takes everything."""
    return json.dumps([{"name": "soak", "address": chat.address, "severities": ["severe", "warning", "notice"]}])
