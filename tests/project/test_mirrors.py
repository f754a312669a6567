"""The law of mirrors, on a small tree: `make check` runs it on this project."""

from __future__ import annotations

import pytest

from scripts.mirrors import wrong


@pytest.fixture
def tree(tmp_path):
    """Two modules; the first has a test of its own."""
    for file in ("include/shelfsync/erp/text.py", "include/shelfsync/erp/open.py", "tests/shelfsync/erp/test_text.py"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    (tmp_path / "include/shelfsync/erp/__init__.py").touch()
    return tmp_path


def test_a_module_without_a_test_has_to_be_in_the_list(tree):
    assert wrong(tree, {"shelfsync/erp/open.py"}) == []
    assert wrong(tree, set()) == [
        "include/shelfsync/erp/open.py has no test of its own: write tests/shelfsync/erp/test_open.py"
    ]


def test_the_list_only_shrinks(tree):
    listed = {"shelfsync/erp/open.py", "shelfsync/erp/text.py", "shelfsync/erp/gone.py"}
    assert wrong(tree, listed) == [
        "without_own_test.txt: shelfsync/erp/text.py has a test of its own, remove it",
        "without_own_test.txt: there is no include/shelfsync/erp/gone.py, remove it",
    ]
