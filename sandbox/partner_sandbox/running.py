"""The sandbox on a port of its own in a thread of this process, for tests and for the command `play`; and calls of its control plane."""

from __future__ import annotations

import asyncio
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import httpx

from partner_sandbox.server import Server
from partner_sandbox.settings import SandboxSettings
from partner_sandbox.storage import Storage
from partner_sandbox.vendors import CHAIN, CLIENT_ID, CLIENT_SECRET, VENDORS

START_DEADLINE_S = 20.0
NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Plain HTTP: reading the machine's certificates takes longer than the calls."""


class RunningSandbox:
    """Real HTTP, on a port that the operating system chooses unless one is given; a context manager."""

    def __init__(
        self, settings: SandboxSettings | None = None, *, host: str = "127.0.0.1", port: int = 0, storage_port: int = 0
    ) -> None:
        self._server = Server(settings or SandboxSettings(), host=host, port=port, storage_port=storage_port)
        self._ready = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="partner-sandbox", daemon=True)
        self._client: httpx.Client | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    chain_id = CHAIN
    vendors = VENDORS
    client_id = CLIENT_ID
    client_secret = CLIENT_SECRET

    @property
    def base_url(self) -> str:
        return self._server.base_url

    @property
    def storage_url(self) -> str | None:
        """The second host, of presigned links."""
        return self._server.sandbox.storage_url

    @property
    def storage(self) -> Storage:
        """Its tables, for what no call shows."""
        return self._server.sandbox.storage

    @property
    def max_requests_in_60s(self) -> int:
        """The most requests in any minute, of all chains."""
        return self._server.sandbox.journal.max_requests_in_60s

    def start(self) -> Self:
        self._thread.start()
        if not self._ready.wait(START_DEADLINE_S):
            raise TimeoutError("the sandbox did not start")
        if self._failure is not None:
            raise self._failure
        self._client = httpx.Client(
            base_url=self.base_url,
            timeout=120.0,
            trust_env=False,
            verify=NO_TLS,
            limits=httpx.Limits(keepalive_expiry=1.0),  # the server closes after five seconds: never both at once
        )
        return self

    def join(self) -> None:
        """Waits until it ends."""
        self._thread.join()

    def stop(self) -> None:
        if self._client is not None:
            self._client.close()
        self._server.stop()
        self._thread.join(START_DEADLINE_S)
        if self._thread.is_alive():
            raise TimeoutError("the sandbox did not stop")

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def control(self, method: str, path: str, json: Any = None) -> Any:
        """A call of the control plane (`path` without /_sandbox); its JSON. Raises for anything but 2xx."""
        return self._answer(method, path, json=json)

    def _answer(self, method: str, path: str, **body: Any) -> Any:
        assert self._client is not None, "the sandbox has not been started"
        answer = self._client.request(method, f"/_sandbox/{path.removeprefix('/_sandbox').lstrip('/')}", **body)
        if not answer.is_success:
            raise RuntimeError(f"{method} {path}: {answer.status_code} {answer.text}")
        return answer.json()

    def put_products(self, vendor: str, products: list[dict[str, Any]], chain: str = CHAIN) -> None:
        """Replaces a vendor's assortment."""
        self.control("PUT", f"chains/{chain}/vendors/{vendor}/products", {"products": products})

    def products(self, vendor: str, chain: str = CHAIN) -> dict[str, dict[str, Any]]:
        """What the platform holds, by SKU."""
        got = self.control("GET", f"chains/{chain}/vendors/{vendor}/products")
        return {product["sku"]: product for product in got["products"]}

    def put_webhook(
        self,
        *,
        catalog_url: str | None = None,
        order_url: str | None = None,
        secret: str = "s3cret",  # noqa: S107  an example
    ) -> None:
        body = {"catalog_url": catalog_url, "order_url": order_url, "secret": secret}
        self.control("PUT", f"chains/{CHAIN}/webhook", body)

    def journal(self, after: int = 0) -> Any:
        return self.control("GET", f"journal?after={after}")

    def advance(self, seconds: float) -> str:
        """Moves its clock; everything due on the way is done. The new present."""
        assert self._loop is not None, "the sandbox has not been started"
        sandbox = self._server.sandbox  # what POST clock/advance does; a simulation asks it thousands of times
        asyncio.run_coroutine_threadsafe(sandbox.work.advance(seconds), self._loop).result(120.0)
        return sandbox.clock.now_iso()

    def faults(self, *rules: dict[str, Any], seed: int = 0) -> None:
        """Replaces the fault rules; none at all takes them away."""
        self.control("PUT", "faults", {"seed": seed, "rules": list(rules)})

    def until_quiescent(self, deadline_s: float = 30.0) -> Any:
        """Waits until no job is open and no delivery pending (on a real clock); the state then."""
        end = time.monotonic() + deadline_s
        while True:
            state = self.control("GET", "state")
            open_jobs = state["jobs"].get("QUEUED", 0) + state["jobs"].get("IN_PROGRESS", 0)
            if not open_jobs and not state["deliveries"].get("pending", 0):
                return state
            if time.monotonic() > end:
                raise TimeoutError(f"the sandbox is not quiescent: {state}")
            time.sleep(0.01)

    def place_order(self, vendor: str, *items: dict[str, Any], **more: Any) -> Any:
        """A customer orders; the order as the platform shows it."""
        return self.control("POST", f"chains/{CHAIN}/vendors/{vendor}/orders", {"items": list(items), **more})

    def play(self, scenario: Path | str | dict[str, Any]) -> Any:
        """Begins a scenario, given as its file, its text or its values; its steps and their states (scenario.py)."""
        text = scenario.read_bytes() if isinstance(scenario, Path) else scenario
        return (
            self._answer("POST", "scenarios", json=text)
            if isinstance(text, dict)
            else self._answer("POST", "scenarios", content=text)
        )

    def check(self) -> Any:
        """Which duties of the interface the client was seen to meet or to break (conformance.py)."""
        return self.control("GET", "check")

    @contextmanager
    def partner(self, client_id: str = CLIENT_ID, client_secret: str = CLIENT_SECRET) -> Iterator[httpx.Client]:
        """An HTTP client with a token, as the simplest partner would write one."""
        form = {"grant_type": "client_credentials", "client_id": client_id, "client_secret": client_secret}
        with httpx.Client(base_url=self.base_url, timeout=30.0, trust_env=False, verify=NO_TLS) as client:
            token = client.post("/v2/oauth/token", data=form).json()["access_token"]
            client.headers["Authorization"] = f"Bearer {token}"
            yield client

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        await self._server.serve(self._ready.set)

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:  # noqa: BLE001  handed to the thread that waits
            self._failure = error
            self._ready.set()
