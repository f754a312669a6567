"""watch: one look at every condition, which opens and closes the alerts.

Each finder has its own net: if it fails, the others go on, and an alert says which condition cannot be looked at.
"""

from __future__ import annotations

import functools
import logging
from collections import Counter
from typing import TYPE_CHECKING, Any

from shelfsync import metrics, outages
from shelfsync.alert_conditions import Growing
from shelfsync.alert_conditions.columns_changed import columns_changed
from shelfsync.alert_conditions.dags import DAG_KINDS, dags
from shelfsync.alert_conditions.disk import disk, on_this_machine
from shelfsync.alert_conditions.erp_still import erp_still
from shelfsync.alert_conditions.few_accepted import few_accepted
from shelfsync.alert_conditions.hold_waits import hold_waits
from shelfsync.alert_conditions.no_webhook import no_webhook
from shelfsync.alert_conditions.not_read import not_read
from shelfsync.alert_conditions.orders_off import orders_off
from shelfsync.alert_conditions.orders_wait import orders_wait
from shelfsync.alert_conditions.paused import paused
from shelfsync.alert_conditions.rate_limited import rate_limited
from shelfsync.alert_conditions.rejected import rejected
from shelfsync.alert_conditions.rows_of_no_store import rows_of_no_store
from shelfsync.alert_conditions.run_failed import run_failed
from shelfsync.alert_conditions.secret_refused import secret_refused
from shelfsync.alert_conditions.service_away import service_away
from shelfsync.alert_conditions.stores import stores
from shelfsync.alerts import heartbeat
from shelfsync.alerts.kind import KINDS, Severity
from shelfsync.alerts.ledger import alerts
from shelfsync.alerts.steps.send_due import send_due
from shelfsync.catalog.ledger import vendors
from shelfsync.errors import in_one_line
from shelfsync.platform import ping

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from sqlalchemy.engine import Connection

    from shelfsync.alert_conditions import Found
    from shelfsync.alert_conditions.dags import FoundOfDags
    from shelfsync.context import Context


log = logging.getLogger(__name__)


def watch(
    context: Context, *, find_dags: Callable[[], FoundOfDags] | None = None, off: Collection[str] = ()
) -> dict[str, Any]:
    """Opens and closes alerts by what is wrong now, sends their messages and a heartbeat: `{"opened", "closed", "sent", "refused"}`.

    It asks the platform whether it answers, if no request of a run has found that out lately.

    `find_dags` finds what is wrong with DAGs (`DAG_KINDS`), if the caller can ask Airflow. None: these alerts stay while another watch finds
    them. `off`: kinds of conditions of orders whose steps no schedule takes any more.

    ConfigurationError: a route has a wrong address. The alerts are kept all the same, and the other routes get their messages.
    """
    _ask_platform(context)
    if not context.settings.promotions.configured:
        outages.not_asked(context.engine, outages.PROMOTIONS)
    found: dict[tuple[str, str], str] = {}
    numbers: dict[tuple[str, str], int] = {}
    looked: list[str] = []
    finders = dict(_FINDERS)
    if find_dags is not None:  # the last one: it leaves out what the others have found
        finders[DAG_KINDS] = lambda _, connection: dags(find_dags(), connection, {kind for kind, _ in found})
    for kinds, find in finders.items():
        try:
            with context.engine.connect() as connection:
                seen = find(context, connection)
            found |= {key: one.line if isinstance(one, Growing) else one for key, one in seen.items()}
            numbers |= {key: one.number for key, one in seen.items() if isinstance(one, Growing)}
            looked += kinds
        except Exception as error:  # noqa: BLE001  a condition that cannot be looked at hides no other
            log.warning("watch: %s cannot be looked at: %s", ", ".join(kinds), in_one_line(error))
            found |= {
                ("not_watched", kind): f"{KINDS['not_watched'].title} ({KINDS[kind].title}): {in_one_line(error)}"
                for kind in kinds
            }
    with context.engine.begin() as connection:
        of_others = {*off, *orders_off(context.settings), *(DAG_KINDS if find_dags is None else ())}
        of_another = functools.partial(_of_another, {kind for kinds in finders for kind in kinds}, of_others)
        watched = [*looked, "not_watched", *of_others]
        kept = alerts.keep(connection, watched, found, revisions=numbers, of_another=of_another)
        alerts.looked(connection)
    report_gauges(context)
    for one in kept.opened:
        log.warning("watch: %s", one.line)
    for one in kept.closed:
        log.info("watch: over: %s %s", KINDS[one.kind].title, one.subject)
    result: dict[str, Any] = {
        "opened": [one.line for one in kept.opened],
        "closed": [one.message for one in kept.closed],
    }
    result |= send_due(context)
    refusal = heartbeat.beat(context, result["refused"])
    if refusal is not None:
        log.warning("watch: the monitor at %s took no heartbeat: %s", heartbeat.SETTING, refusal)
        result["refused"] = {heartbeat.SETTING: refusal}
    return result


def _of_another(looks_at: Collection[str], of_others: Collection[str], kind: str, subject: str) -> bool:
    """Whether another watch, or a step, has opened this, and this one cannot know whether it is over. `of_others`: kinds that it never can."""
    if kind in of_others:
        return True
    if kind == "disk":
        return not subject.endswith(on_this_machine())
    return kind == "not_watched" and subject not in looks_at


def report_gauges(context: Context) -> None:
    """Reports how many alerts are open, of each kind too, and when the watch looked."""
    with context.engine.connect() as connection:
        found = Counter(row["kind"] for row in alerts.open_alerts(connection, KINDS))
        look = alerts.last_look(connection)
    metrics.gauge("alerts.open", found.total())
    metrics.gauge("alerts.severe", sum(found[kind.name] for kind in KINDS.values() if kind.severity == Severity.SEVERE))
    for kind in KINDS:
        metrics.gauge(f"alerts.open.{kind}", found[kind])
    if look is not None:
        metrics.gauge("alerts.looked_at", look[0].timestamp())


def _ask_platform(context: Context) -> None:
    """Lets an outage of the platform be stored, or end, without any work. A failure of this question hides no condition."""
    try:
        with context.engine.connect() as connection:
            known = vendors.lately_acknowledged(connection, most=1)
        for vendor in known:
            ping.ask(context, vendor)
    except Exception as error:  # noqa: BLE001
        log.warning("watch: the platform was not asked: %s", in_one_line(error))


_FINDERS: dict[tuple[str, ...], Callable[[Context, Connection], Found]] = {
    ("platform_away", "erp_away"): service_away,
    ("not_read",): not_read,
    ("erp_still",): erp_still,
    ("run_failed", "campaigns_failed"): run_failed,
    ("store_late", "store_failed", "unaccounted", "rows_quarantined"): stores,
    ("hold_waits", "hold_expires"): hold_waits,
    ("paused",): paused,
    ("rows_of_no_store", "changes_missed", "job_events"): rows_of_no_store,
    ("columns_changed",): columns_changed,
    ("rejected", "drift_returns"): rejected,
    ("rate_limited",): rate_limited,
    ("no_webhook",): no_webhook,
    ("secret_refused",): secret_refused,
    ("few_accepted",): few_accepted,
    ("disk",): disk,
    ("orders_wait",): orders_wait,
}
"""The kinds that each finder looks for. What no finder has is opened and closed by a step: of orders, and of the messages themselves."""
