"""A change in the ERP starts a delta: the table of changes in the ERP, the trigger in the triggerer, the asset, the real scheduler.

It has an installation of its own, since in it no schedule starts a delta.
"""

from __future__ import annotations

import json
import random
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from crash.victims import kill
from installation import shelf
from installation.installed import SCHEDULES, SHORT_TIMEOUTS, Installation, installed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow

DELTA = "catalog_delta_sync"
VENDOR = "store-002"
UNSCHEDULED = {f"AIRFLOW__SHELFSYNC__{name}_SCHEDULE": "none" for name in SCHEDULES}
BY_CHANGES = {"AIRFLOW__SHELFSYNC__DELTA_WATCH": "changes", "SHELFSYNC_SYNC__WATCH_S": "1"}
SEEN_S = 180.0
"""A change is on the platform within seconds; a machine with other work gets more."""
STILL_S = 75.0
"""Longer than the watch waits until it reports the same news again, and than it leaves a vendor alone."""


@pytest.fixture(scope="module")
def watching(reachable_folder: Path) -> Iterator[Installation]:
    """Up, with a table of changes in its ERP, after a full sync; nothing but a change in the ERP starts a delta."""
    with installed(reachable_folder / "watching", UNSCHEDULED | SHORT_TIMEOUTS | BY_CHANGES) as up:
        up.sandbox("PUT", "/settings", {"propagation_s": 0})
        up.run("catalog_full_sync")
        up.until(lambda: shelf.differences(up) == [], "the first full sync to have come through")
        yield up


def test_a_change_in_the_erp_starts_a_delta(watching: Installation) -> None:
    known = _run_ids(watching)
    (sku,) = shelf.on_sale(watching, VENDOR, 1)
    price = shelf.move_price(watching, VENDOR, sku)
    watching.until(partial(_costs, watching, sku, price), "the platform to have the price", SEEN_S)
    begun = [run for run in _runs(watching) if run["dag_run_id"] not in known]
    assert {run["run_type"] for run in begun} == {"asset_triggered"}
    assert shelf.differences(watching) == []


def test_without_a_change_no_run_begins(watching: Installation) -> None:
    unchanged = partial(_all_unchanged, watching)  # each vendor that got something is compared once more
    watching.until(unchanged, "a run that finds every vendor in step", SEEN_S)
    known = _run_ids(watching)
    time.sleep(STILL_S)
    assert _run_ids(watching) == known


def test_changes_during_a_run_are_in_the_next_and_runs_do_not_pile_up(watching: Installation) -> None:
    known = _run_ids(watching)
    first, *later = shelf.on_sale(watching, VENDOR, 6)
    with watching.slow_jobs(20):
        prices = {first: shelf.move_price(watching, VENDOR, first)}
        watching.until(lambda: watching.runs(DELTA, "running"), "a run to begin", SEEN_S)
        for sku in later:
            prices[sku] = shelf.move_price(watching, VENDOR, sku)
            time.sleep(2)
            assert len(watching.runs(DELTA, "running", "queued")) <= 2, "one at work, one that waits"
    for sku, price in prices.items():
        watching.until(partial(_costs, watching, sku, price), f"the platform to have the price of {sku}", SEEN_S)
    assert 2 <= len(_run_ids(watching) - known) <= 4


def test_a_triggerer_that_was_killed_is_replaced_and_sees_the_next_change(watching: Installation) -> None:
    assert kill(watching.home, "triggerer", random.Random(1)) >= 1
    (sku,) = shelf.on_sale(watching, VENDOR, 1, skip=10)
    price = shelf.move_price(watching, VENDOR, sku)
    watching.until(partial(_costs, watching, sku, price), "the platform to have the price", SEEN_S)


def _runs(installation: Installation) -> list[dict[str, Any]]:
    return installation.runs(DELTA)


def _run_ids(installation: Installation) -> set[str]:
    return {run["dag_run_id"] for run in _runs(installation)}


def _all_unchanged(installation: Installation) -> bool:
    status = json.loads(installation.shelfsync("status", "--json").stdout)["data"]
    idle = not installation.runs(DELTA, "running", "queued")
    return idle and {row["last_state"] for row in status["vendors"]} == {"unchanged"}


def _costs(installation: Installation, sku: str, price: Any) -> bool:
    return bool(shelf.products(installation, VENDOR)[sku]["price"] == price)
