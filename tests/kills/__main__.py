"""`python -m kills --kills 50 --seed 1`."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from kills.course import Course
from kills.verdict import verdict


def main() -> int:
    parser = argparse.ArgumentParser(prog="kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    began_s = time.monotonic()

    def say(text: str) -> None:
        print(f"kills {time.monotonic() - began_s:6.0f} s  {text}", flush=True)

    with tempfile.TemporaryDirectory(prefix="shelfsync-kills-") as folder:
        home = Path(folder)
        home.chmod(0o711)  # PostgreSQL runs as a user of its own where we are root
        with Course(home / "state", asked.seed, say).running() as course:
            for _ in range(asked.kills):
                course.kill_one()
            course.quiet()
            found = verdict(course)
    for line in (*course.lines(), *found):
        print(line)
    print(f"{sum(course.killed.values())} kills, {len(found)} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
