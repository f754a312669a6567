"""One meaning an exit code, and the table of them in the documentation."""

from __future__ import annotations

import re
from pathlib import Path

from shelfsync.exit_codes import ExitCode


def test_the_exit_code_2_is_for_the_command_line_alone():
    assert [code for code in ExitCode if code == 2] == [ExitCode.USAGE]
    assert len(ExitCode) == len({code.meaning for code in ExitCode})


def test_the_documentation_has_the_same_table():
    page = (Path(__file__).resolve().parents[2] / "docs/reference/cli.md").read_text("utf-8")
    rows = [line for line in page.splitlines() if re.match(r"\| \d+ \|", line)]
    assert rows == [f"| {code:d} | {code.name.lower()} | {code.meaning} | {code.remedy} |" for code in ExitCode]
