"""How long a vendor waits whose every request fails."""

from __future__ import annotations

from shelfsync.catalog.steps.vendor_back_off import wait_s


def test_a_vendor_backs_off_twice_as_long_after_every_few_failures_and_at_most_a_day():
    waits = {number: wait_s(number, 900, 86_400) for number in range(400)}
    assert [number for number, wait in waits.items() if wait][:3] == [50, 60, 70]
    assert [waits[number] for number in (0, 49, 50, 51, 60, 70, 390)] == [0, 0, 900, 0, 1800, 3600, 86_400]
    requests = 0
    clock_s = 0.0
    while clock_s < 86_400:  # the first day of a vendor whose every request fails
        requests += 1
        clock_s += wait_s(requests, 900, 86_400)
    assert requests <= 120
