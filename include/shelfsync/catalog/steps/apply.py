"""apply: sends exactly what a plan has, or nothing. shelfsync compares ERP, baseline and configuration with the plan first.

It repeats the steps up to the guards. Every file and every request body must be the one of the plan.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from shelfsync.catalog.delta import compute_delta
from shelfsync.catalog.ledger import runs, vendor_runs, vendors
from shelfsync.catalog.state import VendorState
from shelfsync.catalog.steps import plan as plans
from shelfsync.catalog.steps.each_vendor import PREPARE
from shelfsync.catalog.steps.extract import extract
from shelfsync.catalog.steps.sync import finish, recover, step
from shelfsync.errors import PlanMovedError
from shelfsync.store.lake import segment

if TYPE_CHECKING:
    from collections.abc import Callable

    from shelfsync.catalog.steps.plan import Plan
    from shelfsync.context import Context

log = logging.getLogger(__name__)

SHOWN_MAX = 20


def apply(
    context: Context,
    plan: Plan,
    run_id: int,
    progress: Callable[[str, int, int], None],
) -> dict[str, Any]:
    """Runs an open run of the plan's vendors to its report. PlanMovedError names what changed; then nothing was sent or planned."""
    with runs.at_work(context.engine, run_id, whole=True):
        recover(context, run_id)
        _stop_for(settings_moved(context, plan) + baselines_moved(context, plan))
        progress("extract", 0, 1)
        shards = extract(context, run_id, every=True)
        progress("extract", 1, 1)
        names = [vendor for shard in shards for vendor in shard["vendors"]]
        to_guards = PREPARE[:-1]
        for number, word in enumerate(to_guards, 1):
            for shard in shards:
                step(context, word, run_id, shard["vendors"])
            progress(word, number, len(to_guards))
        moved = rows_moved(context, plan, run_id, names) + baselines_moved(context, plan)
        if moved:
            _give_up(context, run_id, names)
        _stop_for(moved)
        return finish(context, run_id, shards, progress)


def settings_moved(context: Context, plan: Plan) -> list[str]:
    """Sections of the settings that have changed since the plan."""
    now, then = plans.fingerprints(context.settings), plan.configuration
    return [
        f"configuration: the section {name} has changed"
        for name in sorted(now | then)
        if now.get(name) != then.get(name)
    ]


def baselines_moved(context: Context, plan: Plan) -> list[str]:
    """Vendors whose baseline has changed since the plan."""
    changes = []
    with context.engine.connect() as connection:
        for one in plan.vendors:
            base = vendors.current_baseline(connection, one.vendor)
            now = 0 if base is None else base.version
            then = one.baseline.version or 0
            if now != then:
                changes.append(f"baseline: vendor {one.vendor} has moved from version {then} to {now}")
            elif one.baseline.path != (base and base.path):
                changes.append(f"baseline: vendor {one.vendor} has another file for version {now}")
    return changes


def rows_moved(context: Context, plan: Plan, run_id: int, names: list[str]) -> list[str]:
    """What the ERP, the guards or an open job change compared with the plan, by vendor."""
    planned = {one.vendor: one for one in plan.vendors}
    changes = [f"snapshot: the ERP has no vendor {name} any more" for name in sorted(set(planned) - set(names))]
    changes += [
        f"snapshot: the ERP has a vendor {name} that is not in the plan" for name in sorted(set(names) - set(planned))
    ]
    with context.engine.connect() as connection:
        rows = {row.vendor: row for row in vendor_runs.read_all(connection, run_id)}
    for name in sorted(set(names) & set(planned)):
        row, then = rows[name], planned[name]
        if row.snapshot_path != then.snapshot:
            changes.append(f"snapshot: vendor {name}: {_difference(context, name, row.snapshot_path, then.snapshot)}")
        elif row.state in {VendorState.BUSY, VendorState.FAILED, VendorState.SUPERSEDED} and then.state != row.state:
            changes.append(f"vendor {name} is {row.state}: {row.error or 'its last job is still open'}")
        elif row.released_path != then.released:
            changes.append(f"guards: vendor {name}: its holds or rejections have changed since")
        elif (
            row.released_path is not None
            and plans.bodies(context, row.released_path, then.baseline.path) != then.batches
        ):
            changes.append(f"vendor {name}: the request bodies are not the planned ones")
    return changes


def _difference(context: Context, vendor: str, now: str | None, then: str | None) -> str:
    """How many SKUs differ, if both snapshots can be read. The plan's own path is checked before it is read."""
    own = f"snapshot/{segment(vendor)}/"
    if now is None or then is None or not then.startswith(own) or not context.lake.exists(then):
        return "the ERP's rows have changed"
    import pyarrow.compute as pc

    new = context.lake.read_table(now)
    old = context.lake.read_table(then)
    delta = compute_delta(new, old, full=False)
    first = ", ".join(delta["sku"][:3].to_pylist())
    count = pc.count(delta["sku"], mode="all").as_py()
    return (
        f"{count} SKUs have changed in the ERP since ({first}{', …' if count > 3 else ''})"
        if count
        else "the ERP's rows have changed"
    )


def _give_up(context: Context, run_id: int, names: list[str]) -> None:
    with context.engine.begin() as connection:
        for name in names:
            vendor_runs.write(
                connection, run_id, name, state=VendorState.SUPERSEDED, error="the plan is no longer what would be sent"
            )


def _stop_for(moved: list[str]) -> None:
    if not moved:
        return
    more = f"; and {len(moved) - SHOWN_MAX} more" if len(moved) > SHOWN_MAX else ""
    raise PlanMovedError(
        f"apply: nothing was sent, because things have moved since the plan was made: {'; '.join(moved[:SHOWN_MAX])}{more}."
        " Make a new plan, look at it, and apply that."
    )
