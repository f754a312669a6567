"""The reference of the program: settings, commands, errors, DAGs, the Python interface."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
import typing
from pathlib import Path
from typing import Any

import typer.main
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

import partner_api
from shelfsync import errors, exit_codes
from shelfsync.cli.app import app
from shelfsync.rows.quarantine_reason import REASONS
from shelfsync.settings import Settings
from shelfsync.settings.reading import CONNECTIONS
from shelfsync_airflow.options import OPTIONS

ROOT = Path(__file__).resolve().parents[2]
UNITS = {
    "_bytes_per_s": "bytes a second",
    "open_days": "",
    "_s": "seconds",
    "_days": "days",
    "_hours": "hours",
    "_months": "months",
    "_bytes": "bytes",
    "_share": "share, 0 to 1",
    "_share_max": "share, 0 to 1",
    "_rows": "rows",
    "_skus": "SKUs",
    "per_minute": "requests a minute",
    "sales_buffer": "pieces",
}
EXAMPLES = {
    "home": "/var/lib/shelfsync",
    "chain": "north",
    "time_zone": "Europe/Berlin",
    "currency": "EUR",
    "config": "/etc/shelfsync/shelfsync.toml",
    "database_url": "postgresql://shelfsync:PASSWORD@db.example.com:5432/shelfsync",
    "lake_url": "s3://example-lake/shelfsync",
    "rate_limit.database_url": "postgresql://shelfsync:PASSWORD@db.example.com:5432/shelfsync",
    "platform.base_url": "https://platform.example.com",
    "platform.chain": "example-chain",
    "platform.client_id": "example-client",
    "platform.client_secret": "the-secret-of-the-portal",
    "platform.token": "the-token-of-the-portal",
    "platform.proxy": "http://proxy.example.com:3128",
    "promotions.end_dates": "whole_day",
    "platform.download_hosts": "files.example.com",
    "platform.private_hosts": "sandbox",
    "platform.dialect": '{"token_body": "json"}',
    "erp.source": "sql",
    "erp.url": "postgresql+psycopg://reader:PASSWORD@erp.example.com/erp",
    "erp.sql": "SELECT store AS vendor, article AS sku, price FROM sales_view",
    "erp.sql_file": "/etc/shelfsync/extract.sql",
    "erp.changes_sql": "SELECT vendor, sku, price, quantity, changed_at FROM sales_view WHERE changed_at >= :since",
    "erp.changes_sql_file": "/etc/shelfsync/changes.sql",
    "erp.changes_files": "s3://erp/feed/{vendor}/*.csv",
    "erp.changes_since_file": "s3://erp/dump/{vendor}/since.txt",
    "erp.files": "s3://example-erp/stock/*.parquet",
    "erp.file_format": "csv",
    "erp.sheet": "Stock",
    "erp.header_row": "3",
    "erp.fixed_width": '{"sku": "1-8", "price": "9-16"}',
    "erp.thousands_mark": ",",
    "erp.currencies": '["€", "EUR"]',
    "erp.null_words": '["NULL", "-"]',
    "erp.true_words": '["ja", "J"]',
    "erp.false_words": '["nein", "N"]',
    "erp.columns": '{"sku": "item_code"}',
    "erp.constants": '{"vendor": "store-001"}',
    "erp.vendor_ids": '{"ST01": "store-001"}',
    "erp.vendor_ids_file": "/etc/shelfsync/vendors.csv",
    "promotions.audiences": '{"KARTE": "club"}',
    "promotions.conditions": '{"BON": "coupon"}',
    "erp.mapping": "/etc/shelfsync/mapping.py:rows",
    "erp.count_sql": "SELECT count(*) FROM sales_view",
    "erp.control_file": "/data/{vendor}.count",
    "alerts.routes": '[{"name": "operators", "address": "mailto://USER:PASSWORD@smtp.example.com"}]',
    "alerts.link": "https://airflow.example.com/shelfsync/pages",
    "alerts.heartbeat": "https://monitor.example.com/ping/shelfsync",
    "alerts.unchanged_minutes": "45",
    "alerts.open_from": "08:00",
    "alerts.open_to": "22:00",
    "metrics.otlp": "http://collector.example.com:4318",
    "metrics.statsd": "statsd.example.com:8125",
    "metrics.readers": "10.0.0.5",
    "webhook.secret": "a-long-random-text",
    "webhook.secret_previous": "the-long-text-before",
    "webhook.proxies": "172.18.0.1",
    "sync.vendors": "store-001,store-002",
    "suppression.sales_buffer": "2",
    "suppression.vendor_buffers": '{"store-001": 2}',
    "suppression.category_buffers": '{"bakery": 0}',
    "suppression.buffers_file": "/etc/shelfsync/buffers.csv",
    "rejection.account_manager": "account-manager@platform.example.com",
    "rejection.reason_keywords": '{"unknown_sku": ["artikel fehlt"]}',
    "guards.overrides": '{"store-001": {"new_skus": {"max_rows": 500}}}',
    "local.paused_dags": "orders_fulfilment,orders_history",
    "orders.encryption_key": "a-long-random-text",
    "orders.encryption_key_previous": "the-long-text-before",
    "orders.hand_over": "outbox",
    "orders.hand_over_url": "postgresql://shelfsync:PASSWORD@stores.example.com/hub",
    "orders.hand_over_secret": "a-long-random-text",
    "orders.picking_sql": "SELECT * FROM picking_result",
    "orders.picking_url": "postgresql://reader:PASSWORD@stores.example.com/hub",
    "orders.picking_secret": "a-long-random-text",
    "orders.picking_secret_previous": "the-long-text-before",
}
"""An example of each setting whose default is none; a test reads each of them as shelfsync does."""


def settings() -> str:
    """One table a section, one row a setting."""
    own: list[str] = []
    parts: list[str] = []
    meanings = _meanings(Settings)
    for name, field in Settings.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            parts += [f"## {name}\n", f"{_paragraph(inner.__doc__ or '')}\n", _HEAD + "".join(_rows(inner, (name,)))]
        else:
            own.append(_row((name,), field, meanings.get(name, "")))
    head = "## The installation\n\nState folder, database, lake and log.\n"
    return "\n".join([head, _HEAD + "".join(own), *parts])


_HEAD = "| setting | type | default | unit | example | meaning |\n|---|---|---|---|---|---|\n"


def _rows(section: type[BaseModel], path: tuple[str, ...]) -> list[str]:
    meanings = _meanings(section)
    rows = []
    for name, field in section.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            rows += [
                _row(
                    (*path, name, deeper),
                    one,
                    _threshold(meanings.get(name, ""), deeper),
                    getattr(field.default, deeper),
                )
                for deeper, one in inner.model_fields.items()
            ]
        else:
            rows.append(_row((*path, name), field, meanings.get(name, "")))
    return rows


def _threshold(rule: str, name: str) -> str:
    told = {
        "max_rows": f"Changes that may be sent without a person: {rule}",
        "max_share": f"The same as a share: {rule}",
        "enabled": "False turns the rule off.",
        "move": "A price that changes by more than this share counts: 0.35 is 35 %.",
        "leap": "A single price that changes by more than this is held: 7 is more than eight times, or less than an eighth.",
        "slack": "How near a price is to ten, a hundred or a thousand times the old one, or to such a part: 0.12 is 12 %.",
    }
    return told[name]


def _row(path: tuple[str, ...], field: Any, meaning: str, default: object = PydanticUndefined) -> str:
    variable = "SHELFSYNC_" + "__".join(part.upper() for part in path)
    default = field.get_default(call_default_factory=True) if default is PydanticUndefined else default
    if path == ("home",):
        default = None
    unit = next((unit for ending, unit in UNITS.items() if path[-1].endswith(ending)), "")
    example = (
        EXAMPLES.get(".".join(path))
        or EXAMPLES.get(f"erp.{path[-1]}")
        or ("" if default in (None, (), {}) else str(_plain(default)))
    )
    connection = CONNECTIONS.get(".".join(path))
    meaning = _paragraph(meaning) + (f" Airflow's connection `{connection}` gives it too." if connection else "")
    shown = "" if default in (None, (), {}) else f"`{_plain(default)}`"
    cells = (f"`{variable}`", _type(field.annotation), shown, unit, f"`{example}`" if example else "", meaning)
    return "| " + " | ".join(_cell(cell) for cell in cells) + " |\n"


def _plain(value: object) -> object:
    if isinstance(value, tuple) and all(isinstance(one, str) for one in value):
        return ",".join(value)
    return str(value).lower() if isinstance(value, bool) else value


def _type(annotation: Any) -> str:
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Literal:
        return " or ".join(f"`{one}`" for one in inner)
    if origin is typing.Annotated:
        return _type(inner[0])
    if origin in {dict, tuple}:
        return "JSON object" if origin is dict else "list, comma-separated"
    if inner:  # a union with None
        return _type(next(one for one in inner if one is not type(None)))
    names = {
        "str": "text",
        "int": "whole number",
        "float": "number",
        "bool": "true or false",
        "SecretStr": "secret",
        "ServiceAddress": "web address",
    }
    return names.get(getattr(annotation, "__name__", ""), getattr(annotation, "__name__", str(annotation)).lower())


def _meanings(section: type[BaseModel]) -> dict[str, str]:
    """The text below each field, of the class and of those that it inherits from."""
    found: dict[str, str] = {}
    for one in reversed(section.__mro__):
        if not (issubclass(one, BaseModel) and one.__module__.startswith("shelfsync")):
            continue
        body = ast.parse(textwrap.dedent(inspect.getsource(one))).body[0]
        assert isinstance(body, ast.ClassDef)
        for field, text in zip(body.body, body.body[1:], strict=False):
            if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
                found[ast.unparse(field.target)] = str(text.value.value)
    return found


def commands() -> str:
    """Every command with its usage, options and examples, in the groups of `shelfsync --help`."""
    return "\n".join(_command(words, found) for words, found in _leaves(typer.main.get_command(app), ()))


def _leaves(group: Any, path: tuple[str, ...]) -> list[tuple[tuple[str, ...], Any]]:
    found: list[tuple[tuple[str, ...], Any]] = []
    for word, one in sorted(group.commands.items()):
        found += _leaves(one, (*path, word)) if hasattr(one, "commands") else [((*path, word), one)]
    return found


def _command(words: tuple[str, ...], command: Any) -> str:
    arguments = [param for param in command.params if param.param_type_name == "argument"]
    usage = " ".join(["shelfsync", *words, *(_usage(param) for param in arguments), "[OPTIONS]"])
    text = [
        f"## {' '.join(words)}\n",
        f"{_paragraph(command.help or '').replace('***', '`***`')}\n",
        f"```text\n{usage}\n```\n",
    ]
    options = [param for param in command.params if param.param_type_name == "option" and param.name != "help"]
    rows = [
        (
            f"`{', '.join(param.opts)}{'' if param.is_flag else ' ' + (param.metavar or param.name.upper())}`",
            (param.help or "") + _default(param),
        )
        for param in options
    ]
    rows = [*((f"`{_usage(param)}`", param.help) for param in arguments), *rows]
    text.append("| option | meaning |\n|---|---|\n" + "".join(f"| {_cell(a)} | {_cell(b or '')} |\n" for a, b in rows))
    examples = re.sub(r"^.*?Examples:\s*", "", command.epilog or "", flags=re.DOTALL)
    lines = [line.strip() for line in re.split(r"[\n\b]+", examples) if line.strip()]
    return "\n".join([*text, "```sh\n" + "\n".join(lines) + "\n```\n"])


def _default(param: Any) -> str:
    """The default of an option that has a value, as a sentence."""
    given = param.default
    plain = isinstance(given, str | int | float) and not isinstance(given, bool) and not param.is_flag
    return f" Default: `{given}`." if plain else ""


def _usage(param: Any) -> str:
    name = param.metavar or param.name.upper()
    return (name if param.required else f"[{name}]") + ("..." if param.nargs == -1 and "..." not in name else "")


def error_pages() -> str:
    """Every class of error with its exit code, and every message that the code raises of it."""
    found: dict[str, list[tuple[str, str]]] = {}
    others: set[str] = set()
    for place, node in _raises():
        name, message = "", ""
        made = node.exc if isinstance(node, ast.Raise) else node.value
        if isinstance(made, ast.Call):
            name = ast.unparse(made.func).rpartition(".")[2]
            message = " · ".join(text for one in made.args if (text := _message(one)))
        if message and isinstance(getattr(errors, name, None), type):
            found.setdefault(name, []).append((message, place))
        elif isinstance(node, ast.Raise):
            others.add(place)
    named: set[str] = set()
    parts = []
    for name, one in inspect.getmembers(errors, inspect.isclass):
        if issubclass(one, errors.ShelfsyncError):
            code = exit_codes.ExitCode.of(one.exit_code)
            text = f"## {name}\n\n{_paragraph(one.__doc__ or '')} Exit code {code:d} ({code.name.lower()}). {code.remedy}\n"
            rows = ""
            for message, place in sorted(set(found.get(name, []))):
                anchor = "" if place in named else f'<a id="{place}"></a>'
                named.add(place)
                rows += f"| {anchor}{_cell(message)} | `{place}` |\n"
            parts.append(text + (f"\n| message | made by |\n|---|---|\n{rows}" if rows else ""))
    rest = "".join(f'<a id="{place}"></a>`{place}`\n\n' for place in sorted(others - named))
    return "\n".join([*parts, f"## Other places\n\nThese raise errors whose text another part makes.\n\n{rest}"])


def _raises() -> list[tuple[str, ast.Raise | ast.Return]]:
    """Every statement of shelfsync that raises, or that may return an error, with its module and function, as `ShelfsyncError.page` names them."""
    found = []
    for file in sorted((ROOT / "include/shelfsync").rglob("*.py")):
        module = ".".join(file.relative_to(ROOT / "include/shelfsync").with_suffix("").parts).removesuffix(".__init__")
        tree = ast.parse(file.read_text("utf-8"))
        inner = {
            node: function.name  # ast.walk goes from the outside in, so the innermost function stays
            for function in ast.walk(tree)
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
            for node in ast.walk(function)
            if isinstance(node, ast.Raise | ast.Return)
        }
        found += [(f"{module}.{name}", node) for node, name in inner.items()]
    return found


def _message(node: ast.expr) -> str:
    """A text of the code with `…` for what is filled in."""
    if isinstance(node, ast.Constant):
        return str(node.value) if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(one.value) if isinstance(one, ast.Constant) else "…" for one in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return (_message(node.left) or "…") + (_message(node.right) or "…")
    return ""


def dags() -> str:
    """Every DAG with its schedule and its own page, the options of the DAGs, and the tasks."""
    parts = []
    tasks = _tasks()
    for file in sorted((ROOT / "dags").glob("*.py")):
        tree = ast.parse(file.read_text("utf-8"))
        text = (ast.get_docstring(tree) or "").partition("\n")[2].strip()
        words = [node.value for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg == "schedule"]
        when = "none: a person starts it"
        for given in words:  # the kind of the option, or a function that bears the option's name
            name = f"{given.value}_schedule" if isinstance(given, ast.Constant) else ast.unparse(given)
            besides = OPTIONS[name].description.partition(", or none")[2].rstrip(".")
            when = f"`{OPTIONS[name].default}` (UTC), option `{name}`{besides}"
        parts.append(f"## {file.stem}\n\nSchedule: {when}.\n\n{text}\n")
    options = "".join(
        f"| `{name}` | `AIRFLOW__SHELFSYNC__{name.upper()}` | {f'`{one.default}`' if one.default else ''} | {_cell(one.description)} |\n"
        for name, one in OPTIONS.items()
    )
    rows = "".join(f"| `{name}` | {place} | {_cell(text)} |\n" for name, place, text in tasks)
    return "\n".join(
        [
            *parts,
            f"## Tasks\n\n| task | of | what it does |\n|---|---|---|\n{rows}",
            f"## Options\n\nThe section `[shelfsync]` of Airflow's configuration.\n\n| option | variable | default | meaning |\n|---|---|---|---|\n{options}",
        ]
    )


def _tasks() -> list[tuple[str, str, str]]:
    places = {
        "tasks": "catalog",
        "holds": "holds",
        "export_tasks": "export",
        "order_tasks": "orders",
        "promotion_tasks": "promotions",
    }
    found = []
    for name, place in places.items():
        for node in ast.parse((ROOT / f"plugins/shelfsync_airflow/{name}.py").read_text("utf-8")).body:
            if not isinstance(node, ast.FunctionDef):
                continue
            text = _paragraph(ast.get_docstring(node) or "")
            if any(re.match(r"task\b(?!_group)", ast.unparse(one)) for one in node.decorator_list):
                given = re.search(r"task_id='(\w+)'", " ".join(ast.unparse(one) for one in node.decorator_list))
                found.append((given[1] if given else node.name, place, text))
            for call in ast.walk(node):
                if isinstance(call, ast.Call) and ast.unparse(call.func).endswith("Operator"):
                    task_id, doc = (
                        next(one.value for one in call.keywords if one.arg == word) for word in ("task_id", "doc_md")
                    )
                    fixed = isinstance(task_id, ast.Constant) and isinstance(doc, ast.Constant)
                    found.append((str(task_id.value), place, str(doc.value)) if fixed else (node.name, place, text))
    others = "".join(file.read_text("utf-8") for file in sorted((ROOT / "dags").glob("*.py")))
    for base, name in re.findall(r'(?:(\w+)\.override\(task_id=|(?<=wait)\()"(\w+)"', others):
        if name != "wait":
            found.append((name, "promotions", f"The same as `{base or 'wait'}`, for the ends of replaced promotions."))
    return found


def client() -> str:
    """The public names of the client, with signatures and what their docstrings state."""
    parts = []
    for name in partner_api.__all__:
        one = getattr(partner_api, name)
        parts.append(f"## {name}\n\n{inspect.cleandoc(one.__doc__ or '')}\n")
        for method, function in inspect.getmembers(one, inspect.isfunction):
            if not method.startswith("_") and function.__module__.startswith("partner_api"):
                signature = (
                    re.sub(r"'", "", str(inspect.signature(function))).replace("(self, ", "(").replace("(self)", "()")
                )
                parts.append(
                    f"### {name}.{method}\n\n```python\n{method}{signature}\n```\n\n{inspect.cleandoc(function.__doc__ or '')}\n"
                )
    return "\n".join(parts)


def _paragraph(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def _cell(text: str) -> str:
    return _paragraph(text).replace("|", "\\|")


def quarantine_reasons() -> str:
    """Every reason of the quarantine in the order of the checks; `…` is the value."""
    rows = [f"| `{one.word}` | {one.field} | {one.sentence.replace('{value}', '…')} |" for one in REASONS]
    return "\n".join(["## Reasons", "", "| reason | field | message |", "|---|---|---|", *rows])
