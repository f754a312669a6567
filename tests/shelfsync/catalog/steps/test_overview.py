"""The sentence that states how the chain is."""

from __future__ import annotations

import pytest

from shelfsync.catalog.steps.overview import sentence


def row(**but):
    return {"shows_the_erp": True, "rejected": 0, "quarantined": 0} | but


@pytest.mark.parametrize(
    ("vendors", "reading", "waiting", "says"),
    [
        ([], (None, None), 0, "No store is known yet: the first full sync reads them."),
        ([row()], (None, None), 0, "1 of 1 stores show what the ERP says."),
        (
            [row()] * 5 + [row(shows_the_erp=False)],
            (180.0, 720.0),
            3,
            "5 of 6 stores show what the ERP says, read 3 minutes ago; next reading in 12 minutes; 3 holds wait for you.",
        ),
        ([row(rejected=None, quarantined=None, shows_the_erp=False)], (59.0, -3.0), 1, "0 of 1 stores show what the ERP says, read just now; the next reading is due; 1 hold waits for you."),
        ([row(rejected=1200)], (86_400.0, 60.0), 0, "1 of 1 stores show what the ERP says except 1,200 products that the platform rejects, read 24 hours ago; next reading in 1 minute."),
    ],
)  # fmt: skip
def test_the_sentence_says_how_the_chain_is(vendors, reading, waiting, says):
    found = {
        "vendors": vendors,
        "reading": dict(zip(("ago_s", "next_s"), reading, strict=True)),
        "holds_waiting": waiting,
    }
    assert sentence(found) == says
