"""What a saved state tells of itself: a file `manifest.json`, which is written last and checked before anything else is believed."""

from __future__ import annotations

from typing import Annotated

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

FORMAT = 1
"""Version of the file. A version of shelfsync reads its own and every older one."""
KIND = "shelfsync saved state"
MANIFEST = "manifest.json"
MANIFEST_BYTES_MAX = 1 << 28
"""Some 1.5 million files."""
"""A file without it is not whole."""
SEQUENCE_SCHEMAS = ("ledger", "inbox", "warehouse")

Count = Annotated[int, Field(ge=0, lt=1 << 63)]
Name = Annotated[str, Field(max_length=200, pattern=r"^[^\x00-\x1f]*$")]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Sequence = Annotated[str, Field(max_length=200, pattern=rf"^({'|'.join(SEQUENCE_SCHEMAS)})\.[a-z0-9_]+$")]


class Table(BaseModel):
    """The rows of one table in the file, and the columns that they have."""

    model_config = ConfigDict(frozen=True, strict=True)

    rows: Count
    columns: list[Name]


class Manifest(BaseModel):
    """`unfinished`: what the new database would not know, by name. `going_on`: what the old installation may still end. `absent`: tables that the saved database did not have.

    `sha256`: of every other member, by its name; None: an older file has none. `paused`: whether the whole chain was; None: an older file does not tell. `files` of the lake are in the file, `missing` ones were named by a row and had been removed. `sequences`: their last numbers.
    """

    model_config = ConfigDict(frozen=True, strict=True)

    kind: str = KIND
    format: int = FORMAT
    state_id: Annotated[str, Field(pattern=r"^[0-9a-f-]{36}$")]
    saved_at: AwareDatetime
    version: Name
    revision: Name | None
    chain: Name | None
    paused: bool | None = None
    unfinished: dict[Name, Count]
    going_on: dict[Name, Count] = Field(default_factory=dict)
    absent: list[Name]
    tables: dict[Name, Table]
    files: Count
    missing: Count
    sequences: dict[Sequence, Count]
    sha256: dict[str, Digest] | None = None
