"""`make bench`: every stage in turns, the table on the screen, JSON in benchmarks/results/.

SIZE=1m is the default and takes some minutes; SIZE=10m and SIZE=50m make their data once, below .shelfsync/bench.
With --stage the file keeps its results of the other stages. Each result has the load of the machine.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import chain, page, rounds, server
from benchmarks.stage import described, load_average
from benchmarks.stages import STAGES

if TYPE_CHECKING:
    from benchmarks.chain import Chain

SIZES = {"100k": 100_000, "1m": 1_000_000, "10m": 10_000_000, "50m": 50_000_000}
RESULTS = rounds.PROJECT / "benchmarks" / "results"


def main() -> None:
    arguments = argparse.ArgumentParser(prog="make bench", description=__doc__)
    arguments.add_argument("--size", choices=SIZES, default="1m")
    arguments.add_argument("--stage", choices=STAGES, action="append", help="only this one; may be repeated")
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--folder", type=Path, default=rounds.PROJECT / ".shelfsync" / "bench")
    arguments.add_argument("--keep", action="store_true", help="keep the generated chain for the next run")
    arguments.add_argument("--result", type=Path, help="the file for the JSON; default: benchmarks/results/SIZE.json")
    chosen = arguments.parse_args()
    began_s = time.perf_counter()
    folder = chosen.folder / chosen.size
    _print(f"making {SIZES[chosen.size]:,} rows in {folder}")
    made = chain.make(folder, SIZES[chosen.size])
    stages: dict[str, Any] = {}
    try:
        for name in chosen.stage or STAGES:
            measured = rounds.measure(STAGES[name], made, chosen.rounds, _print)
            busy = {"rounds": chosen.rounds, "load_average": load_average()}
            stages[name] = page.result(STAGES[name], measured) | busy
            _write(chosen, made, began_s, stages)  # what is measured is kept whatever comes after
    finally:
        server.stop(folder)
        if not chosen.keep:
            chain.remove(folder)
    print(page.text(_write(chosen, made, began_s, stages)))


def _write(chosen: argparse.Namespace, made: Chain, began_s: float, stages: dict[str, Any]) -> dict[str, Any]:
    """Writes the file, and returns what was measured in this run."""
    path = chosen.result or RESULTS / f"{chosen.size}.json"
    before = json.loads(path.read_text())["stages"] if chosen.stage and path.exists() else []
    kept = {stage["name"]: stage for stage in before} | stages
    result = {
        "size": chosen.size,
        "rows": made.rows,
        "took_s": round(time.perf_counter() - began_s, 1),
        "machine": described(),
    }
    path.parent.mkdir(exist_ok=True)
    whole = result | {"stages": [kept[name] for name in STAGES if name in kept]}
    path.write_text(json.dumps(whole, indent=1) + "\n")
    return result | {"stages": list(stages.values())}


def _print(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
