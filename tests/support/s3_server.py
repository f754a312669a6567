"""A store that speaks S3 over HTTP, in a process of its own, for tests of lake and ERP files on an object store."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

START_S = 60


@contextlib.contextmanager
def running() -> Iterator[str]:
    """The address of an empty store; any key is accepted."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = tempfile.TemporaryDirectory()
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        env=os.environ | {"MOTO_RECORDER_FILEPATH": str(Path(folder.name, "requests"))},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}"
    deadline = time.monotonic() + START_S
    try:
        while True:
            with contextlib.suppress(httpx.HTTPError):
                if httpx.get(f"{address}/moto-api/", trust_env=False).is_success:
                    break
            assert server.poll() is None, "the store ended at its start"
            assert time.monotonic() < deadline, "the store did not start"
            time.sleep(0.1)
        yield address
    finally:
        server.terminate()
        server.wait()
        folder.cleanup()


@contextlib.contextmanager
def requests_recorded() -> Iterator[list[str]]:
    """The requests that reach the store of `s3` in the block, as `GET http://…`: in the list once the block has ended."""
    recorder, found = f"{os.environ['AWS_ENDPOINT_URL']}/moto-api/recorder", list[str]()
    for word in ("reset", "start"):
        httpx.post(f"{recorder}/{word}-recording", trust_env=False).raise_for_status()
    yield found
    httpx.post(f"{recorder}/stop-recording", trust_env=False).raise_for_status()
    text = httpx.get(f"{recorder}/download-recording", trust_env=False).text
    found += [f"{one['method']} {one['url']}" for one in map(json.loads, text.splitlines())]


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    """A bucket `chain` on a store that this process, and each one that it starts, finds by its environment."""
    import fsspec

    with running() as address, pytest.MonkeyPatch.context() as patch:
        for name, value in {
            "AWS_ENDPOINT_URL": address,
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_DEFAULT_REGION": "us-east-1",
            "NO_PROXY": ",".join(filter(None, (os.environ.get("NO_PROXY"), "127.0.0.1"))),
        }.items():
            patch.setenv(name, value)
        fsspec.filesystem("s3").mkdir("chain")
        yield "s3://chain"
        fsspec.filesystem("s3").clear_instance_cache()
