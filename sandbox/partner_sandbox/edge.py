"""The edge in front of the service: the journal, the request limit, the size limit, and the faults of the wire.

Everything outside the control plane, the portal and the front page passes here. A connection is cut by the server's own hook
(see server.py); where there is none, as in a process without sockets, ConnectionCut is raised through the app instead.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from partner_sandbox.errors import HINT, ApiError, answer
from partner_sandbox.exchange import Exchange, caller_of, keep
from partner_sandbox.faults import Rule
from partner_sandbox.journal import Entry
from partner_sandbox.request_limit import rate_key, too_many
from partner_sandbox.sandbox import Sandbox

CUT = "partner_sandbox.cut"
INSIDE = ("/_sandbox", "/portal")
FRONT = frozenset({"/", "/openapi.json", "/reference"})
BEFORE = ("status_*", "block_page", "refuse_connection", "never_answer")
AFTER = ("half_body", "drop_answer", "slow_body")
BLOCK_PAGE = (
    "<!DOCTYPE html><html><head><title>Access denied</title></head>"
    "<body><h1>Access denied</h1><p>You have been blocked. Too many requests from your address.</p></body></html>"
)


class ConnectionCut(ConnectionError):  # noqa: N818  named like the other connection errors
    """The connection was cut, for callers that reach the app without one."""


class Edge:
    """ASGI middleware around the whole service; limits are the service's, the storage host (`kind` storage) has none."""

    def __init__(self, app: ASGIApp, sandbox: Sandbox, kind: str = "request") -> None:
        self._app = app
        self._sandbox = sandbox
        self._kind = kind

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or (self._kind == "request" and _is_for_people(scope["path"])):
            await self._app(scope, receive, send)
            return
        # a presigned link is a secret until it expires: the journal omits its query
        query = "" if self._kind == "storage" else scope.get("query_string", b"").decode("latin-1")
        entry = Entry(
            kind=self._kind,
            at_us=self._sandbox.clock.now_us(),
            method=scope["method"],
            route=scope["path"] + (f"?{query}" if query else ""),
            operation=operation_of(scope),
            caller=caller_of(scope["headers"]),
        )
        if self._kind == "request":
            self._sandbox.journal.count(entry.at_us)
        scope.setdefault("state", {})["operation"] = entry.operation
        scope["state"]["entry"] = entry
        exchange = Exchange.of(scope["headers"])
        counted = _counted(receive, entry, exchange, self._sandbox)
        try:
            await self._pass(scope, counted, _watched(send, entry, exchange), entry)
        except ClientDisconnect:
            pass  # the caller disconnected in the middle of its body: no answer is possible, and the platform has no error
        finally:
            self._sandbox.journal.write(entry, exchange, self._sandbox.clock.now_us())

    async def _pass(self, scope: Scope, receive: Receive, send: Send, entry: Entry) -> None:
        rejection = self._rejection(scope) if self._kind == "request" else None
        if rejection is not None:
            await self._reject(rejection, scope, receive, send)
            return
        vendor = vendor_of(scope)
        before = self._sandbox.faults.draw(entry.operation, *BEFORE, vendor=vendor)
        if before is not None:
            entry.fault, entry.reason = before.kind, f"the fault {before.kind} was asked for at the control plane"
            await self._strike(before, scope, receive, send)
            return
        after = self._sandbox.faults.draw(entry.operation, *AFTER, vendor=vendor)
        if after is None:
            await self._app(scope, receive, send)
            return
        entry.fault = after.kind
        collected = _Collected()
        await self._app(scope, receive, collected)
        await _spoil(after, collected, scope, receive, send)

    async def _reject(self, error: ApiError, scope: Scope, receive: Receive, send: Send) -> None:
        """The edge's error, as a page where the dialect has one for the limit."""
        response: Response = answer(scope, error, self._sandbox.behaviour)
        if error.choice == "requests_per_minute" and self._sandbox.behaviour.rate_limit_answer == "403_html":
            page = BLOCK_PAGE.replace("Too many requests", error.message)
            response = HTMLResponse(page, 403, {HINT: response.headers[HINT]})
        await response(scope, receive, send)

    def _rejection(self, scope: Scope) -> ApiError | None:
        behaviour = self._sandbox.behaviour
        headers = Headers(scope=scope)
        now_us = self._sandbox.clock.now_us()
        key = rate_key(behaviour.rate_key, scope, headers)
        wait_us = self._sandbox.limiter.admit(key, behaviour.requests_per_minute, now_us)
        if wait_us is not None:
            return too_many(behaviour, wait_us)
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length) > behaviour.body_max_bytes:
            return too_large(behaviour.body_max_bytes)
        return None

    async def _strike(self, rule: Rule, scope: Scope, receive: Receive, send: Send) -> None:
        if rule.kind == "block_page":
            await HTMLResponse(BLOCK_PAGE, 403)(scope, receive, send)
        elif rule.kind == "refuse_connection":
            if rule.seconds and self._sandbox.close_port is not None:
                self._sandbox.close_port(rule.seconds)
            await _cut(scope, receive)
        elif rule.kind == "never_answer":
            await _never_answer(rule, scope, receive)
        else:
            await _status(rule)(scope, receive, send)


def _is_for_people(path: str) -> bool:
    """Whether a path is none of the interface: control plane, portal, front page, contract."""
    return path in FRONT or path.startswith(INSIDE)


def operation_of(scope: Scope) -> str | None:
    """The name of the route that will serve this request; None when there is none."""
    app: Starlette = scope["app"]
    for route in app.routes:
        if isinstance(route, Route) and route.matches(scope)[0] is Match.FULL:
            return route.name
    return None


def vendor_of(scope: Scope) -> str | None:
    """The vendor that the request's path names; None where it names none, as for a job or a promotion."""
    parts = scope["path"].split("/")
    return parts[5] if len(parts) > 5 and (parts[2], parts[4]) == ("chains", "vendors") else None


def too_large(body_max_bytes: int) -> ApiError:
    """413. The connection is closed, because the rest of the body is not read."""
    message = f"The request body has more than {body_max_bytes} bytes"
    return ApiError(413, "PAYLOAD_TOO_LARGE", message, {"Connection": "close"}, rule="8", choice="body_max_bytes")


def _status(rule: Rule) -> Response:
    status = int(rule.kind.removeprefix("status_"))
    headers = {HINT: f"fault {rule.kind}"} | ({} if rule.retry_after is None else {"Retry-After": rule.retry_after})
    if rule.body is not None:
        return Response(rule.body, status, headers, rule.content_type or "application/json")
    return JSONResponse({"code": f"FAULT_{status}", "message": "A fault was asked for"}, status, headers)


def _counted(receive: Receive, entry: Entry, exchange: Exchange, sandbox: Sandbox) -> Receive:
    async def counted() -> Message:
        message = await receive()
        entry.bytes_in += len(message.get("body", b""))
        keep(exchange.sent, message.get("body", b""))
        if entry.bytes_in > sandbox.behaviour.body_max_bytes:
            raise too_large(sandbox.behaviour.body_max_bytes)
        return message

    return counted


def _watched(send: Send, entry: Entry, exchange: Exchange) -> Send:
    async def watched(message: Message) -> None:
        if message["type"] == "http.response.start":
            entry.status = message["status"]
            exchange.answers(message["headers"])
        entry.bytes_out += len(message.get("body", b""))
        keep(exchange.answered, message.get("body", b""))
        await send(message)

    return watched


class _Collected:
    """An answer that is not sent yet."""

    def __init__(self) -> None:
        self.start: Message = {}
        self.body = bytearray()

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.start = message
        else:
            self.body += message.get("body", b"")


async def _spoil(rule: Rule, collected: _Collected, scope: Scope, receive: Receive, send: Send) -> None:
    body = bytes(collected.body)
    if rule.kind == "drop_answer":
        await _cut(scope, receive)
        return
    await send(_with_length(collected.start, len(body)))
    if rule.kind == "half_body":
        await send({"type": "http.response.body", "body": body[: len(body) // 2], "more_body": True})
        await asyncio.sleep(0.01)  # lets the half leave before the connection goes
        await _cut(scope, receive)
        return
    seconds = 2.0 if rule.seconds is None else rule.seconds
    pieces = min(len(body), 20) or 1
    for number in range(pieces):
        piece = body[len(body) * number // pieces : len(body) * (number + 1) // pieces]
        await send({"type": "http.response.body", "body": piece, "more_body": True})
        await asyncio.sleep(seconds / pieces)
    await send({"type": "http.response.body", "body": b"", "more_body": False})


def _with_length(start: Message, length: int) -> Message:
    headers = [pair for pair in start["headers"] if pair[0].lower() != b"content-length"]
    return {**start, "headers": [*headers, (b"content-length", str(length).encode())]}


async def _never_answer(rule: Rule, scope: Scope, receive: Receive) -> None:
    if CUT not in scope.get("extensions", {}):
        raise ConnectionCut("the sandbox never answers this request")
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(rule.seconds):
            await _until_gone(receive)
            return
    await _cut(scope, receive)


async def _cut(scope: Scope, receive: Receive) -> None:
    cut: Callable[[], Any] | None = scope.get("extensions", {}).get(CUT)
    if cut is None:
        raise ConnectionCut("the sandbox cut the connection")
    cut()
    await _until_gone(receive)


async def _until_gone(receive: Callable[[], Awaitable[Message]]) -> None:
    while True:
        try:
            if (await receive())["type"] == "http.disconnect":
                return
        except ApiError:  # the body is over the limit; no caller is left to answer
            continue
