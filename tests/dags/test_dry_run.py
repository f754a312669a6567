"""A dry run has no way to change the platform: the house that its tasks open lets no such request out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from partner_api import StreamedBody
from shelfsync.errors import ReadOnlyError
from shelfsync_airflow.house import PLATFORM, open_house

if TYPE_CHECKING:
    from airflow_world import World


def test_what_a_dry_run_opens_cannot_put(world: World) -> None:
    body = b'{"products":[{"sku":"a","price":7}]}'
    with pytest.raises(ReadOnlyError, match="opened to plan"), open_house(PLATFORM, read_only=True) as house:
        house.parts.open_platform().update_catalog("store-001", StreamedBody([body], len(body)), lane="catalog")
    assert world.sent() == []
