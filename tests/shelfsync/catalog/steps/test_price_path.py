"""docs/explanation/data-path.md names the files that a price passes, and a price passes them."""

from __future__ import annotations

import re
import sys
import threading
from pathlib import Path

import pytest

from shelfsync.settings_file import PROJECT

FILES_MAX = 43
INCLUDE = PROJECT / "include"


def _section() -> str:
    text = (PROJECT / "docs/explanation/data-path.md").read_text("utf-8")
    return text.split("## The files that a price passes")[1].split("\n## ")[0]


def _listed() -> list[Path]:
    section = _section()
    names = re.findall(r"`([a-z_/]+\.py)`", "".join(line for line in section.splitlines() if line.startswith("|")))
    return [
        INCLUDE / name if name.startswith(("shelfsync/", "partner_api/")) else INCLUDE / "shelfsync" / name
        for name in names
    ]


def test_the_page_names_at_most_43_files_counts_them_and_each_is_there() -> None:
    listed = _listed()
    assert len(set(listed)) == len(listed) <= FILES_MAX
    assert re.findall(r"passes these (\d+) files", _section()) == [str(len(listed))]
    assert [str(file) for file in listed if not file.is_file()] == []


@pytest.mark.slow
def test_a_changed_price_passes_every_one_of_them(world) -> None:
    world.platform.put_products(
        "store-001", [{"sku": "a", "barcodes": [], "title": "A", "price": 9.99, "active": True}]
    )
    world.erp.put("store-001", "a", "1.25", 10)
    world.sync("full")
    world.erp.put("store-001", "a", "1.75", 10)
    passed = set()

    def note(frame, event, _):
        if event == "call":
            passed.add(Path(frame.f_code.co_filename))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        world.sync("delta")
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    assert world.shown()["a"]["price"] == 1.75
    assert [str(file.relative_to(INCLUDE)) for file in _listed() if file not in passed] == []
