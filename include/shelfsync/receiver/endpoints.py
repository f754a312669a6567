"""The endpoints of the receiver: an ASGI app that runs alone (`python -m shelfsync.receiver`) or mounted in another app.

POST /webhook accepts job events and order events. /webhook/catalog and /webhook/orders are other names of the same endpoint. GET /health
reports whether events can be stored now. The receiver answers 2xx only when the event is durable. It never logs bodies or secrets (I8, I12).

POST /picking/{order_id} accepts a picking result with the secret of the store, durable before the answer 2xx too. 202: the result is stored;
GET /picking/{order_id} and the reply to the store have its outcome. 200: the result was known. 400: the result is invalid; the messages name
the errors. 409: another content has the same result_id. The step `fulfil` checks whether the order belongs to the store: the order's own
event may arrive later.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any, Protocol

import sqlalchemy as sa
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

from shelfsync import metrics
from shelfsync.inbox.event_body import Received, UnreadableEventError, parse, read
from shelfsync.inbox.store import StoreUnavailableError, TablesMissingError, UnstorableEventError
from shelfsync.orders.ledger import picking as picking_results
from shelfsync.orders.picking_result import UnreadableResultError, is_order_id
from shelfsync.orders.steps.receive import keep
from shelfsync.receiver.idle_connection import CloseAfterAnswer
from shelfsync.receiver.rejected_calls import RejectedCalls
from shelfsync.receiver.request_body import (
    BODY_TIMEOUT_S,
    PICKING_BYTES_MAX,
    RequestRejectedError,
    read_body,
    too_large,
)
from shelfsync.receiver.secret import Secrets, StoreSecrets, note_secret
from shelfsync.settings import WebhookSettings
from shelfsync.store.engine import create_engine

if TYPE_CHECKING:
    from sqlalchemy.engine import Engine

    from shelfsync.settings import OrdersSettings

log = logging.getLogger(__name__)

PATHS = ("/webhook", "/webhook/catalog", "/webhook/orders")
"""Each is served with a trailing slash too: a redirect would lead to the address in the Host header."""
_STORE_TIMEOUT_S = 8.0


class Store(Protocol):
    """Where events are stored. `put`: True if new, False if known. StoreUnavailableError, UnstorableEventError: not stored."""

    async def put(self, event: Received) -> bool: ...

    def refused(self, endpoint: str, calls: int) -> None: ...

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
        rejected_calls.close()
        await store.close()
        if picking is not None:
            await picking.close()

    rejected_calls = RejectedCalls(refused=store.refused)
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
    app.add_middleware(CloseAfterAnswer)
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
        note_secret(request.scope)
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
    headers = {} if retry_after_s is None else {"Retry-After": str(retry_after_s)}
    return JSONResponse({"status": "rejected", "reason": reason}, status, headers)


class PickingEndpoint:
    """The handlers of the two routes. They connect at the first call with a valid secret."""

    def __init__(self, dsn: str, settings: OrdersSettings) -> None:
        self._dsn = dsn
        self._rejected_calls: RejectedCalls | None = None
        self._secrets = StoreSecrets(settings.picking_secret, settings.picking_secret_previous)
        self._engine: Engine | None = None

    async def receive(self, order_id: str, request: Request) -> JSONResponse:
        """Stores one result, or rejects it with all errors of its form."""
        try:
            vendor = self._admit(request)
            raw = await self._body(request)
            async with asyncio.timeout(_STORE_TIMEOUT_S):
                status = await asyncio.to_thread(keep, self._open(), order_id, raw, "http", vendor)
        except RequestRejectedError as rejected:
            return self._rejected(rejected)
        except UnreadableResultError as error:
            return _reject_result(400, *error.messages)
        except (sa.exc.SQLAlchemyError, TimeoutError, OSError) as error:
            log.warning("picking: a result could not be stored: %s", type(error).__name__)
            return _reject_result(503, "the result was not stored: send it again")
        if status == "conflict":
            return _reject_result(
                409, "this result_id belongs to another content: a correction needs a result_id of its own"
            )
        return JSONResponse({"status": "stored" if status == "new" else "known"}, 202 if status == "new" else 200)

    async def report_results(self, order_id: str, request: Request) -> JSONResponse:
        """The outcomes of this store's results of an order."""
        try:
            vendor = self._admit(request)
            name = order_id.strip().lower()
            async with asyncio.timeout(_STORE_TIMEOUT_S):
                rows = await asyncio.to_thread(self._results, name, vendor) if is_order_id(name) else []
        except RequestRejectedError as rejected:
            return self._rejected(rejected)
        except (sa.exc.SQLAlchemyError, TimeoutError, OSError):
            return _reject_result(503, "the database is unavailable: ask again")
        return JSONResponse({"order_id": name, "results": rows}, 200 if rows else 404)

    async def close(self) -> None:
        """Disconnects from the database."""
        engine, self._engine = self._engine, None
        if engine is not None:
            await asyncio.to_thread(engine.dispose)

    def count_rejections_in(self, rejected_calls: RejectedCalls) -> None:
        """Sets where rejected calls are counted."""
        self._rejected_calls = rejected_calls

    def _admit(self, request: Request) -> str:
        """The store that calls. RequestRejectedError: the secret is wrong."""
        vendor = self._secrets.vendor([value for name, value in request.headers.raw if name == b"authorization"])
        if vendor is None:
            raise RequestRejectedError(401, "the Authorization header does not hold the secret of a store")
        note_secret(request.scope)
        return vendor

    def _rejected(self, rejected: RequestRejectedError) -> JSONResponse:
        if self._rejected_calls is not None:
            self._rejected_calls.note(rejected.status, rejected.reason, of="picking")
        return _reject_result(rejected.status, rejected.reason)

    async def _body(self, request: Request) -> dict[str, Any]:
        body = await read_body(request, max_bytes=PICKING_BYTES_MAX, timeout_s=BODY_TIMEOUT_S)
        try:
            return parse(body)
        except UnreadableEventError as error:
            raise RequestRejectedError(400, f"the body {error}") from None

    def _results(self, order_id: str, vendor: str) -> list[dict[str, Any]]:
        with self._open().connect() as connection:
            return picking_results.of_order(connection, order_id, vendor=vendor)

    def _open(self) -> Engine:
        if self._engine is None:
            self._engine = create_engine(self._dsn, pool_size=4)
        return self._engine


def _reject_result(status: int, *messages: str) -> JSONResponse:
    return JSONResponse({"status": "rejected", "messages": list(messages)}, status)
