"""One vendor of 50,000, both files to the bytes of its bodies, in a process that is warm: what a delta run adds for each vendor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.stage import Stage, Target, Way
from benchmarks.stages.stream import BODY_BYTES_MAX, _bodies

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.chain import Chain
    from benchmarks.meter import Meter
    from benchmarks.stage import Answer

LAPS = 30


def ours(chain: Chain, meter: Meter) -> Answer:
    """The same vendor again and again; the first lap is not counted."""
    sent_bytes = 0
    one = chain.first(1)
    for lap in range(LAPS + 1):
        if lap == 0:
            sent_bytes = _once(one)
        else:
            with meter:
                _once(one)
    return {"rows": LAPS * one.rows, "bytes": sent_bytes}


def read(chain: Chain, meter: Meter) -> Answer:
    """Merely reading them."""
    one = chain.first(1)
    next(one.tables())
    for _ in range(LAPS):
        with meter:
            next(one.tables())
    return {"rows": LAPS * one.rows}


def _once(chain: Chain) -> int:
    _, snapshot, baseline = next(chain.tables())
    return sum(len(chunk) for body in _bodies(snapshot, baseline, BODY_BYTES_MAX) for chunk in body)


def _agree(answers: Mapping[str, Answer]) -> None:
    assert answers["ours"]["bytes"]  # its bytes are compared by the stage `stream`, which runs the same functions


STAGE = Stage(
    name="vendor",
    title=f"one vendor of 50,000, both files to bodies, warm; {LAPS} laps",
    ways=(
        Way("ours", "ours", "shelfsync", ours),
        Way("read", "bound", "merely reading both files (pyarrow)", read),
    ),
    targets=(
        Target(
            "one vendor of 50,000, both files to bodies: median lap",
            lambda m: [s * 1000 for s in m.of("ours", "lap_s")],
            "ms",
            at_most=60,
        ),
    ),
    agree=_agree,
)
