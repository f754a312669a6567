"""The webhook receiver: an ASGI app that runs alone (`python -m shelfsync.inbox`) and mounted in another.

POST /webhook takes job and order events alike; /webhook/catalog and /webhook/orders are the same place under names that tell
which address was configured for what. Stores post what they picked to /picking/{order_id}. GET /health says whether events could be stored now. A call is answered 2xx only when
its event is durable; bodies and secrets are never logged (I8, I12).
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncIterator
from typing import Protocol

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

from shelfsync import metrics
from shelfsync.inbox.body import RefusedError, read_body, too_large
from shelfsync.inbox.picking import PickingDoor
from shelfsync.inbox.reading import Received, UnreadableEventError, read
from shelfsync.inbox.refusals import Refusals
from shelfsync.inbox.secret import Secrets
from shelfsync.inbox.store import StoreUnavailableError, UnstorableEventError
from shelfsync.settings import WebhookSettings

log = logging.getLogger(__name__)

PATHS = ("/webhook", "/webhook/catalog", "/webhook/orders")
"""Each with a slash at its end as well: a redirect would lead where the Host header says."""
BODY_TIMEOUT_S = 8.0
"""The platform gives a call ten seconds in all."""


class Store(Protocol):
    """Where events go. `put`: True when new, False when known; StoreUnavailableError, UnstorableEventError when it is not stored."""

    async def put(self, event: Received) -> bool: ...

    async def check(self) -> None: ...

    async def close(self) -> None: ...


def create_app(
    store: Store,
    settings: WebhookSettings,
    *,
    body_timeout_s: float = BODY_TIMEOUT_S,
    picking: PickingDoor | None = None,
) -> FastAPI:
    """The app. It owns the store from now on and closes it when its lifespan ends; it keeps nothing else.

    `picking`: takes the results of stores at /picking/{order_id}; without it there is no such address.
    """

    @contextlib.asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        yield
        await store.close()
        if picking is not None:
            await picking.close()
        refusals.close()

    refusals = Refusals()
    receiver = Receiver(store, settings, body_timeout_s, refusals)
    app = FastAPI(
        title="shelfsync webhook receiver",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
    )
    app.state.refusals = refusals
    for path in PATHS:
        for spelling in (path, f"{path}/"):
            app.add_api_route(spelling, receiver.receive, methods=["POST"], include_in_schema=False)
    if picking is not None:
        picking.report_to(refusals)
        app.add_api_route("/picking/{order_id}", picking.receive, methods=["POST"], include_in_schema=False)
        app.add_api_route("/picking/{order_id}", picking.tell, methods=["GET"], include_in_schema=False)
    app.add_api_route("/health", receiver.health, methods=["GET"], include_in_schema=False)
    return app


class Receiver:
    """What the routes do."""

    def __init__(self, store: Store, settings: WebhookSettings, body_timeout_s: float, refusals: Refusals) -> None:
        self._store = store
        self._settings = settings
        self._secrets = Secrets(settings.secret, settings.secret_previous)
        self._body_timeout_s = body_timeout_s
        self._refusals = refusals
        if not self._secrets:
            log.error("inbox: SHELFSYNC_WEBHOOK__SECRET is not set: every call is refused until it is")

    async def receive(self, request: Request) -> JSONResponse:
        """One event: stored, or refused with the reason and nothing stored."""
        try:
            event = await self._event(request)
            new = await self._put(event)
        except RefusedError as refused:
            self._refusals.note(refused.status, refused.reason)
            return _refuse(refused.status, refused.reason)
        except StoreUnavailableError:
            metrics.count("inbox.refused.503")
            return _refuse(503, "the event was not stored: send it again", retry_after_s=5)
        metrics.count(f"inbox.events.{event.kind}" if new else "inbox.events.known")
        log.debug("inbox: %s event of job %s, %s", event.kind, event.platform_job_id, "new" if new else "known")
        return JSONResponse({"status": "stored" if new else "known"})

    async def health(self) -> JSONResponse:
        """200 when events can be stored, 503 when not."""
        try:
            await self._store.check()
        except StoreUnavailableError:
            return JSONResponse({"status": "database away"}, 503)
        return JSONResponse({"status": "ok"})

    async def _put(self, event: Received) -> bool:
        try:
            return await self._store.put(event)
        except UnstorableEventError as error:  # 422, and no 5xx: it would be the same the next time
            raise RefusedError(422, f"the database refuses what is in the event ({error})") from None

    async def _event(self, request: Request) -> Received:
        if not self._secrets.admit([value for name, value in request.headers.raw if name == b"authorization"]):
            raise RefusedError(401, "the Authorization header does not hold the secret")
        settings = self._settings
        largest = max(settings.order_bytes_max, settings.job_bytes_max)
        body = await read_body(request, bytes_max=largest, timeout_s=self._body_timeout_s)
        try:
            event = read(body)
        except UnreadableEventError as error:
            raise RefusedError(400, f"the body {error}") from None
        limit = settings.order_bytes_max if event.kind == "order" else settings.job_bytes_max
        if len(body) > limit:
            raise too_large(limit)
        return event


def _refuse(status: int, reason: str, *, retry_after_s: int | None = None) -> JSONResponse:
    """The connection ends: what is left of the body is nobody's business."""
    headers = {"Connection": "close"}
    if retry_after_s is not None:
        headers["Retry-After"] = str(retry_after_s)
    return JSONResponse({"status": "refused", "reason": reason}, status, headers)
