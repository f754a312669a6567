"""The catalog runs."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, field_validator
from pydantic_settings import NoDecode

from shelfsync.settings.section import Section, words


class SyncSettings(Section):
    """The catalog runs."""

    vendors: Annotated[tuple[str, ...], NoDecode] = ()
    """Only these; empty means every vendor of the extract."""
    shard_vendors: int = Field(10, ge=1)
    """Vendors a shard; a shard is one row of mapped tasks in Airflow."""
    shards_max: int = Field(32, ge=1)
    body_bytes_max: int = Field(100_000_000, ge=64)
    """The interface says 100 MB (interface.md 8); a megabyte of the decimal kind is the safe reading."""
    together_rows_max: int = Field(1_000, ge=0)
    """Up to so many SKUs of a vendor leave in one request; beyond, stop-sells and price corrections leave before the rest, in requests of their own."""
    every_s: float = Field(900.0, gt=0)
    """How often a delta runs, in seconds; nothing is scheduled by it: a forecast that takes longer than this is a warning."""
    job_deadline_s: float = Field(1800.0, gt=0)
    """A job that has not ended by then is unconfirmed; the next delta settles it by sending the newest values."""
    poll_first_s: float = Field(20.0, gt=0)
    """How long the webhook has before the job is asked about; the wait doubles from there."""
    poll_max_s: float = Field(300.0, gt=0)
    readback_requests_max: int = Field(3, ge=0)
    """A job that nobody confirmed is looked up in the platform's listing when that takes no more requests: sending it again takes
    about three. 0: never."""
    lease_s: float = Field(1200.0, gt=0)
    """After this long without a sign of life, a vendor is taken over from a process that hangs; from one that died, at once.
    Longer than the longest wait between two writes: SHELFSYNC_BUDGET__WAIT_S_MAX and one request."""

    _split = field_validator("vendors", mode="before")(words)
