"""What has to be true when it is over: each claim gives a line for whatever is not as it has to be, by what can be seen from outside."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from installation import orders, shelf
from installation.installed import PROJECT
from kills.verdict import NONE
from soak.person import HELD, OPEN, questions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from installation.installed import Installation
    from soak.course import Course

CAMPAIGNS = (PROJECT / "include/shelfsync/erp/sample/promotions.sql").read_text("utf-8").rstrip().rstrip(";")
EDGE_S = 60.0
"""A campaign that began or ended within so many seconds may or may not show yet."""
REQUESTS_MAX = 60
COLUMNS = (
    "acknowledged", "spared", "pending", "in_flight", "unconfirmed", "held", "rejected_for_good", "rejected_for_now",
    "quarantined",
)  # fmt: skip
ENDED = {"PICKED_UP", "CANCELLED"}
DECLINED = "SELECT hold_id, vendor FROM ledger.hold WHERE state IN ('rejected', 'expired')"
REFUSED = "SELECT DISTINCT campaign FROM ledger.promotion_hold WHERE state = 'refused'"
BASELINE = "SELECT sku, price, quantity, active, max_sales_quantity FROM warehouse.baseline WHERE vendor = %(vendor)s"
REJECTED = "SELECT vendor, sku, kind, reason FROM ledger.rejection"
RUNNING = """
SELECT 'catalog' AS kind, run_id, run_key FROM ledger.run WHERE state = 'running'
UNION ALL SELECT 'promotions', run_id, run_key FROM ledger.promotion_run WHERE state IN ('running', 'planned') AND NOT dry_run
"""


def platform_is_as_the_erp_says(course: Course) -> Iterable[str]:
    """Less what a person declined, SKU by SKU."""
    declined = declined_skus(course)
    for line in shelf.differences(course.installation):
        vendor, sku = line.partition(":")[0].split(" ", 1)
        if (vendor, sku) not in declined:
            yield line


def promotions_are_as_the_erp_says(course: Course) -> Iterable[str]:
    """What each product shows is the one campaign in force for it, at its price; less campaigns that a person refused."""
    installation = course.installation
    now, edge = dt.datetime.now(dt.UTC), dt.timedelta(seconds=EDGE_S)
    refused = {row["campaign"] for row in installation.rows(REFUSED)}
    wanted: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in installation.erp(CAMPAIGNS):
        wanted.setdefault((row["vendor"], row["sku"]), []).append(row)
    for vendor in sorted({vendor for vendor, _ in wanted}):
        for sku, product in shelf.products(installation, vendor).items():
            rows = wanted.get((vendor, sku), [])
            unsure = [row for row in rows if row["campaign"] in refused or _near(row, now, edge)]
            in_force = [row for row in rows if row["start_time"] <= now < row["end_time"]]
            if unsure:
                continue
            shown = product["app"]["promotion"]
            below = [
                row for row in in_force if product["app"]["price"] is None or row["price"] < product["app"]["price"]
            ]
            has = None if shown is None else (shown["name"], shown["price"])
            if has not in {(row["name"], row["price"]) for row in below} | ({None} if not below else set()):
                yield f"{vendor} {sku} shows {has}, the ERP has {[(row['campaign'], str(row['price'])) for row in in_force]}"


def orders_have_ended_for_both_sides(course: Course) -> Iterable[str]:
    """The platform, the warehouse and the system that stores pick with know one end of each order."""
    at_platform = orders.states(course.installation)
    ours = orders.archived(course.installation, at_platform)
    picked = {
        row["order_id"]: row["state"] for row in course.installation.erp("SELECT order_id, state FROM erp.store_order")
    }
    for order, state in at_platform.items():
        if state not in ENDED:
            yield f"order {order} is {state} at the platform"
        if ours.get(order) != state:
            yield f"order {order} is {state} at the platform, {ours.get(order, 'unknown')} in the warehouse"
        store = picked.get(order, "unknown")
        if store not in ({"done"} if state == "PICKED_UP" else {"cancelled", "unknown"}):
            yield f"order {order} is {state} at the platform, {store} in its store"
    yield from (
        f"the store has order {order}, and the platform has not" for order in picked.keys() - at_platform.keys()
    )


def no_alarm_is_open(course: Course) -> Iterable[str]:
    """By `shelfsync status`."""
    told = course.document("status")
    yield from (f"alarm: {message}" for message in told["orders"]["alarms"])
    yield from (f"paused: {stop}" for stop in told["paused"])
    for name in ("open", "not_taken", "not_sent"):
        if told["orders"][name]:
            yield f"status: orders {name}: {told['orders'][name]}"


def counts_add_up(course: Course) -> Iterable[str]:
    """Each row of the ERP stands in one column of `shelfsync status`, and none is on its way any more."""
    rows: dict[str, int] = {}
    for vendor, _ in shelf.erp_rows(course.installation):
        rows[vendor] = rows.get(vendor, 0) + 1
    for told in course.document("status")["vendors"]:
        vendor, columns = told["vendor"], {name: told[name] for name in COLUMNS}
        if sum(columns.values()) != told["erp_rows"] + told["not_in_erp"] or told["erp_rows"] != rows[vendor]:
            yield f"{vendor}: the ERP has {rows[vendor]} rows, status {told['erp_rows']} and {told['not_in_erp']}, {columns}"
        yield from (
            f"{vendor}: {columns[name]} SKUs are {name}"
            for name in ("pending", "in_flight", "unconfirmed", "quarantined")
            if columns[name]
        )
    for sentence, query in NONE.items():
        yield from (sentence.format(*row.values()) for row in course.installation.rows(query))


def baseline_is_what_the_platform_holds(course: Course) -> Iterable[str]:
    """Product by product, against the sandbox's own memory."""
    for vendor in sorted({vendor for vendor, _ in shelf.erp_rows(course.installation)}):
        held = shelf.products(course.installation, vendor)
        kept = {row["sku"]: row for row in course.installation.rows(BASELINE, vendor=vendor)}
        yield from (
            f"{vendor} {sku}: in the baseline, unknown to the platform" for sku in sorted(kept.keys() - held.keys())
        )
        for sku, product in held.items():
            row = kept.get(sku)
            if row is None:
                yield f"{vendor} {sku}: at the platform, not in the baseline"
                continue
            enough = row["quantity"] is None or row["quantity"] >= int(product["sales_buffer"])
            said = {
                "price": row["price"],
                "active": None if row["active"] is None else bool(row["active"] and enough),
                "max_sales_quantity": row["max_sales_quantity"],
            }
            wrong = {
                name: (product[name], value)
                for name, value in said.items()
                if value is not None and product[name] != value
            }
            yield from (
                f"{vendor} {sku}: {name} is {has}, the baseline says {value}" for name, (has, value) in wrong.items()
            )


def only_what_the_platform_does_not_know_is_rejected(course: Course) -> Iterable[str]:
    """A fault that is over leaves no product behind."""
    known: dict[str, set[str]] = {}
    for row in course.installation.rows(REJECTED):
        vendor, sku = row["vendor"], row["sku"]
        if vendor not in known:
            known[vendor] = {*shelf.products(course.installation, vendor)}
        if sku in known[vendor]:
            yield f"{vendor} {sku} is rejected ({row['kind']}: {row['reason']}), and the platform knows it"


def nothing_is_held(course: Course) -> Iterable[str]:
    """Every hold is decided, and nobody is asked."""
    yield from (
        f"hold {row['hold_id']}: {row['vendor']} {row['rule']} is open" for row in course.installation.rows(OPEN)
    )
    yield from (f"campaign {row['campaign']} is held" for row in course.installation.rows(HELD))
    yield from (f"Airflow asks: {one['subject']}" for one in questions(course))


def the_request_limit_was_kept(course: Course) -> Iterable[str]:
    """In every window of a minute, refused requests too."""
    most = course.sandbox("GET", f"/journal?after={10**9}")["max_requests_in_60s"]
    if most > REQUESTS_MAX:
        yield f"{most} requests within 60 s"


def every_dag_is_on(course: Course) -> Iterable[str]:
    """None was paused, none is lost."""
    dags = course.installation.dags()
    files = {file.stem for file in (PROJECT / "dags").glob("*.py")}
    yield from (f"the DAG {name} is lost" for name in sorted(files - dags.keys()))
    yield from (f"the DAG {name} is paused" for name, dag in dags.items() if dag["is_paused"])


CLAIMS: dict[str, Callable[[Course], Iterable[str]]] = {
    "platform = ERP": platform_is_as_the_erp_says,
    "promotions = ERP": promotions_are_as_the_erp_says,
    "orders ended": orders_have_ended_for_both_sides,
    "no alarm": no_alarm_is_open,
    "counts add up": counts_add_up,
    "baseline = platform": baseline_is_what_the_platform_holds,
    "rejections": only_what_the_platform_does_not_know_is_rejected,
    "no hold": nothing_is_held,
    "request limit": the_request_limit_was_kept,
    "DAGs on": every_dag_is_on,
}


def declined_skus(course: Course) -> set[tuple[str, str]]:
    """What a person keeps from being sent."""
    found = set()
    for row in course.installation.rows(DECLINED):
        shown = course.document("holds", "show", str(row["hold_id"]), "--rows", "0")["rows_shown"]
        found |= {(row["vendor"], str(one["sku"])) for one in shown}
    return found


def running(installation: Installation) -> set[str]:
    """Runs that have not ended, of the ledger and of Airflow."""
    found = {f"{row['kind']} run {row['run_id']} ({row['run_key']})" for row in installation.rows(RUNNING)}
    for dag_id in installation.dags():
        found |= {f"{dag_id} {run['dag_run_id']}" for run in installation.runs(dag_id, "running", "queued")}
    return found


def _near(row: dict[str, Any], now: dt.datetime, edge: dt.timedelta) -> bool:
    return any(abs(row[name] - now) < edge for name in ("start_time", "end_time"))


def said(course: Course, *, whole: bool = False) -> list[str]:
    """The lines of the first claim that does not hold, or of every one, each with its claim in front; none: all hold."""
    found: list[str] = []
    for name, claim in CLAIMS.items():
        if whole or not found:
            found += [f"{name}: {line}" for line in claim(course)]
    return found
