"""plan: what a dry run would send, told whole: per vendor, with the hashes by which `apply` knows that nothing has moved.

A plan is a document (JSON) with its own checksum. It names files of the lake, which are named by their content, so equal paths are
equal rows.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from typing import TYPE_CHECKING, Any

from shelfsync.budget.forecast import Requests
from shelfsync.errors import ConfigurationError, DataError
from shelfsync.flow.batch import bodies as cut_up
from shelfsync.flow.held import ordered, with_before
from shelfsync.flow.plan_shape import FILE_BYTES_MAX, is_plan
from shelfsync.ledger import runs, vendor_runs, vendors

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from shelfsync.flow.house import Parts
    from shelfsync.ledger.vendor_runs import VendorRun
    from shelfsync.settings import Settings

FORMAT = 1
TOP_ROWS = 10
_SILENT = frozenset({"home", "config", "database_url", "lake_url", "budget", "webhook"})
_UNSENT = frozenset(
    {"every_s", "job_deadline_s", "poll_first_s", "poll_max_s", "shard_vendors", "shards_max", "timeout_s", "vendors"}
)


def plan_of(parts: Parts, run_id: int) -> dict[str, Any]:
    """The plan of a dry run that has come as far as the batches."""
    from shelfsync.budget import RequestBudget
    from shelfsync.budget.key import counted

    with parts.engine.connect() as connection:
        run = runs.read_run(connection, run_id)
        rows = vendor_runs.read_all(connection, run_id)
    found = [_vendor(parts, row) for row in rows]
    jobs = sum(len(vendor["batches"]) for vendor in found)
    requests = Requests(jobs).total if jobs else 0
    forecast = RequestBudget(parts.engine, counted(parts.settings), parts.clock).forecast(
        requests, every_s=parts.settings.sync.every_s
    )
    document = {
        "format": FORMAT,
        "kind": run.kind,
        "made_at": parts.clock.now().isoformat(timespec="seconds"),
        "configuration": fingerprints(parts.settings),
        "requests": requests,
        "minutes": round(forecast.minutes, 1),
        "minutes_at_floor": round(forecast.minutes_at_floor, 1),
        "in_time": forecast.in_time,
        "vendors": found,
    }
    return {**document, "checksum": _checksum(document)}


def fingerprints(settings: Settings) -> dict[str, str]:
    """One hash a section of the settings that decides what is sent; secrets are not in it."""
    said = settings.model_dump(mode="json")
    return {
        name: _sha({key: value for key, value in section.items() if key not in _UNSENT})
        for name, section in sorted(said.items())
        if name not in _SILENT and isinstance(section, dict)
    }


def write(plan: dict[str, Any], file: Path) -> None:
    """The plan as a file; whole or not at all. A ConfigurationError where it cannot be written."""
    aside = file.parent / f".{file.name}.part"
    try:
        aside.write_text(json.dumps(plan, ensure_ascii=False, indent=1, default=str) + "\n", encoding="utf-8")
        aside.replace(file)
    except OSError as error:
        with contextlib.suppress(OSError):
            aside.unlink()
        raise ConfigurationError(
            "--out", f"{file} cannot be written: {error.strerror}", "Name a file in a folder of yours."
        ) from None


def read(file: Path) -> dict[str, Any]:
    """A plan from a file; a DataError when it is none, or was changed after it was made."""
    try:
        readable = file.stat().st_size <= FILE_BYTES_MAX and file.is_file()
        plan: dict[str, Any] = json.loads(file.read_text("utf-8") if readable else "")
        said = plan.pop("checksum")
        known = plan["format"] == FORMAT and said == _checksum(plan) and is_plan(plan)
    except FileNotFoundError:
        raise DataError(f"apply: there is no file {str(file)!r}; make one with `shelfsync plan --out {file}`") from None
    except (ValueError, KeyError, TypeError, AttributeError, OSError, RecursionError):
        known = False
    if not known:
        raise DataError(
            f"apply: {str(file)!r} is no plan of this version, or was changed; make a new one with `shelfsync plan --out {file}`"
        )
    return {**plan, "checksum": said}


def lines(plan: dict[str, Any]) -> list[str]:
    """The plan for a person."""
    said = [line for vendor in plan["vendors"] for line in _vendor_lines(vendor)]
    said.append(
        f"{plan['requests']} requests in all, {plan['minutes']} min at the present allowance"
        f" (up to {plan['minutes_at_floor']} min when other work is waiting){'' if plan['in_time'] else ': NOT done before the next run is due'}"
    )
    return said


def _vendor_lines(vendor: dict[str, Any]) -> Iterator[str]:
    name = f"vendor {vendor['vendor']}"
    for held in vendor["held"]:
        yield f"{name}: {held['rows']} rows would be held by {held['rule']}: {held['message']}"
    for row in vendor["top"]:
        yield f"{name}: {row['sku']} price {row['price_before']} -> {row['price']} ({_percent(row['move'])})"
    for reason, count in vendor["refused_locally"].items():
        yield f"{name}: {count} rows are refused here, before the platform: {reason}"


def bodies(parts: Parts, released_path: str, base_path: str | None) -> list[dict[str, Any]]:
    """The request bodies that a released delta makes, in the order of leaving: lane, items, bytes, hash of each."""
    return [
        {
            "lane": one.lane,
            "items": one.piece.items.num_rows,
            "body_bytes": one.piece.body_bytes,
            "sha256": _body_hash(one.piece.body),
        }
        for one in cut_up(parts, parts.lake.read_table(released_path), base_path)
    ]


def _vendor(parts: Parts, row: VendorRun) -> dict[str, Any]:
    with parts.engine.connect() as connection:
        base_path = vendors.baseline_of_version(connection, row.vendor, row.base_version or 0)
        changes = vendor_runs.changes(connection, row.run_id, row.vendor)
    released = row.released_path if row.state in {"planned", "unchanged"} else None
    return {
        "vendor": row.vendor,
        "state": row.state,
        "error": row.error,
        "snapshot": row.snapshot_path,
        "baseline": {"version": row.base_version, "path": base_path},
        "released": released,
        "changes": changes,
        "batches": [] if released is None else bodies(parts, released, base_path),
        "held": _held(parts, row.held_path),
        "top": [] if released is None else _top(parts, released, base_path),
        "refused_locally": _refused(parts, row.quarantine_path),
    }


def _held(parts: Parts, path: str | None) -> list[dict[str, Any]]:
    if path is None:
        return []
    table = parts.lake.read_table(path, ["reason", "message"])
    counted = table.group_by(["reason", "message"]).aggregate([([], "count_all")]).to_pylist()
    found = [{"rule": one["reason"], "rows": one["count_all"], "message": one["message"]} for one in counted]
    return sorted(found, key=lambda one: (one["rule"], one["message"]))


def _top(parts: Parts, released: str, base_path: str | None) -> list[dict[str, Any]]:
    """Rows whose price moves most, as text and numbers that JSON can hold."""
    import pyarrow.compute as pc

    table = with_before(parts, parts.lake.read_table(released), base_path)
    moved = table.filter(pc.not_equal(table["move"], 1.0).fill_null(False))
    return [
        {"sku": row["sku"], "price": str(row["price"]), "price_before": str(row["price_before"]), "move": row["move"]}
        for row in ordered(moved, rows=TOP_ROWS)
    ]


def _refused(parts: Parts, path: str | None) -> dict[str, int]:
    if path is None:
        return {}
    import pyarrow.compute as pc

    reasons = pc.value_counts(parts.lake.read_table(path, ["reason"])["reason"].combine_chunks()).to_pylist()
    return {one["values"]: one["counts"] for one in sorted(reasons, key=lambda one: str(one["values"]))}


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
