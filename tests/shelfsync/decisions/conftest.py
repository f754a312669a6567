"""A store of sixty products."""

from __future__ import annotations

import pytest

from sixty_products import fill


@pytest.fixture
def shop(world_after):
    return world_after(fill)
