"""What was done and what came of it, in numbers."""

from __future__ import annotations

import statistics
from collections import Counter
from typing import TYPE_CHECKING, Any

from installation import orders, shelf

if TYPE_CHECKING:
    from installation.installed import Installation
    from soak.soak_run import SoakRun

PAGE = 100


def figures(soak_run: SoakRun) -> dict[str, Any]:
    """Actions, kills, faults, runs, orders and requests; nothing that names a person or a secret."""
    installation = soak_run.installation
    lines = shelf.journal(installation, 0)
    requests = [line for line in lines if line["kind"] == "request"]
    return {
        "actions": dict(soak_run.done),
        "actions_not_possible": dict(soak_run.not_possible),
        "kills": dict(soak_run.killed),
        "left_over_answers": dict(soak_run.left_over),
        "faults": dict(sorted(Counter(line["fault"] for line in lines if line["fault"]).items())),
        "runs": runs(installation),
        "orders": dict(Counter(orders.states(installation).values())),
        "holds": {
            row["state"]: row["holds"]
            for row in installation.rows("SELECT state, count(*) AS holds FROM ledger.hold GROUP BY 1 ORDER BY 1")
        },
        "requests": {
            "total": len(requests),
            "max_in_60_s": soak_run.sandbox("GET", f"/journal?after={10**9}")["max_requests_in_60s"],
            "by_operation": dict(Counter(line["operation"] or "other" for line in requests)),
        },
        "webhooks": len([line for line in lines if line["kind"] == "webhook"]),
    }


def runs(installation: Installation) -> dict[str, dict[str, Any]]:
    """DAG -> state -> number of runs, and the median length of those that succeeded."""
    found = {}
    for dag_id in sorted(installation.dags()):
        every: list[dict[str, Any]] = []
        while True:
            page = installation.get(f"/dags/{dag_id}/dagRuns", limit=PAGE, offset=len(every))
            every += page["dag_runs"]
            if not page["dag_runs"] or len(every) >= page["total_entries"]:
                break
        lengths = [run["duration"] for run in every if run["state"] == "success" and run.get("duration")]
        found[dag_id] = dict(Counter(run["state"] for run in every))
        if lengths:
            found[dag_id]["median_s"] = round(statistics.median(lengths), 1)
    return found
