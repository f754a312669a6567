"""The report on a client: every duty with verdict and evidence, and its rejections by rule; and a probe for what no client does by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from fastapi import APIRouter
from sqlalchemy import Connection, func, select

from partner_sandbox import answers, webhooks
from partner_sandbox.contract import described
from partner_sandbox.duties import DUTIES, Look
from partner_sandbox.journal import journal
from partner_sandbox.sandbox import Sandbox, TheSandbox
from partner_sandbox.webhooks import FORGED, delivery


def report(connection: Connection, sandbox: Sandbox) -> dict[str, Any]:
    """What the client was seen to do since the last reset."""
    look = Look(connection, sandbox.clock.now_us(), sandbox.clock.virtual)
    duties = []
    for duty in DUTIES:
        found = duty.judge(look)
        about = {"duty": duty.name, "rule": duty.rule, "sentence": duty.sentence}
        duties.append({**about, "verdict": found.verdict, "evidence": list(found.evidence)})
    verdicts = Counter(duty["verdict"] for duty in duties)
    return {
        "now": sandbox.clock.now_iso(),
        "requests": look.count(journal.c.kind == "request"),
        "met": verdicts["met"],
        "broken": verdicts["broken"],
        "not_seen": verdicts["not seen"],
        "duties": duties,
        "rejections": _rejections(connection),
    }


def _rejections(connection: Connection) -> list[dict[str, Any]]:
    """How often each rule was broken, the most frequent first."""
    times = func.count().label("times")
    rows = connection.execute(
        select(journal.c.hint, times, func.max(journal.c.n).label("last"))
        .where(journal.c.hint.startswith("interface "))
        .group_by(journal.c.hint)
        .order_by(times.desc(), journal.c.hint)
    ).all()
    reasons = select(journal.c.n, journal.c.reason).where(journal.c.n.in_([row.last for row in rows]))
    reason_of = {row.n: row.reason for row in connection.execute(reasons)}
    return [{**row._asdict(), "reason": reason_of[row.last]} for row in rows]


def lines(found: dict[str, Any]) -> Iterator[str]:
    """The report as Markdown."""
    yield "# What the client was seen to do"
    yield ""
    yield (
        f"{found['requests']} requests until {found['now']}:"
        f" {found['met']} duties met, {found['broken']} broken, {found['not_seen']} not seen."
    )
    for verdict in ("broken", "met", "not seen"):
        duties = [duty for duty in found["duties"] if duty["verdict"] == verdict]
        if duties:
            yield f"\n## {verdict.capitalize()}\n"
        for duty in duties:
            yield f"- **{duty['duty']}** (interface {duty['rule']}): {duty['sentence']}"
            yield from (f"  - {sentence}" for sentence in duty["evidence"])
    if found["rejections"]:
        yield "\n## Rejections by rule\n"
    for rejection in found["rejections"]:
        yield f"- {rejection['times']} times {rejection['hint']}, last record {rejection['last']}: {rejection['reason']}"


def probe(connection: Connection, sandbox: Sandbox) -> int:
    """Sends each chain's last event of each kind again, first with a wrong secret; returns the number of calls noted."""
    newest = (
        select(func.max(delivery.c.id))
        .where(delivery.c.state == "delivered", delivery.c.authorization.is_(None))
        .group_by(delivery.c.chain, delivery.c.operation)
    )
    now_us = sandbox.clock.now_us()
    noted = 0
    for row in connection.execute(select(delivery).where(delivery.c.id.in_(newest)).order_by(delivery.c.id)).mappings():
        if webhooks.configured(connection, row["chain"]) is None:
            continue
        copied = {name: row[name] for name in ("chain", "operation", "subject", "event", "url", "body")}
        fresh = {**copied, "state": "pending", "created_us": now_us, "due_us": now_us, "attempts": 0}
        for values in ({"authorization": FORGED, "once": True, "fault": "probe"}, {"fault": "probe"}):
            connection.execute(delivery.insert().values({**fresh, **values}))
            noted += 1
    return noted


router = APIRouter(prefix="/check")


@router.get("", **described(answers.Check))
def read_check(sandbox: TheSandbox) -> dict[str, Any]:
    """Which duties of the interface the client was seen to meet or to break, each with its evidence."""
    with sandbox.storage.begin() as connection:
        return report(connection, sandbox)


@router.post("/probe", **described(answers.Probe))
async def post_probe(sandbox: TheSandbox) -> dict[str, Any]:
    """Sends the last events again, and with a wrong secret; the calls have ended with the answer."""
    with sandbox.storage.begin() as connection:
        noted = probe(connection, sandbox)
    sandbox.work.wake()
    await sandbox.work.run_due()
    return {"calls": noted}
