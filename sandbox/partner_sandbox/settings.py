"""Settings of the process, and how the platform behaves where its sources disagree or are silent: a named set of choices per dialect.

`spec` follows interface.md and, in its gaps, the published specification; `live` does what integrators recorded of the
live service; `legacy` answers in the older forms. Every choice can be set by itself on top of a dialect.
"""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from partner_sandbox.bodies import Known

DialectName = Literal["spec", "live", "legacy"]
MIB = 1024 * 1024


class Behaviour(Known):
    """One choice a field; units last in the name."""

    model_config = ConfigDict(frozen=True)

    dialect: DialectName = "spec"

    # access (interface.md 5, 8)
    token_life_s: float = Field(7200, gt=0)
    wrong_credentials_status: Literal[400, 401] = 401
    token_requests_per_minute: int = Field(50, ge=1)
    requests_per_minute: int = Field(60, ge=1)
    rate_key: Literal["address", "token", "chain"] = "address"
    rate_limit_answer: Literal["429_retry_after", "429", "403_html"] = "429_retry_after"
    body_max_bytes: int = Field(100 * MIB, ge=1)
    """100 MB read as mebibytes, the widest reading: a body of at most 100,000,000 bytes is within both readings."""

    # catalog update (interface.md 2.1, 4.1)
    sales_limit_name: Literal["both", "maximum_sales_quantity", "max_sales_quantity"] = "both"
    other_sales_limit: Literal["ignore", "reject"] = "ignore"
    """What happens to the spelling that the wire does not use."""
    quantity_at_buffer: Literal["activates", "deactivates"] = "activates"
    single_item_answer: Literal["job", "sku"] = "job"
    """`sku`: the platform applies a request with one product at once and answers 200 {sku}."""
    single_item_quantity: Literal["applies", "ignored"] = "applies"
    propagation_s: float = Field(900, ge=0)
    """How long a change takes to reach the app (interface.md 8: up to 15 minutes)."""

    # listing and export (interface.md 4.2, 4.4)
    listing_page_size_default: int = Field(50, ge=1)
    listing_page_size_max: int = Field(500, ge=1)
    listing_page_size_beyond: Literal["reject", "cap"] = "reject"
    export_status: Literal[200, 202] = 202

    # jobs (interface.md 2.2, 3.3, 6)
    job_seconds: float = Field(0.5, ge=0)
    job_id_type: Literal["text", "integer"] = "text"
    job_status_for: Literal["all", "creation"] = "all"
    """Which jobs have a status call: interface.md defines it for creations only."""
    job_webhook_status_name: Literal["job_status", "status"] = "job_status"
    job_webhook_link_name: Literal["downloadURL", "download_url", "both"] = "downloadURL"
    """Public clients read `download_url` alone; interface.md 6 writes `downloadURL`."""
    job_webhook_vendor_name: Literal["platform_vendor_id", "vendor_id"] = "platform_vendor_id"
    log_format: Literal["newer", "older"] = "newer"
    log_no_errors: Literal["", "null"] = ""
    link: Literal["bearer", "presigned"] = "bearer"
    """Where logs and exports are: on the service behind the token, or on the storage host, which rejects a token."""
    link_life_s: float = Field(900, gt=0)

    # creation (interface.md 4.5)
    review_seconds: float = Field(2.0, ge=0)
    """How long the platform's review of new products takes."""

    # promotions (interface.md 2.4, 4.7)
    promotion_values: Literal["published", "interface"] = "published"
    """`interface`: only the values that interface.md names; others are unknown enum values."""
    promotion_left_out: Literal["rejected", "accepted"] = "rejected"
    """Subtype and value of entries that end a promotion, reason and display name, where a client leaves them out."""
    promotion_times: Literal["milliseconds", "any"] = "milliseconds"
    """Times with exactly three decimals (interface.md 2.4), or with none to nine."""
    promotion_propagation_s: float = Field(900, ge=0)
    """How long a promotion takes to reach the app."""

    # orders (interface.md 2.5, 3.1, 4.8 to 4.10, 6)
    order_shape: Literal["both", "flat", "nested"] = "both"
    """Store identifiers and totals flat (interface.md 2.5), inside client and payment (field notes), or both."""
    order_first_event: Literal["RECEIVED", "READY_FOR_PICKUP"] = "RECEIVED"
    """READY_FOR_PICKUP: the store's first event of an order."""
    order_acceptance: Literal["enabled", "disabled"] = "enabled"
    """ACCEPTED may have to be enabled for a chain (interface.md 3.1)."""
    order_weighing: Literal["enabled", "disabled"] = "enabled"
    """Weighted items need enablement (interface.md 4.8.5)."""
    order_unprocessed_item: Literal["rejected", "stays"] = "rejected"
    """An item that is sent back as NOT_PROCESSED with a fulfilment status; `stays`: as ordered, like one not mentioned."""
    order_pickup_by_vendor: Literal["READY_FOR_PICKUP", "DISPATCHED", "both"] = "READY_FOR_PICKUP"
    """How a PICKUP order with VENDOR_DELIVERY is fulfilled: 4.8.2 allows both readings."""
    order_validation_without_sku: Literal["cancels", "rejected"] = "cancels"
    """What `_id` without `sku` does in an UPDATE_CART: 3.1 cancels in any state, 4.8.9 changes nothing."""
    order_cancelled_event: Literal["not_by_partner", "always"] = "not_by_partner"
    """Section 6 has an event for a cancellation by customer or logistics."""
    order_delivered_event: Literal["none", "sent"] = "none"
    """Whether an event DELIVERED reports that the customer has the order; section 6 has none."""
    order_ended_status: Literal["history", "upper"] = "history"
    """`history`: GET answers picked_up and cancelled (interface.md 3.1, 4.9)."""
    order_history_path: Literal["both", "vendor", "orders"] = "both"
    """`vendor`: the path of interface.md 4.10; `orders`: the same with /orders; the other one is 404 with an empty body."""
    order_history_zone: Literal["reject", "accept"] = "reject"
    """What happens to a start_time or end_time with a zone suffix."""

    # webhooks (field notes: 10 s to answer, up to five further tries)
    webhook_timeout_s: float = Field(10, gt=0)
    webhook_backoff_s: tuple[float, ...] = (1, 5, 30, 120, 600)
    """The waits before each further try; as many tries as there are waits."""


DIALECTS: dict[str, dict[str, Any]] = {
    "spec": {},
    "live": {
        "sales_limit_name": "maximum_sales_quantity",
        "wrong_credentials_status": 400,
        "rate_limit_answer": "403_html",
        "listing_page_size_beyond": "cap",
        "log_no_errors": "null",
        "link": "presigned",
        "job_webhook_status_name": "status",
        "job_webhook_link_name": "download_url",
        "promotion_left_out": "accepted",
        "promotion_times": "any",
        "promotion_propagation_s": 3000,
        "order_unprocessed_item": "stays",
        "order_pickup_by_vendor": "both",
        "order_shape": "nested",
        "order_history_path": "orders",
        "order_history_zone": "accept",
    },
    "legacy": {
        "sales_limit_name": "max_sales_quantity",
        "other_sales_limit": "reject",
        "rate_limit_answer": "429",
        "quantity_at_buffer": "deactivates",
        "single_item_answer": "sku",
        "single_item_quantity": "ignored",
        "export_status": 200,
        "job_id_type": "integer",
        "job_status_for": "creation",
        "job_webhook_status_name": "status",
        "job_webhook_link_name": "download_url",
        "log_format": "older",
        "log_no_errors": "null",
        "promotion_values": "interface",
        "promotion_propagation_s": 3000,
        "order_shape": "flat",
        "order_history_path": "vendor",
    },
}


def behaviour_of(dialect: DialectName, **choices: Any) -> Behaviour:
    """A dialect with some choices set by themselves; a pydantic ValidationError names a wrong one."""
    return Behaviour.model_validate({"dialect": dialect, **DIALECTS.get(dialect, {}), **choices})


class SandboxSettings(BaseSettings):
    """The platform's folder for its state, its clock and its dialect."""

    model_config = SettingsConfigDict(env_prefix="PARTNER_SANDBOX_", extra="forbid", frozen=True)

    data: Path | None = None
    """A folder for the SQLite file; in memory without one."""
    demo: bool = False
    """Whether vendors that have no products are filled with the demo's."""
    dialect: DialectName = "spec"
    behaviour: dict[str, Any] = Field(default_factory=dict)
    """Choices on top of the dialect, by the names of Behaviour."""
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
