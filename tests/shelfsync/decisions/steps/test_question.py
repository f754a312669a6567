"""A question of Airflow shows that somebody asks; when its run looks no more, the next one asks anew."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from shelfsync.decisions.ledger.holds import LOOK_S, SILENT_LOOKS
from shelfsync.decisions.state import Place
from shelfsync.decisions.steps.decide import decide
from shelfsync.decisions.steps.lists import ask
from shelfsync.decisions.steps.question import question
from sixty_products import renumber

pytestmark = pytest.mark.slow

SILENT_S = SILENT_LOOKS * LOOK_S


@pytest.fixture
def context(shop):
    """One open hold."""
    return renumber(shop).app.context


def _later(context, seconds):
    with context.engine.begin() as connection:
        connection.execute(
            sa.text("UPDATE ledger.hold SET looked_at = looked_at - make_interval(secs => :s)"), {"s": seconds}
        )


def test_a_hold_whose_run_looks_no_more_is_asked_about_by_the_next_run(context):
    (asked,) = ask(context, "holds/first")
    for _ in range(3):
        _later(context, SILENT_S - 60)
        assert ask(context, "holds/second") == [], "the first run is alive"
        assert question(context, asked["hold"], key="holds/first", pages=None) is not None
    _later(context, SILENT_S + 1)
    assert ask(context, "holds/second") == [asked]
    assert ask(context, "holds/third") == []
    assert question(context, asked["hold"], key="holds/first", pages=None) is None, "the first question ends"
    assert question(context, asked["hold"], key="holds/second", pages=None) is not None
    late = decide(
        context, asked["hold"], approve=True, who="ada", place=Place.AIRFLOW, why=None, asked_by="holds/first"
    )
    assert not late["decided"]
    told = decide(
        context, asked["hold"], approve=True, who="bob", place=Place.AIRFLOW, why=None, asked_by="holds/second"
    )
    assert told["decided"]


def test_a_decided_hold_is_asked_about_by_nobody(context):
    (asked,) = ask(context, "holds/first")
    decide(context, asked["hold"], approve=False, who="ada", place=Place.PAGE, why=None)
    _later(context, 10 * SILENT_S)
    assert ask(context, "holds/second") == []
