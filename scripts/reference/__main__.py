"""`python -m scripts.reference` writes into the pages of docs/reference what the code states; a test keeps the two equal.
`make docs` does it too, and `python -m scripts.reference SITE` adds to the site the paths by which messages name its pages.

Settings, commands, errors and DAGs are in program.py, the rules of Prometheus and the dashboard in monitoring.py. The tables of ledger and warehouse are here, and so is the platform's interface as
contract/openapi.yaml describes it: operations and shapes.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from sqlalchemy.dialects import postgresql

from partner_sandbox.contract import METHODS, seen
from scripts.reference import monitoring, program
from shelfsync.warehouse.every_table import SCHEMAS, metadata
from shelfsync.warehouse.views import VIEWS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import sqlalchemy as sa

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
MARK = "`python -m scripts.reference` writes the rest of this page from the code."
DIALECT = postgresql.dialect()
CONTRACT = ROOT / "contract/openapi.yaml"
LEDGER = tuple(name for name in SCHEMAS if name not in {"warehouse", "partition"})


def warehouse() -> str:
    """Every view and table of the schema warehouse."""
    views = [_relation(view.name, view.comment, [(*pair,) for pair in view.columns.items()]) for view in VIEWS]
    return "\n".join(["## Views\n", *views, "## Tables\n", _drawn(["warehouse"]), *_described(["warehouse"])])


def ledger() -> str:
    """Every table that the steps decide by."""
    parts = []
    for schema in LEDGER:
        if tables := _described([schema]):
            parts += [f"## Schema {schema}\n", _drawn([schema]), *tables]
    return "\n".join(parts)


def _tables_of(schemas: Iterable[str]) -> list[sa.Table]:
    found = [table for table in metadata.tables.values() if table.schema in schemas]
    return sorted(found, key=lambda table: table.name)


def _described(schemas: Iterable[str]) -> list[str]:
    return [
        _relation(
            table.name,
            table.comment or "",
            [(column.name, column.type.compile(DIALECT).lower(), _meaning(column)) for column in table.columns],
        )
        for table in _tables_of(schemas)
    ]


def _meaning(column: sa.Column) -> str:
    marks = ["primary key"] if column.primary_key else []
    marks += [f"→ `{key.target_fullname}`" for key in column.foreign_keys]
    marks += ["may be null"] if column.nullable else []
    return (column.comment or "") + (f" ({', '.join(marks)})" if marks else "")


def _relation(name: str, comment: str, columns: list[tuple[str, ...]]) -> str:
    head = "| column | |\n|---|---|\n" if len(columns[0]) == 2 else "| column | type | |\n|---|---|---|\n"
    rows = "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |\n" for row in columns)
    return f"### {name}\n\n{comment}.\n\n{head}{rows}"


def _drawn(schemas: Iterable[str]) -> str:
    """The relations between the tables as lines of text: who points to whom."""
    lines = []
    for table in _tables_of(schemas):
        targets: dict[str, list[str]] = {}
        for column in table.columns:
            for key in column.foreign_keys:
                targets.setdefault(key.column.table.fullname, []).append(column.name)
        lines += [f"{table.fullname} ─ {', '.join(names)} ─▶ {target}" for target, names in targets.items()]
    return "```text\n" + "\n".join(lines) + "\n```\n" if lines else ""


def sandbox() -> str:
    """The README of the sandbox, without its title."""
    return (ROOT / "sandbox/README.md").read_text("utf-8").partition("\n")[2]


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
    if parameters := [seen(whole, parameter) for parameter in (*shared, *one.get("parameters", []))]:
        rows = "".join(
            f"| `{given['name']}` | {given['in']} | {_type(given.get('schema', {}))} | {_line(given.get('description', ''))} |\n"
            for given in parameters
        )
        text.append(f"| parameter | in | type | |\n|---|---|---|---|\n{rows}")
    if body := one.get("requestBody"):
        shapes = [f"{_type(shape['schema'])} (`{kind}`)" for kind, shape in seen(whole, body)["content"].items()]
        text.append(f"Body: {', '.join(shapes)}.\n")
    rows = ""
    for status, answer in one["responses"].items():
        told = seen(whole, answer)
        shapes = ", ".join(sorted({_type(shape.get("schema", {})) for shape in told.get("content", {}).values()}))
        rows += f"| {status} | {_line(told['description'])} | {shapes} |\n"
    return "\n".join([*text, f"| status | meaning | body |\n|---|---|---|\n{rows}"])


def _shape(name: str, one: dict[str, Any]) -> str:
    text = f"### {name}\n\n" + (f"{one['description'].strip()}\n\n" if one.get("description") else "")
    needed = set(one.get("required", []))
    rows = "".join(
        f"| `{field}` | {_type(shape)} | {'yes' if field in needed else ''} | {_line(shape.get('description', ''))} |\n"
        for field, shape in one.get("properties", {}).items()
    )
    return text + (f"| field | type | required | |\n|---|---|---|---|\n{rows}" if rows else f"Type: {_type(one)}.\n")


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


MADE: dict[str, Callable[[], str]] = {
    "reference/settings.md": program.settings,
    "reference/commands.md": program.commands,
    "reference/errors.md": program.error_pages,
    "reference/quarantine.md": program.quarantine_reasons,
    "reference/dags.md": program.dags,
    "reference/client.md": program.client,
    "reference/openapi.md": operations,
    "reference/partner-sandbox.md": sandbox,
    "reference/ledger.md": ledger,
    "reference/warehouse.md": warehouse,
}


def whole(name: str) -> str:
    """A page with what the code states below its mark."""
    head, mark, _ = (DOCS / name).read_text("utf-8").partition(MARK)
    if not mark:
        raise ValueError(f"docs/{name}: a line has to be: {MARK}")
    return f"{head}{mark}\n\n{MADE[name]().strip()}\n"


def write() -> None:
    """Every page of the reference, in its place."""
    for name in MADE:
        (DOCS / name).write_text(whole(name), "utf-8")
    for name, made in monitoring.FILES.items():
        (DOCS / name).write_text(made(), "utf-8")


def redirect(site: Path, pages: Path = DOCS) -> None:
    """Lets the site answer the paths that messages name: `docs/reference/errors.md#place` leads to the page, with its anchor."""
    for page in sorted(pages.rglob("*.md")):
        name = page.relative_to(pages)
        html = name.with_name("index.html") if name.name == "README.md" else name.with_suffix(".html")
        if not (site / html).is_file():
            raise FileNotFoundError(site / html)
        target = os.path.relpath(html, Path("docs") / name)
        folder = site / "docs" / name
        folder.mkdir(parents=True)
        (folder / "index.html").write_text(
            f'<!doctype html><title>{name}</title><a href="{target}">{html}</a>'
            f"<script>location.replace({target!r} + location.hash)</script>\n",
            "utf-8",
        )


if __name__ == "__main__":
    redirect(Path(sys.argv[1])) if sys.argv[1:] else write()
