"""The demo fails when something that it is to show did not happen."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shelfsync.errors import ShelfsyncError
from shelfsync.local import demo
from shelfsync.local.comparison import Comparison
from shelfsync.local.mail_catcher import Mail

OPENED = Mail("a@example.com", "shelfsync: warning: held changes wait for a decision (shifted decimal)", "text")
OVER = Mail("a@example.com", "shelfsync: over: held changes wait for a decision (shifted decimal)", "text")


@pytest.mark.parametrize(
    ("part", "values", "message"),
    [
        ("promotions", {"portal": []}, "no running promotion"),
        ("promotions", {"portal": [{"state": "Upcoming", "pairs": 5}]}, "no running promotion"),
        (
            "order",
            {"order_id": "x", "status": "RECEIVED", "platform": {"status": "RECEIVED"}},
            "order x is not fulfilled",
        ),
        (
            "order",
            {"order_id": "x", "status": "READY_FOR_PICKUP", "platform": {"status": "CANCELLED"}},
            "is not fulfilled",
        ),
        ("mails", (), "was not reported"),
        ("mails", (OPENED,), "was not reported"),
        ("mails", (OVER, OPENED), "was not reported"),
        ("export", {"vendors": 5, "rows": 100}, "100 SKUs of 5 vendors; 6 were synced"),
        ("export", {"vendors": 6, "rows": 0}, "0 SKUs of 6 vendors"),
    ],
)
def test_the_demo_fails_when_one_of_them_did_not_happen(part, values, message) -> None:
    run = {"run_id": 1, "sent": 2, "skus_sent": 2, "outcomes": 2, "vendors": 6}
    good = demo.Figures(
        full=(run, {}),
        delta=(run, {}),
        promotions={"portal": [{"state": "Running", "pairs": 5}]},
        order={"order_id": "x", "status": "DISPATCHED", "platform": {"status": "DISPATCHED"}},
        export={"vendors": 6, "rows": 100},
        requests={},
        tables={},
        comparison=Comparison(equal=1),
        mails=(OPENED, OVER),
    )
    demo.check(good)
    with pytest.raises(ShelfsyncError, match=message):
        demo.check(replace(good, **{part: values}))
