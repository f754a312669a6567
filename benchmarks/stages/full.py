"""The first full sync: no baseline, every field of every SKU as JSON. Tables are in memory; what is measured is text and cut."""

from __future__ import annotations

import functools
import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from benchmarks import slow
from benchmarks.chain import BODY_BYTES_MAX, bodies_of, full_delta
from benchmarks.chain import distinct as all_distinct
from benchmarks.stage import Stage, Target, Way, peers_on_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    import pyarrow as pa

    from benchmarks.chain import Chain
    from benchmarks.stage import Answer, Meter

ROW_BY_ROW = 0.1
_NAMES = ("sku", "price", "quantity", "active", "maximum_sales_quantity")


def ours(chain: Chain, meter: Meter) -> Answer:
    """The bodies of every vendor, read by a sink that keeps nothing."""
    return _measured(chain, meter, bodies_of)


def distinct(chain: Chain, meter: Meter) -> Answer:
    """The same where no two prices and no two quantities of a vendor are alike: the worst case of what is written once a value."""
    found = _measured(chain, meter, bodies_of, all_distinct, sample=False)
    return {"rows": found["rows"], "bytes": found["bytes"]}


def copied(chain: Chain, meter: Meter) -> Answer:
    """Merely handing the ready bytes on, in chunks of the same size."""
    sent_bytes = 0
    for delta in _deltas(chain):
        ready = memoryview(b"".join(chunk for body in bodies_of(delta) for chunk in body))
        with meter:
            for start in range(0, len(ready), 256 * 1024):
                sent_bytes += len(bytes(ready[start : start + 256 * 1024]))
    return {"rows": chain.rows, "bytes": sent_bytes}


def duckdb(chain: Chain, meter: Meter) -> Answer:
    """DuckDB's to_json, with nulls left out by a replacement; its texts joined by the engine."""
    peers_on_path()
    import duckdb as engine

    connection = engine.connect()

    def bodies(delta: pa.Table) -> Iterator[Iterable[bytes]]:
        connection.register("delta", delta)
        texts = connection.execute(
            "SELECT to_json({sku: sku, price: price, quantity: quantity, active: active, maximum_sales_quantity: max_sales_quantity}) AS t FROM delta"
        ).to_arrow_table()["t"]
        yield [text.buffers()[2] for text in texts.chunks]

    found = _measured(chain, meter, bodies, sample=False)
    return {"rows": found["rows"], "bytes": found["bytes"]}


def orjson(chain: Chain, meter: Meter) -> Answer:
    """A dictionary a row, orjson over all of them; decimals as floats."""
    peers_on_path()
    import orjson as fast

    return _measured(chain, meter, lambda delta: _row_by_row(delta, lambda items: fast.dumps({"products": items})))


def standard(chain: Chain, meter: Meter) -> Answer:
    """A dictionary a row, the standard library's json."""
    return _measured(
        chain,
        meter,
        lambda delta: _row_by_row(delta, lambda items: json.dumps({"products": items}, separators=(",", ":")).encode()),
    )


def check(chain: Chain, meter: Meter) -> Answer:
    """The slow way over the first vendor, byte for byte."""
    from shelfsync.schemas import BASELINE

    _, snapshot, _ = next(chain.tables())
    with meter:
        bodies = slow.bodies(slow.changes(snapshot, BASELINE.empty_table(), full=True), BODY_BYTES_MAX)
    ours_bytes = [b"".join(body) for body in bodies_of(next(_deltas(chain)))]
    assert ours_bytes == bodies, "the bodies are not byte for byte those of the slow path"
    return {"rows": 1, "sample": slow.checksum(bodies)}


def _deltas(chain: Chain) -> Iterator[pa.Table]:
    for _, snapshot, _ in chain.tables():
        yield full_delta(snapshot)


def _row_by_row(delta: pa.Table, write: Callable[[list[dict[str, Any]]], bytes]) -> Iterator[Iterable[bytes]]:
    rows = delta.select(["sku", *slow.FIELDS]).rename_columns(list(_NAMES)).to_pylist()
    items = [{name: _plain(value) for name, value in row.items() if value is not None} for row in rows]
    yield [write(items)]


def _plain(value: Any) -> Any:
    return float(value) if isinstance(value, Decimal) else value


def _measured(
    chain: Chain,
    meter: Meter,
    bodies: Callable[[pa.Table], Iterable[Iterable[Any]]],
    changed: Callable[[pa.Table], pa.Table] = lambda delta: delta,
    *,
    sample: bool = True,
) -> Answer:
    """Only the making of bodies is measured, vendor after vendor."""
    sent_bytes, first = 0, None
    for delta in map(changed, _deltas(chain)):
        with meter:
            for body in bodies(delta):
                for chunk in body:
                    sent_bytes += len(chunk)
        if first is None and sample:
            first = slow.checksum(b"".join(map(bytes, body)) for body in bodies(delta))
    return {"rows": chain.rows, "bytes": sent_bytes, "sample": first}


def _agree(answers: Mapping[str, Answer]) -> None:
    assert answers["copied"]["bytes"] == answers["ours"]["bytes"]


_row_way = functools.partial(Way, share=ROW_BY_ROW, vendors_max=4, rounds_max=2)

STAGE = Stage(
    name="full",
    title="the first full sync: tables in memory to the bytes of every body",
    ways=(
        Way("ours", "ours", "shelfsync: columns to text", ours),
        Way("distinct", "ours", "the same, no two values of a vendor alike (worst case)", distinct, rounds_max=2),
        Way("copied", "bound", "merely handing the ready bytes on", copied),
        Way("duckdb", "peer", "DuckDB to_json (nulls written, decimals unshortened)", duckdb, rounds_max=1),
        _row_way("orjson", "peer", "a dictionary a row, orjson, on 4 vendors at most", orjson),
        _row_way("standard", "usual", "a dictionary a row, json.dumps, on 4 vendors at most", standard),
        Way("slow", "check", "dictionaries, on a sample", check, rounds_max=1),
    ),
    targets=(
        Target(
            "first full sync: JSON a second of wall, one process", lambda m: m.mb_per_s("wall_s"), "MB/s", at_least=350
        ),
        Target("first full sync: JSON a second of CPU", lambda m: m.mb_per_s("cpu_s"), "MB/s", at_least=350),
    ),
    same={"sample": "the bodies of the first vendor"},
    agree=_agree,
)
