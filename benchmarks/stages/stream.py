"""diff, JSON and cut as one pass, a vendor at a time, the bodies read by a sink that keeps nothing: the hot path of every delta."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks import slow
from benchmarks.chain import BODY_BYTES_MAX, bodies_of
from benchmarks.stage import Stage, Target, Way
from benchmarks.stages.diff import IN_MEMORY_ROWS_MAX, SAMPLED, read

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pyarrow as pa

    from benchmarks.chain import Chain
    from benchmarks.stage import Answer, Meter
    from shelfsync.catalog.bodies import Body


SMALL_BODY_BYTES_MAX = 50_000
"""A second limit for the comparison, so that bodies are cut at all."""


def ours(chain: Chain, meter: Meter) -> Answer:
    """Both files to the bytes of the bodies, and their number."""
    sent_bytes = 0
    with meter:
        for _, snapshot, baseline in chain.tables():
            for body in _bodies(snapshot, baseline):
                for chunk in body:
                    sent_bytes += len(chunk)
    sample = [list(map(bytes, _bodies(now, before))) for _, now, before in chain.first(SAMPLED).tables()]
    cut = [list(map(bytes, _bodies(now, before, SMALL_BODY_BYTES_MAX))) for _, now, before in chain.first(1).tables()]
    for (_, now, before), found in zip(chain.first(1).tables(), cut, strict=True):
        assert found == slow.bodies(slow.changes(now, before), SMALL_BODY_BYTES_MAX), (
            "bodies cut small differ from the slow path's"
        )
    return {
        "rows": chain.rows,
        "bytes": sent_bytes,
        "sample": slow.checksum(body for bodies in sample for body in bodies),
    }


def pandas(chain: Chain, meter: Meter) -> Answer:
    """The whole chain in frames, a merge, dictionaries, json.dumps for each vendor."""
    from benchmarks.stages import tools

    sent_bytes, sample = 0, []
    sampled = [shelf.vendor for shelf in chain.first(SAMPLED).shelves]
    with meter:
        for vendor, body in tools.pandas_bodies(
            tools.pandas_changes(tools.pandas_table(chain, "snapshot"), tools.pandas_table(chain, "baseline"))
        ):
            sent_bytes += len(body)
            if vendor in sampled:
                sample.append(body)
    return {"rows": chain.rows, "bytes": sent_bytes, "sample": slow.checksum(sample)}


def iterrows(chain: Chain, meter: Meter) -> Answer:
    """The naive program: a loop over the rows of each vendor."""
    from benchmarks.stages import tools

    sent_bytes, sample = 0, []
    with meter:
        for number in range(len(chain.shelves)):
            one = chain.one(number)
            body = tools.pandas_by_row(tools.pandas_table(one, "snapshot"), tools.pandas_table(one, "baseline"))
            sent_bytes += len(body)
            if number < SAMPLED:
                sample.append(body)
    sizes = {"rows": chain.rows, "bytes": sent_bytes}
    return {**sizes, "sample": slow.checksum(sample)} if len(chain.shelves) >= SAMPLED else sizes


def check(chain: Chain, meter: Meter) -> Answer:
    """The slow way over the sampled vendors; ours has to give these very bytes."""
    with meter:
        bodies = [
            body
            for _, snapshot, baseline in chain.first(SAMPLED).tables()
            for body in slow.bodies(slow.changes(snapshot, baseline), BODY_BYTES_MAX)
        ]
    ours_bytes = [bytes(body) for _, now, before in chain.first(SAMPLED).tables() for body in _bodies(now, before)]
    assert bodies == ours_bytes, "the bodies are not byte for byte those of the slow path"
    return {"rows": SAMPLED, "sample": slow.checksum(bodies)}


def _bodies(snapshot: pa.Table, baseline: pa.Table, body_max_bytes: int = BODY_BYTES_MAX) -> Iterator[Body]:
    from shelfsync.catalog.delta import compute_delta

    return bodies_of(compute_delta(snapshot, baseline, full=False), body_max_bytes)


STREAM = Stage(
    name="stream",
    title="diff + JSON + cut: both files to the bytes of every body, into a sink that keeps nothing",
    ways=(
        Way("ours", "ours", "shelfsync: one pass, a vendor at a time", ours),
        Way("read", "bound", "merely reading both files (pyarrow)", read),
        Way("pandas", "usual", "pandas merge, json.dumps a vendor", pandas, rows_max=IN_MEMORY_ROWS_MAX, rounds_max=2),
        Way(
            "iterrows",
            "usual",
            "iterrows, json.dumps, on a tenth (of at most 1 M rows)",
            iterrows,
            share=0.1,
            vendors_max=2,
            rounds_max=1,
        ),
        Way("slow", "check", "dictionaries, on a sample", check, rounds_max=1),
    ),
    targets=(
        Target.ratio("diff + JSON + cut: CPU against reading both files", "ours", "read", at_most=3.0),
        Target(
            "diff + JSON + cut: peak memory of the process",
            lambda m: [b / 2**20 for b in m.of("ours", "peak_bytes")],
            "MiB",
            at_most=384,
        ),
        Target.ratio(
            "the naive way, both files to bodies: CPU of iterrows against ours", "iterrows", "ours", at_least=100
        ),
        Target.ratio(
            "the usual way, both files to bodies: CPU of pandas + json against ours", "pandas", "ours", at_least=5
        ),
    ),
    same={"sample": "the bodies of the sample"},
)

LAPS = 30


def vendor_ours(chain: Chain, meter: Meter) -> Answer:
    """The same vendor again and again; the first lap is not counted."""
    one = chain.first(1)
    return {"rows": LAPS * one.rows, "bytes": meter.laps(LAPS, lambda: _once(one))}


def vendor_read(chain: Chain, meter: Meter) -> Answer:
    """Merely reading them."""
    one = chain.first(1)
    meter.laps(LAPS, lambda: next(one.tables())[1].num_rows)
    return {"rows": LAPS * one.rows}


def _once(chain: Chain) -> int:
    _, snapshot, baseline = next(chain.tables())
    return sum(len(chunk) for body in _bodies(snapshot, baseline) for chunk in body)


def _vendor_agree(answers: Mapping[str, Answer]) -> None:
    assert answers["ours"]["bytes"]  # its bytes are compared by the stage `stream`, which runs the same functions


VENDOR = Stage(
    name="vendor",
    title=f"one vendor of 50,000, both files to bodies, warm; {LAPS} laps",
    ways=(
        Way("ours", "ours", "shelfsync", vendor_ours),
        Way("read", "bound", "merely reading both files (pyarrow)", vendor_read),
    ),
    targets=(
        Target(
            "one vendor of 50,000, both files to bodies: median lap",
            lambda m: [s * 1000 for s in m.of("ours", "lap_s")],
            "ms",
            at_most=60,
        ),
    ),
    agree=_vendor_agree,
)
