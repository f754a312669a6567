"""Settings of the process, from arguments or from the environment (`PARTNER_SANDBOX_…`)."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any, Literal

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from partner_sandbox.behaviour import DialectName


class SandboxSettings(BaseSettings):
    """The platform's folder for its state, its clock and its dialect."""

    model_config = SettingsConfigDict(env_prefix="PARTNER_SANDBOX_", extra="forbid", frozen=True)

    data: Path | None = None
    """A folder for the SQLite file; in memory without one."""
    dialect: DialectName = "spec"
    behaviour: dict[str, Any] = Field(default_factory=dict)
    """Choices on top of the dialect, by the names of behaviour.Behaviour."""
    clock: Literal["real", "virtual"] = "real"
    clock_start: dt.datetime | None = None
    """Where the clock begins; the machine's present without it."""
    seed: int | None = None
    """For identifiers and tokens that repeat; unguessable ones without it."""
    public_url: str | None = None
    """The service's address in links; the one the request came to without it."""
    storage_url: str | None = None
    """The address of the storage host in presigned links; set by the server that opens it."""
    expose_control: bool = False
    """Whether the control plane answers callers that are not on this machine."""
    control_hosts: tuple[str, ...] = ()
    """Names besides those of this machine by which the control plane may be called; that of `public_url` is one too."""
