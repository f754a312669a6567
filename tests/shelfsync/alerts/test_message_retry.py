from __future__ import annotations

from shelfsync.alerts.message_retry import again_after_s, is_kept


def test_the_waits_double_up_to_an_hour():
    assert [again_after_s(refusals) for refusals in (1, 2, 3, 7, 8, 99)] == [30, 60, 120, 1920, 3600, 3600]


def test_a_message_that_may_have_arrived_is_tried_four_times_more_as_it_was():
    assert [is_kept(refusals) for refusals in (1, 4, 5)] == [True, True, False]
