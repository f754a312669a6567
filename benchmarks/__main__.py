"""`make bench`: every stage in turns, its tables on the screen, JSON in benchmarks/results/.

SIZE=1m is the default and takes some minutes; SIZE=10m and SIZE=50m make their data once, below .shelfsync/bench.
With --stage the file keeps its results of the other stages. Each result has the load of the machine.

Each way is measured in a process of its own, so that whatever else runs on the machine touches all alike: `python -m benchmarks way STAGE WAY FOLDER VENDORS`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import chain, figures, page, server
from benchmarks.stage import Measured, Meter, described, load_average
from benchmarks.stages import STAGES
from shelfsync.errors import ConfigurationError

if TYPE_CHECKING:
    from benchmarks.chain import Chain
    from benchmarks.stage import Stage, Way
    from shelfsync.store.named_file import NamedFile

SIZES = {"100k": 100_000, "1m": 1_000_000, "10m": 10_000_000, "50m": 50_000_000}
PROJECT = Path(__file__).parents[1]
PEERS = PROJECT / ".tools" / "peers"
TIMEOUT_S = 3600
RESULTS = PROJECT / "benchmarks" / "results"


def main() -> None:
    arguments = argparse.ArgumentParser(prog="make bench", description=__doc__)
    arguments.add_argument("--size", choices=SIZES, default="1m")
    arguments.add_argument("--stage", choices=STAGES, action="append", help="only this one; may be repeated")
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--folder", type=Path, default=PROJECT / ".shelfsync" / "bench")
    arguments.add_argument("--keep", action="store_true", help="keep the generated chain for the next run")
    arguments.add_argument("--result", type=Path, help="the file for the JSON; default: benchmarks/results/SIZE.json")
    arguments.add_argument("--replace", action="store_true", help="write --result also in place of something else")
    chosen = arguments.parse_args()
    began_s = time.perf_counter()
    folder = chosen.folder / chosen.size
    if chosen.result is None:
        RESULTS.mkdir(exist_ok=True)
    file = figures.named(chosen.result or RESULTS / f"{chosen.size}.json", has="stages", replace=chosen.replace)
    try:
        file.check()
        chain.check(folder)
    except ConfigurationError as error:
        arguments.error(str(error))
    _print(f"making {SIZES[chosen.size]:,} rows in {folder}")
    made = chain.make(folder, SIZES[chosen.size])
    stages: dict[str, Any] = {}
    try:
        for name in chosen.stage or STAGES:
            measured = measure(STAGES[name], made, chosen.rounds)
            busy = {"rounds": chosen.rounds, "load_average": load_average()}
            stages[name] = page.result(STAGES[name], measured) | busy
            _write(file, chosen, made, began_s, stages)  # what is measured is kept whatever comes after
    finally:
        server.stop(folder)
        if not chosen.keep:
            chain.remove(folder)
    result = _write(file, chosen, made, began_s, stages)
    print(f"{page.tables(result)}\n\n{result['took_s']:g} s")


def _write(
    file: NamedFile, chosen: argparse.Namespace, made: Chain, began_s: float, stages: dict[str, Any]
) -> dict[str, Any]:
    """Writes the file, and returns what was measured in this run."""
    before = json.loads(file.path.read_text())["stages"] if chosen.stage and _has_figures(file) else []
    kept = {stage["name"]: stage for stage in before} | stages
    result = {
        "size": chosen.size,
        "rows": made.rows,
        "took_s": round(time.perf_counter() - began_s, 1),
        "machine": described(),
    }
    whole = result | {"stages": [kept[name] for name in STAGES if name in kept]}
    with file.writing() as incomplete:
        incomplete.write_text(json.dumps(whole, indent=1) + "\n")
    return result | {"stages": list(stages.values())}


def _has_figures(file: NamedFile) -> bool:
    return file.path.is_file() and file.path.stat().st_size > 0 and file.is_own(file.path)


def _print(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


def measure(stage: Stage, chain: Chain, rounds: int) -> Measured:
    """All ways of a stage, `rounds` times in turns; every other round the other way round."""
    measured = Measured(chain.rows)
    for number in range(rounds):
        order = stage.ways if number % 2 == 0 else stage.ways[::-1]
        for way in order:
            if number < way.rounds_max and way.name not in measured.left_out:
                _once(stage, way, chain, measured)
                _print(f"{stage.name} {number + 1}/{rounds} {way.name}")
    stage.compare({name: answer for name, answer in measured.answers.items() if name not in measured.left_out})
    return measured


def _once(stage: Stage, way: Way, chain: Chain, measured: Measured) -> None:
    if way.rows_max is not None and chain.rows > way.rows_max:
        measured.left_out[way.name] = f"not measured above {way.rows_max:,} rows"
        return
    vendors = max(1, min(way.vendors_max, round(len(chain.shelves) * way.share)))
    command = [sys.executable, "-m", "benchmarks", "way", stage.name, way.name, str(chain.folder), str(vendors)]
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


def run_way(stage: str, way: str, folder: str, vendors: str) -> None:
    """One way of one stage, in this process; its figures as JSON on the last line."""
    chosen = next(one for one in STAGES[stage].ways if one.name == way)
    meter = Meter()
    answer = chosen.run(chain.load(Path(folder)).first(int(vendors)), meter)
    print(json.dumps({"figures": meter.figures(), "answer": answer}, default=str), flush=True)
    # the result is printed: threads of the libraries have once aborted a process while the interpreter ended
    os._exit(0)


if __name__ == "__main__":
    run_way(*sys.argv[2:]) if sys.argv[1:2] == ["way"] else main()
