"""A body of 100 MB to a receiver on the loopback interface."""

from __future__ import annotations

import contextlib
import hashlib
import socket
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from benchmarks.chain import full_delta
from benchmarks.server import receiving
from benchmarks.stage import Stage, Target, Way

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pyarrow as pa

    from benchmarks.chain import Chain
    from benchmarks.stage import Answer, Meter

BODY_BYTES = 100_000_000
TIMES = 3
CHUNK_BYTES = 256 * 1024
_NAMES: dict[str, Any] = {"key": "sku", "sales_limit_name": "maximum_sales_quantity"}


class Ready:
    """A body whose chunks cost nothing to make: what is measured is the sending."""

    def __iter__(self) -> Iterator[bytes]:
        chunk = bytes(range(256)) * (CHUNK_BYTES // 256)
        left = BODY_BYTES
        while left > 0:
            yield chunk[:left] if left < len(chunk) else chunk
            left -= len(chunk)


def ours(chain: Chain, meter: Meter) -> Answer:
    """The client, a body that streams."""
    return _client(chain, meter, Ready(), BODY_BYTES)


def whole(chain: Chain, meter: Meter) -> Answer:
    """The path's own request: items in memory, text made while it is sent, twice if a request has to be repeated."""
    from shelfsync.catalog.bodies import stream

    items = _items(chain)
    counted = stream(items, **_NAMES)
    return _client(chain, meter, stream(items, body_bytes=len(counted), **_NAMES), len(counted))


def one_object(chain: Chain, meter: Meter) -> Answer:
    """Through httpx as one bytes object, as most programs send it."""
    import httpx

    with receiving(chain.folder) as address, httpx.Client(timeout=60, trust_env=False) as client:
        for number in range(TIMES):
            path = "checked" if number == 0 else "plain"
            with meter if number else contextlib.nullcontext():
                body = b"".join(Ready())
                answer = client.put(f"{address}/{path}", content=body, headers={"Content-Type": "application/json"})
            if number == 0:
                _check(answer.json()["job_id"], Ready(), BODY_BYTES)
    return {"rows": TIMES - 1, "bytes": (TIMES - 1) * BODY_BYTES}


def raw_socket(chain: Chain, meter: Meter) -> Answer:
    """Calls sendall with the same chunks, without HTTP but for the head."""
    with receiving(chain.folder) as address:
        to = urlsplit(address)
        for _ in range(TIMES - 1):
            with meter, socket.create_connection((to.hostname, to.port)) as connection:
                connection.sendall(b"PUT /plain HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % BODY_BYTES)
                for chunk in Ready():
                    connection.sendall(chunk)
                assert b"202" in connection.recv(4096)
    return {"rows": TIMES - 1, "bytes": (TIMES - 1) * BODY_BYTES}


def _client(chain: Chain, meter: Meter, chunks: Any, body_bytes: int) -> Answer:
    from pydantic import SecretStr

    from partner_api import PartnerClient, StaticToken, StreamedBody

    token = StaticToken(SecretStr("token"))
    with (
        receiving(chain.folder) as address,
        PartnerClient(address, "chain", token, private_hosts=("127.0.0.1",), timeout_s=60) as client,
    ):
        checked = client.update_catalog("checked", StreamedBody(chunks, body_bytes))
        _check(str(checked.job_id), chunks, body_bytes)
        for _ in range(TIMES - 1):
            with meter:
                client.update_catalog("plain", StreamedBody(chunks, body_bytes))
    return {"rows": TIMES - 1, "bytes": (TIMES - 1) * body_bytes}


def _check(received: str, chunks: Any, body_bytes: int) -> None:
    """What arrived first is what was meant: its length and its hash."""
    digest = hashlib.sha256()
    for chunk in chunks:
        digest.update(chunk)
    assert received == f"{body_bytes}-{digest.hexdigest()}", "the receiver got another body than was sent"


def _items(chain: Chain) -> pa.Table:
    """One vendor's full delta, repeated to some 100 MB of body."""
    import pyarrow as pa

    from shelfsync.catalog.bodies import stream

    _, snapshot, _ = next(chain.tables())
    delta = full_delta(snapshot)
    times = BODY_BYTES // len(stream(delta, **_NAMES))
    return pa.concat_tables([delta] * times)


def _agree(answers: Mapping[str, Answer]) -> None:
    assert answers["ours"]["bytes"] == answers["raw_socket"]["bytes"]  # what arrived is compared in each way


STAGE = Stage(
    name="upload",
    title="a body of 100 MB to a receiver on loopback",
    ways=(
        Way("ours", "ours", "shelfsync's client, ready chunks", ours),
        Way("whole", "ours", "the same, JSON made while it is sent", whole),
        Way("raw_socket", "bound", "sendall on a socket, ready chunks", raw_socket),
        Way("one_object", "usual", "httpx, the body as one bytes object", one_object, rounds_max=2),
    ),
    targets=(
        Target(
            "upload of 100 MB: bytes a second of wall",
            lambda m: m.mb_per_s("wall_s"),
            "MB/s",
            at_least=500,
        ),
        Target(
            "upload of 100 MB: memory above idle",
            lambda m: [
                (p - i) / 2**20
                for way in ("ours", "whole")
                for p, i in zip(m.of(way, "peak_bytes"), m.of(way, "idle_bytes"), strict=True)
            ],
            "MiB",
            at_most=64,
        ),
    ),
    agree=_agree,
)
