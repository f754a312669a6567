"""Every command block of the tutorials and how-to pages runs as it is written, or a reason stands before it."""

from __future__ import annotations

import re
import shutil

import pytest

from page_walk import DOCS, WALKED, blocks, missing, needs_postgresql, walk

RUN = [
    page if page.name == "first-sync.md" else pytest.param(page, marks=pytest.mark.proof)
    for page in WALKED
    if any(block.runs for block in blocks(page))
]
"""Of all pages, test_named_commands.py tests each command's name and options in `make test`."""


def test_every_block_runs_or_has_a_reason():
    without = [
        f"{page.relative_to(DOCS)}:{block.line}"
        for page in WALKED
        for block in blocks(page)
        if not re.fullmatch(r"run|run: exit \d+|not run: .{10,}", block.mark)
    ]
    assert without == []


def test_every_block_of_commands_is_marked_as_one():
    """A block without a language could hold commands that no reader of this file sees."""
    plain = [
        f"{page.relative_to(DOCS)}: {found}"
        for page in WALKED
        for fence in re.findall(
            r"^```(?!sh\n)\w*\n(.*?)^```$",
            re.sub(r"^```sh\n.*?^```\n", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL),
            re.MULTILINE | re.DOTALL,
        )
        for found in re.findall(
            r"^(?:\$ )?(?:\.venv/bin/)?(?:shelfsync|make|docker|curl|export|psql) .*$", fence, re.MULTILINE
        )
    ]
    assert plain == []


def test_the_walker_sees_what_is_missing():
    assert missing("a … c\nd", "x a b c\ny d") is None
    assert missing("a … c\nd", "d a b c") == "d"
    assert missing("1 SKUs held", "2 SKUs held") == "1 SKUs held"


@pytest.mark.slow
def test_the_walker_reports_a_failed_block_and_a_wrong_output(tmp_path):
    for number, (text, wrong) in enumerate(
        [("true\n", ""), ("false\n", "failed"), ("echo a\n```\n\n```text\nb\n", "does not print 'b'")]
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        one = folder / "page.md"
        one.write_text(f"<!-- run -->\n```sh\n{text}```\n", encoding="utf-8")
        found = walk(one, folder)
        assert (found == []) if not wrong else (wrong in found[0])


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("page", RUN, ids=lambda page: str(page.relative_to(DOCS)))
def test_a_page_does_what_it_describes(page, reachable_folder, request):
    folder = reachable_folder / page.stem
    folder.mkdir(mode=0o711)
    database_url = request.getfixturevalue("empty_database_url") if needs_postgresql(page) else ""
    try:
        assert walk(page, folder, database_url) == []
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # the pages print the sandbox's secret and write it into files
