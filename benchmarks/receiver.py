"""A platform in its own process that reads any body as fast as possible, and returns its length and hash."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_BUFFER_BYTES = 1 << 20


def main() -> None:
    """Serves one connection after the other for ever; hashes only where the path asks for it."""
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    while True:
        connection, _ = listener.accept()
        with connection, contextlib.suppress(OSError):
            _serve(connection)


@contextlib.contextmanager
def running() -> Iterator[int]:
    """The port of a receiver that runs for as long as the block."""
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.receiver"], stdout=subprocess.PIPE, text=True, env=os.environ.copy()
    )
    try:
        assert process.stdout is not None
        yield int(process.stdout.readline())
    finally:
        process.kill()
        process.wait()


def _serve(connection: socket.socket) -> None:
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(65536)
    head, _, first = data.partition(b"\r\n\r\n")
    length = int(re.findall(rb"(?im)^content-length:\s*(\d+)", head)[0])
    digest = hashlib.sha256(first) if b"checked" in head.split(b"\r\n", 1)[0] else None
    left, buffer = length - len(first), bytearray(_BUFFER_BYTES)
    while left > 0:
        count = connection.recv_into(buffer, min(left, _BUFFER_BYTES))
        if not count:
            return
        left -= count
        if digest is not None:
            digest.update(memoryview(buffer)[:count])
    body = {"job_id": f"{length}-{digest.hexdigest() if digest else ''}", "job_status": "QUEUED"}
    text = json.dumps(body).encode()
    connection.sendall(
        b"HTTP/1.1 202 Accepted\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
        % len(text)
        + text
    )


if __name__ == "__main__":
    main()
