"""The sandbox on a loopback port of its own, in a thread, for any test that talks HTTP to the platform."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self

import httpx

from partner_sandbox.server import Server
from partner_sandbox.settings import SandboxSettings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

START_DEADLINE_S = 20.0


class LiveSandbox:
    """Real HTTP on a port the operating system chose; jobs at once and no request limit worth the name by default.

    Keyword arguments are choices of partner_sandbox.settings.Behaviour; `settings` replaces everything.
    """

    def __init__(
        self, settings: SandboxSettings | None = None, *, dialect: str = "spec", clock: str = "real", **choices: Any
    ) -> None:
        behaviour = {
            "job_seconds": 0.0,
            "requests_per_minute": 1_000_000,
            "token_requests_per_minute": 1_000_000,
            "webhook_backoff_s": (0.05, 0.1, 0.2, 0.4, 0.8),
            **choices,
        }
        self._settings = settings or SandboxSettings(dialect=dialect, clock=clock, behaviour=behaviour)
        self._server = Server(self._settings)
        self._ready = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="partner-sandbox", daemon=True)
        self._client: httpx.Client | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    chain_id = "demo-chain"
    vendors = tuple(f"store-{number:03d}" for number in range(1, 7))
    client_id = "demo-client"
    client_secret = "demo-secret"

    @property
    def base_url(self) -> str:
        return self._server.base_url

    @property
    def storage_url(self) -> str | None:
        """The second host, of presigned links."""
        return self._server.sandbox.storage_url

    def start(self) -> Self:
        self._thread.start()
        if not self._ready.wait(START_DEADLINE_S):
            raise TimeoutError("the sandbox did not start")
        if self._failure is not None:
            raise self._failure
        self._client = httpx.Client(base_url=self.base_url, timeout=120.0, trust_env=False, verify=False)
        return self

    def stop(self) -> None:
        if self._client is not None:
            self._client.close()
        self._server.stop()
        self._thread.join(START_DEADLINE_S)
        if self._thread.is_alive():
            raise TimeoutError("the sandbox did not stop")

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def control(self, method: str, path: str, json: Any = None) -> Any:
        """A call of the control plane (`path` without /_sandbox); its JSON. Raises for anything but 2xx."""
        assert self._client is not None, "the sandbox has not been started"
        answer = self._client.request(method, f"/_sandbox/{path.removeprefix('/_sandbox').lstrip('/')}", json=json)
        if not answer.is_success:
            raise RuntimeError(f"{method} {path}: {answer.status_code} {answer.text}")
        return answer.json()

    def put_products(self, vendor: str, products: list[dict[str, Any]], chain: str = "demo-chain") -> None:
        """Replaces a vendor's assortment."""
        self.control("PUT", f"chains/{chain}/vendors/{vendor}/products", {"products": products})

    def products(self, vendor: str, chain: str = "demo-chain") -> dict[str, dict[str, Any]]:
        """What the platform holds, by SKU."""
        got = self.control("GET", f"chains/{chain}/vendors/{vendor}/products")
        return {product["sku"]: product for product in got["products"]}

    def put_webhook(
        self, *, catalog_url: str | None = None, order_url: str | None = None, secret: str = "s3cret"
    ) -> None:
        body = {"catalog_url": catalog_url, "order_url": order_url, "secret": secret}
        self.control("PUT", "chains/demo-chain/webhook", body)

    def journal(self, after: int = 0) -> dict[str, Any]:
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

    def until_quiescent(self, deadline_s: float = 30.0) -> dict[str, Any]:
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

    @contextmanager
    def partner(self, client_id: str = "demo-client", client_secret: str = "demo-secret") -> Iterator[httpx.Client]:
        """An HTTP client with a token, as the simplest partner would write one."""
        form = {"grant_type": "client_credentials", "client_id": client_id, "client_secret": client_secret}
        with httpx.Client(base_url=self.base_url, timeout=30.0, trust_env=False, verify=False) as client:
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


@dataclass(frozen=True)
class Received:
    """A call to the partner's webhook."""

    path: str
    authorization: str | None
    body: Any
    bytes: int


class _Server(ThreadingHTTPServer):
    request_queue_size = 256  # or a burst of events waits a second for its connections


class WebhookReceiver:
    """The partner's end of the webhook on a loopback port: remembers calls, answers with the next of `statuses`, then 204."""

    def __init__(self) -> None:
        self.received: list[Received] = []
        self.statuses: list[int] = []
        self.hold_s = 0.0
        self._server = _Server(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/events"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def clear(self) -> None:
        self.received.clear()
        self.statuses.clear()
        self.hold_s = 0.0

    def wait_for(self, count: int, deadline_s: float = 10.0) -> list[Received]:
        """The calls, once there are so many."""
        end = time.monotonic() + deadline_s
        while len(self.received) < count:
            if time.monotonic() > end:
                raise TimeoutError(f"{len(self.received)} of {count} webhooks came")
            time.sleep(0.005)
        return list(self.received)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                text = self.rfile.read(int(self.headers["content-length"]))
                call = Received(self.path, self.headers["authorization"], json.loads(text), len(text))
                receiver.received.append(call)
                time.sleep(receiver.hold_s)
                self.send_response(receiver.statuses.pop(0) if receiver.statuses else 204)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Nothing on the terminal."""

        return Handler
