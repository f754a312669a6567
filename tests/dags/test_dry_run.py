"""A dry run cannot change the platform: the context of its tasks sends no such request."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from partner_api import StreamedBody
from shelfsync.errors import ReadOnlyError
from shelfsync_airflow.app import PLATFORM, open_app

if TYPE_CHECKING:
    from airflow_world import World


@pytest.mark.slow
def test_what_a_dry_run_opens_cannot_put(world: World) -> None:
    body = b'{"products":[{"sku":"a","price":7}]}'
    with pytest.raises(ReadOnlyError, match="opened to plan"), open_app(PLATFORM, read_only=True) as context:
        context.open_platform().update_catalog("store-001", StreamedBody([body], len(body)), priority="catalog")
    assert world.sent() == []
