"""An export run as a whole: all of it in one process, and what came of it in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from shelfsync.ledger import exports
from shelfsync.warehouse.drift import drift_counts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from shelfsync.flow.house import Parts


class Steps(Protocol):
    """What a house offers for it."""

    def plan_exports(self, key: str, vendors: tuple[str, ...] = ()) -> list[dict[str, Any]]: ...

    def export_step(self, word: str, key: str, vendors: Iterable[str]) -> dict[str, Any]: ...

    def wait_exports(self, key: str, vendors: Iterable[str]) -> dict[str, Any]: ...

    def report_exports(self, key: str) -> dict[str, Any]: ...


def export_all(
    steps: Steps, key: str, vendors: tuple[str, ...], *, tell: Callable[[str, int, int], None]
) -> dict[str, Any]:
    """Runs an export run to its report. `tell(step, done, all)` is called as vendors go through each step."""
    shards = steps.plan_exports(key, vendors)
    names = [name for shard in shards for name in shard["vendors"]]
    for word in ("export", "wait", "observe", "reconcile"):
        done = 0
        tell(word, done, len(names))
        for shard in shards:
            if word == "wait":
                steps.wait_exports(key, shard["vendors"])
            else:
                steps.export_step(word, key, shard["vendors"])
            done += len(shard["vendors"])
            tell(word, done, len(names))
    return steps.report_exports(key)


def report_exports(parts: Parts, run_key: str) -> dict[str, Any]:
    """`{"run", "state", "error", "vendors": [...], "drift": {cause: {action: n}}, ..., "lines": [...]}` of an export run."""
    with parts.engine.connect() as connection:
        found = exports.of_run(connection, run_key)
        drift = drift_counts(connection, [one.observation_id for one in found if one.observation_id is not None])
    failed = [one for one in found if one.state != "reconciled"]
    state = "succeeded" if found and not failed else "failed" if len(failed) == len(found) else "partly_failed"
    error = None
    if failed:
        error = (
            f"{len(failed)} of {len(found)} exports did not come to their end: {failed[0].vendor}: {_why(failed[0])}"
        )
    shown = [
        {
            "vendor": one.vendor,
            "state": one.state,
            "failed_step": one.failed_step,
            "error": None if one.state == "reconciled" else _why(one),
        }
        for one in found
    ]
    sums = {name: sum(getattr(one, name) or 0 for one in found) for name in ("drifts", "healed", "settled")}
    told = {"run": run_key, "state": state, "error": error, **sums, "drift": drift, "vendors": shown}
    return {**told, "lines": _lines(told)}


def _why(one: exports.Export) -> str:
    return one.error or f"it is still {one.state}"


def _lines(told: dict[str, Any]) -> list[str]:
    said = [
        (
            f"export {told['run']}: {told['state']}, {len(told['vendors'])} vendors, {told['drifts']:,} values differ,"
            f" {told['healed']:,} are said again by the next delta, {told['settled']:,} lost confirmations settled"
        )
    ]
    for cause, actions in told["drift"].items():
        count = sum(number for action, number in actions.items() if action != "ignore")
        if count:
            how = ", ".join(f"{number:,} {action}" for action, number in sorted(actions.items()))
            said.append(f"{count:,} values {cause.replace('_', ' ')}: {how} (warehouse.drift)")
    said += [
        f"vendor {row['vendor']} failed at {row['failed_step'] or row['state']}: {row['error']}"
        for row in told["vendors"]
        if row["error"]
    ]
    return said
