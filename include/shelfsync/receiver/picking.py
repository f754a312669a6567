"""Picking results over HTTP: POST /picking/{order_id} with the secret of the store, durable before the answer 2xx (I8).

202: the result is stored; GET /picking/{order_id} and the reply to the store have its outcome. 200: the result was known.
400: the result is invalid; the messages name the errors. 409: another content has the same result_id. The step `fulfil`
checks whether the order belongs to the store: the order's own event may arrive later.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from fastapi import Request
from fastapi.responses import JSONResponse

from shelfsync.inbox.event_body import UnreadableEventError, parse
from shelfsync.orders.ledger import picking
from shelfsync.orders.picking_result import UnreadableResultError, is_order_id
from shelfsync.orders.steps.receive import keep
from shelfsync.receiver.rejection import RequestRejectedError, read_body
from shelfsync.receiver.secret import StoreSecrets
from shelfsync.store.engine import create_engine

if TYPE_CHECKING:
    from sqlalchemy.engine import Engine

    from shelfsync.receiver.rejection import RejectedCalls
    from shelfsync.settings import OrdersSettings

log = logging.getLogger(__name__)

BODY_BYTES_MAX = 1024 * 1024
_BODY_TIMEOUT_S = 8.0
_STORE_TIMEOUT_S = 8.0


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
            return _reject(400, *error.messages)
        except (sa.exc.SQLAlchemyError, TimeoutError, OSError) as error:
            log.warning("picking: a result could not be stored: %s", type(error).__name__)
            return _reject(503, "the result was not stored: send it again")
        if status == "conflict":
            return _reject(409, "this result_id belongs to another content: a correction needs a result_id of its own")
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
            return _reject(503, "the database is unavailable: ask again")
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
        return vendor

    def _rejected(self, rejected: RequestRejectedError) -> JSONResponse:
        if self._rejected_calls is not None:
            self._rejected_calls.note(rejected.status, rejected.reason, of="picking")
        return _reject(rejected.status, rejected.reason)

    async def _body(self, request: Request) -> dict[str, Any]:
        body = await read_body(request, max_bytes=BODY_BYTES_MAX, timeout_s=_BODY_TIMEOUT_S)
        try:
            return parse(body)
        except UnreadableEventError as error:
            raise RequestRejectedError(400, f"the body {error}") from None

    def _results(self, order_id: str, vendor: str) -> list[dict[str, Any]]:
        with self._open().connect() as connection:
            return picking.of_order(connection, order_id, vendor=vendor)

    def _open(self) -> Engine:
        if self._engine is None:
            self._engine = create_engine(self._dsn, pool_size=4)
        return self._engine


def _reject(status: int, *messages: str) -> JSONResponse:
    return JSONResponse({"status": "rejected", "messages": list(messages)}, status)
