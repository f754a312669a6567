"""What the check of the platform reports: a platform that is away is tried again by a schedule, a rejected setting is not."""

from __future__ import annotations

import pytest

from shelfsync.errors import ConfigurationError, UnreachableError
from shelfsync.exit_codes import ExitCode


def test_a_platform_that_does_not_answer_is_unreachable_and_rejected_credentials_are_not(make_world):
    away = make_world(platform={"base_url": "http://127.0.0.1:1"})
    with pytest.raises(UnreachableError, match="SHELFSYNC_PLATFORM__BASE_URL") as unanswered:
        away.app.check()
    assert unanswered.value.exit_code == ExitCode.TRY_AGAIN, "a script repeats it; a wrong setting is for a person"
    stranger = make_world(platform={"client_secret": "of another client"})
    with pytest.raises(ConfigurationError, match="rejects the credentials") as raised:
        stranger.app.check()
    assert not isinstance(raised.value, UnreachableError)
    assert raised.value.exit_code == ExitCode.CONFIGURATION
