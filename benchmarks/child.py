"""One way of one stage in a process of its own: `python -m benchmarks.child STAGE WAY FOLDER VENDORS`, figures as JSON on the last line."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from benchmarks import chain
from benchmarks.meter import Meter
from benchmarks.stages import STAGES


def main() -> None:
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
