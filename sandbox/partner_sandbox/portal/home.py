"""The front page, for people who know only the address; and the reference: an OpenAPI document as a page, with every operation and shape."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response
from markupsafe import Markup, escape

from partner_sandbox import contract, control, demo
from partner_sandbox.jobs import address_of
from partner_sandbox.portal import pages
from partner_sandbox.sandbox import TheSandbox
from partner_sandbox.vendors import CHAIN, CLIENT_ID, CLIENT_SECRET, VENDORS

router = APIRouter()
steered = APIRouter(prefix="/_sandbox", dependencies=[Depends(control.on_this_machine)])


@router.get("/portal/style.css")
def style() -> Response:
    """The style sheet of every page; these pages answer every caller."""
    return Response(pages.style(), media_type="text/css; charset=utf-8", headers={"X-Content-Type-Options": "nosniff"})


@router.get("/")
def front(request: Request, sandbox: TheSandbox) -> HTMLResponse:
    """What this is, the credentials of its start, and what to do first."""
    base_url = address_of(sandbox, request)
    return pages.render(
        "home.html",
        base_url=base_url,
        chain=CHAIN,
        vendors=VENDORS,
        client_id=CLIENT_ID,
        client_secret=CLIENT_SECRET,
        dialect=sandbox.behaviour.dialect,
        propagation_s=sandbox.behaviour.propagation_s,
        steps=(*demo.first_steps(base_url), demo.webhook_step(base_url)),
        facts=demo.FACTS,
    )


@router.get("/openapi.json")
def interface_contract(request: Request, sandbox: TheSandbox) -> JSONResponse:
    """The contract of the interface."""
    return JSONResponse(contract.interface(address_of(sandbox, request)))


@router.get("/reference")
def interface_reference(request: Request, sandbox: TheSandbox) -> HTMLResponse:
    """The same for people."""
    document = contract.interface(address_of(sandbox, request))
    return page(document, of="the interface", beside="/openapi.json")


@steered.get("/openapi.json")
def control_contract(request: Request, sandbox: TheSandbox) -> JSONResponse:
    """The contract of the control plane."""
    return JSONResponse(contract.control(control.router.routes, address_of(sandbox, request)))


@steered.get("/reference")
def control_reference(request: Request, sandbox: TheSandbox) -> HTMLResponse:
    """The same for people."""
    document = contract.control(control.router.routes, address_of(sandbox, request))
    return page(document, of="the control plane", beside="/_sandbox/openapi.json")


router.include_router(steered)


_LIMITS = (
    ("minimum", "at least"),
    ("exclusiveMinimum", "more than"),
    ("maximum", "at most"),
    ("exclusiveMaximum", "less than"),
    ("minLength", "at least characters:"),
    ("maxLength", "at most characters:"),
    ("minItems", "at least items:"),
    ("maxItems", "at most items:"),
)
_JOINED = (("oneOf", Markup(" or ")), ("anyOf", Markup(" or ")), ("allOf", Markup(" and ")))


def page(document: dict[str, Any], *, of: str, beside: str) -> HTMLResponse:
    """The document as a page; `beside` is where it is itself."""
    reader = _Reader(document)
    return pages.render(
        "reference.html",
        of=of,
        beside=beside,
        info=document["info"],
        operations=list(reader.operations("paths")),
        events=list(reader.operations("webhooks")),
        shapes=[reader.shape(name, one) for name, one in document.get("components", {}).get("schemas", {}).items()],
    )


class _Reader:
    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document

    def operations(self, part: str) -> Iterator[dict[str, Any]]:
        for path, item in self._document.get(part, {}).items():
            for method in contract.METHODS:
                if method in item:
                    yield self._operation(path, method, item[method], item.get("parameters", []))

    def _operation(self, path: str, method: str, one: dict[str, Any], shared: list[Any]) -> dict[str, Any]:
        parameters = [self._seen(given) for given in (*shared, *one.get("parameters", []))]
        body = self._seen(one["requestBody"]) if "requestBody" in one else {}
        answers = [(status, self._seen(answer)) for status, answer in one["responses"].items()]
        return {
            "id": one["operationId"],
            "path": path,
            "method": method.upper(),
            "summary": one.get("summary", ""),
            "description": one.get("description", ""),
            "parameters": [self._field(given["name"], given, given["in"]) for given in parameters],
            "bodies": [self._content(*pair) for pair in body.get("content", {}).items()],
            "answers": [
                {
                    "status": status,
                    "description": answer["description"],
                    "bodies": [self._content(*pair) for pair in answer.get("content", {}).items()],
                }
                for status, answer in answers
            ],
        }

    def _content(self, media: str, content: dict[str, Any]) -> dict[str, Any]:
        schema = content.get("schema", {})
        examples = [content["example"]] if "example" in content else []
        examples += [self._seen(one)["value"] for one in content.get("examples", {}).values()]
        return {
            "media": media,
            "type": self.type(schema),
            "fields": list(self._fields(schema)) if "$ref" not in schema else [],
            "examples": [one if isinstance(one, str) else json.dumps(one, indent=2) for one in examples],
        }

    def shape(self, name: str, one: dict[str, Any]) -> dict[str, Any]:
        """A named shape with its fields, those of the objects inside it too."""
        return {
            "name": name,
            "description": one.get("description", ""),
            "type": self.type(one),
            "fields": list(self._fields(one)),
        }

    def _fields(self, schema: Any, before: str = "") -> Iterator[dict[str, Any]]:
        """The fields of an object, of the objects in a list, and of those within them; a named shape is a link."""
        if not isinstance(schema, dict) or "$ref" in schema:
            return
        needed = set(schema.get("required", []))
        for name, one in schema.get("properties", {}).items():
            yield self._field(f"{before}{name}", {"schema": one, "required": name in needed, **_description_of(one)})
            yield from self._fields(one, f"{before}{name}.")
        if isinstance(schema.get("items"), dict):
            yield from self._fields(schema["items"], f"{before.removesuffix('.')}[]." if before else "[].")
        for key, _ in _JOINED:
            for one in schema.get(key, []):
                yield from self._fields(one, before)

    def _field(self, name: str, one: dict[str, Any], place: str = "") -> dict[str, Any]:
        return {
            "name": name,
            "in": place,
            "type": self.type(one.get("schema", {})),
            "required": bool(one.get("required")),
            "description": one.get("description") or _description_of(one.get("schema", {})).get("description", ""),
        }

    def type(self, schema: Any) -> Markup:  # noqa: PLR0911  one line a kind of schema
        """The kind of a value, with its limits; a named shape is a link."""
        if not isinstance(schema, dict):
            return Markup("any")
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            return Markup('<a href="#shape-{0}">{0}</a>').format(name)
        kind = schema.get("type")
        for key, word in _JOINED:
            if key in schema and (kind is None or key == "oneOf"):
                return word.join(dict.fromkeys(self.type(one) for one in schema[key]))
        if "enum" in schema or "const" in schema:
            values = schema.get("enum", [schema.get("const")])
            return Markup(" or ").join(Markup("<code>{}</code>").format(json.dumps(value)) for value in values)
        if kind == "array":
            return Markup("list of ") + self.type(schema.get("items", {})) + self._limits(schema)
        if isinstance(schema.get("additionalProperties"), dict):
            return Markup("object, to each name ") + self.type(schema["additionalProperties"])
        return escape(" or ".join(kind) if isinstance(kind, list) else kind or "any") + self._limits(schema)

    @staticmethod
    def _limits(schema: dict[str, Any]) -> Markup:
        limits = [f"{word} {schema[key]}" for key, word in _LIMITS if key in schema]
        limits += [schema["format"]] if "format" in schema else []
        limits += [f"by default {json.dumps(schema['default'])}"] if schema.get("default") is not None else []
        pattern = Markup(" <code>{}</code>").format(schema["pattern"]) if "pattern" in schema else Markup()
        return escape(f" ({', '.join(limits)})" if limits else "") + pattern

    def _seen(self, one: dict[str, Any]) -> dict[str, Any]:
        return contract.seen(self._document, one)


def _description_of(schema: Any) -> dict[str, str]:
    described = isinstance(schema, dict) and "description" in schema
    return {"description": schema["description"]} if described else {}
