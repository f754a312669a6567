"""The tasks of the orders' DAGs: open the house, take the step, tell Airflow how it went. XCom carries counts alone."""

from __future__ import annotations

import logging
from typing import Any

from airflow.sdk import task

from shelfsync_airflow.house import ORDERS, PLATFORM, open_house
from shelfsync_airflow.tasks import SHOWN_MAX, failed_tasks, stop_for

log = logging.getLogger(__name__)


@task
def take() -> dict[str, int]:
    """Applies the order events that wait in the inbox."""
    with open_house(PLATFORM, ORDERS) as house:
        return house.orders.take()


@task(trigger_rule="all_done")
def hand_over() -> dict[str, Any]:
    """Tells stores of new and cancelled orders, and finds out what they have taken."""
    return _hand_over()


@task(trigger_rule="all_done")
def collect() -> dict[str, Any]:
    """Reads picking results out of the store's database; fails once for each that cannot be taken."""
    with open_house(PLATFORM, ORDERS) as house:
        told = house.orders.collect()
    stop_for(told.pop("alarms"))
    return {**told, "refused": len(told["refused"])}


@task(trigger_rule="all_done")
def fulfil() -> dict[str, Any]:
    """Sends what was picked; fails when something stands in the way that no repetition mends."""
    with open_house(PLATFORM, ORDERS) as house:
        told = house.orders.fulfil()
    failed: dict[str, str] = told.pop("failed")
    stop_for([f"order {order_id}: {why}" for order_id, why in failed.items()])
    return told


@task(trigger_rule="all_done")
def reply() -> dict[str, Any]:
    """Tells stores what became of their results, within the same minute."""
    return _hand_over()


@task(trigger_rule="all_done")
def watch() -> None:
    """Fails once for each stall that is new: orders that no store takes, results that do not reach the platform; and for failed tasks."""
    failed = failed_tasks()
    with open_house(PLATFORM, ORDERS) as house:
        new = house.orders.watch_stores()
    stop_for([f"task {name} failed: see its log" for name in failed] + new)


@task
def history() -> dict[str, Any]:
    """Reads the order history on; fails when a store's cannot be read, after the others were."""
    with open_house(PLATFORM, ORDERS) as house:
        told = house.orders.history()
    failed: dict[str, str] = told.pop("failed")
    stop_for([f"vendor {vendor}: {why}" for vendor, why in failed.items()])
    return told


@task(trigger_rule="all_done")
def watch_history() -> None:
    """Fails once for each store whose history will soon be out of reach."""
    failed = failed_tasks()
    with open_house(PLATFORM, ORDERS) as house:
        new = house.orders.watch_history()
    stop_for([f"task {name} failed: see its log" for name in failed] + new)


def _hand_over() -> dict[str, Any]:
    with open_house(PLATFORM, ORDERS) as house:
        told = house.orders.hand_over()
    for number, why in list(told["failed"].items())[:SHOWN_MAX]:
        log.warning("hand_over: number %s: %s", number, why)
    return {**told, "failed": len(told["failed"])}
