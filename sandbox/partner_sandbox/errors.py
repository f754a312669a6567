"""Error answers of the platform: `{code, message}`, defined in one place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.routing import Match, Route
from starlette.types import Scope

HINT = "X-Sandbox-Hint"
"""The header of an error: the rule of the interface behind it, and the dialect's choice."""
RULES = {
    "token": "5.4",
    "put_catalog": "4.1",
    "list_catalog": "4.2",
    "categories": "4.3",
    "export": "4.4",
    "create_products": "4.5",
    "job_status": "4.6",
    "log": "5.5",
    "put_promotion": "4.7",
    "promotion_status": "4.7",
    "put_order": "4.8",
    "get_order": "4.9",
    "list_orders": "4.10",
    "outlet_status": "7",
}
"""Every operation, with the section of interface.md that its errors follow where the error itself names no other."""


class ApiError(Exception):
    """An answer with a status, a code and one sentence.

    `rule` is the section of interface.md that the request breaks, `choice` the name in Behaviour that decided it,
    `more` further fields of the body.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        headers: dict[str, str] | None = None,
        *,
        rule: str | None = None,
        choice: str | None = None,
        more: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = headers or {}
        self.rule = rule
        self.choice = choice
        self.more = more or {}


def invalid(field: str, problem: str, *, rule: str | None = None, choice: str | None = None) -> ApiError:
    """400 that names the field (interface.md 7: the request body is not valid)."""
    message = f"{field}: {problem}" if field else problem
    return ApiError(400, "INVALID_REQUEST", message, rule=rule, choice=choice)


def unknown_field(field: str, known: Iterable[str]) -> ApiError:
    """400 of the control plane, which ignores nothing."""
    return invalid(field, f"is not a known field; known are {', '.join(sorted(known))}")


def validation_error(problems: Iterable[Any]) -> ApiError:
    """400 for the first of the problems that pydantic found, with its place as `products[3].price`."""
    first = next(iter(problems))
    if first["type"] == "json_invalid":
        return invalid("", "the body is not valid JSON")
    context = first.get("ctx") or {}
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"])
    if first["type"] == "unknown_field":
        return unknown_field(f"{place}.{context['field']}".removeprefix("."), context["known"])
    return invalid(place.removeprefix("."), first["msg"].removeprefix("Value error, "), choice=context.get("choice"))


def not_found(what: str) -> ApiError:
    return ApiError(404, "NOT_FOUND", f"{what} not found")


def answer(scope: Scope, error: ApiError, behaviour: Any) -> JSONResponse:
    """The answer with its hint; the journal's line receives both sentences."""
    headers = {**error.headers, **noted(scope, error, behaviour)}
    return JSONResponse({"code": error.code, "message": error.message, **error.more}, error.status, headers)


def noted(scope: Scope, error: ApiError, behaviour: Any) -> dict[str, str]:
    """The hint as a header; none for the control plane and the portal, which are not of the interface."""
    state = scope.get("state", {})
    entry = state.get("entry")
    if entry is None:
        return {}
    hints = []
    rule = error.rule or RULES.get(state.get("operation") or "")
    if rule is not None:
        hints.append(f"interface {rule}")
    if error.choice is not None:
        hints.append(f"choice {error.choice}={getattr(behaviour, error.choice)} (dialect {behaviour.dialect})")
    entry.reason, entry.hint = error.message, "; ".join(hints)
    return {HINT: entry.hint} if hints else {}


async def _api_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)
    return answer(request.scope, error, request.app.state.sandbox.behaviour)


async def _validation_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    problems = [{**problem, "loc": problem["loc"][1:]} for problem in error.errors()]
    for problem in problems:
        if not problem["loc"] and problem["type"] != "unknown_field":
            problem["loc"] = ("body",)
    found = validation_error(problems)
    return await _api_error(request, found)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        found = ApiError(405, "METHOD_NOT_ALLOWED", str(error.detail), {"Allow": _allowed(request)}, rule="4")
    else:
        code = "NOT_FOUND" if error.status_code == 404 else "ERROR"
        found = ApiError(error.status_code, code, str(error.detail), dict(error.headers or {}), rule="4")
    return await _api_error(request, found)


def _allowed(request: Request) -> str:
    """The methods of every route of this path; Starlette names those of the first only."""
    methods: set[str] = set()
    for route in request.app.routes:
        if isinstance(route, Route) and route.matches(request.scope)[0] is not Match.NONE:
            methods |= route.methods or set()
    return ", ".join(sorted(methods))


def register(app: FastAPI) -> None:
    """Gives every error of the app this form."""
    app.add_exception_handler(ApiError, _api_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(HTTPException, _http_error)
