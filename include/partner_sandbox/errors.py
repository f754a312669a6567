"""Error answers of the platform: `{code, message}`, defined in one place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.routing import Match, Route


class ApiError(Exception):
    """An answer with a status, a code and one sentence."""

    def __init__(self, status: int, code: str, message: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = headers or {}


def invalid(field: str, problem: str) -> ApiError:
    """400 that names the field (interface.md 7: the request body is not valid)."""
    return ApiError(400, "INVALID_REQUEST", f"{field}: {problem}" if field else problem)


def validation_error(problems: Iterable[Any]) -> ApiError:
    """400 for the first of the problems that pydantic found, with its place as `products[3].price`."""
    first = next(iter(problems))
    if first["type"] == "json_invalid":
        return invalid("", "the body is not valid JSON")
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"])
    return invalid(place.removeprefix("."), first["msg"].removeprefix("Value error, "))


def not_found(what: str) -> ApiError:
    return ApiError(404, "NOT_FOUND", f"{what} not found")


def answer(status: int, code: str, message: str, headers: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"code": code, "message": message}, status_code=status, headers=headers)


async def _api_error(request: Request, error: Exception) -> Response:  # noqa: ARG001  the signature is Starlette's
    assert isinstance(error, ApiError)
    return answer(error.status, error.code, error.message, error.headers)


async def _validation_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    found = validation_error({**problem, "loc": problem["loc"][1:] or problem["loc"]} for problem in error.errors())
    return await _api_error(request, found)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        return answer(405, "METHOD_NOT_ALLOWED", str(error.detail), {"Allow": _allowed(request)})
    code = "NOT_FOUND" if error.status_code == 404 else "ERROR"
    return answer(error.status_code, code, str(error.detail), dict(error.headers or {}))


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
