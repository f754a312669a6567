"""`make record-release`: an installation at work, of the code as it is now, for tests of later versions (`recorded_release.py`).

A chain of three stores with an open job, holds in each state, a pause, a campaign, orders on every stage and open alerts: its database
as a plain dump, lake, ERP and platform, and the code that made them. Persons and prices are made up.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from app_calls import Calls, open_calls
from orders_world import SECRET, OrdersWorld, picked
from prepared_world import ERP_FILE, stored
from promotion_erp import PromotionErp
from recorded_release import FILE, settings_of, written
from sandbox_fixture import LiveSandbox
from serving import serving
from shelfsync.alert_conditions import watch as alert_watch
from shelfsync.local import postgres_binaries
from shelfsync.local.postgres import running_postgres
from shelfsync.migrations.upgrade import HEAD
from shelfsync.receiver.server import config, receiver_app
from small_erp import SmallErp

ROOT = Path(__file__).resolve().parents[2]
STORES = ("store-001", "store-002", "store-003")
OF_THE_MACHINE = ("ledger.token", "ledger.lease", "rate_limit.*")
"""Tables without rows in the dump: a secret, names of processes, and the requests of the last minute."""


def work(calls: Calls, erp: SmallErp, orders: OrdersWorld) -> None:
    """What people miss if an upgrade loses it."""
    orders.platform.control("PUT", "settings", {"promotion_propagation_s": 0.0, "propagation_s": 0.0})
    campaigns = PromotionErp(erp, dt.datetime.now(dt.UTC))
    for store in STORES:
        orders.platform.put_products(store, [{"sku": sku, "title": sku, "price": 9.0} for sku in "abcd"])
        for sku in "abcd":
            erp.put(store, sku, "10.00")

    def sync(kind: str) -> None:
        run = calls.open_run(kind, f"recorded/{kind}/{dt.datetime.now(dt.UTC).isoformat()}")
        calls.sync(run, dry_run=False, progress=lambda *_: None)

    sync("full")
    campaigns.put("spring", "a", "8.00", end=24 * 365 * 20)
    calls.promotions.sync(calls.promotions.open_run("recorded/campaigns"))
    for store, price in zip(STORES, ("1000.00", "2000.00", "3000.00"), strict=True):
        erp.put(store, "b", price)
    sync("delta")
    first, second, _ = (hold["hold_id"] for hold in calls.holds.listed("open"))
    calls.holds.decide(first, approve=False, who="ada", why="a slip")
    calls.pause("vendor", "store-002", why="stocktaking", who="ada")
    calls.holds.decide(second, approve=True, who="bob", why="a new pack")

    orders.platform.put_webhook(order_url=f"{orders.receiver_url}/webhook", secret=SECRET)
    fulfilled, reported = orders.place("a"), orders.place("a", "c")
    orders.receive_events()
    orders.tick()
    orders.report(fulfilled, "fulfil", picked("a"))
    orders.until(fulfilled, "done")
    orders.report(reported, "fulfil", picked("a"), picked("c"))
    orders.place("d")
    orders.platform.until_quiescent()  # its event waits in the inbox

    erp.put("store-003", "c", "11.00")
    run = calls.open_run("delta", "recorded/open")
    vendors = [vendor for shard in calls.extract(run) for vendor in shard["vendors"]]
    for word in ("normalise", "diff", "guard", "batch", "deliver"):
        calls.step(word, run, vendors)
    alert_watch.watch(calls.context)


def dumped(dsn: str) -> bytes:
    left = [f"--exclude-table-data={name}" for name in OF_THE_MACHINE]
    command = [postgres_binaries.find().program("pg_dump"), "--no-owner", "--no-privileges", *left, dsn]
    return subprocess.run(command, check=True, capture_output=True).stdout


def code() -> dict[str, bytes]:
    """What the release's wheel has of Python."""
    folders = (ROOT / "include/shelfsync", ROOT / "include/partner_api")
    files = [file for folder in folders for file in folder.rglob("*") if file.is_file() and file.suffix != ".pyc"]
    return {f"code/{file.relative_to(ROOT / 'include')}": file.read_bytes() for file in files}


def main() -> None:
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.chmod(0o711)
        dsn = stack.enter_context(running_postgres(folder / "postgres"))
        platform = stack.enter_context(LiveSandbox())
        settings = settings_of(folder, dsn, platform)
        erp = SmallErp(folder / ERP_FILE)
        (folder / "stores").mkdir()
        receiver = stack.enter_context(serving(config(receiver_app(settings))))
        with open_calls(settings) as calls:
            work(calls, erp, OrdersWorld(calls, platform, receiver, folder / "stores"))
            recorded_at = dt.datetime.now(dt.UTC).isoformat()
            lake = {f"lake/{file.relative_to(folder / 'lake')}": file for file in (folder / "lake").rglob("*.*")}
            members = {name: file.read_bytes() for name, file in lake.items() if file.is_file()}
            members |= {"database.sql": dumped(dsn), "platform.sqlite": stored(platform)}
            members[ERP_FILE] = (folder / ERP_FILE).read_bytes()
    about = {
        "version": version("shelfsync"),
        "revision": HEAD,
        "platform": platform.base_url,
        "recorded_at": recorded_at,
    }
    file = Path(sys.argv[1]) if sys.argv[1:] else FILE
    written(file, {**members, **code()}, about)
    print(f"{file}: {about['revision']}, {file.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
