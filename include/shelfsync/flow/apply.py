"""apply: sends exactly what a plan says, or nothing: ERP, baseline and configuration are held against the plan before anything is planned.

The path is walked again up to the guards; what comes out has to be, file for file and byte for byte, what the plan was made of.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from shelfsync.errors import PlanMovedError
from shelfsync.flow import plan as plans
from shelfsync.flow.sync import finish
from shelfsync.ledger import vendor_runs, vendors
from shelfsync.segment import segment

if TYPE_CHECKING:
    from collections.abc import Callable

    from shelfsync.flow.house import Parts
    from shelfsync.flow.sync import Steps

log = logging.getLogger(__name__)

PREPARE = ("normalise", "diff", "guard")
SHOWN_MAX = 20


def apply(
    parts: Parts,
    steps: Steps,
    plan: dict[str, Any],
    run_id: int,
    tell: Callable[[str, int, int], None],
) -> dict[str, Any]:
    """Walks an open run of the plan's vendors to its report. PlanMovedError says what moved; then nothing was sent or planned."""
    moved = settings_moved(parts, plan) + baselines_moved(parts, plan)
    _stop_for(moved)
    tell("extract", 0, 1)
    shards = steps.extract(run_id)
    tell("extract", 1, 1)
    names = [vendor for shard in shards for vendor in shard["vendors"]]
    for number, word in enumerate(PREPARE, 1):
        for shard in shards:
            steps.step(word, run_id, shard["vendors"])
        tell(word, number, len(PREPARE))
    moved = rows_moved(parts, plan, run_id, names) + baselines_moved(parts, plan)
    if moved:
        _give_up(parts, run_id, names)
    _stop_for(moved)
    return finish(steps, run_id, shards, tell)


def settings_moved(parts: Parts, plan: dict[str, Any]) -> list[str]:
    """Sections of the settings that are others now."""
    now, then = plans.fingerprints(parts.settings), plan["configuration"]
    return [
        f"configuration: the section {name} has changed"
        for name in sorted(now | then)
        if now.get(name) != then.get(name)
    ]


def baselines_moved(parts: Parts, plan: dict[str, Any]) -> list[str]:
    """Vendors of which something was acknowledged since."""
    said = []
    with parts.engine.connect() as connection:
        for vendor in plan["vendors"]:
            base = vendors.current_baseline(connection, vendor["vendor"])
            now = 0 if base is None else base.version
            then = vendor["baseline"]["version"] or 0
            if now != then:
                said.append(f"baseline: vendor {vendor['vendor']} has moved from version {then} to {now}")
            elif vendor["baseline"]["path"] != (None if base is None else base.path):
                said.append(f"baseline: vendor {vendor['vendor']} has another file for version {now}")
    return said


def rows_moved(parts: Parts, plan: dict[str, Any], run_id: int, names: list[str]) -> list[str]:
    """What the ERP, the guards or an open job make different from the plan, vendor by vendor."""
    planned = {vendor["vendor"]: vendor for vendor in plan["vendors"]}
    said = [f"snapshot: the ERP has no vendor {name} any more" for name in sorted(set(planned) - set(names))]
    said += [
        f"snapshot: the ERP has a vendor {name} that the plan does not know"
        for name in sorted(set(names) - set(planned))
    ]
    with parts.engine.connect() as connection:
        rows = {row.vendor: row for row in vendor_runs.read_all(connection, run_id)}
    for name in sorted(set(names) & set(planned)):
        row, then = rows[name], planned[name]
        if row.snapshot_path != then["snapshot"]:
            said.append(f"snapshot: vendor {name}: {_difference(parts, name, row.snapshot_path, then['snapshot'])}")
        elif row.state in {"busy", "failed", "superseded"} and then["state"] != row.state:
            said.append(f"vendor {name} is {row.state}: {row.error or 'its last job is still open'}")
        elif row.released_path != then["released"]:
            said.append(f"guards: vendor {name}: what is held or known to be refused has changed since")
        elif (
            row.released_path is not None
            and plans.bodies(parts, row.released_path, then["baseline"]["path"]) != then["batches"]
        ):
            said.append(f"vendor {name}: the request bodies are not the planned ones")
    return said


def _difference(parts: Parts, vendor: str, now: str | None, then: str | None) -> str:
    """How many SKUs differ, where both snapshots can be read. A plan's word for the path of its own is not enough."""
    own = f"snapshot/{segment(vendor)}/"
    if now is None or then is None or not then.startswith(own) or not parts.lake.exists(then):
        return "the ERP's rows have changed"
    import pyarrow as pa
    import pyarrow.compute as pc

    from shelfsync.catalog.alignment import column
    from shelfsync.catalog.diff import diff
    from shelfsync.columns import BASELINE

    new = parts.lake.read_table(now)
    old = parts.lake.read_table(then)
    delta = diff(new, pa.Table.from_arrays([column(old, name) for name in BASELINE.names], schema=BASELINE), full=False)
    first = ", ".join(delta["sku"][:3].to_pylist())
    count = pc.count(delta["sku"], mode="all").as_py()
    return (
        f"{count} SKUs are others in the ERP by now ({first}{', …' if count > 3 else ''})"
        if count
        else "the ERP's rows have changed"
    )


def _give_up(parts: Parts, run_id: int, names: list[str]) -> None:
    with parts.engine.begin() as connection:
        for name in names:
            vendor_runs.write(
                connection, run_id, name, state="superseded", error="the plan is no longer what would be sent"
            )


def _stop_for(moved: list[str]) -> None:
    if not moved:
        return
    more = f"; and {len(moved) - SHOWN_MAX} more" if len(moved) > SHOWN_MAX else ""
    raise PlanMovedError(
        f"apply: nothing was sent, because things have moved since the plan was made: {'; '.join(moved[:SHOWN_MAX])}{more}."
        " Make a new plan, look at it, and apply that."
    )
