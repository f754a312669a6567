"""Alert `paused`: a person has stopped the sending."""

from __future__ import annotations

from alert_look import kinds


def test_a_pause_is_an_alert_and_hides_that_the_store_is_late(world, context):
    world.app.pause("vendor", "store-001", why="stocktaking", who="ada")
    assert kinds(context) == {("paused", "vendor store-001")}
