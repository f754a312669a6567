"""One process that takes a step: `step_worker.py WORD RUN VENDOR`, with its settings in the environment. Prints the step's report."""

from __future__ import annotations

import json
import sys

from shelfsync.settings import read_settings
from shelfsync.wiring import open_house


def main() -> None:
    word, run, vendor = sys.argv[1:]
    with open_house(read_settings()) as house:
        print(json.dumps(house.step(word, int(run), [vendor])), flush=True)


if __name__ == "__main__":
    main()
