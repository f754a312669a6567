"""What `make up` and `make demo` run on this machine."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, field_validator
from pydantic_settings import NoDecode

from shelfsync.settings.section import Section, words


class LocalSettings(Section):
    """The local stack: which DAGs it switches on, and the stand-ins for stores and customers beside the sandbox."""

    paused_dags: Annotated[tuple[str, ...], NoDecode] = ()
    """DAG ids that `make up` leaves paused; it switches on every other DAG of shelfsync."""
    picking_s: float = Field(10.0, ge=0)
    """So many seconds after a store has taken an order, the sample's store hub returns its picking result."""
    customer_every_s: float = Field(120.0, ge=0)
    """Every so many seconds a customer orders in the sandbox while `make up` runs; 0: no customer does."""
    customer_orders_max: int = Field(500, ge=0)
    """No customer orders any more after so many orders since the start."""

    _split = field_validator("paused_dags", mode="before")(words)
