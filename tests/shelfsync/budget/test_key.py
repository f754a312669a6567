"""What shares an allowance, by the setting SHELFSYNC_BUDGET__KEY."""

from __future__ import annotations

import pytest
from pydantic import SecretStr

from shelfsync.budget.key import counted
from shelfsync.settings import BudgetSettings, Settings

ONE = {
    "base_url": "https://one.example/api",
    "chain": "a",
    "client_id": "x",
    "client_secret": SecretStr("canary-secret-1"),
}


def _key(word, **platform):
    return counted(Settings(budget={"key": word}, platform={**ONE, **platform})).key


@pytest.mark.parametrize(
    ("word", "shared", "parted"),
    [
        ("egress", [{}, {"chain": "b"}, {"client_id": "y"}, {"base_url": "https://two.example"}], []),
        (
            "chain",
            [{}, {"client_id": "y"}, {"base_url": "https://ONE.example"}],
            [{"chain": "b"}, {"base_url": "https://two.example"}],
        ),
        (
            "token",
            [{}, {"chain": "b"}],
            [{"client_id": "y"}, {"token": SecretStr("canary-token-1")}, {"token": SecretStr("canary-token-2")}],
        ),
    ],
)
def test_what_the_platform_counts_by_decides_who_shares_an_allowance(word, shared, parted):
    keys = {_key(word, **platform) for platform in shared}
    assert len(keys) == 1
    others = [_key(word, **platform) for platform in parted]
    assert len({*others, *keys}) == len(parted) + 1


def test_a_name_of_ones_own_stays_as_it_is_and_egress_is_the_default():
    assert _key("the Vienna office") == "the Vienna office"
    assert counted(Settings(platform=ONE)).key == "egress" == BudgetSettings().key


def test_no_key_shows_a_secret():
    for word in ("token", "chain"):
        shown = _key(word, token=SecretStr("canary-token-7"))
        assert "canary" not in shown


def test_all_of_the_house_counts_by_the_key_that_is_configured(make_settings, platform, erp):
    """The client's own requests, and the forecast that looks at them."""
    import sqlalchemy as sa

    from shelfsync.budget import tables
    from shelfsync.wiring import open_house

    settings = make_settings(budget={"key": "chain"})
    with open_house(settings) as house:
        house.check()
        house.status()
        with house.parts.engine.connect() as connection:
            keys = set(connection.execute(sa.select(tables.permit.c.key)).scalars())
    assert keys == {counted(settings).key}
    assert keys != {"chain"}
