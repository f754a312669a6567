"""The webhook receiver: an ASGI app that runs alone (`python -m shelfsync.receiver`) or mounted in another app.

POST /webhook accepts job events and order events. /webhook/catalog and /webhook/orders are other names of the same endpoint.
Stores post picking results to /picking/{order_id}. GET /health reports whether events can be stored now. The receiver
answers 2xx only when the event is durable. It never logs bodies or secrets (I8, I12).
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncIterator
from typing import Protocol

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

from shelfsync import metrics
from shelfsync.inbox.event_body import Received, UnreadableEventError, read
from shelfsync.inbox.store import StoreUnavailableError, TablesMissingError, UnstorableEventError
from shelfsync.receiver.picking import PickingEndpoint
from shelfsync.receiver.rejection import RejectedCalls, RequestRejectedError, read_body, too_large
from shelfsync.receiver.secret import Secrets
from shelfsync.settings import WebhookSettings

log = logging.getLogger(__name__)

PATHS = ("/webhook", "/webhook/catalog", "/webhook/orders")
"""Each is served with a trailing slash too: a redirect would lead to the address in the Host header."""
BODY_TIMEOUT_S = 8.0
"""The platform waits ten seconds for an answer."""


class Store(Protocol):
    """Where events are stored. `put`: True if new, False if known. StoreUnavailableError, UnstorableEventError: not stored."""

    async def put(self, event: Received) -> bool: ...

    async def check(self) -> None: ...

    async def close(self) -> None: ...


def create_app(
    store: Store,
    settings: WebhookSettings,
    *,
    body_timeout_s: float = BODY_TIMEOUT_S,
    picking: PickingEndpoint | None = None,
) -> FastAPI:
    """The app. It owns the store and closes it when its lifespan ends.

    `picking`: the endpoint for picking results at /picking/{order_id}; None: the app has no such route.
    """

    @contextlib.asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        yield
        await store.close()
        if picking is not None:
            await picking.close()
        rejected_calls.close()

    rejected_calls = RejectedCalls()
    receiver = Receiver(store, settings, body_timeout_s, rejected_calls)
    app = FastAPI(
        title="shelfsync webhook receiver",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
    )
    app.state.rejected_calls = rejected_calls
    for path in PATHS:
        for spelling in (path, f"{path}/"):
            app.add_api_route(spelling, receiver.receive, methods=["POST"], include_in_schema=False)
    if picking is not None:
        picking.count_rejections_in(rejected_calls)
        app.add_api_route("/picking/{order_id}", picking.receive, methods=["POST"], include_in_schema=False)
        app.add_api_route("/picking/{order_id}", picking.report_results, methods=["GET"], include_in_schema=False)
    app.add_api_route("/health", receiver.health, methods=["GET"], include_in_schema=False)
    return app


class Receiver:
    """The handlers of the webhook routes."""

    def __init__(
        self, store: Store, settings: WebhookSettings, body_timeout_s: float, rejected_calls: RejectedCalls
    ) -> None:
        self._store = store
        self._settings = settings
        self._secrets = Secrets(settings.secret, settings.secret_previous)
        self._body_timeout_s = body_timeout_s
        self._rejected_calls = rejected_calls
        if not self._secrets:
            log.error("inbox: SHELFSYNC_WEBHOOK__SECRET is not set: every call is rejected until it is")

    async def receive(self, request: Request) -> JSONResponse:
        """Stores one event, or rejects it with the reason and stores nothing."""
        try:
            event = await self._event(request)
            new = await self._put(event)
        except RequestRejectedError as rejected:
            self._rejected_calls.note(rejected.status, rejected.reason)
            return _reject(rejected.status, rejected.reason)
        except StoreUnavailableError:
            metrics.count("inbox.rejected.503")
            return _reject(503, "the event was not stored: send it again", retry_after_s=5)
        metrics.count(f"inbox.events.{event.kind}" if new else "inbox.events.known")
        log.debug("inbox: %s event of job %s, %s", event.kind, event.platform_job_id, "new" if new else "known")
        return JSONResponse({"status": "stored" if new else "known"})

    async def health(self) -> JSONResponse:
        """200 if events can be stored, otherwise 503."""
        try:
            await self._store.check()
        except TablesMissingError as error:
            return JSONResponse({"status": str(error)}, 503)
        except StoreUnavailableError:
            return JSONResponse({"status": "database unavailable"}, 503)
        return JSONResponse({"status": "ok"})

    async def _put(self, event: Received) -> bool:
        try:
            return await self._store.put(event)
        except UnstorableEventError as error:  # 422 and not 5xx: a repeat would fail too
            raise RequestRejectedError(422, f"the database rejects the content of the event ({error})") from None

    async def _event(self, request: Request) -> Received:
        if not self._secrets.admit([value for name, value in request.headers.raw if name == b"authorization"]):
            raise RequestRejectedError(401, "the Authorization header does not hold the secret")
        settings = self._settings
        largest = max(settings.order_max_bytes, settings.job_max_bytes)
        body = await read_body(request, max_bytes=largest, timeout_s=self._body_timeout_s)
        try:
            event = read(body)
        except UnreadableEventError as error:
            raise RequestRejectedError(400, f"the body {error}") from None
        limit = settings.order_max_bytes if event.kind == "order" else settings.job_max_bytes
        if len(body) > limit:
            raise too_large(limit)
        return event


def _reject(status: int, reason: str, *, retry_after_s: int | None = None) -> JSONResponse:
    """The answer to a rejected call. It closes the connection, so the rest of the body is not read."""
    headers = {"Connection": "close"}
    if retry_after_s is not None:
        headers["Retry-After"] = str(retry_after_s)
    return JSONResponse({"status": "rejected", "reason": reason}, status, headers)
