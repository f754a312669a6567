"""Tests mirror modules: `include/ROOM/name.py` has `tests/ROOM/test_name.py`, or is in scripts/without_own_test.txt, which only shrinks."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIST = ROOT / "scripts/without_own_test.txt"
PACKAGES = ("partner_api", "shelfsync")


def modules(root: Path = ROOT) -> set[str]:
    """Every module of both packages, by its path under `include`."""
    found = (file for package in PACKAGES for file in (root / "include" / package).rglob("*.py"))
    return {
        file.relative_to(root / "include").as_posix()
        for file in found
        if not file.name.startswith("__") and file.parent.name != "versions"
    }


def mirror(module: str) -> str:
    """The test of a module, by its path under `tests`."""
    folder, _, name = module.rpartition("/")
    return f"{folder}/test_{name}"


def wrong(root: Path, listed: set[str]) -> list[str]:
    """A line for each module without a test that is not in the list, and for each line of the list that is not needed."""
    known = modules(root)
    without = {module for module in known if not (root / "tests" / mirror(module)).is_file()}
    return [
        *(
            f"include/{module} has no test of its own: write tests/{mirror(module)}"
            for module in sorted(without - listed)
        ),
        *(f"{LIST.name}: {module} has a test of its own, remove it" for module in sorted(listed & known - without)),
        *(f"{LIST.name}: there is no include/{module}, remove it" for module in sorted(listed - known)),
    ]


def main() -> None:
    """Prints how many modules have a test of their own; ends with 1 and what to do if a line is wrong."""
    lines = LIST.read_text("utf-8").split()
    found = [*wrong(ROOT, set(lines)), *([] if lines == sorted(set(lines)) else [f"{LIST.name}: sort it"])]
    print(
        "\n".join(
            found or [f"mirrors: {len(modules()) - len(lines)} of {len(modules())} modules have a test of their own"]
        )
    )
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
