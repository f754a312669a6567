"""What a plan that comes from a file must look like before anything in it is believed: its checksum proves no maker."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, ValidationError

FILE_BYTES_MAX = 256 * 1024 * 1024
"""A plan of ten thousand vendors has a tenth of it."""


def _usable(name: str) -> str:
    from shelfsync.catalog.vendor import is_usable  # brings pyarrow

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
    lane: Line
    items: Count
    body_bytes: Count
    sha256: Digest


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
    refused_locally: dict[str, Count]


class Plan(_Strict):
    format: int
    kind: Literal["full", "delta"]
    made_at: Line
    configuration: dict[str, str]
    requests: Count
    minutes: float
    minutes_at_floor: float
    in_time: bool
    vendors: list[Vendor]


def is_plan(document: Any) -> bool:
    """Whether this document (without its checksum) has all that `apply` uses, and no vendor twice."""
    try:
        plan = Plan.model_validate(document)
    except (ValidationError, RecursionError):
        return False
    names = [one.vendor for one in plan.vendors]
    return len(names) == len(set(names))
