"""What shares an allowance, by the setting SHELFSYNC_RATE_LIMIT__SCOPE."""

from __future__ import annotations

import pytest
from pydantic import SecretStr

from shelfsync.platform.rate_limit.scope import counted
from shelfsync.settings import RateLimitSettings, Settings

ONE = {
    "base_url": "https://one.example/api",
    "chain": "a",
    "client_id": "x",
    "client_secret": SecretStr("canary-secret-1"),
}


def _scope(word, **platform):
    return counted(Settings(rate_limit={"scope": word}, platform={**ONE, **platform})).scope


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
    keys = {_scope(word, **platform) for platform in shared}
    assert len(keys) == 1
    others = [_scope(word, **platform) for platform in parted]
    assert len({*others, *keys}) == len(parted) + 1


def test_a_name_of_ones_own_stays_as_it_is_and_egress_is_the_default():
    assert _scope("the Vienna office") == "the Vienna office"
    assert counted(Settings(platform=ONE)).scope == "egress" == RateLimitSettings().scope


def test_no_scope_shows_a_secret():
    for word in ("token", "chain"):
        shown = _scope(word, token=SecretStr("canary-token-7"))
        assert "canary" not in shown


def test_every_request_counts_by_the_configured_scope(make_settings, platform, erp):
    """The client's own requests, and the forecast that looks at them."""
    import sqlalchemy as sa

    from app_calls import open_calls
    from shelfsync.platform.rate_limit import tables

    settings = make_settings(rate_limit={"scope": "chain"})
    with open_calls(settings) as app:
        app.check()
        app.status()
        with app.context.engine.connect() as connection:
            keys = set(connection.execute(sa.select(tables.permit.c.key)).scalars())
    assert keys == {counted(settings).scope}
    assert keys != {"chain"}
