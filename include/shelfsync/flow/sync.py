"""sync: the whole path in one process, for the command line. The same steps, in the same order, as the DAGs run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

PREPARE = ("normalise", "diff", "guard", "batch")
SETTLE = ("confirm", "acknowledge")


class Steps(Protocol):
    """What a house offers for it."""

    def extract(self, run_id: int) -> list[dict[str, Any]]: ...

    def step(self, word: str, run_id: int, vendors: Iterable[str]) -> dict[str, Any]: ...

    def wait(self, run_id: int, vendors: Iterable[str]) -> dict[str, Any]: ...

    def in_flight(self, run_id: int) -> list[str]: ...

    def report(self, run_id: int) -> dict[str, Any]: ...


def sync(steps: Steps, run_id: int, *, dry_run: bool, tell: Callable[[str, int, int], None]) -> dict[str, Any]:
    """Runs an open run to its report. `tell(step, done, all)` is called as vendors go through each step."""
    tell("extract", 0, 1)
    shards = steps.extract(run_id)
    tell("extract", 1, 1)
    vendors = [vendor for shard in shards for vendor in shard["vendors"]]
    for word in PREPARE if dry_run else PREPARE[:-1]:
        _each_shard(steps, word, run_id, shards, len(vendors), tell)
    return steps.report(run_id) if dry_run else finish(steps, run_id, shards, tell)


def finish(
    steps: Steps, run_id: int, shards: list[dict[str, Any]], tell: Callable[[str, int, int], None]
) -> dict[str, Any]:
    """From the batches on: sends, waits and acknowledges until nothing is in flight, and reports."""
    vendors = [vendor for shard in shards for vendor in shard["vendors"]]
    for word in ("batch", "deliver"):
        _each_shard(steps, word, run_id, shards, len(vendors), tell)
    while sent := steps.in_flight(run_id):
        tell("wait", 0, len(sent))
        steps.wait(run_id, sent)
        tell("wait", len(sent), len(sent))
        reports = [_each_shard(steps, word, run_id, shards, len(vendors), tell) for word in SETTLE]
        if not any(reports):
            break  # what is still open has lost its answer or its deadline; the report says so
    return steps.report(run_id)


def _each_shard(
    steps: Steps,
    word: str,
    run_id: int,
    shards: list[dict[str, Any]],
    vendors: int,
    tell: Callable[[str, int, int], None],
) -> int:
    """One step over all shards; how many vendors it did."""
    seen = done = 0
    tell(word, 0, vendors)
    for shard in shards:
        done += steps.step(word, run_id, shard["vendors"])["done"]
        seen += len(shard["vendors"])
        tell(word, seen, vendors)
    return done
