"""How every command of `shelfsync` is called by its user: words, the exit code, and a claim about what it prints."""

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
    """One way to call a command. `state` makes what it needs and returns further words; it is made for each call anew.

    It is called twice: with --json, when `claim` holds of its document, and for a person, when `says` is in what it printed.
    """

    words: tuple[str, ...] = ()
    state: Callable[[Chain], tuple[str, ...]] = _nothing
    exit_code: int = 0
    claim: Callable[[dict[str, Any]], bool] = _anything
    says: str = ""
    has_json: bool = True


def _only(state: Callable[[Chain], tuple[str, ...]]) -> Callable[[Chain], tuple[str, ...]]:
    """The state without its words: for a command that shows everything."""
    return lambda chain: state(chain)[:0]


def _changed(chain: Chain) -> tuple[str, ...]:
    chain.price("store-002", "1.05")
    return ("--vendor", "store-002")


def _plan(chain: Chain) -> tuple[str, ...]:
    chain.price("store-002", "1.05")
    file = chain.folder / "plan.json"
    chain.told("plan", "--vendor", "store-002", "--out", str(file))
    return (str(file),)


def _stale_plan(chain: Chain) -> tuple[str, ...]:
    words = _plan(chain)
    chain.told("sync", "--vendor", "store-002")
    return words


def _old_state(chain: Chain) -> tuple[str, ...]:
    """A time before a price changed."""
    at = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    sku = chain.price("store-003", "1.05")
    chain.told("sync", "--vendor", "store-003")
    return ("--at", at, "--sku", sku)


def _restored(chain: Chain) -> tuple[str, ...]:
    chain.told("restore", "store-003", *_old_state(chain), "--why", "a wrong list")
    return ()


def _order(kind: str = "LOGISTICS_DELIVERY") -> Callable[[Chain], tuple[str, ...]]:
    return lambda chain: (chain.order("store-001", transport_type=kind),)


def _known_order(chain: Chain) -> tuple[str, ...]:
    order = chain.order("store-001")
    chain.told("orders", "fulfil", order, "--as-ordered")
    return (order,)


def _picked(chain: Chain) -> tuple[str, ...]:
    """An order and the file with what was picked of it."""
    order = chain.order("store-001")
    chain.told("orders", "fulfil", order, "--as-ordered", "--check")
    lines = chain.told("orders", "show", order)["lines"]
    items = [{"sku": line["sku"], "item_id": line["item_id"], "status": "picked"} for line in lines]
    file = chain.folder / "picked.json"
    file.write_text(json.dumps({"items": items}), "utf-8")
    return (order, "--result", str(file))


def _hold_at(vendor: str) -> Callable[[Chain], tuple[str, ...]]:
    return lambda chain: (chain.hold(vendor),)


def _event(chain: Chain) -> tuple[str, ...]:
    return (str(chain.told("inbox", "list", "--kind", "job", "--limit", "1")["events"][0]["event_id"]),)


def _refused(chain: Chain) -> tuple[str, ...]:
    rows = chain.told("rejections", "--vendor", "store-004")["rejections"]
    return ("--release", str(rows[0]["sku"]))


def _paused(what: str) -> Callable[[Chain], tuple[str, ...]]:
    def state(chain: Chain) -> tuple[str, ...]:
        chain.told("pause", what, "--why", "stocktaking")
        return (what,)

    return state


def _product(chain: Chain) -> tuple[str, ...]:
    return ("store-001", str(chain.goods("store-001")["sku"]))


def _later(_: Chain) -> tuple[str, ...]:
    return ("--for", (dt.datetime.now(dt.UTC) + dt.timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ"))


def _campaign(chain: Chain) -> tuple[str, ...]:
    chain.campaign("store-002", "0.8")
    return ()


def _held_campaign(chain: Chain) -> tuple[str, ...]:
    return (chain.held_campaign("store-002"),)


def _empty_home(chain: Chain) -> tuple[str, ...]:
    """Another folder than the installation's, so that nothing of it is stopped."""
    (chain.folder / "elsewhere.toml").write_text(f'home = "{chain.folder / "elsewhere"}"\n', "utf-8")
    return ()


SUCCEEDED = "succeeded"
COMMANDS: dict[str, tuple[Call, ...]] = {
    "sync": (
        Call(("--vendor", "store-001"), claim=lambda told: told["state"] == SUCCEEDED),
        Call(("--vendor", "store-001", "--full"), claim=lambda told: told["sent"] > 4000),
        Call(
            ("--vendor", "store-002"),
            state=lambda chain: ("--sku", chain.price("store-002", "1.05")),
            claim=lambda told: told["accepted"] == 1,
            says="accepted",
        ),
    ),
    "plan": (
        Call(
            state=_changed,
            claim=lambda told: [one["vendor"] for one in told["plan"]["vendors"]] == ["store-002"],
            says="store-002: ",
        ),
    ),
    "apply": (
        Call(state=_plan, claim=lambda told: told["accepted"] >= 1),
        Call(state=_stale_plan, exit_code=8, has_json=False),
    ),
    "check": (Call(claim=lambda told: told == {"ok": True, "warnings": []}, says="database, ERP and platform answer"),),
    "settle": (Call(claim=lambda told: told["failed"] == {}, says="jobs confirmed"),),
    "status": (Call(claim=lambda told: len(told["vendors"]) == 6, says="store-006"),),
    "export": (Call(("--vendor", "store-006"), claim=lambda told: told["state"] == SUCCEEDED, says="1 vendors, "),),
    "duckdb": (
        Call(("today.duckdb",), claim=lambda told: told["warehouse.baseline"] > 20_000, says="warehouse.drift"),
    ),
    "pause": (
        Call(("store-006", "--why", "stocktaking", "--who", "ada"), says="store-006"),
        Call(("--chain", "--why", "stocktaking"), says="demo-chain"),
    ),
    "resume": (
        Call(state=_paused("store-006"), says="store-006"),
        Call(state=_paused("--chain"), says="demo-chain"),
    ),
    "explain": (
        Call(state=_product, claim=lambda told: bool(told["sentence"]) and bool(told["events"]), says="The ERP says"),
    ),
    "restore": (
        Call(("store-003", "--plan"), state=_old_state, says="store-003"),
        Call(("store-003", "--why", "a wrong list", "--for", "1h"), state=_old_state, says="store-003"),
        Call(("store-003", "--end"), state=_restored, says="store-003"),
    ),
    "housekeeping": (Call(("--dry-run",), claim=lambda told: "rows" in told), Call(claim=lambda told: "rows" in told)),
    "rejections": (
        Call(("--vendor", "store-001"), claim=lambda told: bool(told["rejections"]), says="store-001"),
        Call(("--vendor", "store-004"), state=_refused),
    ),
    "up": (Call(has_json=False, says="everything is up already"),),
    "down": (Call(state=_empty_home, has_json=False, says="everything is stopped"),),
    "demo": (Call(has_json=False, exit_code=1),),
    "orders list": (
        Call(state=_only(_known_order), claim=lambda told: bool(told["orders"]), says="store-001"),
        Call(("--vendor", "store-001", "--open", "--limit", "3")),
    ),
    "orders show": (Call(state=_known_order, claim=lambda told: len(told["lines"]) == 2, says="result"),),
    "orders accept": (
        Call(
            state=lambda chain: (*_order("VENDOR_DELIVERY")(chain), *_later(chain)),
            claim=lambda told: told["state"] in {"answered", "confirmed"},
            says="accept",
        ),
    ),
    "orders fulfil": (
        Call(("--as-ordered",), state=_order(), claim=lambda told: told["state"] in {"answered", "confirmed"}),
        Call(("--as-ordered", "--check"), state=_order(), claim=lambda told: told["state"] == "checked"),
        Call(state=_picked, claim=lambda told: told["state"] in {"answered", "confirmed"}),
    ),
    "orders retry": (
        Call(
            state=_known_order,
            claim=lambda told: told["retried"] == 0 and bool(told["results"]),
            says="0 results are worked on again",
        ),
    ),
    "orders forget": (
        Call(("--yes",), state=_known_order, claim=lambda told: told["customers"] == 1, says="customers forgotten"),
    ),
    "orders secret": (
        Call(("store-001",), claim=lambda told: told["secret"].startswith("store-001."), says="store-001."),
    ),
    "orders cancel": (
        Call(
            ("--reason", "TOO_BUSY", "--yes"),
            state=_order(),
            claim=lambda told: told["state"] in {"answered", "confirmed"},
            says="cancel",
        ),
    ),
    "promotions plan": (Call(state=_campaign, says="store-002-"),),
    "promotions sync": (Call(state=_campaign, claim=lambda told: told["state"] == SUCCEEDED),),
    "promotions status": (Call(state=_only(_held_campaign), says="held: store-002-"),),
    "promotions settle": (Call(claim=lambda told: told["failed"] == {}, says="jobs confirmed"),),
    "promotions release": (Call(state=_held_campaign, claim=lambda told: told["holds"] == 1, says="released"),),
    "promotions refuse": (Call(state=_held_campaign, claim=lambda told: told["holds"] == 1, says="refused"),),
    "holds list": (
        Call(state=_only(_hold_at("store-006")), claim=lambda told: bool(told["holds"]), says="open"),
        Call(("--all",), says="store-006"),
    ),
    "holds show": (Call(state=_hold_at("store-006"), claim=lambda told: bool(told["rows_shown"]), says="price"),),
    "holds approve": (
        Call(("--why", "it is right"), state=_hold_at("store-004"), claim=lambda told: told["state"] == "approved"),
    ),
    "holds reject": (
        Call(("--why", "a slip"), state=_hold_at("store-005"), claim=lambda told: told["state"] == "rejected"),
    ),
    "holds rehearse": (Call(("--days", "1"), claim=bool),),
    "inbox list": (Call(("--limit", "5"), claim=lambda told: len(told["events"]) == 5, says="job"),),
    "inbox grant": (Call(("receiver_of_a_test",), claim=lambda told: "made" in told, says="and nothing else"),),
    "inbox replay": (Call(state=_event, claim=lambda told: bool(told["replayed"]), says="read again"),),
}
