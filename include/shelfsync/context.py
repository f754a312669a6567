"""What the steps work with, in one place; `app` fills it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractAsyncContextManager

    from sqlalchemy.engine import Engine

    from partner_api import PartnerClient
    from partner_api.session import Clock
    from shelfsync.decisions.state import Subject
    from shelfsync.decisions.subject import HoldSubject
    from shelfsync.erp.extract import ErpSource
    from shelfsync.inbox.events import Subscription
    from shelfsync.platform.jobs.job import JobKind
    from shelfsync.platform.jobs.table import Kind
    from shelfsync.settings import Settings
    from shelfsync.store.lake import Lake


@dataclass(frozen=True)
class Context:
    """Database, lake, and what is only made when a step asks for it: the ERP and the platform's client."""

    settings: Settings
    engine: Engine
    limits: Engine
    """Where requests are counted: the same database, or the one that all chains of the installation share."""
    lake: Lake
    clock: Clock
    open_erp: Callable[[], ErpSource]
    open_platform: Callable[[], PartnerClient]
    subscribed: Callable[[], AbstractAsyncContextManager[Subscription]]
    """What a wait pauses on: time, and the notifications of the inbox."""
    kinds: Mapping[Kind, JobKind]
    """What differs between the kinds of the platform's jobs."""
    subjects: Mapping[Subject, HoldSubject]
    """What differs between the subjects whose changes are held."""
