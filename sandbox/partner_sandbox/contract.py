"""The interface and the control plane as OpenAPI documents, as they are served."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema
from starlette.routing import BaseRoute

from partner_sandbox.answers import ControlError

FILE = Path(__file__).parent / "openapi.yaml"


@functools.cache
def _interface() -> dict[str, Any]:
    return dict(yaml.load(FILE.read_text("utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader)))  # noqa: S506  a safe one


def interface(base_url: str) -> dict[str, Any]:
    """The interface of the partner, of every dialect together, at this address."""
    return {**_interface(), "servers": [{"url": base_url}]}


def seen(document: dict[str, Any], one: dict[str, Any]) -> dict[str, Any]:
    """What a reference of the document leads to; what is no reference, as it is."""
    if "$ref" not in one:
        return one
    found: Any = document
    for part in one["$ref"].removeprefix("#/").split("/"):
        found = found[part]
    return dict(found)


SCHEMAS = "#/components/schemas/"
METHODS = ("get", "put", "post", "delete", "patch")
ABOUT_CONTROL = (
    "Steers the sandbox from outside the interface: assortments, orders, clock, faults, dialect. No platform has it. It has no"
    " login and answers this machine only, unless the sandbox is started with --expose-control. It rejects what it does not know."
)
_described: set[type[BaseModel]] = set()
"""The shapes that the routes name."""


def described(
    answer: type[BaseModel] | str | dict[str, Any], body: type[BaseModel] | None = None, *, optional: bool = False
) -> dict[str, Any]:
    """How a route of the control plane describes its answer, and a body that it reads by itself.

    `answer` is a shape of answers.py, the name of a shape of the interface, or a schema.
    """
    _described.update(model for model in (answer, body) if isinstance(model, type))
    extra: dict[str, Any] = {"responses": {"200": {"description": "Done", "content": _json(answer)}}}
    if body is not None:
        extra["requestBody"] = {"required": not optional, "content": _json(body)}
    return {"openapi_extra": extra}


def _json(shape: type[BaseModel] | str | dict[str, Any]) -> dict[str, Any]:
    if isinstance(shape, dict):
        return {"application/json": {"schema": shape}}
    name = shape if isinstance(shape, str) else shape.__name__
    return {"application/json": {"schema": {"$ref": f"{SCHEMAS}{name}"}}}


def control(routes: list[BaseRoute], base_url: str) -> dict[str, Any]:
    """The control plane at this address, from its routes; orders have the shape of the interface."""
    document = get_openapi(
        title="Control plane of the partner sandbox", version="2", description=ABOUT_CONTROL, routes=routes
    )
    for item in document["paths"].values():
        for operation in item.values():
            operation["responses"].pop("422", None)
            operation["responses"]["default"] = {"description": "Rejected", "content": _json(ControlError)}
    shapes = document.setdefault("components", {}).setdefault("schemas", {})
    for name in ("HTTPValidationError", "ValidationError"):
        shapes.pop(name, None)
    models: list[type[BaseModel]] = [ControlError, *sorted(_described, key=lambda model: model.__name__)]
    wanted: list[tuple[type[BaseModel], JsonSchemaMode]] = [(model, "validation") for model in models]
    _, definitions = models_json_schema(wanted, ref_template=f"{SCHEMAS}{{model}}")
    shapes |= definitions["$defs"]
    document["paths"], document["components"]["schemas"] = _plain(document["paths"]), _plain(shapes)
    _add_shapes_of_the_interface(document)
    return {**document, "servers": [{"url": base_url}]}


def _add_shapes_of_the_interface(document: dict[str, Any]) -> None:
    shapes, known = document["components"]["schemas"], _interface()["components"]["schemas"]
    while missing := {name for name in _named(document) if name not in shapes}:
        shapes |= {name: known[name] for name in missing}


def _named(schema: Any) -> Iterator[str]:
    """The shapes that a document refers to."""
    if isinstance(schema, dict):
        if "$ref" in schema:
            yield schema["$ref"].removeprefix(SCHEMAS)
        for value in schema.values():
            yield from _named(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _named(value)


def _plain(schema: Any) -> Any:
    """Without what the framework guessed beside a named shape, without titles, and with a decimal as the number that it is."""
    if isinstance(schema, list):
        return [_plain(value) for value in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return {name: schema[name] for name in ("$ref", "description") if name in schema}
    kinds = [one for one in schema.get("anyOf", ()) if not str(one.get("pattern", "")).startswith("^(?!")]
    if "anyOf" in schema and len(kinds) < len(schema["anyOf"]):
        rest = {name: value for name, value in schema.items() if name != "anyOf"}
        schema = {**rest, **kinds[0]} if len(kinds) == 1 else {**rest, "anyOf": kinds}
    return {name: _plain(value) for name, value in schema.items() if name != "title" or not isinstance(value, str)}
