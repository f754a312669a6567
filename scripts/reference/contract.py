"""The platform's interface as contract/openapi.yaml describes it: operations and shapes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
CONTRACT = ROOT / "contract/openapi.yaml"
METHODS = ("get", "put", "post", "delete", "patch")


def sandbox() -> str:
    """The README of the sandbox, without its title."""
    return (ROOT / "include/partner_sandbox/README.md").read_text("utf-8").partition("\n")[2]


def operations() -> str:
    """Every operation with its parameters, body and answers; then every shape."""
    whole = yaml.safe_load(CONTRACT.read_text("utf-8"))
    parts = ["## Operations\n"]
    for path, item in whole["paths"].items():
        shared = item.get("parameters", [])
        parts += [_operation(whole, path, method, item[method], shared) for method in METHODS if method in item]
    if calls := whole.get("webhooks"):
        parts.append("## Events\n")
        parts += [
            _operation(whole, name, method, one, []) for name, item in calls.items() for method, one in item.items()
        ]
    parts.append("## Shapes\n")
    parts += [_shape(name, one) for name, one in whole["components"]["schemas"].items()]
    return "\n".join(parts)


def _operation(whole: dict[str, Any], path: str, method: str, one: dict[str, Any], shared: list[Any]) -> str:
    text = [f"### {one['operationId']}\n\n`{method.upper()} {path}`\n\n{_line(one.get('summary', ''))}.\n"]
    if told := one.get("description"):
        text.append(f"{told.strip()}\n")
    if parameters := [_seen(whole, parameter) for parameter in (*shared, *one.get("parameters", []))]:
        rows = "".join(
            f"| `{given['name']}` | {given['in']} | {_type(given.get('schema', {}))} | {_line(given.get('description', ''))} |\n"
            for given in parameters
        )
        text.append(f"| parameter | in | type | |\n|---|---|---|---|\n{rows}")
    if body := one.get("requestBody"):
        shapes = [f"{_type(shape['schema'])} (`{kind}`)" for kind, shape in _seen(whole, body)["content"].items()]
        text.append(f"Body: {', '.join(shapes)}.\n")
    rows = ""
    for status, answer in one["responses"].items():
        seen = _seen(whole, answer)
        shapes = ", ".join(sorted({_type(shape.get("schema", {})) for shape in seen.get("content", {}).values()}))
        rows += f"| {status} | {_line(seen['description'])} | {shapes} |\n"
    return "\n".join([*text, f"| status | meaning | body |\n|---|---|---|\n{rows}"])


def _shape(name: str, one: dict[str, Any]) -> str:
    text = f"### {name}\n\n" + (f"{one['description'].strip()}\n\n" if one.get("description") else "")
    needed = set(one.get("required", []))
    rows = "".join(
        f"| `{field}` | {_type(shape)} | {'yes' if field in needed else ''} | {_line(shape.get('description', ''))} |\n"
        for field, shape in one.get("properties", {}).items()
    )
    return text + (f"| field | type | required | |\n|---|---|---|---|\n{rows}" if rows else f"Type: {_type(one)}.\n")


def _seen(whole: dict[str, Any], one: dict[str, Any]) -> dict[str, Any]:
    """What a reference leads to."""
    if "$ref" not in one:
        return one
    found: Any = whole
    for part in one["$ref"].removeprefix("#/").split("/"):
        found = found[part]
    return dict(found)


def _type(shape: Any) -> str:  # noqa: PLR0911  one line a kind of shape
    if not isinstance(shape, dict):
        return "any"
    if "$ref" in shape:
        name = shape["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    for key, word in (("oneOf", " or "), ("anyOf", " or "), ("allOf", " and ")):
        if key in shape:
            return word.join(dict.fromkeys(_type(one) for one in shape[key]))
    if "enum" in shape:
        return " or ".join(f"`{one}`" for one in shape["enum"])
    if "const" in shape:
        return f"`{shape['const']}`"
    kind = shape.get("type", "any")
    kind = " or ".join(kind) if isinstance(kind, list) else kind
    if kind == "array":
        return f"array of {_type(shape.get('items', {}))}"
    limits = [
        f"{word} {shape[key]}"
        for key, word in (("minimum", "at least"), ("maximum", "at most"), ("maxLength", "up to"))
        if key in shape
    ]
    return " ".join([kind, *([f"({shape['format']})"] if "format" in shape else []), *limits])


def _line(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip().rstrip(".").replace("|", "\\|")
