"""What became of each vendor in a step: done, skipped, failed, or taken by another process. One that fails stops no other (I10)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class StepReport:
    """What a step did, as plain values: vendors done, vendors passed over and why, vendors failed and why."""

    step: str
    done: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    taken: list[str] = field(default_factory=list)
    """Vendors that another process worked on in the last round."""

    def do(self, name: str) -> None:
        """Records work done for this vendor."""
        self.skipped.pop(name, None)
        if name not in self.done:
            self.done.append(name)

    def skip(self, name: str, why: str) -> None:
        """Records that nothing was done for this vendor, unless an earlier round did something."""
        if name not in self.done:
            self.skipped[name] = why

    def fail(self, name: str, why: str) -> None:
        """Records that this vendor failed, even if an earlier round did something."""
        self.skipped.pop(name, None)
        if name in self.done:
            self.done.remove(name)
        self.failed[name] = why

    def counts(self) -> dict[str, int]:
        """Vendors done, skipped and failed so far."""
        return {"done": len(self.done), "skipped": len(self.skipped), "failed": len(self.failed)}

    def as_dict(self) -> dict[str, Any]:
        """Small enough for an XCom: counts, and a line for each vendor that needs one."""
        return {"step": self.step, "done": len(self.done), "skipped": self.skipped, "failed": self.failed}


class Skip(Exception):  # noqa: N818  not an error: there is nothing to do for a vendor
    """There is nothing to do for this vendor in this step, and why."""


class Done(Skip):
    """An earlier process has done this step for the vendor."""

    def __init__(self) -> None:
        super().__init__("done before")


class Taken(Skip):
    """Another process holds this vendor's lease."""

    def __init__(self) -> None:
        super().__init__("another process is working on this vendor")
