"""Measures the ways of a stage in turns, each in a process of its own, so that whatever else runs on the machine touches all alike.

That process is `python -m benchmarks.rounds STAGE WAY FOLDER VENDORS`; it prints its figures as JSON on the last line.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import chain
from benchmarks.stage import Measured, Meter
from benchmarks.stages import STAGES

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.chain import Chain
    from benchmarks.stage import Stage, Way


PROJECT = Path(__file__).parents[1]
PEERS = PROJECT / ".tools" / "peers"
TIMEOUT_S = 3600


def measure(stage: Stage, chain: Chain, rounds: int, progress: Callable[[str], None]) -> Measured:
    """All ways of a stage, `rounds` times in turns; every other round the other way round."""
    measured = Measured(chain.rows)
    for number in range(rounds):
        order = stage.ways if number % 2 == 0 else stage.ways[::-1]
        for way in order:
            if number < way.rounds_max and way.name not in measured.left_out:
                _once(stage, way, chain, measured)
                progress(f"{stage.name} {number + 1}/{rounds} {way.name}")
    stage.agree({name: answer for name, answer in measured.answers.items() if name not in measured.left_out})
    return measured


def _once(stage: Stage, way: Way, chain: Chain, measured: Measured) -> None:
    if way.rows_max is not None and chain.rows > way.rows_max:
        measured.left_out[way.name] = f"not measured above {way.rows_max:,} rows"
        return
    vendors = max(1, min(way.vendors_max, round(len(chain.shelves) * way.share)))
    command = [sys.executable, "-m", "benchmarks.rounds", stage.name, way.name, str(chain.folder), str(vendors)]
    # the project's own packages come first: a peer's copy of one never takes its place
    path = os.pathsep.join([str(PROJECT), str(PROJECT / "include")])
    environment = {**os.environ, "PYTHONPATH": path, "SHELFSYNC_BENCH_PEERS": str(PEERS), "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=TIMEOUT_S, cwd=PROJECT, env=environment, check=False
    )
    if done.returncode:
        if "No module named" in done.stderr and way.role == "peer":
            measured.left_out[way.name] = done.stderr.strip().splitlines()[-1]
            return
        raise RuntimeError(f"{stage.name}/{way.name} failed:\n{done.stderr[-4000:]}")
    result = json.loads(done.stdout.splitlines()[-1])
    rows = result["answer"].get("rows", 0) or vendors
    measured.rounds.setdefault(way.name, []).append(
        {**result["figures"], "rows": rows, "bytes": result["answer"].get("bytes", 0)}
    )
    known = measured.answers.setdefault(way.name, result["answer"])
    if known != result["answer"]:
        raise AssertionError(
            f"{stage.name}/{way.name} had different answers in two rounds: {known} and {result['answer']}"
        )


def main() -> None:
    """One way of one stage, in this process."""
    stage, way, folder, vendors = sys.argv[1:]
    chosen = next(one for one in STAGES[stage].ways if one.name == way)
    meter = Meter()
    answer = chosen.run(chain.load(Path(folder)).first(int(vendors)), meter)
    print(json.dumps({"figures": meter.figures(), "answer": answer}, default=str), flush=True)
    os._exit(
        0
    )  # the result is printed: threads of the libraries have once aborted a process while the interpreter ended


if __name__ == "__main__":
    main()
