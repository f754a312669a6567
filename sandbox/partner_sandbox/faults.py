"""Rules set where, what, how likely and how often; a seed sets when. The same seed and calls give the same faults."""

from __future__ import annotations

import random
import re
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import Field

from partner_sandbox.bodies import Known
from partner_sandbox.errors import RULES

if TYPE_CHECKING:
    from collections.abc import Callable


REQUESTS = tuple(RULES)
WEBHOOKS = ("job_webhook", "order_webhook")
TAKING = ("put_catalog", "export", "create_products", "put_promotion")
OPERATIONS = (*REQUESTS, *WEBHOOKS, "job")
_STATUS = re.compile(r"status_([45]\d\d)")


@dataclass(frozen=True)
class Kind:
    """A kind of fault: the operations where it applies, and its effect in a sentence."""

    at: tuple[str, ...]
    sentence: str


KINDS: dict[str, Kind] = {
    "status_NNN": Kind(
        REQUESTS,
        "The request is answered with this status, from 400 to 599, and nothing is done; retry_after, body and content_type shape the answer.",
    ),
    "block_page": Kind(REQUESTS, "The edge answers 403 with an HTML page, and nothing is done."),
    "refuse_connection": Kind(
        REQUESTS,
        "The connection is reset as soon as the head of the request is read, nothing is done, and the port stays closed"
        " to every caller for the given seconds (0).",
    ),
    "never_answer": Kind(
        REQUESTS,
        "The request is taken, nothing is done, and no answer ever comes (seconds: the connection is reset after them).",
    ),
    "half_body": Kind(REQUESTS, "The work is done, and the connection breaks in the middle of the answer's body."),
    "drop_answer": Kind(REQUESTS, "The work is done, and the connection is reset without an answer."),
    "slow_body": Kind(REQUESTS, "The work is done, and the answer's body comes over the given seconds (2)."),
    "token_expired": Kind(tuple(name for name in REQUESTS if name != "token"), "The token counts as expired: 401."),
    "no_job_id": Kind(TAKING, "The work is taken on, and its answer has no job_id."),
    "job_id_of_another": Kind(TAKING, "The work is taken on, and its answer has the id of the job before it."),
    "unknown_status": Kind((*TAKING, "job_status", "promotion_status"), "The answer has an undocumented job_status."),
    "job_first": Kind(TAKING, "The job is done and its webhook sent before the answer that carries its id."),
    "first_page_again": Kind(("list_catalog", "list_orders"), "Page 1 is answered whatever page was requested."),
    "endless_pages": Kind(("list_catalog", "list_orders"), "total_pages is always one more than the requested page."),
    "failed": Kind(("job",), "The job ends FAILED and has changed nothing."),
    "stuck": Kind(("job",), "The job stays IN_PROGRESS for ever."),
    "not_applied": Kind(
        ("job", "put_order"),
        "The job ends COMPLETED with every line a success, or the order is answered as requested, and nothing has changed.",
    ),
    "stale": Kind(
        ("get_order", "list_orders"),
        "The order is answered as it was before its last change, as by a replica that lags.",
    ),
    "portal_edit": Kind(
        ("job",),
        "After the job a person edits the price of one of its products in the portal (price; otherwise one more).",
    ),
    "foreign_link": Kind(("job",), "The link to the job's file leads to a foreign host (url)."),
    "lost": Kind(WEBHOOKS, "The event is never sent."),
    "repeated": Kind(WEBHOOKS, "The event is sent count times (3) at once."),
    "reordered": Kind(
        WEBHOOKS, "The event is held back until a later one of the chain has gone, at most for the given seconds (60)."
    ),
    "late": Kind(WEBHOOKS, "The event is sent after the given seconds (300)."),
    "early": Kind(
        WEBHOOKS,
        "The event is sent before the answer that carries the job's id, and before the job has run; an order's before the answer to its PUT.",
    ),
    "forged_secret": Kind(WEBHOOKS, "The same event goes first with a wrong secret, once, and then as it should."),
    "oversized": Kind(WEBHOOKS, "The event is padded with the given bytes (2 MiB)."),
    "other_vendor": Kind(WEBHOOKS, "The event names another vendor of the chain."),
    "expired": Kind(("log",), "The link counts as expired."),
    "truncated": Kind(
        ("log",), "The file ends in the middle, after the given bytes (two thirds), with a length that agrees."
    ),
    "gzip": Kind(("log",), "The file is compressed, and only its content type shows it."),
    "byte_order_mark": Kind(("log",), "The file begins with a byte-order mark."),
    "empty": Kind(("log",), "The file is empty."),
    "drip": Kind(("log",), "The file comes a byte at a time, with the given seconds (1) between two bytes."),
    "endless": Kind(
        ("log",),
        "The file goes on after its end with lines of SKUs that were never sent (bytes: until it has so many).",
    ),
    "html_page": Kind(("log",), "An HTML error page is answered with 200."),
    "unknown_columns": Kind(("log",), "The log has an undocumented column before the others and one after them."),
    "older_format": Kind(("log",), "The log is in the older format."),
    "missing_sku": Kind(("log",), "The log lacks the line of one item."),
    "foreign_sku": Kind(("log",), "The log has a success line for a SKU that was never sent."),
    "contradiction": Kind(("log",), "The log has the first item twice, as a success and as a failure."),
    "log_of_another": Kind(("log",), "The link gives the log of the job before this one."),
}


def plain(kind: str) -> str:
    """A kind without the prefix of its operation: `log_truncated` is `truncated`."""
    if kind in KINDS:
        return kind
    for place in ("job_", "webhook_", "log_", "link_"):
        if kind.removeprefix(place) in KINDS:
            return kind.removeprefix(place)
    return kind


def why_not(at: str, kind: str) -> str | None:
    """Why a rule is invalid, or None."""
    if at not in OPERATIONS:
        return f"at: there is no operation {at!r}; there are {', '.join(OPERATIONS)}"
    known = KINDS.get("status_NNN" if _STATUS.fullmatch(kind) else kind)
    if known is None or kind == "status_NNN":
        return f"kind: there is no fault {kind!r}; GET /_sandbox/faults lists every one"
    if at not in known.at:
        return f"kind: {kind!r} strikes at {', '.join(known.at)}, not at {at!r}"
    return None


def describe() -> list[dict[str, Any]]:
    """What GET /_sandbox/faults lists."""
    return [{"kind": name, "at": list(kind.at), "does": kind.sentence} for name, kind in KINDS.items()]


class Rule(Known):
    """One fault. `after` occasions pass first; then each is struck with `probability`, at most `times` times."""

    at: str
    kind: str
    probability: float = Field(1.0, ge=0, le=1)
    times: int | None = Field(None, ge=0)
    after: int = Field(0, ge=0)
    seconds: float | None = Field(None, ge=0, description="how long, for what takes time")
    retry_after: str | None = Field(None, description="the header's text, for answers that carry one")
    body: str | None = Field(None, description="the answer's body, for status_NNN")
    content_type: str | None = Field(None, description="the answer's content type, for status_NNN")
    url: str | None = Field(None, description="the address, for links that lead astray")
    price: float | None = Field(None, description="the price, for one edited in the portal")
    count: int | None = Field(None, ge=1, description="how many copies of what is repeated")
    bytes: int | None = Field(None, ge=0, description="how many, for what is cut or grown")
    vendor: str | None = Field(None, description="only for this vendor")
    sku: str | None = Field(None, description="only a job that has an item of this SKU, for one that fails")


class RuleSet(Known):
    """The body of PUT /_sandbox/faults."""

    seed: int = 0
    rules: list[Rule] = Field(default_factory=list)


@dataclass
class _Active:
    rule: Rule
    chance: random.Random
    occasions: int = 0
    struck: int = 0


@dataclass
class Faults:
    """The rules in force."""

    seed: int = 0
    _active: list[_Active] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def put(self, rules: RuleSet) -> None:
        """Replaces all rules; a ValueError names the first invalid one."""
        for number, rule in enumerate(rules.rules):
            rule.kind = plain(rule.kind)
            problem = why_not(rule.at, rule.kind)
            if problem:
                raise ValueError(f"rules[{number}]: {problem}")
        with self._lock:
            self.seed = rules.seed
            self._active = [
                _Active(rule, random.Random(f"{rules.seed} {number} {rule.at} {rule.kind}"))  # noqa: S311  seeded on purpose
                for number, rule in enumerate(rules.rules)
            ]

    def draw(
        self,
        at: str | None,
        *kinds: str,
        vendor: str | None = None,
        has_sku: Callable[[str], bool] = lambda _: False,
    ) -> Rule | None:
        """The first rule that strikes this occasion: every rule of this operation and these kinds has its turn."""
        hit: Rule | None = None
        with self._lock:
            for active in self._active:
                rule = active.rule
                if rule.at != at or not _one_of(rule.kind, kinds) or (rule.vendor and rule.vendor != vendor):
                    continue
                if rule.sku and not has_sku(rule.sku):
                    continue
                active.occasions += 1
                chance = active.chance.random()
                if hit is not None or active.occasions <= rule.after or chance >= rule.probability:
                    continue
                if rule.times is not None and active.struck >= rule.times:
                    continue
                active.struck += 1
                hit = rule
        return hit

    def clear(self) -> None:
        self.put(RuleSet())

    def state(self) -> dict[str, Any]:
        """The rules with how often each had its turn and struck, and every kind there is with a sentence."""
        with self._lock:
            rules = [
                {**active.rule.model_dump(exclude_none=True), "occasions": active.occasions, "struck": active.struck}
                for active in self._active
            ]
        return {"seed": self.seed, "rules": rules, "kinds": describe()}


def _one_of(kind: str, kinds: tuple[str, ...]) -> bool:
    return any(kind == name or (name.endswith("*") and kind.startswith(name[:-1])) for name in kinds)
