"""The sentence that states how the chain is."""

from __future__ import annotations

import pytest

from shelfsync.catalog.overview_sentence import sentence


def row(**but):
    return {"shows_the_erp": True, "rejected": 0, "quarantined": 0, "absent": 0, "restorations": []} | but


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
        ([row(rejected=1200)], (7_000.0, 60.0), 0, "1 of 1 stores show what the ERP says except 1,200 products that the platform rejects, read 116 minutes ago; next reading in 1 minute."),
        ([row()], (1_500.0, -1_080.0), 0, "1 of 1 stores show what the ERP says, read 25 minutes ago; the next reading was due 18 minutes ago."),
        ([row()] * 2, (172_800.0, -9.0), 0, "Nothing was read for 48 hours; then 2 of 2 stores showed what the ERP said; the next reading is due."),
        ([row(shows_the_erp=False, restorations=["x"], absent=1, quarantined=2)], (60.0, None), 0, "0 of 1 stores show what the ERP says except 2 rows that cannot be sent, 1 product that the ERP no longer has and 1 store with restored values, read 1 minute ago."),
    ],
)  # fmt: skip
def test_the_sentence_says_how_the_chain_is(vendors, reading, waiting, says):
    found = {
        "vendors": vendors,
        "reading": dict(zip(("ago_s", "next_s"), reading, strict=True)),
        "holds_waiting": waiting,
    }
    assert sentence(found, late_s=7_200.0) == says
