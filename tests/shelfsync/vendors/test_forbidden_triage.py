from __future__ import annotations

import contextlib
from types import SimpleNamespace

import pytest

from partner_api.errors import CredentialsError, UnavailableError
from shelfsync.vendors.forbidden_triage import FORBIDDEN_IN_A_ROW, ForbiddenTriage

FORBIDDEN = CredentialsError("not yours", operation="put_catalog", status=403)


def _triage(answers):
    """A triage, and a context whose platform answers about these vendors: an error that is raised, or None."""
    asked = []

    def check(name):
        asked.append(name)
        if answers[name] is not None:
            raise answers[name]

    context = SimpleNamespace(
        engine=SimpleNamespace(connect=contextlib.nullcontext), open_platform=lambda: SimpleNamespace(check=check)
    )
    return ForbiddenTriage(lambda _, *, most, but="": [name for name in answers if name != but][:most]), context, asked


@pytest.mark.parametrize(
    ("others", "alone"),
    [
        ({}, False),
        ({"b": None}, True),
        ({"b": FORBIDDEN, "c": FORBIDDEN}, False),
        ({"b": FORBIDDEN, "c": None}, True),
        ({"b": UnavailableError("no answer", operation="list_catalog")}, True),
    ],
)
def test_a_vendor_is_forbidden_alone_if_the_platform_answers_about_another(others, alone):
    triage, context, _ = _triage(others)
    assert triage.alone(context, "a", FORBIDDEN) is alone


@pytest.mark.parametrize(
    "error", [CredentialsError("no", operation="token", status=403), CredentialsError("no", status=401)]
)
def test_a_rejected_token_never_concerns_one_vendor(error):
    triage, context, asked = _triage({"b": None})
    assert triage.alone(context, "a", error) is False
    assert asked == []


def test_many_forbidden_in_a_row_with_none_served_are_the_credentials():
    triage, context, _ = _triage({"z": None})
    found = [triage.alone(context, f"v{number}", FORBIDDEN) for number in range(FORBIDDEN_IN_A_ROW)]
    assert found == [True] * (FORBIDDEN_IN_A_ROW - 1) + [False]


def test_after_one_was_served_many_forbidden_are_checked_again_and_fail_alone():
    triage, context, asked = _triage({"z": None})
    triage.served()
    found = [triage.alone(context, f"v{number}", FORBIDDEN) for number in range(FORBIDDEN_IN_A_ROW)]
    assert (found, asked) == ([True] * FORBIDDEN_IN_A_ROW, ["z"])
