"""plan: what a dry run would send, by vendor, with the hashes by which `apply` detects changes.

A plan is a JSON document with a checksum. It names files of the lake, which are named by their content, so equal paths are
equal rows.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue

from shelfsync import display
from shelfsync.catalog import altered_values
from shelfsync.catalog.altered_values import MEANING
from shelfsync.catalog.assortment.product_names import with_names
from shelfsync.catalog.ledger import runs, vendor_runs, vendors
from shelfsync.catalog.state import VendorState
from shelfsync.catalog.steps.batch import bodies as cut_up
from shelfsync.catalog.steps.holds import with_before
from shelfsync.decisions.held_row_order import ordered
from shelfsync.errors import DataError
from shelfsync.platform.jobs.job import reason_of
from shelfsync.platform.rate_limit.forecast import Requests
from shelfsync.platform.rate_limit.rate_limiter import RateLimiter
from shelfsync.rows.quarantine_reason import is_usable
from shelfsync.schemas import QUARANTINE
from shelfsync.store.lake import OneFileError
from shelfsync.store.named_file import NamedFile

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from shelfsync.catalog.ledger.vendor_runs import VendorRun
    from shelfsync.context import Context
    from shelfsync.settings import Settings

FILE_BYTES_MAX = 256 * 1024 * 1024
"""A plan of ten thousand vendors has a tenth of it."""


def _usable(name: str) -> str:
    if not is_usable(name):
        raise ValueError("no vendor is called so")
    return name


Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
LakePath = Annotated[str, Field(pattern=r"^[A-Za-z_]+/[^/\\\x00-\x1f]{1,255}/[0-9a-f]{64}\.[a-z]+$")]
Count = Annotated[int, Field(ge=0, le=2**63 - 1)]
Line = Annotated[str, Field(max_length=100_000)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Baseline(_Strict):
    version: Count | None
    path: LakePath | None


class Batch(_Strict):
    priority: Line
    items: Count
    body_bytes: Count
    sha256: Digest


class Adjusted(_Strict):
    rows: Count
    examples: list[Line]


class Vendor(_Strict):
    vendor: Annotated[str, AfterValidator(_usable)]
    state: Line
    error: Line | None
    snapshot: LakePath | None
    baseline: Baseline
    released: LakePath | None
    changes: JsonValue
    batches: list[Batch]
    held: list[dict[str, JsonValue]]
    top: list[dict[str, JsonValue]]
    quarantined: dict[str, Count]
    left_out: dict[str, Count]
    adjusted: dict[str, Adjusted]


def _each_once(vendors: list[Vendor]) -> list[Vendor]:
    if len({one.vendor for one in vendors}) < len(vendors):
        raise ValueError("a vendor is there twice")
    return vendors


class Plan(_Strict):
    """The document without its checksum: all that `apply` uses."""

    format: int
    kind: Literal["full", "delta"]
    made_at: Line
    configuration: dict[str, str]
    requests: Count
    minutes: float
    minutes_at_floor: float
    in_time: bool
    vendors: Annotated[list[Vendor], AfterValidator(_each_once)]


FORMAT = 3
TOP_ROWS = 10
_NOT_HASHED = frozenset({"home", "config", "database_url", "lake_url", "rate_limit", "webhook"})
_UNSENT = frozenset(
    {
        "delta_interval_s",
        "watch_s",
        "job_deadline_s",
        "poll_first_s",
        "poll_max_s",
        "vendors_per_shard",
        "shards_max",
        "timeout_s",
        "vendors",
    }
)


def plan_of(context: Context, run_id: int) -> dict[str, Any]:
    """The plan of a dry run whose batches are planned."""
    from shelfsync.platform.rate_limit.scope import counted

    with context.engine.connect() as connection:
        run = runs.read_run(connection, run_id)
        rows = vendor_runs.read_all(connection, run_id)
    found = [_vendor(context, row) for row in rows]
    jobs = sum(len(vendor["batches"]) for vendor in found)
    requests = Requests(jobs).total if jobs else 0
    forecast = RateLimiter(context.limits, counted(context.settings), context.clock).forecast(
        requests, every_s=context.settings.sync.delta_interval_s
    )
    document = {
        "format": FORMAT,
        "kind": run.kind,
        "made_at": context.clock.now().isoformat(timespec="seconds"),
        "configuration": fingerprints(context.settings),
        "requests": requests,
        "minutes": round(forecast.minutes, 1),
        "minutes_at_floor": round(forecast.minutes_at_floor, 1),
        "in_time": forecast.in_time,
        "vendors": found,
    }
    return {**document, "checksum": _checksum(document)}


def fingerprints(settings: Settings) -> dict[str, str]:
    """One hash a section of the settings that decides what is sent; secrets are not in it."""
    sections = settings.model_dump(mode="json")
    return {
        name: _sha({key: value for key, value in section.items() if key not in _UNSENT})
        for name, section in sorted(sections.items())
        if name not in _NOT_HASHED and isinstance(section, dict)
    }


def named(file: Path, *, replace: bool = False) -> NamedFile:
    """The file that a person names for a plan. `replace`: also in place of something else."""
    return NamedFile(file, "--out", "a plan", _is_plan, replace)


def write(plan: dict[str, Any], file: Path, *, replace: bool = False) -> None:
    """Writes the plan to a file that a person named; a ConfigurationError if that fails."""
    with named(file, replace=replace).writing() as incomplete:
        incomplete.write_text(json.dumps(plan, ensure_ascii=False, indent=1, default=str) + "\n", encoding="utf-8")


def _is_plan(file: Path) -> bool:
    """Whether it is a plan, of whatever version."""
    try:
        if file.stat().st_size > FILE_BYTES_MAX:
            return False
        return bool({"format", "checksum"} <= json.loads(file.read_text("utf-8")).keys())
    except (ValueError, AttributeError, OSError, RecursionError):
        return False


def read(file: Path) -> Plan:
    """Reads a plan from a file; a DataError if it is no plan, or was changed."""
    try:
        readable = file.stat().st_size <= FILE_BYTES_MAX and file.is_file()
        document: dict[str, Any] = json.loads(file.read_text("utf-8") if readable else "")
        checksum = document.pop("checksum")
        if document["format"] == FORMAT and checksum == _checksum(document):
            return Plan.model_validate(document)
    except FileNotFoundError:
        raise DataError(f"apply: there is no file {str(file)!r}; make one with `shelfsync plan --out {file}`") from None
    except (ValueError, KeyError, TypeError, AttributeError, OSError, RecursionError):
        pass
    raise DataError(
        f"apply: {str(file)!r} is no plan of this version, or was changed; make a new one with `shelfsync plan --out {file}`"
    )


def lines(plan: dict[str, Any]) -> list[str]:
    """The plan for a person."""
    lines = [line for vendor in plan["vendors"] for line in _vendor_lines(vendor)]
    lines.append(
        f"{plan['requests']} requests in all, {plan['minutes']} min at the present allowance"
        f" (up to {plan['minutes_at_floor']} min while other work waits){'' if plan['in_time'] else ': NOT done before the next run is due'}"
    )
    return lines


def _vendor_lines(vendor: dict[str, Any]) -> Iterator[str]:
    name = f"vendor {vendor['vendor']}"
    for held in vendor["held"]:
        yield f"{name}: {held['rows']} rows would be held by {held['rule']}: {held['message']}"
    for row in vendor["top"]:
        yield f"{name}: {display.product(row['sku'], row.get('name'))} price {_price(row['price_before'])} -> {_price(row['price'])} ({_percent(row['move'])})"
    for reason, count in vendor["quarantined"].items():
        yield f"{name}: {count} rows are quarantined: {reason}"
    for reason, count in vendor["left_out"].items():
        yield f"{name}: {count} values are left out, and the rest of their rows is sent: {reason}"
    for kind, one in vendor["adjusted"].items():
        yield f"{name}: {one['rows']} {MEANING[kind]}: {'; '.join(one['examples'])}"


def _price(text: str) -> str:
    return display.value("price", None if text == "None" else Decimal(text))


def bodies(context: Context, released_path: str, base_path: str | None) -> list[Batch]:
    """The request bodies that a released delta makes, in the order of leaving: priority, items, bytes, hash of each."""
    return [
        Batch(
            priority=one.priority,
            items=one.piece.items.num_rows,
            body_bytes=one.piece.body_bytes,
            sha256=_body_hash(one.piece.body),
        )
        for one in cut_up(context, context.lake.read_table(released_path), base_path)
    ]


def _vendor(context: Context, row: VendorRun) -> dict[str, Any]:
    """A store whose files cannot be read is not planned, and its document says why."""
    try:
        return _planned(context, row)
    except OneFileError as error:
        without = replace(row, raw_path=None, quarantine_path=None, released_path=None, held_path=None)
        return _planned(context, replace(without, state=VendorState.FAILED, error=reason_of(error)))


def _planned(context: Context, row: VendorRun) -> dict[str, Any]:
    with context.engine.connect() as connection:
        base_path = vendors.baseline_of_version(connection, row.vendor, row.base_version or 0)
        changes = vendor_runs.changes(connection, row.run_id, row.vendor)
    released = row.released_path if row.state in {VendorState.PLANNED, VendorState.UNCHANGED} else None
    return {
        "vendor": row.vendor,
        "state": row.state,
        "error": row.error,
        "snapshot": row.snapshot_path,
        "baseline": {"version": row.base_version, "path": base_path},
        "released": released,
        "changes": changes,
        "batches": [] if released is None else [one.model_dump() for one in bodies(context, released, base_path)],
        "held": _held(context, row.held_path),
        "top": [] if released is None else with_names(context, row.vendor, _top(context, released, base_path)),
        "quarantined": _quarantined(context, row.quarantine_path, row_sent=False),
        "left_out": _quarantined(context, row.quarantine_path, row_sent=True),
        "adjusted": _adjusted(context, row),
    }


def _held(context: Context, path: str | None) -> list[dict[str, Any]]:
    if path is None:
        return []
    table = context.lake.read_table(path, ["reason", "message"])
    counted = table.group_by(["reason", "message"]).aggregate([([], "count_all")]).to_pylist()
    found = [{"rule": one["reason"], "rows": one["count_all"], "message": one["message"]} for one in counted]
    return sorted(found, key=lambda one: (one["rule"], one["message"]))


def _top(context: Context, released: str, base_path: str | None) -> list[dict[str, Any]]:
    """Rows whose price moves most, as text and numbers that JSON can hold."""
    import pyarrow.compute as pc

    table = with_before(context, context.lake.read_table(released), base_path)
    moved = table.filter(pc.not_equal(table["move"], 1.0).fill_null(False))
    return [
        {"sku": row["sku"], "price": str(row["price"]), "price_before": str(row["price_before"]), "move": row["move"]}
        for row in ordered(moved, rows=TOP_ROWS)
    ]


def _quarantined(context: Context, path: str | None, *, row_sent: bool) -> dict[str, int]:
    """The rows that are not sent by reason; with `row_sent`, the values that are left out of the others."""
    if path is None:
        return {}
    import pyarrow.compute as pc

    table = context.lake.read_table(path, ["reason", "row_sent"])
    reasons = pc.value_counts(
        table.filter(pc.equal(table["row_sent"], row_sent))["reason"].combine_chunks()
    ).to_pylist()
    return {one["values"]: one["counts"] for one in sorted(reasons, key=lambda one: str(one["values"]))}


def _adjusted(context: Context, row: VendorRun) -> dict[str, dict[str, Any]]:
    """What normalise changed in values that it accepted, by kind."""
    if row.raw_path is None:
        return {}
    raw = context.lake.read_table(row.raw_path, altered_values.COLUMNS)
    quarantine = QUARANTINE.empty_table()
    if row.quarantine_path is not None:
        quarantine = context.lake.read_table(row.quarantine_path, altered_values.QUARANTINED)
    digits = display.digits_of(context.settings.currency)
    found = altered_values.adjustments(raw, quarantine, context.settings.normalise, digits=digits)
    return {one.kind: {"rows": one.rows, "examples": list(one.examples)} for one in found}


def _percent(move: float) -> str:
    return f"{(move - 1) * 100:+.0f} %"


def _body_hash(body: Any) -> str:
    digest = hashlib.sha256()
    for chunk in body:
        digest.update(chunk)
    return digest.hexdigest()


def _checksum(document: dict[str, Any]) -> str:
    return _sha(document)


def _sha(document: Any) -> str:
    text = json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()
