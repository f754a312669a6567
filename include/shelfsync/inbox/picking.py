"""Picking results over HTTP: POST /picking/{order_id} with the secret of the store, durable before it is answered 2xx (I8).

202: it is stored, and what became of it stands at GET /picking/{order_id} and goes to the store like an order does. 200: it was known.
400: it has no form, and the messages say where. 409: its result_id was used for something else. Whether the order is this store's is
known when the result is worked on: the order's own event may not have come yet.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from fastapi import Request
from fastapi.responses import JSONResponse

from shelfsync.inbox.body import RefusedError, read_body
from shelfsync.inbox.keep import keep
from shelfsync.inbox.reading import UnreadableEventError, parse
from shelfsync.inbox.secret import StoreSecrets
from shelfsync.ledger import picking
from shelfsync.ledger.engine import create_engine
from shelfsync.orders.result import UnreadableResultError, is_order_id

if TYPE_CHECKING:
    from sqlalchemy.engine import Engine

    from shelfsync.inbox.refusals import Refusals
    from shelfsync.settings import OrdersSettings

log = logging.getLogger(__name__)

BODY_BYTES_MAX = 1024 * 1024
_BODY_TIMEOUT_S = 8.0
_STORE_TIMEOUT_S = 8.0


class PickingDoor:
    """What the two routes do. Connects at the first call that shows the secret."""

    def __init__(self, dsn: str, settings: OrdersSettings) -> None:
        self._dsn = dsn
        self._refusals: Refusals | None = None
        self._secrets = StoreSecrets(settings.picking_secret, settings.picking_secret_previous)
        self._engine: Engine | None = None

    async def receive(self, order_id: str, request: Request) -> JSONResponse:
        """One result: stored, or refused with everything that is wrong with its form."""
        try:
            vendor = self._admit(request)
            raw = await self._body(request)
            async with asyncio.timeout(_STORE_TIMEOUT_S):
                word = await asyncio.to_thread(keep, self._open(), order_id, raw, "http", vendor)
        except RefusedError as refused:
            return self._refused(refused)
        except UnreadableResultError as error:
            return _refuse(400, *error.messages)
        except (sa.exc.SQLAlchemyError, TimeoutError, OSError) as error:
            log.warning("picking: a result could not be stored: %s", type(error).__name__)
            return _refuse(503, "the result was not stored: send it again")
        if word == "other":
            return _refuse(
                409, "this result_id came before with another content: a correction needs a result_id of its own"
            )
        return JSONResponse({"status": "stored" if word == "new" else "known"}, 202 if word == "new" else 200)

    async def tell(self, order_id: str, request: Request) -> JSONResponse:
        """What became of this store's results of an order."""
        try:
            vendor = self._admit(request)
            name = order_id.strip().lower()
            async with asyncio.timeout(_STORE_TIMEOUT_S):
                rows = await asyncio.to_thread(self._results, name, vendor) if is_order_id(name) else []
        except RefusedError as refused:
            return self._refused(refused)
        except (sa.exc.SQLAlchemyError, TimeoutError, OSError):
            return _refuse(503, "the database is away: ask again")
        return JSONResponse({"order_id": name, "results": rows}, 200 if rows else 404)

    async def close(self) -> None:
        """Lets go of the database."""
        engine, self._engine = self._engine, None
        if engine is not None:
            await asyncio.to_thread(engine.dispose)

    def report_to(self, refusals: Refusals) -> None:
        """Where refused calls are counted."""
        self._refusals = refusals

    def _admit(self, request: Request) -> str:
        """The store that calls."""
        vendor = self._secrets.vendor([value for name, value in request.headers.raw if name == b"authorization"])
        if vendor is None:
            raise RefusedError(401, "the Authorization header does not hold the secret of a store")
        return vendor

    def _refused(self, refused: RefusedError) -> JSONResponse:
        if self._refusals is not None:
            self._refusals.note(refused.status, refused.reason, of="picking")
        return _refuse(refused.status, refused.reason)

    async def _body(self, request: Request) -> dict[str, Any]:
        body = await read_body(request, bytes_max=BODY_BYTES_MAX, timeout_s=_BODY_TIMEOUT_S)
        try:
            return parse(body)
        except UnreadableEventError as error:
            raise RefusedError(400, f"the body {error}") from None

    def _results(self, order_id: str, vendor: str) -> list[dict[str, Any]]:
        with self._open().connect() as connection:
            return picking.of_order(connection, order_id, vendor=vendor)

    def _open(self) -> Engine:
        if self._engine is None:
            self._engine = create_engine(self._dsn, pool_size=4)
        return self._engine


def _refuse(status: int, *messages: str) -> JSONResponse:
    return JSONResponse({"status": "refused", "messages": list(messages)}, status)
