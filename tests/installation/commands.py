"""How an operator calls every command of `shelfsync`: arguments, exit code, and a claim about the output."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from installation.state import Chain


def _nothing(_: Chain) -> tuple[str, ...]:
    return ()


def _anything(_: dict[str, Any]) -> bool:
    return True


@dataclass(frozen=True)
class Call:
    """One way to call a command. `state` prepares what it needs, for each call anew, and returns further arguments.

    It is called twice: with --json, when `claim` holds of its document, and for a person, when `prints` is in its output.
    """

    words: tuple[str, ...] = ()
    state: Callable[[Chain], tuple[str, ...]] = _nothing
    exit_code: int = 0
    claim: Callable[[dict[str, Any]], bool] = _anything
    prints: str = ""
    has_json: bool = True


def _only(state: Callable[[Chain], tuple[str, ...]]) -> Callable[[Chain], tuple[str, ...]]:
    """The state without its arguments: for a command that lists everything."""
    return lambda chain: state(chain)[:0]


def _changed(chain: Chain) -> tuple[str, ...]:
    chain.price("store-002", "1.05")
    return ("--vendor", "store-002")


def _plan(chain: Chain) -> tuple[str, ...]:
    chain.price("store-002", "1.05")
    file = chain.folder / "plan.json"
    chain.document("plan", "--vendor", "store-002", "--out", str(file))
    return (str(file),)


def _stale_plan(chain: Chain) -> tuple[str, ...]:
    words = _plan(chain)
    chain.document("sync", "--vendor", "store-002")
    return words


def _old_state(chain: Chain) -> tuple[str, ...]:
    """A time before a price changed."""
    at = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    sku = chain.price("store-003", "1.05")
    chain.document("sync", "--vendor", "store-003")
    return ("--at", at, "--sku", sku)


def _restored(chain: Chain) -> tuple[str, ...]:
    chain.document("restore", "store-003", *_old_state(chain), "--reason", "a wrong list")
    return ()


def _order(kind: str = "LOGISTICS_DELIVERY") -> Callable[[Chain], tuple[str, ...]]:
    return lambda chain: (chain.order("store-001", transport_type=kind),)


def _known_order(chain: Chain) -> tuple[str, ...]:
    order = chain.order("store-001")
    chain.document("orders", "fulfil", order, "--as-ordered")
    return (order,)


def _picked(chain: Chain) -> tuple[str, ...]:
    """An order and the file with what was picked of it."""
    order = chain.order("store-001")
    chain.document("orders", "fulfil", order, "--as-ordered", "--dry-run")
    lines = chain.document("orders", "show", order)["lines"]
    items = [{"sku": line["sku"], "item_id": line["item_id"], "status": "picked"} for line in lines]
    file = chain.folder / "picked.json"
    file.write_text(json.dumps({"items": items}), "utf-8")
    return (order, "--result", str(file))


def _hold_at(vendor: str) -> Callable[[Chain], tuple[str, ...]]:
    return lambda chain: (chain.hold(vendor),)


def _decided(state: str) -> Callable[[Any], bool]:
    return lambda data: [hold["state"] for hold in data["holds"]] == [state]


def _event(chain: Chain) -> tuple[str, ...]:
    return (str(chain.document("inbox", "list", "--kind", "job", "--limit", "1")["events"][0]["event_id"]),)


def _rejection(chain: Chain) -> tuple[str, ...]:
    rows = chain.document("rejections", "list", "--vendor", "store-004")["rejections"]
    return ("store-004", str(rows[0]["sku"]))


def _run(chain: Chain) -> tuple[str, ...]:
    """The last full run."""
    return (str(chain.document("runs", "list", "--kind", "full", "--limit", "1")["runs"][0]["run_id"]),)


def _paused(what: str) -> Callable[[Chain], tuple[str, ...]]:
    def state(chain: Chain) -> tuple[str, ...]:
        chain.document("pause", what, "--reason", "stocktaking")
        return (what,)

    return state


def _alert(chain: Chain) -> tuple[str, ...]:
    """An open alert that no person has taken on: a pause of now. `_over` ends it."""
    _over(chain)
    chain.document("alerts", "watch")
    chain.document("pause", "store-006", "--reason", "stocktaking")
    chain.document("alerts", "watch")
    found = [row for row in chain.document("alerts", "list")["alerts"] if row["subject"] == "vendor store-006"]
    return (str(found[-1]["alert_id"]),)


def _over(chain: Chain) -> tuple[str, ...]:
    chain.document("resume", "store-006")
    return ()


def _product(chain: Chain) -> tuple[str, ...]:
    return ("store-001", str(chain.goods("store-001")["sku"]))


def _later(_: Chain) -> tuple[str, ...]:
    return ("--at", (dt.datetime.now(dt.UTC) + dt.timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ"))


def _campaign(chain: Chain) -> tuple[str, ...]:
    chain.campaign("store-002", "0.8")
    return ()


def _held_campaign(chain: Chain) -> tuple[str, ...]:
    return ("--campaign", chain.held_campaign("store-002"))


def _declined_hold(vendor: str) -> Callable[[Chain], tuple[str, ...]]:
    def state(chain: Chain) -> tuple[str, ...]:
        number = chain.hold(vendor)
        chain.run("holds", "decline", number, "--reason", "a slip")
        return (number,)

    return state


def _file(chain: Chain) -> tuple[str, ...]:
    file = chain.folder / "stock.csv"
    file.write_text("store;sku;price\nstore-001;100;1,50\nstore-001;101;2,50\n", "utf-8")
    return (str(file),)


def _empty_home(chain: Chain) -> tuple[str, ...]:
    """Another folder than the installation's, so that nothing of it is stopped."""
    (chain.folder / "elsewhere.toml").write_text(f'home = "{chain.folder / "elsewhere"}"\n', "utf-8")
    return ()


SUCCEEDED = "succeeded"
COMMANDS: dict[str, tuple[Call, ...]] = {
    "sync": (
        Call(("--vendor", "store-001"), claim=lambda data: data["state"] == SUCCEEDED),
        Call(("--vendor", "store-001", "--full"), claim=lambda data: data["sent"] > 4000),
        Call(
            ("--vendor", "store-002"),
            state=lambda chain: ("--sku", chain.price("store-002", "1.05")),
            claim=lambda data: data["accepted"] == 1,
            prints="accepted",
        ),
    ),
    "quarantine": (
        Call(claim=lambda data: data == {"quarantined": []}, prints="nothing is quarantined"),
        Call(
            ("--vendor", "store-001", "--reason", "price_decimal_comma", "--limit", "2"),
            prints="nothing is quarantined",
        ),
    ),
    "plan": (
        Call(
            state=_changed,
            claim=lambda data: [one["vendor"] for one in data["plan"]["vendors"]] == ["store-002"],
            prints="store-002: ",
        ),
    ),
    "apply": (
        Call(state=_plan, claim=lambda data: data["accepted"] >= 1),
        Call(state=_stale_plan, exit_code=8, has_json=False),
    ),
    "check": (
        Call(
            claim=lambda data: data["ok"] and all(one.startswith("of the ") for one in data["warnings"]),
            prints="database, ERP and platform answer",
        ),
    ),
    "chains list": (Call(claim=lambda data: data["chains"] == [], prints="one chain, without a name"),),
    "sniff": (
        Call(
            state=_file, claim=lambda data: data["settings"]["SHELFSYNC_ERP__CSV_DELIMITER"] == ";", prints="DELIMITER"
        ),
    ),
    "recover": (Call(claim=lambda data: data["failed"] == {}, prints="jobs confirmed"),),
    "status": (Call(claim=lambda data: len(data["vendors"]) == 6, prints="store-006"),),
    "metrics": (
        Call(claim=lambda data: data["shelfsync_vendors_known"] == 6, prints="shelfsync_alerts_open "),
        Call(state=lambda chain: ("--output", str(chain.folder / "shelfsync.prom")), prints="metrics are in "),
    ),
    "export": (Call(("--vendor", "store-006"), claim=lambda data: data["state"] == SUCCEEDED, prints="1 vendors, "),),
    "alerts list": (
        Call(state=_only(_alert), claim=lambda data: bool(data["alerts"]), prints="paused"),
        Call(("--closed",), state=_over, claim=lambda data: bool(data["alerts"]), prints="paused"),
    ),
    "alerts show": (Call(state=_alert, claim=lambda data: data["kind"] == "paused", prints="By itself: "),),
    "alerts acknowledge": (
        Call(("--user", "ada"), state=_alert, claim=lambda data: data["alerts"][0]["acknowledged"], prints="is yours"),
    ),
    "alerts mute": (
        Call(("disk", "--duration", "1h", "--reason", "it is extended"), prints="disk is muted until"),
        Call(("disk", "--duration", "0m", "--reason", "it is extended"), prints="disk is not muted"),
    ),
    "alerts test": (Call(exit_code=4, claim=lambda error: "no route is set" in error["message"]),),
    "alerts watch": (Call(state=_over, claim=lambda data: data["refused"] == {}),),
    "duckdb": (
        Call(("today.duckdb",), claim=lambda data: data["warehouse.baseline"] > 20_000, prints="warehouse.drift"),
    ),
    "doctor": (Call(("doctor.json",), claim=lambda data: data["failed"] == [], prints="doctor.json is written"),),
    "state save": (
        Call(
            ("now.state", "--unfinished"),
            claim=lambda data: data["tables"]["warehouse.baseline"] > 20_000,
            prints="warehouse.baseline",
        ),
    ),
    "state load": (Call(("none.state",), exit_code=4, claim=lambda error: "No such file" in error["message"]),),
    "pause": (
        Call(("store-006", "--reason", "stocktaking", "--user", "ada"), prints="store-006"),
        Call(("--whole-chain", "--reason", "stocktaking"), prints="demo-chain"),
    ),
    "resume": (
        Call(state=_paused("store-006"), prints="store-006"),
        Call(state=_paused("--whole-chain"), prints="demo-chain"),
    ),
    "forget": (
        Call(
            ("store-006", "--leave-on-sale", "--reason", "closed", "--user", "ada"),
            claim=lambda data: data["vendor"] == "store-006" and data["skus"] > 0,
            prints="store-006 is forgotten",
        ),
    ),
    "explain": (
        Call(state=_product, claim=lambda data: bool(data["sentence"]) and bool(data["events"]), prints="The ERP has"),
    ),
    "restore": (
        Call(("store-003", "--dry-run"), state=_old_state, prints="store-003"),
        Call(("store-003", "--reason", "a wrong list", "--duration", "1h"), state=_old_state, prints="store-003"),
        Call(("store-003", "--end"), state=_restored, prints="store-003"),
    ),
    "change-table": (Call(claim=lambda data: "CREATE TRIGGER" in data["table"], prints="CREATE TABLE erp.change"),),
    "housekeeping": (Call(("--dry-run",), claim=lambda data: "rows" in data), Call(claim=lambda data: "rows" in data)),
    "rejections list": (
        Call(("--vendor", "store-001"), claim=lambda data: bool(data["rejections"]), prints="store-001"),
    ),
    "rejections release": (Call(state=_rejection, claim=lambda data: data["released"] == 1, prints="store-004"),),
    "runs list": (
        Call(claim=lambda data: bool(data["runs"]), prints="SKUs changed"),
        Call(("--kind", "full", "--limit", "1"), claim=lambda data: data["runs"][0]["kind"] == "full", prints="full"),
    ),
    "runs show": (Call(state=_run, claim=lambda data: bool(data["of_vendors"]), prints="vendor store-"),),
    "config show": (
        Call(
            claim=lambda data: {"platform.chain", "erp.url"} <= {row["name"] for row in data["settings"]},
            prints="platform.client_secret = ***",
        ),
    ),
    "sandbox fill": (
        Call(
            ("--vendor", "store-002"),
            claim=lambda data: data["made"].keys() == {"store-002"} and data["kept"]["store-002"] > 4000,
            prints="were there",
        ),
    ),
    "sandbox order": (Call(("store-001",), claim=lambda data: data["event"], prints="shelfsync orders show"),),
    "mcp": (Call(has_json=False),),  # its end is that of its input
    "up": (Call(has_json=False, prints="everything is up already"),),
    "down": (Call(state=_empty_home, has_json=False, prints="everything is stopped"),),
    "demo": (Call(has_json=False, exit_code=1),),
    "orders list": (
        Call(state=_only(_known_order), claim=lambda data: bool(data["orders"]), prints="store-001"),
        Call(("--vendor", "store-001", "--open", "--limit", "3")),
    ),
    "orders show": (Call(state=_known_order, claim=lambda data: len(data["lines"]) == 2, prints="result"),),
    "orders accept": (
        Call(
            state=lambda chain: (*_order("VENDOR_DELIVERY")(chain), *_later(chain)),
            claim=lambda data: data["state"] in {"answered", "confirmed"},
            prints="accept",
        ),
    ),
    "orders fulfil": (
        Call(("--as-ordered",), state=_order(), claim=lambda data: data["state"] in {"answered", "confirmed"}),
        Call(("--as-ordered", "--dry-run"), state=_order(), claim=lambda data: data["state"] == "checked"),
        Call(state=_picked, claim=lambda data: data["state"] in {"answered", "confirmed"}),
    ),
    "orders retry": (
        Call(
            state=_known_order,
            claim=lambda data: data["retried"] == 0 and bool(data["results"]),
            prints="0 results are processed again",
        ),
    ),
    "orders forget": (
        Call(("--force",), state=_known_order, claim=lambda data: data["customers"] == 1, prints="customers forgotten"),
    ),
    "orders secret": (
        Call(("store-001",), claim=lambda data: data["secret"].startswith("store-001."), prints="store-001."),
    ),
    "orders cancel": (
        Call(
            ("--reason", "TOO_BUSY", "--force"),
            state=_order(),
            claim=lambda data: data["state"] in {"answered", "confirmed"},
            prints="cancel",
        ),
    ),
    "promotions plan": (Call(state=_campaign, prints="store-002-"),),
    "promotions sync": (Call(state=_campaign, claim=lambda data: data["state"] == SUCCEEDED),),
    "promotions status": (Call(state=_only(_held_campaign), prints="held: store-002-"),),
    "promotions recover": (Call(claim=lambda data: data["failed"] == {}, prints="jobs confirmed"),),
    "holds list": (
        Call(state=_only(_hold_at("store-006")), claim=lambda data: bool(data["holds"]), prints="open"),
        Call(("--state", "any"), prints="store-006"),
    ),
    "holds show": (Call(state=_hold_at("store-006"), claim=lambda data: bool(data["rows_shown"]), prints="price"),),
    "holds approve": (
        Call(("--yes", "--reason", "it is right"), state=_hold_at("store-004"), claim=_decided("approved")),
        Call(("--yes", "--reason", "the flyer"), state=_held_campaign, claim=_decided("approved")),
    ),
    "holds decline": (
        Call(("--reason", "a slip"), state=_hold_at("store-005"), claim=_decided("declined")),
        Call(("--reason", "too deep"), state=_held_campaign, claim=_decided("declined")),
    ),
    "holds reopen": (
        Call(
            ("--reason", "right after all"),
            state=_declined_hold("store-005"),
            claim=lambda data: (data["state"], data["decided"]) == ("open", True),
        ),
    ),
    "holds backtest": (Call(("--duration", "1d"), claim=bool),),
    "change-files list": (Call(claim=lambda data: data["files"] == [], prints="no file of changes was seen"),),
    "change-files replay": (
        Call(("/feed/0042.csv",), exit_code=3, claim=lambda error: error["code"] == "configuration"),
    ),
    "inbox list": (Call(("--limit", "5"), claim=lambda data: len(data["events"]) == 5, prints="job"),),
    "inbox grant": (Call(("receiver_of_a_test",), claim=lambda data: "made" in data, prints="and nothing else"),),
    "inbox replay": (Call(state=_event, claim=lambda data: bool(data["replayed"]), prints="processed again"),),
}
