"""The answers of the control plane, field by field, as its contract describes them.

An answer that is an order has the shape of the interface. These shapes describe; the routes build their answers by themselves,
and a test holds each answer to its shape.
"""

from __future__ import annotations

import datetime as dt
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from partner_sandbox.weight import Weight


class Answer(BaseModel):
    """Nothing but these fields; the sentence under a field describes it."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class ControlError(Answer):
    """Why a call did nothing."""

    code: str
    message: str
    """One sentence that names the field, where it is one."""


class Webhook(Answer):
    """Where the events of a chain go."""

    catalog_url: str | None
    """For the ends of jobs."""
    order_url: str | None
    """For orders."""
    secret_set: bool
    """Without a secret no event is sent."""


class VendorCounts(Answer):
    """A vendor with the number of its products."""

    vendor: str
    external_partner_config_id: str | None
    """The partner's own identifier of the store."""
    sales_buffer: int
    products: int
    active: int
    """How many of the products are active."""


class ChainState(Answer):
    """A chain with its vendors."""

    chain: str
    webhook: Webhook
    vendors: list[VendorCounts]


class State(Answer):
    """The sandbox at a glance."""

    now: dt.datetime
    """The present by its clock."""
    clock: Literal["real", "virtual"]
    dialect: Literal["spec", "live", "legacy"]
    storage_url: str
    """The storage host of presigned links."""
    chains: list[ChainState]
    jobs: dict[str, int]
    """State to number of jobs."""
    orders: dict[str, int]
    """State to number of orders."""
    deliveries: dict[str, int]
    """State to number of events."""
    max_requests_in_60s: int
    """The most requests in any sixty seconds so far, rejected ones too."""


class Now(Answer):
    """The clock after it has moved."""

    now: dt.datetime


class NextStep(Answer):
    """A command to paste."""

    does: str
    command: str


class Demo(Answer):
    """What the demo has filled, and what to do next."""

    chain: str
    filled: list[str]
    """The vendors that had no products."""
    skus: list[str]
    """The SKUs of each of them."""
    webhook: Webhook
    next: list[NextStep]


class ActiveRule(Answer):
    """A rule in force, as it was put, and what became of it."""

    model_config = ConfigDict(extra="allow")

    at: str
    kind: str
    probability: float
    after: int
    occasions: int
    """How often it had its turn."""
    struck: int
    """How often it struck."""


class FaultKind(Answer):
    """A kind of fault."""

    kind: str
    at: list[str]
    """The operations where it strikes."""
    does: str


class FaultState(Answer):
    """The rules in force and every kind."""

    seed: int
    rules: list[ActiveRule]
    kinds: list[FaultKind]


class Record(Answer):
    """A request that was received, or an event that was sent."""

    n: int
    """Counts up in the order in which they ended."""
    time: dt.datetime
    kind: Literal["request", "storage", "webhook"]
    operation: str | None
    """The operationId of the contract; null for a path without a route."""
    method: str
    route: str
    """Path with query, or the partner's address."""
    status: int | None
    """Null when no answer was given or got."""
    bytes_in: int
    bytes_out: int
    fault: str | None
    """The fault that struck."""
    reason: str | None
    """The sentence of an error, or why an event did not arrive."""
    hint: str | None
    """The rule of the interface behind an error, and the dialect's choice."""
    caller: str | None
    """A digest of the token that came with the request."""


class Records(Answer):
    """The newest first."""

    total: int
    records: list[Record]


class Message(Answer):
    """Headers and the beginning of a body; secrets are masked."""

    headers: dict[str, str]
    body: str


class WholeRecord(Record):
    """The same with what was sent and answered, while it is kept."""

    sent: Message | None
    answered: Message | None


class HarLog(Answer):
    """The content of an HTTP archive."""

    version: Literal["1.2"]
    creator: dict[str, str]
    comment: str
    entries: list[dict[str, Any]]
    """As HTTP Archive 1.2 defines them."""


class Har(Answer):
    """HTTP Archive 1.2, for a browser's developer tools."""

    log: HarLog


class JournalLine(Record):
    """The same with two fields more."""

    at: float
    """The time in seconds since 1970."""
    size: int
    """The same as bytes_in."""


class JournalPage(Answer):
    """Lines of the journal, the oldest first."""

    entries: list[JournalLine]
    last: int
    """The number to go on from, as `after`."""
    requests: int
    """All requests so far."""
    max_requests_in_60s: int


class ChainChanged(Answer):
    """What was given of a chain."""

    chain: str
    enabled: bool | None = None
    creation_enabled: bool | None = None


class VendorChanged(Answer):
    """A vendor as it is now."""

    chain: str
    vendor: str
    name: str
    external_partner_config_id: str | None
    sales_buffer: int


class ProductCategory(Answer):
    """A category as a product names it; the text of global_id alone will do."""

    global_id: str
    name: str | dict[str, str] | None = None
    """A text, or texts by locale."""
    description: dict[str, str] | None = None
    parent_global_id: str | None = None
    active: bool | None = None


class AssortmentProduct(Answer):
    """A product of an assortment; only sku is needed."""

    sku: str
    barcodes: list[str] | None = None
    """Digits, at most 14."""
    title: str | None = None
    price: float | str | None = None
    """A number, or its text; cut to three decimals."""
    active: bool | None = None
    """True unless given."""
    max_sales_quantity: int | None = None
    sales_buffer: int | None = None
    """Instead of the vendor's."""
    categories: list[str | ProductCategory] | None = None
    is_sold_by_weight: bool | None = None
    remote_product_id: str | None = None
    translations: dict[str, str] | None = None
    description: dict[str, str] | None = None
    images: list[str] | None = None
    weight_specifications: Weight | None = None
    app: dict[str, Any] | None = None
    """Ignored, so that what was read can be put again."""


class NewAssortment(Answer):
    """The whole assortment of a vendor."""

    products: list[AssortmentProduct]


class AssortmentChanged(Answer):
    """How many products a vendor has now."""

    vendor: str
    products: int


class AppPromotion(Answer):
    """The promotion that a customer sees for a product."""

    name: str
    type: Literal["STRIKETHROUGH", "SAME_ITEM_BUNDLE"]
    price: float
    purchased_quantity: int | None = None
    """For a bundle: how many are bought at the full price."""
    discounted_quantity: int | None = None
    """For a bundle: how many of the next ones are cheaper."""
    start_time: dt.datetime
    end_time: dt.datetime


class App(Answer):
    """What a customer sees of a product."""

    price: float | None
    active: bool
    max_sales_quantity: int | None
    promotion: AppPromotion | None = None


class Product(Answer):
    """A product as the platform holds it."""

    sku: str
    barcodes: list[str]
    title: str
    price: float | None
    active: bool
    max_sales_quantity: int | None
    sales_buffer: int | None
    categories: list[str]
    is_sold_by_weight: bool
    app: App


class Assortment(Answer):
    """Every product of a vendor."""

    products: list[Product]


class ShownPromotion(Answer):
    """A promotion as the portal shows it."""

    id: int
    name: str
    display_name: dict[str, str]
    state: Literal["Upcoming", "Running", "Ended", "Cancelled"]
    type: str
    reason: str | None
    vendors: list[str]
    vendors_with_skus: int
    skus: int
    pairs: int
    """Pairs of vendor and SKU."""
    start_us: int
    """Microseconds since 1970."""
    end_us: int
    start_time: dt.datetime
    end_time: dt.datetime
    updated_at: dt.datetime


class Promotions(Answer):
    """The newest first."""

    promotions: list[ShownPromotion]
    total: int


class PromotionSku(Answer):
    """One SKU of a promotion at one vendor."""

    vendor: str
    sku: str
    subtype: Literal["FINAL_PRICE", "PERCENTAGE", "ABSOLUTE"]
    value: str
    max_quantity: int | None
    seen_from_us: int
    """When customers see it, in microseconds since 1970."""


class PromotionSkus(Answer):
    """By vendor and SKU."""

    skus: list[PromotionSku]
    total: int


class Duty(Answer):
    """One duty of a client, and whether it was seen to meet it."""

    duty: str
    rule: str
    """The section of the interface."""
    sentence: str
    verdict: Literal["met", "broken", "not seen"]
    evidence: list[str]


class Rejection(Answer):
    """A rule that requests broke."""

    hint: str
    times: int
    last: int
    """The number of the last record."""
    reason: str


class Check(Answer):
    """What the client was seen to do since the last reset."""

    now: dt.datetime
    requests: int
    met: int
    broken: int
    not_seen: int
    duties: list[Duty]
    rejections: list[Rejection]
    """By rule, the most frequent first."""


class Probe(Answer):
    """How many calls the probe made."""

    calls: int


class ScenarioStep(Answer):
    """One thing that happens."""

    time: dt.datetime
    action: str
    name: str | None
    """Of the order that it places."""
    state: Literal["pending", "done", "failed"]
    problem: str | None
    """Why it failed."""
    order_id: str | None


class PlayedScenario(Answer):
    """How far a scenario is."""

    play: int
    """Its number."""
    title: str
    now: dt.datetime
    clock: Literal["real", "virtual"]
    ends: dt.datetime
    next_in_s: float | None
    """Seconds of the sandbox's clock until the next step; null once it has ended."""
    failed: int
    steps: list[ScenarioStep]
