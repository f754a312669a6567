"""One process that takes a step: `step_worker.py WORD RUN VENDOR`, with its settings in the environment. Prints the step's report."""

from __future__ import annotations

import json
import sys

from shelfsync.app import open_app
from shelfsync.catalog.steps.sync import run_step
from shelfsync.settings import read_settings


def main() -> None:
    word, run, vendor = sys.argv[1:]
    with open_app(read_settings()) as context:
        print(json.dumps(run_step(context, word, int(run), [vendor])), flush=True)


if __name__ == "__main__":
    main()
