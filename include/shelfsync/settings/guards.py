"""When a change looks like an accident: thresholds as a count and a share, for all, a vendor, a category."""

from __future__ import annotations

from typing import Any

from pydantic import Field, ValidationError, model_validator

from shelfsync.settings.section import Section


class Limit(Section):
    """Up to `rows` rows always flow, and so does any number up to the `share`; what is more than both is held.

    Of a small store `rows` counts for no more than half of what there is, or five; but for new_skus and shrunken_extract.
    """

    rows: int = Field(0, ge=0)
    share: float = Field(0.0, ge=0, le=1)
    on: bool = True
    """False switches the rule off."""


class MoveLimit(Limit):
    """Of rows whose price moves by more than `move` (0.35: 35 %); one that moves by more than `leap` is held by itself."""

    move: float = Field(0.35, gt=0)
    leap: float = Field(7.0, gt=0)
    """7: to more than eight times the price, or to less than an eighth."""


class ShiftLimit(Limit):
    """Of rows whose price looks as if its decimal point had slipped: within `slack` of ten, a hundred or a thousand times."""

    slack: float = Field(0.12, ge=0, lt=1)


class Rules(Section):
    """The thresholds of every rule, by the rule's name."""

    duplicate_feed: Limit = Limit(rows=20, share=0.0)
    """Changes that an extract brings which is, to the last value, one from before the last one."""
    empty_feed: Limit = Limit(rows=5, share=0.0)
    """SKUs that go off sale because the extract leaves nothing on sale at all."""
    shrunken_extract: Limit = Limit(rows=20, share=0.15)
    """Rows fewer than the median of the last extracts."""
    mass_removal: Limit = Limit(rows=5, share=0.3)
    """SKUs that left the extract, of those not known to be off."""
    vanished_category: Limit = Limit(rows=5, share=0.9)
    """SKUs of one category that go off sale, of those of it that are on sale."""
    mass_deactivation: Limit = Limit(rows=10, share=0.3)
    """SKUs that are switched off or left the extract, of those not known to be off."""
    zero_stock: Limit = Limit(rows=20, share=0.3)
    """SKUs whose quantity becomes zero, or falls below the sales buffer, of those that had enough."""
    zero_price: Limit = Limit()
    """Prices that become zero, of all prices."""
    shifted_decimal: ShiftLimit = ShiftLimit()
    """Prices that look like a slipped decimal point, of all prices."""
    price_change: MoveLimit = MoveLimit(rows=10, share=0.02)
    """Prices that move by more than 35 %, of all prices."""
    mass_repricing: Limit = Limit(rows=20, share=0.4)
    """Prices that move at all, of all prices: a currency or a tax mixed up moves each by little."""
    below_cost: Limit = Limit()
    """Prices below what the product costs, where the ERP says so, of all prices."""
    new_skus: Limit = Limit(rows=50, share=0.25)
    """SKUs never heard of, of those known."""


RULES = tuple(Rules.model_fields)


class GuardSettings(Rules):
    """All rules, and where a vendor or a category has thresholds of its own."""

    overrides: dict[str, dict[str, dict[str, Any]]] = Field(default_factory=dict)
    """`{"store-001": {"new_skus": {"rows": 500}}, "*/tobacco": {"price_change": {"move": 0.1}}, "store-001/dairy": {…}}`."""
    hold_hours: float = Field(24.0, gt=0)
    """How long a held slice waits for a person before it expires; an expired slice stays held, and is not asked about again."""
    approval_hours: float = Field(24.0, gt=0)
    """How long the very values that a person approved pass the guards at most; once they are acknowledged, the approval has ended."""
    history_feeds: int = Field(20, ge=1)
    """With how many extracts before it one is compared in size."""

    @model_validator(mode="after")
    def _overrides_are_thresholds(self) -> GuardSettings:
        for where in self.overrides:
            self._of(where, self._plain())
        return self

    def limit(self, rule: str, vendor: str, category: str | None = None) -> Any:
        """The thresholds of a rule for a vendor, or for a category of it: the most special that is said."""
        return getattr(self.rules(vendor, category), rule)

    def rules(self, vendor: str, category: str | None = None) -> Rules:
        """All thresholds for a vendor or one of its categories."""
        rules = self._of(vendor, self._plain())
        if category is not None:
            for where in (f"*/{category}", f"{vendor}/{category}"):
                rules = self._of(where, rules)
        return rules

    def categories(self, rule: str, vendor: str) -> list[str]:
        """Categories with thresholds of their own for this rule, which are judged by themselves."""
        named = [
            where.partition("/")[2]
            for where, said in self.overrides.items()
            if rule in said and where.partition("/")[0] in {"*", vendor} and "/" in where
        ]
        return sorted(set(named))

    def with_thresholds(
        self, vendor: str, category: str | None, rule: str, thresholds: dict[str, Any]
    ) -> GuardSettings:
        """These settings with other thresholds for one rule at one place, as a person asks for once. ValueError when they are none."""
        where = vendor if category is None else f"{vendor}/{category}"
        said = {**self.overrides.get(where, {})}
        said[rule] = {**said.get(rule, {}), **thresholds}
        return GuardSettings(**{**self.model_dump(), "overrides": {**self.overrides, where: said}})

    def _plain(self) -> Rules:
        return Rules(**{rule: getattr(self, rule) for rule in RULES})

    def _of(self, where: str, rules: Rules) -> Rules:
        said = self.overrides.get(where)
        if not said:
            return rules
        changed = {}
        for rule, thresholds in said.items():
            if rule not in RULES:
                raise ValueError(f"overrides[{where!r}]: there is no rule {rule!r}; the rules are {', '.join(RULES)}")
            before = getattr(rules, rule)
            try:
                changed[rule] = type(before)(**{**before.model_dump(), **thresholds})
            except ValidationError as error:
                first = error.errors(include_input=False, include_url=False)[0]
                name = ".".join(str(part) for part in first["loc"])
                raise ValueError(f"overrides[{where!r}].{rule}.{name}: {first['msg']}") from None
        return rules.model_copy(update=changed)
