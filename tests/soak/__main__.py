"""`python -m soak --minutes 20 --seed 1`."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import figures
from installation.installed import PROJECT
from shelfsync.errors import ConfigurationError
from soak.plan import VICTIMS
from soak.soak import lines, soak

RESULT = PROJECT / "benchmarks/results/soak.json"


def main() -> int:
    parser = argparse.ArgumentParser(prog="soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--victims", default=",".join(VICTIMS), help="which processes die, by comma; none: empty")
    parser.add_argument(
        "--home", type=Path, help="an empty folder, kept; without it a temporary one, kept only if a claim fails"
    )
    parser.add_argument("--result", type=Path, help=f"the file for the figures; default: {RESULT}")
    parser.add_argument(
        "--alerts", action="store_true", help="then nine faults one at a time, each with its alert stated; an hour"
    )
    parser.add_argument("--replace", action="store_true", help="write --result also in place of something else")
    options = parser.parse_args()
    if options.result is None:
        RESULT.parent.mkdir(exist_ok=True)
    file = figures.named(options.result or RESULT, has="failed_claims", replace=options.replace)
    try:
        file.check()
    except ConfigurationError as error:
        parser.error(str(error))
    began_s = time.monotonic()

    def log(text: str) -> None:
        print(f"soak {time.monotonic() - began_s:6.0f} s  {text}", flush=True)

    home = (options.home or Path(tempfile.mkdtemp(prefix="shelfsync-soak-"))).absolute()
    home.mkdir(parents=True, exist_ok=True)
    home.chmod(0o711)  # PostgreSQL runs as a user of its own where we are root
    victims = [victim for victim in options.victims.split(",") if victim]
    result = soak(home, seed=options.seed, minutes=options.minutes, victims=victims, report=log, alerts=options.alerts)
    with file.writing() as incomplete:
        result.write(incomplete)
    for line in lines(result):
        print(line)
    if not result.faults and options.home is None:
        shutil.rmtree(home)
    kills, faults = sum(result.figures["kills"].values()), len(result.faults)
    print(f"seed {options.seed}: {options.minutes:g} minutes, {kills} kills, {faults} faults; figures: {file.path}")
    return 1 if result.faults else 0


if __name__ == "__main__":
    sys.exit(main())
