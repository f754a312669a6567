"""diff, JSON and cut as one pass, a vendor at a time, the bodies read by a sink that keeps nothing: the hot path of every delta."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks import body_checksum, slow
from benchmarks.stage import Stage, Target, Way

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pyarrow as pa

    from benchmarks.chain import Chain
    from benchmarks.meter import Meter
    from benchmarks.stage import Answer
    from shelfsync.catalog.batch import Body

IN_MEMORY_ROWS_MAX = 10_000_000
SAMPLED = 2
BODY_BYTES_MAX = 95 * 1024 * 1024
SMALL_BODY_BYTES_MAX = 50_000
"""A second limit for the comparison, so that bodies are cut at all."""


def ours(chain: Chain, meter: Meter) -> Answer:
    """Both files to the bytes of the bodies, and their number."""
    sent_bytes = 0
    with meter:
        for _, snapshot, baseline in chain.tables():
            for body in _bodies(snapshot, baseline, BODY_BYTES_MAX):
                for chunk in body:
                    sent_bytes += len(chunk)
    sample = [
        list(map(bytes, _bodies(now, before, BODY_BYTES_MAX))) for _, now, before in chain.first(SAMPLED).tables()
    ]
    cut = [list(map(bytes, _bodies(now, before, SMALL_BODY_BYTES_MAX))) for _, now, before in chain.first(1).tables()]
    for (_, now, before), found in zip(chain.first(1).tables(), cut, strict=True):
        assert found == slow.bodies(slow.changes(now, before), SMALL_BODY_BYTES_MAX), (
            "bodies cut small differ from the slow path's"
        )
    return {
        "rows": chain.rows,
        "bytes": sent_bytes,
        "sample": body_checksum.checksum(body for bodies in sample for body in bodies),
    }


def read(chain: Chain, meter: Meter) -> Answer:
    """Both files of every vendor, decoded and thrown away."""
    with meter:
        for _ in chain.tables():
            pass
    return {"rows": chain.rows}


def pandas(chain: Chain, meter: Meter) -> Answer:
    """The whole chain in frames, a merge, dictionaries, json.dumps for each vendor."""
    from benchmarks import frames

    sent_bytes, sample = 0, []
    sampled = [shelf.vendor for shelf in chain.first(SAMPLED).shelves]
    with meter:
        for vendor, body in frames.bodies(
            frames.changes(frames.read(chain, "snapshot"), frames.read(chain, "baseline"))
        ):
            sent_bytes += len(body)
            if vendor in sampled:
                sample.append(body)
    return {"rows": chain.rows, "bytes": sent_bytes, "sample": body_checksum.checksum(sample)}


def iterrows(chain: Chain, meter: Meter) -> Answer:
    """The naive program: a loop over the rows of each vendor."""
    from benchmarks import frames

    sent_bytes, sample = 0, []
    with meter:
        for number in range(len(chain.shelves)):
            one = type(chain)(chain.folder, chain.shelves[number : number + 1])
            body = frames.naive(frames.read(one, "snapshot"), frames.read(one, "baseline"))
            sent_bytes += len(body)
            if number < SAMPLED:
                sample.append(body)
    sizes = {"rows": chain.rows, "bytes": sent_bytes}
    return {**sizes, "sample": body_checksum.checksum(sample)} if len(chain.shelves) >= SAMPLED else sizes


def check(chain: Chain, meter: Meter) -> Answer:
    """The slow way over the sampled vendors; ours has to give these very bytes."""
    with meter:
        bodies = [
            body
            for _, snapshot, baseline in chain.first(SAMPLED).tables()
            for body in slow.bodies(slow.changes(snapshot, baseline), BODY_BYTES_MAX)
        ]
    ours_bytes = [
        bytes(body) for _, now, before in chain.first(SAMPLED).tables() for body in _bodies(now, before, BODY_BYTES_MAX)
    ]
    assert bodies == ours_bytes, "the bodies are not byte for byte those of the slow path"
    return {"rows": SAMPLED, "sample": body_checksum.checksum(bodies)}


def _bodies(snapshot: pa.Table, baseline: pa.Table, body_max_bytes: int) -> Iterator[Body]:
    from shelfsync.catalog.batch import cut
    from shelfsync.catalog.diff import diff

    delta = diff(snapshot, baseline, full=False)
    for batch in cut(delta, key="sku", sales_limit_name="maximum_sales_quantity", body_max_bytes=body_max_bytes):
        yield batch.body


def _agree(answers: Mapping[str, Answer]) -> None:
    samples = {name: answer["sample"] for name, answer in answers.items() if "sample" in answer}
    assert len(set(samples.values())) == 1, f"the bodies of the sample differ: {samples}"


STAGE = Stage(
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
        Target("diff + JSON + cut: CPU against reading both files", lambda m: m.ratio("ours", "read"), at_most=3.0),
        Target(
            "diff + JSON + cut: peak memory of the process",
            lambda m: [b / 2**20 for b in m.of("ours", "peak_bytes")],
            "MiB",
            at_most=384,
        ),
        Target(
            "the naive way, both files to bodies: CPU of iterrows against ours",
            lambda m: m.ratio("iterrows", "ours"),
            at_least=100,
        ),
        Target(
            "the usual way, both files to bodies: CPU of pandas + json against ours",
            lambda m: m.ratio("pandas", "ours"),
            at_least=5,
        ),
    ),
    agree=_agree,
)
