"""The world that all tests of a file share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from simulation.world import World

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shelfsync.local.postgres import EmbeddedPostgres


@pytest.fixture(scope="module")
def world(
    postgres: EmbeddedPostgres, migrated_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    """A world of two chains, each with a database of its own."""
    url = postgres.create_database("simulation", template=migrated_template)
    second = postgres.create_database("simulation_north", template=migrated_template)
    with World(url, tmp_path_factory.mktemp("simulation"), second=second) as opened:
        yield opened
    postgres.drop_database("simulation")
    postgres.drop_database("simulation_north")
