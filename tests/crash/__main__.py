"""`python -m crash --kills 50 --seed 1`."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from crash.crash_run import CrashRun
from crash.verdict import verdict


def main() -> int:
    parser = argparse.ArgumentParser(prog="crash", description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    began_s = time.monotonic()

    def log(text: str) -> None:
        print(f"crash {time.monotonic() - began_s:6.0f} s  {text}", flush=True)

    with tempfile.TemporaryDirectory(prefix="shelfsync-crash-") as folder:
        home = Path(folder)
        home.chmod(0o711)  # PostgreSQL runs as a user of its own where we are root
        with CrashRun(home / "state", options.seed, log).running() as crash_run:
            for _ in range(options.kills):
                crash_run.kill_one()
            crash_run.wait_until_quiescent()
            faults = verdict(crash_run)
    for line in (*crash_run.lines(), *faults):
        print(line)
    print(f"{sum(crash_run.killed.values())} kills, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
