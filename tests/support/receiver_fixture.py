"""The webhook receiver as the process that production runs, and a caller quick enough to flood it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

PROJECT = Path(__file__).parents[2]
SECRET = "canary-webhook-2"


class LiveReceiver:
    """`python -m shelfsync.receiver` on a port that the OS chose."""

    def __init__(self, database_url: str, **environment: str) -> None:
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("SHELFSYNC_")},
            "PYTHONPATH": str(PROJECT / "include"),
            "SHELFSYNC_DATABASE_URL": database_url,
            "SHELFSYNC_WEBHOOK__SECRET": SECRET,
            "SHELFSYNC_WEBHOOK__PORT": "0",
            **environment,
        }
        self.port = 0
        self.log: list[str] = []

    def __enter__(self) -> Self:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "shelfsync.receiver"],
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=PROJECT,
        )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.log.append(line)
            if received := re.search(r"webhook receiver on http://\S+?:(\d+)$", line):
                self.port = int(received[1])
                break
        assert self.port, "".join(self.log)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait()
        self._reader.join(10)
        assert self.process.stdout is not None
        self.process.stdout.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        self.log.extend(self.process.stdout)

    @property
    def memory_bytes(self) -> int:
        """Resident memory of the process."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) * 1024  # type: ignore[index]


def request(body: bytes, secret: str = SECRET, path: str = "/webhook") -> bytes:
    """A call as bytes."""
    head = f"POST {path} HTTP/1.1\r\nHost: receiver\r\nAuthorization: {secret}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def flood(port: int, bodies: Iterable[bytes], *, connections: int = 32) -> list[bytes]:
    """Sends them over so many kept connections; the bodies that were answered 200, up to where a connection broke."""
    queue = iter(bodies)
    acknowledged: list[bytes] = []

    async def send() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            for body in queue:
                writer.write(request(body))
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(re.search(rb"content-length: (\d+)", head)[1])  # type: ignore[index]
                await reader.readexactly(length)
                if head.startswith(b"HTTP/1.1 200"):
                    acknowledged.append(body)
        finally:
            writer.close()

    with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
        await asyncio.gather(*(send() for _ in range(connections)))
    return acknowledged
