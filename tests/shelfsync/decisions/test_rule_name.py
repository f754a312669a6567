"""A rule is called the same before people everywhere, and each rule by a name of its own."""

from __future__ import annotations

from shelfsync.catalog.guards.apply_guards import GUARDS
from shelfsync.decisions.rule_name import rule_name, rule_of_name


def test_each_guard_has_a_name_of_its_own_without_a_mark_of_code():
    names = [rule_name(rule) for rule in GUARDS]
    assert (len(set(names)), [name for name in names if "_" in name]) == (len(GUARDS), [])
    assert [rule_of_name(name) for name in names] == [rule_of_name(rule) for rule in GUARDS] == [*GUARDS]
    assert (rule_name("price_change"), rule_name("new_skus")) == ("price change", "new SKUs")
