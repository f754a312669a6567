from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from partner_api import Dialect, DownloadLimits

PAGE = (Path(__file__).parents[2] / "docs/reference/interface-dialects.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| `(\w+)` \| (.+?) \|", PAGE, re.MULTILINE))


@pytest.mark.parametrize("kind", [Dialect, DownloadLimits])
def test_the_page_names_every_setting_with_its_default(kind):
    for field in dataclasses.fields(kind):
        values = field.default if isinstance(field.default, tuple) else (field.default,)
        documented = re.findall(r"`([^`]+)`", ROWS[field.name])
        assert [one.replace("_", "") if one[0].isdigit() else one for one in documented] == [
            str(value) for value in values
        ]


def test_the_page_names_no_removed_setting():
    known = {field.name for kind in (Dialect, DownloadLimits) for field in dataclasses.fields(kind)}
    assert set(ROWS) == known
