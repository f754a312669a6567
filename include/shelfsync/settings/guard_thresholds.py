"""The thresholds of the guards: the defaults of each rule, and of a store or a category of its own."""

from __future__ import annotations

from typing import Any

from pydantic import Field, model_validator

from shelfsync.settings.guard_overrides import categories_of, overridden, thresholds_of
from shelfsync.settings.section import Section


class Limit(Section):
    """A rule holds changes if they are more than `max_rows` and more than `max_share` of all; fewer are sent.

    In a small store `max_rows` is at most half of the rows, or five; new_skus and shrunken_extract ignore this.
    """

    max_rows: int = Field(0, ge=0)
    max_share: float = Field(0.0, ge=0, le=1)
    enabled: bool = True
    """False turns the rule off."""


class MoveLimit(Limit):
    """Of rows whose price moves by more than `move` (0.35: 35 %); a row that moves by more than `leap` is held alone."""

    move: float = Field(0.35, gt=0)
    leap: float = Field(7.0, gt=0)
    """7: to more than eight times the price, or to less than an eighth."""


class ShiftLimit(Limit):
    """Of rows whose price looks as if its decimal point had slipped: within `slack` of ten, a hundred or a thousand times."""

    slack: float = Field(0.12, ge=0, lt=1)


class Rules(Section):
    """The thresholds of every rule, by the rule's name."""

    changed_columns: Limit = Limit()
    """Changes that come with other columns of the ERP, if SHELFSYNC_ERP__CHANGED_COLUMNS is `hold`."""
    duplicate_feed: Limit = Limit(max_rows=20, max_share=0.0)
    """Changes that an extract brings which is, to the last value, one from before the last one."""
    empty_feed: Limit = Limit(max_rows=5, max_share=0.0)
    """SKUs that go off sale because the extract leaves nothing on sale at all."""
    shrunken_extract: Limit = Limit(max_rows=20, max_share=0.15)
    """Rows fewer than in the last extract, or than the median of the last 20 if that is smaller."""
    mass_removal: Limit = Limit(max_rows=5, max_share=0.3)
    """SKUs that left the extract, of those not known to be off."""
    vanished_category: Limit = Limit(max_rows=5, max_share=0.9)
    """SKUs of one category that go off sale, of those of it that are on sale."""
    mass_deactivation: Limit = Limit(max_rows=10, max_share=0.3)
    """SKUs that are switched off or left the extract, of those not known to be off."""
    zero_stock: Limit = Limit(max_rows=20, max_share=0.3)
    """SKUs whose quantity becomes zero, or falls below the sales buffer, of those that had enough."""
    zero_price: Limit = Limit()
    """Prices that become zero, of all prices."""
    shifted_decimal: ShiftLimit = ShiftLimit()
    """Prices that look like a slipped decimal point, of all prices."""
    price_change: MoveLimit = MoveLimit(max_rows=10, max_share=0.02)
    """Prices that move by more than 35 %, of all prices."""
    mass_repricing: Limit = Limit(max_rows=20, max_share=0.4)
    """Prices that change at all, of all prices: a wrong currency or tax changes each price a little."""
    below_cost: Limit = Limit()
    """Prices below the product's cost, if the extract has it, of all prices."""
    new_skus: Limit = Limit(max_rows=50, max_share=0.25)
    """SKUs that shelfsync does not know yet, of those that it knows."""


RULES = tuple(Rules.model_fields)


class GuardSettings(Rules):
    """All rules, and the vendors and categories with their own thresholds."""

    overrides: dict[str, dict[str, dict[str, Any]]] = Field(default_factory=dict)
    """`{"store-001": {"new_skus": {"max_rows": 500}}, "*/tobacco": {"price_change": {"move": 0.1}}, "store-001/dairy": {…}}`."""
    hold_hours: float = Field(24.0, gt=0, le=168)
    """Hours that an open hold waits for a decision, at most a week. After that it expires: its changes stay held, and shelfsync does not ask again."""
    approval_hours: float = Field(24.0, gt=0)
    """Hours that an approval is valid for exactly these values. It ends earlier, when the platform has acknowledged them."""
    history_feeds: int = Field(20, ge=1)
    """Number of earlier extracts with which shelfsync compares the size of a new one."""

    @model_validator(mode="after")
    def _overrides_are_thresholds(self) -> GuardSettings:
        for where in self.overrides:
            overridden(self.overrides, where, self._plain())
        return self

    def limit(self, rule: str, vendor: str, category: str | None = None) -> Any:
        """The thresholds of a rule for a vendor, or for a category of it: the most specific override counts."""
        return getattr(self.rules(vendor, category), rule)

    def rules(self, vendor: str, category: str | None = None) -> Rules:
        """All thresholds for a vendor or one of its categories."""
        return thresholds_of(self.overrides, self._plain(), vendor, category)

    def categories(self, rule: str, vendor: str) -> list[str]:
        """Categories with thresholds of their own for this rule, which are judged by themselves."""
        return categories_of(self.overrides, rule, vendor)

    def with_thresholds(
        self, vendor: str, category: str | None, rule: str, thresholds: dict[str, Any]
    ) -> GuardSettings:
        """These settings with other thresholds for one rule in one scope, for one decision. Raises ValueError if they are not valid."""
        where = vendor if category is None else f"{vendor}/{category}"
        given = {**self.overrides.get(where, {})}
        given[rule] = {**given.get(rule, {}), **thresholds}
        return GuardSettings(**{**self.model_dump(), "overrides": {**self.overrides, where: given}})

    def _plain(self) -> Rules:
        return Rules(**{rule: getattr(self, rule) for rule in RULES})
