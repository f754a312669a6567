"""The claims after a soak, checked from outside. Each claim returns one line for each violation."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from crash.verdict import NO_ROWS
from installation import orders, shelf
from installation.installed import PROJECT
from soak.person import OPEN, questions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from installation.installed import Installation
    from soak.soak_run import SoakRun

CAMPAIGNS = (PROJECT / "include/shelfsync/erp/sample/promotions.sql").read_text("utf-8").rstrip().rstrip(";")
EDGE_S = 60.0
"""A campaign that began or ended within so many seconds may or may not show yet."""
REQUESTS_MAX = 60
COLUMNS = (
    "acknowledged", "suppressed", "pending", "in_flight", "unconfirmed", "held", "rejected_for_good", "rejected_for_now",
    "absent", "quarantined",
)  # fmt: skip
ENDED = {"PICKED_UP", "CANCELLED"}
DECLINED = "SELECT hold_id, vendor FROM ledger.hold WHERE state IN ('declined', 'expired')"
DECLINED_CAMPAIGNS = "SELECT DISTINCT campaign FROM ledger.hold WHERE subject = 'promotions' AND state = 'declined'"
BASELINE = "SELECT sku, price, quantity, active, max_sales_quantity FROM warehouse.baseline WHERE vendor = %(vendor)s"
REJECTED = "SELECT vendor, sku, kind, reason FROM ledger.rejection"
RUNNING = """
SELECT 'catalog' AS kind, run_id, run_key FROM ledger.run WHERE state = 'running'
UNION ALL SELECT 'promotions', run_id, run_key FROM ledger.promotion_run WHERE state IN ('running', 'planned') AND NOT dry_run
"""


def platform_equals_the_erp(soak_run: SoakRun) -> Iterable[str]:
    """Except the SKUs that a person declined."""
    declined = declined_skus(soak_run)
    for line in shelf.differences(soak_run.installation):
        vendor, sku = line.partition(":")[0].split(" ", 1)
        if (vendor, sku) not in declined:
            yield line


def second_chain_equals_its_list(soak_run: SoakRun) -> Iterable[str]:
    """The other chain's store, which has the id and the SKUs of one of the first chain's, shows its own prices."""
    yield from (f"{sku} differs" for sku in soak_run.second_chain.differing())


def promotions_equal_the_erp(soak_run: SoakRun) -> Iterable[str]:
    """Each product shows the campaign that is in force, at its price, except campaigns that a person declined."""
    installation = soak_run.installation
    now, edge = dt.datetime.now(dt.UTC), dt.timedelta(seconds=EDGE_S)
    declined = {row["campaign"] for row in installation.rows(DECLINED_CAMPAIGNS)}
    wanted: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in installation.erp(CAMPAIGNS):
        wanted.setdefault((row["vendor"], row["sku"]), []).append(row)
    for vendor in sorted({vendor for vendor, _ in wanted}):
        for sku, product in shelf.products(installation, vendor).items():
            rows = wanted.get((vendor, sku), [])
            unsure = [row for row in rows if row["campaign"] in declined or _near(row, now, edge)]
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


def orders_have_ended_for_both_sides(soak_run: SoakRun) -> Iterable[str]:
    """Platform, warehouse and the stores' picking system have the same end of each order."""
    at_platform = orders.states(soak_run.installation)
    ours = orders.archived(soak_run.installation, at_platform)
    picked = {
        row["order_id"]: row["state"]
        for row in soak_run.installation.erp("SELECT order_id, state FROM erp.store_order")
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


def no_alarm_is_open(soak_run: SoakRun) -> Iterable[str]:
    """By `shelfsync status`."""
    status = soak_run.document("status")
    yield from (f"alarm: {message}" for message in status["orders"]["alarms"])
    yield from (f"paused: {stop}" for stop in status["paused"])
    for name in ("open", "not_taken", "not_sent"):
        if status["orders"][name]:
            yield f"status: orders {name}: {status['orders'][name]}"


def counts_add_up(soak_run: SoakRun) -> Iterable[str]:
    """Each row of the ERP is in one column of `shelfsync status`, and none is in flight."""
    rows: dict[str, int] = {}
    for vendor, _ in shelf.erp_rows(soak_run.installation):
        rows[vendor] = rows.get(vendor, 0) + 1
    for status in soak_run.document("status")["vendors"]:
        vendor, columns = status["vendor"], {name: status[name] for name in COLUMNS}
        if sum(columns.values()) != status["erp_rows"] + status["not_in_erp"] or status["erp_rows"] != rows[vendor]:
            yield f"{vendor}: the ERP has {rows[vendor]} rows, status {status['erp_rows']} and {status['not_in_erp']}, {columns}"
        yield from (
            f"{vendor}: {columns[name]} SKUs are {name}"
            for name in ("pending", "in_flight", "unconfirmed", "quarantined")
            if columns[name]
        )
    for sentence, query in NO_ROWS.items():
        yield from (sentence.format(*row.values()) for row in soak_run.installation.rows(query))


def baseline_is_what_the_platform_holds(soak_run: SoakRun) -> Iterable[str]:
    """Product by product, against the sandbox's store."""
    for vendor in sorted({vendor for vendor, _ in shelf.erp_rows(soak_run.installation)}):
        held = shelf.products(soak_run.installation, vendor)
        kept = {row["sku"]: row for row in soak_run.installation.rows(BASELINE, vendor=vendor)}
        yield from (
            f"{vendor} {sku}: in the baseline, unknown to the platform" for sku in sorted(kept.keys() - held.keys())
        )
        for sku, product in held.items():
            row = kept.get(sku)
            if row is None:
                yield f"{vendor} {sku}: at the platform, not in the baseline"
                continue
            enough = row["quantity"] is None or row["quantity"] >= int(product["sales_buffer"])
            acknowledged = {
                "price": row["price"],
                "active": None if row["active"] is None else bool(row["active"] and enough),
                "max_sales_quantity": row["max_sales_quantity"],
            }
            wrong = {
                name: (product[name], value)
                for name, value in acknowledged.items()
                if value is not None and product[name] != value
            }
            yield from (
                f"{vendor} {sku}: {name} is {has}, the baseline has {value}" for name, (has, value) in wrong.items()
            )


def only_what_the_platform_does_not_know_is_rejected(soak_run: SoakRun) -> Iterable[str]:
    """A fault that is over leaves no product behind."""
    known: dict[str, set[str]] = {}
    for row in soak_run.installation.rows(REJECTED):
        vendor, sku = row["vendor"], row["sku"]
        if vendor not in known:
            known[vendor] = {*shelf.products(soak_run.installation, vendor)}
        if sku in known[vendor]:
            yield f"{vendor} {sku} is rejected ({row['kind']}: {row['reason']}), and the platform knows it"


def nothing_is_held(soak_run: SoakRun) -> Iterable[str]:
    """Every hold is decided, and Airflow has no open question."""
    yield from (
        f"hold {row['hold_id']}: {row['vendor']} {row['rule']} is open" for row in soak_run.installation.rows(OPEN)
    )
    yield from (f"Airflow asks: {one['subject']}" for one in questions(soak_run))


def the_request_limit_was_kept(soak_run: SoakRun) -> Iterable[str]:
    """In every window of a minute, rejected requests too."""
    most = soak_run.sandbox("GET", f"/journal?after={10**9}")["max_requests_in_60s"]
    if most > REQUESTS_MAX:
        yield f"{most} requests within 60 s"


def every_dag_is_on(soak_run: SoakRun) -> Iterable[str]:
    """None was paused, none is lost. Of the second chain, those that the soak switched on."""
    dags = soak_run.installation.dags()
    on = {file.stem for file in (PROJECT / "dags").glob("*.py")} | soak_run.second_chain.dags
    yield from (f"the DAG {name} is lost" for name in sorted(on - dags.keys()))
    yield from (f"the DAG {name} is paused" for name in sorted(on & dags.keys()) if dags[name]["is_paused"])


CLAIMS: dict[str, Callable[[SoakRun], Iterable[str]]] = {
    "platform = ERP": platform_equals_the_erp,
    "second chain = its list": second_chain_equals_its_list,
    "promotions = ERP": promotions_equal_the_erp,
    "orders ended": orders_have_ended_for_both_sides,
    "no alarm": no_alarm_is_open,
    "counts add up": counts_add_up,
    "baseline = platform": baseline_is_what_the_platform_holds,
    "rejections": only_what_the_platform_does_not_know_is_rejected,
    "no hold": nothing_is_held,
    "request limit": the_request_limit_was_kept,
    "DAGs on": every_dag_is_on,
}


def declined_skus(soak_run: SoakRun) -> set[tuple[str, str]]:
    """The SKUs that a person declined."""
    found = set()
    for row in soak_run.installation.rows(DECLINED):
        shown = soak_run.document("holds", "show", str(row["hold_id"]), "--limit", "0")["rows_shown"]
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


def violations(soak_run: SoakRun, *, whole: bool = False) -> list[str]:
    """The violations of the first claim that does not hold, or of all claims if `whole`; each line begins with the name of the claim."""
    found: list[str] = []
    for name, claim in CLAIMS.items():
        if whole or not found:
            found += [f"{name}: {line}" for line in claim(soak_run)]
    return found
