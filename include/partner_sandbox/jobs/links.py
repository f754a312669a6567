"""Links to logs and exports: on the service behind the bearer token, or presigned on the storage host (interface.md 5.5)."""

from __future__ import annotations

import hashlib
import hmac

from fastapi import Request

from partner_sandbox.clock import SECOND_US
from partner_sandbox.jobs.jobs import Job
from partner_sandbox.sandbox import Sandbox

_KEY = b"the storage host of the sandbox"
PRESIGNED_PATH = "/catalog-files"
FOREIGN_URL = "http://downloads.attacker.invalid/log.csv"


def address_of(sandbox: Sandbox, request: Request) -> str:
    """The service's own address in links: as configured, or as the caller reached it."""
    return (sandbox.settings.public_url or str(request.base_url)).rstrip("/")


def link_of(sandbox: Sandbox, job: Job) -> str | None:
    """Where the job's file is fetched; None when it has none."""
    if job.file is None or job.link_ends_us is None:
        return None
    if job.link is not None:
        return job.link
    if sandbox.behaviour.link == "bearer":
        return f"{job.address}/v2/chains/{job.chain}/catalog/downloads/{job.file}"
    ends_s = job.link_ends_us // SECOND_US
    return f"{sandbox.storage_url}{PRESIGNED_PATH}/{job.file}?expires={ends_s}&signature={signature(job.file, ends_s)}"


def signature(file: str, ends_s: int) -> str:
    """What makes a presigned link genuine."""
    return hmac.new(_KEY, f"{file} {ends_s}".encode(), hashlib.sha256).hexdigest()
