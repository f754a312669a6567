"""The pictures of every page: `PYTHONPATH=include python -m scripts.screenshots` beside a running `make up`, into docs/pictures/pages.

With names behind it, such as `restore overview`, it takes those pictures alone. It uses the sample chain. So that a hold and a restoration are there to be seen, it makes thirty prices of the sample ERP ten times as high and
a dozen a tenth higher, and syncs that store.
"""

from __future__ import annotations

import datetime as dt
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import sync_playwright

from shelfsync.local import airflow_home, guide, postgres_binaries
from shelfsync.local.state_folder import Place
from shelfsync.settings import read_settings

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs/pictures/pages"
STORE = "store-002"
ACCIDENT = """
INSERT INTO erp.price (product_id, store_id, amount, valid_from)
SELECT product_id, 2, round(list_price * CASE WHEN row_number() OVER (ORDER BY product_id) <= 30 THEN 10 ELSE 1.1 END, 2), current_date
FROM erp.product ORDER BY product_id LIMIT 42
"""
WAIT_S = 300.0
THEMES: dict[Any, str] = {"light": "", "dark": "-dark"}
"""Of Airflow and of the browser; each with the ending of its pictures."""


def main(names: list[str]) -> int:
    """Takes a picture of each page that the menu leads to, of a restoration, and of one hold, order and promotion, light and dark.

    `names`: of the pictures that are taken; without any, all are.
    """
    place = Place(read_settings().home.absolute())
    ready = json.loads((place.run / "ready.json").read_text("utf-8"))
    address, shelfsync = ready["airflow"], [str(ROOT / ".venv/bin/shelfsync")]
    psql = postgres_binaries.find().program("psql")
    environment = {
        "SHELFSYNC_CONFIG": str(place.home / "sample.toml"),
        "PATH": "/usr/bin:/bin",
        "HOME": str(place.home),
    }
    sync = [*shelfsync, "sync", "--vendor", STORE]
    subprocess.run([*sync, "--full"], check=False, env=environment)  # noqa: S603
    before = dt.datetime.now(dt.UTC)  # the sample's zone
    subprocess.run([psql, guide.erp_url(place), "-qc", ACCIDENT], check=True)  # noqa: S603  its own program
    subprocess.run(sync, check=False, env=environment)  # noqa: S603
    FOLDER.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--headless", "--no-sandbox", "--disable-gpu"]
        )
        start = f"{address}{guide.PAGES}"
        cookie: Any = {"name": "_token", "value": _token(place, address), "url": address}
        paths: dict[str, str] = {}
        for scheme, ending in THEMES.items():
            context = browser.new_context(color_scheme=scheme, viewport={"width": 1280, "height": 800})
            context.add_cookies([cookie])
            page = context.new_page()
            page.set_default_timeout(WAIT_S * 1000)
            paths = paths or _paths(page, start, ready["sku"], before, names)
            for name in names or paths:
                path = paths[name]
                page.goto(start + path)
                page.screenshot(path=str(FOLDER / f"{name}{ending}.png"))
                print(f"docs/pictures/pages/{name}{ending}.png")
            context.close()
        browser.close()
    return 0


def _paths(page: Any, start: str, sku: str, before: dt.datetime, names: list[str]) -> dict[str, str]:
    """Name -> path of each page below `start`, but for those of a hold or the like that `names` does not ask for."""
    paths = {"overview": "", "pause": "switches", "explain": f"explain?vendor=store-001&sku={sku}"}
    plain = ("rejections", "quarantine", "products", "differences", "inbox")
    paths |= {name: {"differences": "drift"}.get(name, name) for name in plain}
    paths |= {"store": f"store?vendor={STORE}", "search": f"search?q={sku[:3]}"}
    paths["restore"] = f"store/restore?vendor={STORE}&at={before:%Y-%m-%dT%H:%M:%S}"
    for name, one in (
        ("alerts", "alert"),
        ("holds", "hold"),
        ("runs", "run"),
        ("promotions", "promotion"),
        ("orders", "order"),
    ):
        paths[name] = name
        if not names or one in names:
            paths[one] = name + "/" + _first(page, start + name, f"/{name}/")
    return paths


def _first(page: Any, url: str, inside: str) -> str:
    """The last part of the first link of a list; waits until there is one, because the sample's customers order now and then."""
    end = time.monotonic() + WAIT_S
    while True:
        page.goto(url)
        links = page.eval_on_selector_all("main a, table a", "all => all.map(one => one.getAttribute('href') || '')")
        found = [
            link.rpartition("/")[2] for link in links if inside in link or link.startswith(inside.strip("/") + "/")
        ]
        if found:
            return str(found[0])
        if time.monotonic() > end:
            raise TimeoutError(f"{url} has no link to {inside}")
        time.sleep(5)


def _token(place: Place, address: str) -> str:
    password = airflow_home.admin_password(place.airflow)
    answer = httpx.post(
        f"{address}/auth/token", json={"username": airflow_home.USER, "password": password}, trust_env=False
    )
    return str(answer.raise_for_status().json()["access_token"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
