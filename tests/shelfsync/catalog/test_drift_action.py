"""What follows from a difference."""

from __future__ import annotations

import pyarrow as pa

from shelfsync.catalog.drift_action import with_action
from shelfsync.settings.catalog import DriftSettings


def test_the_cause_decides_until_it_was_sent_again_too_often():
    settings = DriftSettings(acknowledged_not_applied="resend", changed_on_platform="ignore", resends_max=3)
    causes = ["acknowledged_not_applied", "acknowledged_not_applied", "changed_on_platform"]
    drift = pa.table({"sku": ["a", "b", "c"], "field": ["price"] * 3, "cause": causes})
    resent = {("a", "price"): 2, ("b", "price"): 3, ("b", "active"): 9, ("c", "price"): 3}
    assert with_action(drift, resent, settings)["action"].to_pylist() == ["resend", "reject", "ignore"]
